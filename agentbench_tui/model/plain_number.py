"""Numbers in messages and tables, written as people write them."""

from __future__ import annotations

import math
from decimal import Decimal

_TINY = 1e-6
"""Nobody counts the zeros of less."""


def plain(value: float, digits: int = 12) -> str:
    """`1,000,000`, `0.00005`, `2.5`: the digits that it has, rounded to so many that matter, and no
    exponent but of what is tiny."""
    shortest = f"{value:.{digits}g}"
    is_tiny = 0 < abs(value) < _TINY
    return shortest if is_tiny or not math.isfinite(value) else f"{Decimal(shortest):,f}"
