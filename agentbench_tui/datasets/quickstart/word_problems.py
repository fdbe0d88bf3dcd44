"""Word problems whose answer is one number."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any

from agentbench_tui.datasets.quickstart.drawing import PEOPLE, Draw, plain

PER_TOPIC = 3

_THINGS = ("stickers", "marbles", "stamps", "shells", "cards", "coins")
_GOODS = (("notebook", "pen"), ("muffin", "coffee"), ("ticket", "poster"), ("bulb", "cable"))
_HOLDERS = (("boxes", "box", "eggs"), ("crates", "crate", "bottles"), ("bags", "bag", "oranges"))
_MACHINES = (("printer", "prints", "pages"), ("press", "stamps", "lids"), ("oven", "bakes", "buns"))

Problem = tuple[str, Fraction | int]
"""Text and answer."""


def word_problems(seed: int) -> Iterator[dict[str, Any]]:
    """Yield 36 problems: twelve topics, three of each, in different wordings."""
    for topic, make in _TOPICS.items():
        draw = Draw(seed, topic)
        for nth in range(PER_TOPIC):
            text, answer = make(draw, nth)
            yield {
                "id": f"{topic}-{nth + 1}",
                "topic": topic,
                "input": text,
                "expected": plain(answer),
            }


def _gains_and_losses(draw: Draw, nth: int) -> Problem:
    who, other = draw.some(PEOPLE, 2)
    things = draw.one(_THINGS)
    start, more, less = draw.whole(20, 60), draw.whole(5, 25), draw.whole(3, 15)
    texts = (
        (
            f"{who} has {start} {things}. {who} buys {more} more and then gives {less} to {other}. "
            f"How many {things} does {who} have now?"
        ),
        (
            f"There were {start} {things} in {who}'s drawer. {other} took {less} of them, and "
            f"later {who} found {more} more. How many {things} are in the drawer now?"
        ),
        (
            f"{who} collected {start} {things}, lost {less} on the way home and won {more} in a "
            f"game. How many {things} are left?"
        ),
    )
    return texts[nth], start + more - less


def _groups(draw: Draw, nth: int) -> Problem:
    many, single, things = draw.one(_HOLDERS)
    size, count = draw.whole(6, 24), draw.whole(3, 15)
    texts = (
        f"One {single} holds {size} {things}. How many {things} are in {count} {many}?",
        f"There are {count} {many} with {size} {things} in each. How many {things} is that in all?",
        (
            f"A shop orders {count} {many}. Every {single} contains {size} {things}. How many "
            f"{things} does the shop get?"
        ),
    )
    return texts[nth], size * count


def _two_prices(draw: Draw, nth: int) -> Problem:
    first, second = draw.one(_GOODS)
    price, other = Fraction(draw.whole(45, 180), 20), Fraction(draw.whole(8, 44), 20)
    count, more = draw.whole(2, 6), draw.whole(2, 8)
    texts = (
        (
            f"A {first} costs ${float(price):.2f} and a {second} costs ${float(other):.2f}. What "
            f"do {count} {first}s and {more} {second}s cost together, in dollars?"
        ),
        (
            f"At the kiosk a {first} is ${float(price):.2f}; a {second} is ${float(other):.2f}. "
            f"How many dollars does someone pay for {more} {second}s and {count} {first}s?"
        ),
        (
            f"{count} {first}s at ${float(price):.2f} each and {more} {second}s at "
            f"${float(other):.2f} each are put on one bill. What is the total in dollars?"
        ),
    )
    return texts[nth], price * count + other * more


def _distance(draw: Draw, nth: int) -> Problem:
    speed, halves = draw.whole(12, 60) * 2, draw.whole(3, 11)
    hours = Fraction(halves, 2)
    texts = (
        (
            f"A train travels at {speed} km per hour. How many kilometres does it travel in "
            f"{plain(hours)} hours?"
        ),
        (
            f"A bus keeps a speed of {speed} km/h for {plain(hours)} hours. How far does it get, "
            "in kilometres?"
        ),
        (
            f"It takes a lorry {plain(hours)} hours to reach the depot at {speed} kilometres an "
            "hour. How many kilometres away is the depot?"
        ),
    )
    return texts[nth], speed * hours


def _remainder(draw: Draw, nth: int) -> Problem:
    children = draw.whole(4, 9)
    each, rest = draw.whole(4, 12), draw.whole(1, children - 1)
    total = children * each + rest
    texts = (
        (
            f"{total} apples are shared equally among {children} children. How many apples are "
            "left over?"
        ),
        (
            f"{children} friends deal out {total} cards evenly, as far as they go. How many cards "
            "does each friend get?"
        ),
        f"A baker packs {total} rolls into bags of {children}. How many full bags are there?",
    )
    return texts[nth], rest if nth == 0 else each


def _comparison(draw: Draw, nth: int) -> Problem:
    who, other = draw.some(PEOPLE, 2)
    things = draw.one(_THINGS)
    base, gap = draw.whole(15, 40), draw.whole(3, 12)
    texts = (
        (
            f"{who} has {gap} more {things} than {other}. {other} has {base} {things}. How many "
            f"{things} do they have together?"
        ),
        (
            f"{other} has {base} {things}. {who} has {gap} fewer {things} than {other}. How many "
            f"{things} does {who} have?"
        ),
        (
            f"{other} owns {base} {things}, which is {gap} more than {who} owns. How many {things} "
            f"does {who} own?"
        ),
    )
    return texts[nth], 2 * base + gap if nth == 0 else base - gap


def _percent(draw: Draw, nth: int) -> Problem:
    price, percent = draw.whole(4, 30) * 10, draw.whole(2, 9) * 5
    texts = (
        f"A coat costs ${price}. It is sold at {percent}% off. What is the new price in dollars?",
        f"Of {price} visitors, {percent}% came by bicycle. How many visitors came by bicycle?",
        f"The rent was ${price} and rises by {percent} percent. What is the rent now, in dollars?",
    )
    share = Fraction(price * percent, 100)
    return texts[nth], (price - share, share, price + share)[nth]


def _multiples(draw: Draw, nth: int) -> Problem:
    who, other, third = draw.some(PEOPLE, 3)
    fruit = draw.one(("pears", "plums", "cherries"))
    base = draw.whole(5, 20) * 2
    texts = (
        (
            f"{who} picked {base} {fruit}. {other} picked twice as many as {who}. How many {fruit} "
            f"did {other} pick?"
        ),
        (
            f"{who} picked {base} {fruit}, {other} picked twice as many, and {third} picked half "
            f"as many as {who}. How many {fruit} did they pick altogether?"
        ),
        (
            f"{who} picked {base} {fruit}, three times as many as {other} would need for {third}'s "
            f"cake, and gave half of them away. How many {fruit} does {who} keep?"
        ),
    )
    return texts[nth], (2 * base, 3 * base + base // 2, base // 2)[nth]


def _work_rate(draw: Draw, nth: int) -> Problem:
    machine, does, things = draw.one(_MACHINES)
    minutes, rate, later = draw.whole(3, 6), draw.whole(4, 12), draw.whole(8, 20)
    done = minutes * rate
    texts = (
        (
            f"A {machine} {does} {done} {things} in {minutes} minutes. How many {things} does it "
            f"make in {later} minutes?"
        ),
        (
            f"In {minutes} minutes a {machine} {does} {done} {things}. At that rate, how many "
            f"minutes does it need for {rate * later} {things}?"
        ),
        (
            f"A {machine} {does} {rate} {things} a minute. It runs for {later} minutes, then "
            f"{minutes} {things} are thrown away. How many {things} remain?"
        ),
    )
    return texts[nth], (rate * later, later, rate * later - minutes)[nth]


def _rectangle(draw: Draw, nth: int) -> Problem:
    long, wide = draw.whole(20, 45), draw.whole(6, 19)
    texts = (
        f"A field is {long} m long and {wide} m wide. How many metres of fence go around it?",
        f"A hall is {long} m long and {wide} m wide. What is its floor area in square metres?",
        (
            f"A rectangular pond of {long} m by {wide} m gets a path along its whole edge. How "
            "long is that edge in metres?"
        ),
    )
    return texts[nth], long * wide if nth == 1 else 2 * (long + wide)


def _change(draw: Draw, nth: int) -> Problem:
    who = draw.one(PEOPLE)
    count, price = draw.whole(2, 4), Fraction(draw.whole(10, 24), 4)
    note = 20 if count * price < 20 else 50
    texts = (
        (
            f"{who} pays for {count} cakes at ${float(price):.2f} each with a ${note} note. How "
            "much change is given, in dollars?"
        ),
        (
            f"{who} has ${note} and buys {count} books. One book costs ${float(price):.2f}. How "
            "many dollars are left?"
        ),
        (
            f"With ${note} in hand, {who} takes {count} tickets for ${float(price):.2f} each. What "
            "remains, in dollars?"
        ),
    )
    return texts[nth], note - count * price


def _needless_numbers(draw: Draw, nth: int) -> Problem:
    who, other = draw.some(PEOPLE, 2)
    age, shelves, books, lent = (
        draw.whole(8, 15),
        draw.whole(3, 8),
        draw.whole(6, 14),
        draw.whole(2, 9),
    )
    texts = (
        (
            f"{who} is {age} years old and has {shelves} shelves with {books} books each. {who} "
            f"lends {lent} books to {other}. How many books are still on the shelves?"
        ),
        (
            f"Bus {age} stops at 7 o'clock. {shelves * books} people are on it; {lent} get off and "
            f"{age + lent} get on. How many people are on the bus now?"
        ),
        (
            f"A team of {age} plants {shelves} rows of {books} trees in 2 days. {lent} trees do "
            "not grow. How many trees grow?"
        ),
    )
    total = shelves * books
    return texts[nth], total + age if nth == 1 else total - lent


_TOPICS: dict[str, Callable[[Draw, int], Problem]] = {
    "gains": _gains_and_losses,
    "groups": _groups,
    "prices": _two_prices,
    "distance": _distance,
    "sharing": _remainder,
    "comparing": _comparison,
    "percent": _percent,
    "multiples": _multiples,
    "work": _work_rate,
    "rectangle": _rectangle,
    "change": _change,
    "needless": _needless_numbers,
}
