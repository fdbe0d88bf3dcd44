"""Roots of functions of one variable.

scipy's `optimize`, which has many ways to find one, takes longer to import than a comparison to
compute.
"""

from __future__ import annotations

import math
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

_EPSILON = sys.float_info.epsilon


def root_between(
    function: Callable[[float], float], low: float, high: float, tolerance: float
) -> float:
    """Return where the function crosses 0 between two places, to within 2 × `tolerance`.

    Inverse quadratic interpolation where it is safe, bisection elsewhere (Chandrupatla 1997).
    ValueError unless the function has different signs at the ends, or is 0 at one.
    """
    b, a = low, high
    at_a, at_b = function(a), function(b)
    if at_a == 0 or at_b == 0:
        return a if at_a == 0 else b
    if not at_a * at_b < 0:
        raise ValueError(f"no change of sign between {low} and {high}")
    step = 0.5
    while True:
        x = a + step * (b - a)
        at_x = function(x)
        if (at_x > 0) == (at_a > 0):
            c, at_c = a, at_a
        else:
            c, at_c, b, at_b = b, at_b, a, at_a
        a, at_a = x, at_x
        best, at_best = (a, at_a) if abs(at_a) < abs(at_b) else (b, at_b)
        least = 2 * (_EPSILON * abs(best) + tolerance) / abs(b - c)
        if at_best == 0 or least > 0.5 or math.isnan(at_x):
            return best
        step = min(1 - least, max(least, _step(a, b, c, at_a, at_b, at_c)))


def _step(a: float, b: float, c: float, at_a: float, at_b: float, at_c: float) -> float:
    """Return the next place as a share of the way from a to b."""
    chi, phi = (a - b) / (c - b), (at_a - at_b) / (at_c - at_b)
    if not (phi**2 < chi and (1 - phi) ** 2 < 1 - chi):
        return 0.5
    return at_a / (at_b - at_a) * at_c / (at_b - at_c) + (c - a) / (b - a) * at_a / (
        at_c - at_a
    ) * at_b / (at_c - at_b)
