"""Random choices that give the same values on every Python version."""

from __future__ import annotations

import random
from collections.abc import Sequence
from datetime import date, timedelta
from fractions import Fraction
from typing import TypeVar

Item = TypeVar("Item")

PEOPLE = ("Mara", "Leon", "Ivo", "Nina", "Tomas", "Ana", "Petra", "Samir", "Yuki", "Olga")
_FIRST_DAY = date(2025, 1, 6)


class Draw:
    """A seeded source of choices: built on `getrandbits`, whose output Python keeps stable."""

    def __init__(self, seed: int, topic: str) -> None:
        self._random = random.Random(f"{seed}:{topic}")  # noqa: S311 - repeatable, not secret

    def whole(self, low: int, high: int) -> int:
        """Draw a whole number from `low` to `high`, inclusive."""
        return low + self._random.getrandbits(32) % (high - low + 1)

    def one(self, items: Sequence[Item]) -> Item:
        """Draw one of the items."""
        return items[self.whole(0, len(items) - 1)]

    def some(self, items: Sequence[Item], count: int) -> list[Item]:
        """Draw `count` different items, in drawn order."""
        left = list(items)
        return [left.pop(self.whole(0, len(left) - 1)) for _ in range(count)]

    def day(self) -> date:
        """Draw a day of the two years from 2025-01-06."""
        return _FIRST_DAY + timedelta(days=self.whole(0, 729))


def plain(value: Fraction | int) -> str:
    """Format a number as a person writes it: `12`, `0.5`, at most six decimals, no trailing
    zeros.
    """
    value = Fraction(value)
    if value.denominator == 1:
        return str(value.numerator)
    return f"{float(value):.6f}".rstrip("0").rstrip(".")
