"""Formats numbers in messages and tables as people write them."""

from __future__ import annotations

import math
from decimal import Decimal

_TINY = 1e-6
"""Smaller values use an exponent."""


def plain(value: float, digits: int = 12, *, filled: bool = False, grouped: bool = True) -> str:
    """Format `1,000,000`, `0.00005`, `2.5`: rounded to significant digits, with an exponent only
    for tiny values. `filled` pads with zeros; without commas unless `grouped`.
    """
    shortest = f"{value:{'#' if filled else ''}.{digits}g}"
    if 0 < abs(value) < _TINY or not math.isfinite(value):
        return shortest
    return f"{Decimal(shortest):{',' if grouped else ''}f}"


def with_unit(number: str, unit: str) -> str:
    """Append a unit after a space, `%` without one: `5 ms`, `5%`, or `5` for an empty unit."""
    return f"{number}{'' if unit.startswith('%') else ' '}{unit}".rstrip()


def percent_number(value: float, decimals: int = 0) -> str:
    """Format `12`, `99.7`: a percentage, with more decimals if it would round up to 100.

    A reduction of 99.7% is not shown as 100%, which would mean zero.
    """
    rest = 100 - value
    if 0 < rest < 0.5:
        decimals = max(decimals, math.ceil(-math.log10(rest)))
    return f"{value:z,.{decimals}f}"


def counted(count: int, thing: str) -> str:
    """Format a count with its noun: `1 case`, `1,200 cases`."""
    return f"{count:,} {thing}{'' if count == 1 else 's'}"
