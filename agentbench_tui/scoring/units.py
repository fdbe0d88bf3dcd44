"""Numbers with their units: lengths, masses, times, ratios and money."""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction

from agentbench_tui.scoring.arithmetic import Value

_UNITS: dict[str, dict[str, str]] = {
    # Exact by definition: the international yard and pound agreement of 1959, and the SI.
    "length": {
        "mm|millimet(?:er|re)s?": "0.001",
        "cm|centimet(?:er|re)s?": "0.01",
        "m|met(?:er|re)s?": "1",
        "km|kilomet(?:er|re)s?": "1000",
        "inch|inches": "0.0254",
        "ft|foot|feet": "0.3048",
        "yd|yards?": "0.9144",
        "mi|miles?": "1609.344",
    },
    "mass": {
        "mg|milligrams?": "0.000001",
        "g|grams?": "0.001",
        "kg|kilograms?": "1",
        "t|tonnes?": "1000",
        "oz|ounces?": "0.028349523125",
        "lbs?|pounds?": "0.45359237",
    },
    "time": {
        "ms|milliseconds?": "0.001",
        "s|secs?|seconds?": "1",
        "min|mins|minutes?": "60",
        "h|hrs?|hours?": "3600",
        "days?": "86400",
        "weeks?": "604800",
    },
    "ratio": {"%|percent|per cent": "0.01"},
    "USD": {r"\$|USD|dollars?": "1", "¢|cents?": "0.01"},
    "EUR": {"€|EUR|euros?": "1"},
    "GBP": {"£|GBP": "1"},
    "JPY": {"¥|JPY|yen": "1"},
}
_SCALES = {"thousand": 10**3, "million": 10**6, "billion": 10**9, "trillion": 10**12}

_SPELLINGS = [
    (spelling, dimension, Fraction(factor))
    for dimension, units in _UNITS.items()
    for spelling, factor in units.items()
]
_UNIT = re.compile(
    r"[^\S\n]{0,3}-?(?:"
    + "|".join(f"({spelling})" for spelling, _, _ in _SPELLINGS)
    + r")(?![^\W_]|[/^²³])"
)
_SCALE = re.compile(r"[^\S\n]{0,3}(" + "|".join(_SCALES) + r")\b", re.IGNORECASE)
COMPOUND = frozenset({"length", "mass", "time", "USD", "EUR", "GBP"})
"""Dimensions whose quantities are also written in parts: `2 hours 30 minutes`."""


@dataclass(frozen=True, slots=True)
class Unit:
    """A known unit."""

    dimension: str
    """`length`, `mass`, `time`, `ratio` or a currency code."""
    factor: Fraction
    """Its value in base units (m, kg, s, 1, one unit of money)."""


@dataclass(frozen=True, slots=True)
class Number:
    """A number as written, and its unit when it is a known one."""

    value: Value
    unit: Unit | None = None
    exact: Value | None = None
    """What the value is rounded from: 1/3 in `1/3 ≈ 0.333`."""

    @property
    def base_value(self) -> Value:
        """The value in base units; the value itself without a unit."""
        return self.value if self.unit is None else self.value * self.unit.factor


def scale_at(text: str, position: int) -> tuple[int, int] | None:
    """The factor of a word such as `million` at a position, and where the word ends."""
    match = _SCALE.match(text, position)
    return None if match is None else (_SCALES[match[1].lower()], match.end())


def unit_at(text: str, position: int) -> tuple[Unit, int] | None:
    """The known unit at a position, with up to three spaces or a hyphen before, and its end."""
    match = _UNIT.match(text, position)
    if match is None or match.lastindex is None:
        return None
    _, dimension, factor = _SPELLINGS[match.lastindex - 1]
    return Unit(dimension, factor), match.end()
