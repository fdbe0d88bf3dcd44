"""Numbers as people and models write them: signs, thousands, fractions, percent, money, units.

Read: `-1,250.50`, `−3` (minus sign), `1 000` (no-break or thin
space), `2.5e-3`, `1.2 × 10^5`, `3/4`, `1 3/4`, `$5`, `5 €`,
`12%`, `3.2 km`, `1.8 billion`. Not read: words (`twelve`), decimal commas unless asked for.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import Literal

Decimal = Literal[".", ","]

_UNITS: dict[str, dict[str, float]] = {
    # Exact by definition: the international yard and pound agreement of 1959, and the SI.
    "length": {
        "mm|millimet(?:er|re)s?": 0.001,
        "cm|centimet(?:er|re)s?": 0.01,
        "m|met(?:er|re)s?": 1.0,
        "km|kilomet(?:er|re)s?": 1000.0,
        "inch|inches": 0.0254,
        "ft|foot|feet": 0.3048,
        "yd|yards?": 0.9144,
        "mi|miles?": 1609.344,
    },
    "mass": {
        "mg|milligrams?": 1e-6,
        "g|grams?": 0.001,
        "kg|kilograms?": 1.0,
        "t|tonnes?": 1000.0,
        "oz|ounces?": 0.028349523125,
        "lbs?|pounds?": 0.45359237,
    },
    "time": {
        "ms|milliseconds?": 0.001,
        "s|secs?|seconds?": 1.0,
        "min|mins|minutes?": 60.0,
        "h|hrs?|hours?": 3600.0,
        "days?": 86_400.0,
        "weeks?": 604_800.0,
    },
    "ratio": {"%|percent|per cent": 0.01},
    "USD": {r"\$|USD|dollars?": 1.0, "¢|cents?": 0.01},
    "EUR": {"€|EUR|euros?": 1.0},
    "GBP": {"£|GBP": 1.0},
    "JPY": {"¥|JPY|yen": 1.0},
}
_SCALES = {"thousand": 1e3, "million": 1e6, "billion": 1e9, "trillion": 1e12}

_FLAT = [
    (spelling, dimension, factor)
    for dimension, units in _UNITS.items()
    for spelling, factor in units.items()
]
_UNIT = re.compile(
    r"[\s-]?(?:" + "|".join(f"({spelling})" for spelling, _, _ in _FLAT) + r")(?![\w/^²³])"
)
_SCALE = re.compile(r"\s?(" + "|".join(_SCALES) + r")\b", re.IGNORECASE)
_SIGN = r"(?:(?<![\w.,)\]])[-+−])?"
_MONEY = r"(?P<money>[$€£¥])?\s?"
_TAIL = r"(?:[eE][-+−]?\d+(?!\w)|\s?[×x*]\s?10\s?\^\s?\{?(?P<power>[-+−]?\d+)\}?)?"


def _number_pattern(decimal: Decimal) -> re.Pattern[str]:
    point, comma = re.escape(decimal), "," if decimal == "." else r"\."
    grouped = rf"\d{{1,3}}(?:[{comma}\u00a0\u202f\u2009_']\d{{3}})+(?!\d)"
    whole = rf"(?:{grouped}|\d+)"
    return re.compile(
        rf"(?P<sign>{_SIGN}){_MONEY}(?P<inner>(?<=[$€£¥])[-−])?"
        rf"(?<![\d/.,])(?:(?P<mixed>\d+)\s)?(?P<top>\d+)/(?P<bottom>\d+)(?![\d/])"
        rf"|(?P<sign2>{_SIGN}){_MONEY.replace('money', 'money2')}(?P<inner2>(?<=[$€£¥])[-−])?"
        rf"(?P<body>{whole}(?:{point}\d+)?|(?<!\d){point}\d+){_TAIL}"
    )


_PATTERNS: dict[Decimal, re.Pattern[str]] = {".": _number_pattern("."), ",": _number_pattern(",")}


@dataclass(frozen=True, slots=True)
class Number:
    """A number as written, and its unit when it is a known one."""

    value: float
    dimension: str | None = None
    """`length`, `mass`, `time`, `ratio`, a currency code, or None without a known unit."""
    factor: float = 1.0
    """Value in base units (m, kg, s, 1, one unit of money) of one of its unit."""

    @property
    def base_value(self) -> float:
        """The value in base units."""
        return self.value * self.factor


def read_numbers(text: str, decimal: Decimal = ".") -> list[Number]:
    """Every finite number in the text, in order."""
    numbers = (_number(match, text, decimal) for match in _PATTERNS[decimal].finditer(text))
    return [number for number in numbers if number is not None]


def _number(match: re.Match[str], text: str, decimal: Decimal) -> Number | None:
    parts = match.groupdict()
    if parts["top"] is not None:
        bottom = float(parts["bottom"])
        if not bottom:
            return None
        value = float(parts["mixed"] or 0) + float(parts["top"]) / bottom
    else:
        value = _value(match, decimal)
    signs = (parts["sign"] or "") + (parts["sign2"] or "")
    signs += (parts["inner"] or "") + (parts["inner2"] or "")
    if "-" in signs or "−" in signs:
        value = -value
    end = match.end()
    scale = _SCALE.match(text, end)
    if scale is not None:
        value, end = value * _SCALES[scale[1].lower()], scale.end()
    if not math.isfinite(value):
        return None
    money = parts["money"] or parts["money2"]
    unit = _UNIT.match(money) if money else _UNIT.match(text, end)
    if unit is None or unit.lastindex is None:
        return Number(value)
    _, dimension, factor = _FLAT[unit.lastindex - 1]
    return Number(value, dimension, factor)


def _value(match: re.Match[str], decimal: Decimal) -> float:
    written = match["body"]
    tail = match[0][match.end("body") - match.start() :] if match["power"] is None else ""
    for separator in ("_", "'", "\u00a0", "\u202f", "\u2009", "." if decimal == "," else ","):
        written = written.replace(separator, "")
    value = float(written.replace(decimal, ".") + tail.strip().replace("−", "-"))
    power = match["power"]
    if power is None:
        return value
    try:
        # A float: a whole number of thousands of digits is refused by Python.
        return value * math.pow(10, float(power.replace("−", "-")))
    except OverflowError:
        return math.inf
