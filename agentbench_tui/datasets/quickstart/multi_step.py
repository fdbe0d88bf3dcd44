"""Questions with several steps: look up, convert, compute, count days.

Answers are whole numbers, days as YYYY-MM-DD, or names of weekdays, as each question says.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import timedelta
from fractions import Fraction
from typing import Any

from agentbench_tui.datasets.quickstart.drawing import PEOPLE, Draw

PER_TOPIC = 5
LONG_TABLES = 3
LONG_TABLE_ROWS = 900
"""Rows of a long table: about 16,000 characters."""

_METRES_PER_MILE = Fraction("1609.344")
_GRAMS_PER_POUND = Fraction("453.59237")
_FRUIT = ("apples", "pears", "plums", "figs", "limes", "melons")
_PARTS = ("bolts", "nuts", "washers", "hinges", "brackets", "screws")

Question = tuple[str, int | str]
"""Text and answer."""


def multi_step(seed: int) -> Iterator[dict[str, Any]]:
    """Yield 30 short questions on six topics, and three with a long table."""
    for topic, (make, count) in _TOPICS.items():
        draw = Draw(seed, topic)
        for nth in range(count):
            text, answer = make(draw, nth)
            yield {
                "id": f"{topic}-{nth + 1}",
                "topic": topic,
                "input": text,
                "expected": str(answer),
            }


def _journey(draw: Draw, nth: int) -> Question:
    """Convert, then multiply or divide, then round."""
    miles, days, times = draw.whole(8, 60), draw.whole(2, 6), draw.whole(3, 9)
    kilometres = miles * _METRES_PER_MILE / 1000
    if nth % 2:
        text = (
            f"{draw.one(PEOPLE)} cycles {miles} miles on each of {days} days. How many kilometres "
            "is that in all? Round to a whole number."
        )
        return text, round(kilometres * days)
    text = (
        f"A rope is {miles * times} miles long and is cut into {times} equal pieces. How many "
        "metres long is one piece? Round to a whole number."
    )
    return text, round(miles * _METRES_PER_MILE)


def _weights(draw: Draw, nth: int) -> Question:
    """Convert two units into a third, then add or subtract."""
    pounds, grams = draw.whole(2, 9), draw.whole(2, 9) * 100
    who = draw.one(PEOPLE)
    if nth % 2:
        text = (
            f"{who}'s parcel weighs {pounds} pounds, and {grams} grams of paper are taken out. How "
            "many grams does it weigh then? Round to a whole number."
        )
        return text, round(pounds * _GRAMS_PER_POUND - grams)
    text = (
        f"{who} mixes {pounds} pounds of flour with {grams} grams of sugar. How many grams does "
        "the mixture weigh? Round to a whole number."
    )
    return text, round(pounds * _GRAMS_PER_POUND + grams)


def _deadlines(draw: Draw, nth: int) -> Question:
    """Count days from a day, name the day or its weekday."""
    day, days, weeks = draw.day(), draw.whole(10, 90), draw.whole(2, 9)
    if nth % 2:
        end = day + timedelta(days=days)
        text = (
            f"A permit is issued on {day.isoformat()} and ends {days} days later. On which "
            "weekday does it end? Answer with the name of the weekday."
        )
        return text, end.strftime("%A")
    end = day + timedelta(weeks=weeks, days=3)
    text = (
        f"Work starts on {day.isoformat()} and is done {weeks} weeks and 3 days after that. On "
        "which day is it done? Answer as YYYY-MM-DD."
    )
    return text, end.isoformat()


def _stays(draw: Draw, nth: int) -> Question:
    """Count the days between two days, then multiply."""
    arrival, nights = draw.day(), draw.whole(3, 40)
    departure, price, people = arrival + timedelta(days=nights), draw.whole(35, 140), 2 + nth
    text = (
        f"A room costs {price} euros a night. A guest arrives on {arrival.isoformat()} and leaves "
        f"on {departure.isoformat()}. "
    )
    if nth % 2:
        text += f"{people} people share the cost of this stay. "
        share = Fraction(price * nights, people)
        text += "How many euros does each pay? Round to a whole number."
        return text, round(share)
    return text + "How many euros does the stay cost?", price * nights


def _baskets(draw: Draw, nth: int) -> Question:
    """Look two prices up, multiply, add."""
    prices = {name: draw.whole(15, 95) for name in draw.some(_FRUIT, 4)}
    first, second = draw.some(tuple(prices), 2)
    count, more = draw.whole(3, 12), draw.whole(3, 12)
    table = "; ".join(f"{name} {cents}" for name, cents in prices.items())
    total = prices[first] * count + prices[second] * more
    question = (
        f"How many cents do {count} {first} and {more} {second} cost together?"
        if nth % 2 == 0
        else f"Someone buys {count} {first} and {more} {second}. How many cents is that?"
    )
    return f"Price of one, in cents: {table}. {question}", total


def _recipes(draw: Draw, nth: int) -> Question:
    """Look an amount up, convert it, divide, round down."""
    names = draw.some(("rice", "flour", "beans", "oats", "lentils"), 3)
    stock = {name: draw.whole(3, 30) for name in names}
    name, portion = draw.one(names), draw.whole(6, 30) * 10
    unit, grams = (("kg", Fraction(1000)), ("pounds", _GRAMS_PER_POUND))[nth % 2]
    table = "; ".join(f"{one} {amount}" for one, amount in stock.items())
    text = (
        f"Stock in {unit}: {table}. A portion takes {portion} grams of {name}. How many full "
        "portions can be made?"
    )
    return text, int(stock[name] * grams // portion)


def _long_table(draw: Draw, nth: int) -> Question:
    """Return a basket question with a long list of parts."""
    keys = sorted({f"{draw.one(_PARTS)}-{draw.whole(1000, 9999)}" for _ in range(LONG_TABLE_ROWS)})
    prices = {key: draw.whole(15, 95) for key in keys}
    first, second = draw.some(keys, 2)
    count, more = draw.whole(3, 12), draw.whole(3, 12) + nth
    table = "; ".join(f"{name} {cents}" for name, cents in prices.items())
    question = f"How many cents do {count} of {first} and {more} of {second} cost together?"
    return (
        f"Price of one, in cents: {table}. {question}",
        prices[first] * count + prices[second] * more,
    )


_TOPICS: dict[str, tuple[Callable[[Draw, int], Question], int]] = {
    "journey": (_journey, PER_TOPIC),
    "weights": (_weights, PER_TOPIC),
    "deadline": (_deadlines, PER_TOPIC),
    "stay": (_stays, PER_TOPIC),
    "basket": (_baskets, PER_TOPIC),
    "recipe": (_recipes, PER_TOPIC),
    "table": (_long_table, LONG_TABLES),
}
