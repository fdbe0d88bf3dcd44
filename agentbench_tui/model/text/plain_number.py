"""Numbers in messages and tables, written as people write them."""

from __future__ import annotations

import math
from decimal import Decimal

_TINY = 1e-6
"""Nobody counts the zeros of less."""


def plain(value: float, digits: int = 12, *, filled: bool = False, grouped: bool = True) -> str:
    """`1,000,000`, `0.00005`, `2.5`: the digits that it has, rounded to so many that matter, and no
    exponent but of what is tiny.

    `filled` up with zeros to so many digits; without commas where not `grouped`.
    """
    shortest = f"{value:{'#' if filled else ''}.{digits}g}"
    if 0 < abs(value) < _TINY or not math.isfinite(value):
        return shortest
    return f"{Decimal(shortest):{',' if grouped else ''}f}"


def percent_number(value: float, decimals: int = 0) -> str:
    """`12`, `99.7`: a percentage, with more decimals where it would round up to 100.

    Nothing that is 99.7% lower is shown as 100% lower, which would be zero.
    """
    rest = 100 - value
    if 0 < rest < 0.5:
        decimals = max(decimals, math.ceil(-math.log10(rest)))
    return f"{value:z,.{decimals}f}"


def counted(count: int, thing: str) -> str:
    """`1 case`, `1,200 cases`."""
    return f"{count:,} {thing}{'' if count == 1 else 's'}"
