"""Solves word problems by rules, each for one kind of situation."""

from __future__ import annotations

import re
from collections.abc import Callable
from fractions import Fraction
from math import prod

from agentbench_tui.agents.quickstart.language import NUMBER, numbers, read_number, singular

_N = rf"({NUMBER})"
_MONEY = rf"\$({NUMBER})"
_LOSSES = r"gives?|gave|lost|loses?|took|lends?|lent|get off|thrown away|do not grow|away"
_GAINS = r"buys?|bought|found|finds?|won|wins?|collected|get on|picked|has|had|were|are on|prints"
_MULTIPLES = {"twice": Fraction(2), "double": Fraction(2), "half": Fraction(1, 2)}
_MULTIPLES |= {"three times": Fraction(3), "a third": Fraction(1, 3)}

Rule = Callable[[str], Fraction | None]


LONGEST_PROBLEM = 1000
"""Characters of a text that the rules are made for; in longer ones they would search for long."""


def solve(text: str) -> Fraction | None:
    """Return the requested number, or None if no rule matches. The first matching rule counts."""
    if len(text) > LONGEST_PROBLEM:
        return None
    for rule in RULES:
        value = rule(text)
        if value is not None:
            return value
    return None


def _rectangle(text: str) -> Fraction | None:
    sides = re.search(rf"{_N} m long and {_N} m wide|{_N} m by {_N} m", text)
    if sides is None:
        return None
    a, b = (read_number(side) for side in sides.groups() if side)
    return a * b if re.search("area|square", text) else 2 * (a + b)


def _percent(text: str) -> Fraction | None:
    share = re.search(rf"{_N}(?:%| percent)", text)
    if share is None:
        return None
    rest = numbers(text.replace(share[0], " "))
    if not rest:
        return None
    part = rest[0] * read_number(share[1]) / 100
    if re.search("off|falls|reduced|cheaper", text):
        return rest[0] - part
    return rest[0] + part if re.search("rises|raised|dearer", text) else part


def _sharing(text: str) -> Fraction | None:
    if not re.search("equally|evenly|full (bags|boxes)", text):
        return None
    values = sorted(numbers(text), reverse=True)
    if len(values) != 2 or not values[1]:
        return None
    many, few = values
    return many % few if re.search("left over|remain", text) else Fraction(many // few)


def _rate(text: str) -> Fraction | None:
    if re.search(r"km/h|per hour|an hour|a minute", text):
        losses = [read_number(n) for n in re.findall(rf"then {_N} \w+ are thrown", text)]
        values = [value for value in numbers(text) if value not in losses]
        return prod(values, start=Fraction(1)) - sum(losses) if len(values) == 2 else None
    made = re.search(rf"{_N} \w+ in {_N} minutes|In {_N} minutes a \w+ \w+ {_N}", text)
    if made is None:
        return None
    if made[1]:
        count, minutes = read_number(made[1]), read_number(made[2])
    else:
        minutes, count = read_number(made[3]), read_number(made[4])
    asked = numbers(text[made.end() :])
    if not asked or not count or not minutes:
        return None
    if "how many minutes" in text:
        return asked[-1] * minutes / count
    return asked[-1] * count / minutes


def _bill(text: str) -> Fraction | None:
    """Return the cost of several priced goods, or the change."""
    prices = {
        singular(noun): read_number(price)
        for noun, price in re.findall(rf"(?:[Aa]n?|One) (\w+) (?:costs|is) {_MONEY}", text)
    }
    at_each = re.findall(rf"{_N} \w+ (?:at|for) {_MONEY} each", text)
    total = sum((read_number(n) * read_number(price) for n, price in at_each), Fraction(0))
    for count, noun in re.findall(rf"(?<!\$){_N} (\w+)", text):
        total += read_number(count) * prices.get(singular(noun), Fraction(0))
    if not at_each and not prices:
        return None
    hand = re.search(rf"a {_MONEY} note|(?:has|With) {_MONEY}", text)
    if hand is None:
        return total or None
    return read_number(hand[1] or hand[2]) - total


def _comparison(text: str) -> Fraction | None:
    difference = re.search(rf"{_N} (more|fewer|less) (?:\w+ )?than", text)
    if difference is None:
        return None
    by = read_number(difference[1]) * (1 if difference[2] == "more" else -1)
    others = numbers(text.replace(difference[0], " "))
    if len(others) != 1:
        return None
    if re.search(rf"which is {re.escape(difference[0])}", text):
        return others[0] - by
    other = others[0] + by
    return others[0] + other if "together" in text else other


def _multiple(text: str) -> Fraction | None:
    words = "|".join(_MULTIPLES)
    found = re.findall(rf"({words}) as many", text)
    values = numbers(text)
    if not found or len(values) != 1:
        return None
    amounts = [values[0], *(values[0] * _MULTIPLES[word] for word in found)]
    return sum(amounts, Fraction(0)) if "altogether" in text else amounts[-1]


def _groups(text: str) -> Fraction | None:
    if not re.search(r"\b(each|[Ee]very|[Oo]ne \w+ holds|rows of)\b", text):
        return None
    grouped = re.search(
        rf"{_N} \w+ (?:with|of) {_N} \w+(?: each| in each)?|{_N} (?:bags|boxes)\D+{_N}"
        rf"|{_N} \w+\. How many \w+ are in {_N}|holds {_N} \w+\D+{_N}",
        text,
    )
    if grouped is None:
        return None
    total = prod(read_number(value) for value in grouped.groups() if value)
    after = text[grouped.end() :]
    for count in re.findall(rf"{_N} \w+ (?:do not grow|break)|(?:lends|gives) {_N}", after):
        total -= read_number(next(filter(None, count)))
    return Fraction(total)


def _events(text: str) -> Fraction | None:
    """A running count: the initial number, then additions and removals."""
    story = re.sub(r"[^.?]*\bo'clock\b[^.?]*[.?]|\d+ years old|^\w+ \d+ ", " ", text)
    total: Fraction | None = None
    verb = ""
    for match in re.finditer(rf"\b({_LOSSES}|{_GAINS})\b|{_N}", story):
        word, value = match[1], match[2]
        if word is not None:
            verb = word
        elif total is None:
            total = read_number(value)
        else:
            ahead = re.match(rf"[^,;.?]*?\b({_LOSSES}|{_GAINS})\b", story[match.end() :])
            word = verb or (ahead[1] if ahead else "")
            lost = re.fullmatch(_LOSSES, word) is not None
            total += -read_number(value) if lost else read_number(value)
    return total


RULES: tuple[Rule, ...] = (
    _rectangle,
    _percent,
    _sharing,
    _rate,
    _bill,
    _comparison,
    _multiple,
    _groups,
    _events,
)
