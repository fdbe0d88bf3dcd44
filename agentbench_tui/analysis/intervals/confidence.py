"""One method for both a p value and its interval, so that they never contradict each other.

A method answers how well the data reject a true value: `rejects_up_to(value)` is the one-sided p
against every truth up to the value, `rejects_from(value)` against every truth from it on. The
two-sided p is twice the smaller one, and the interval holds the values with a p of alpha or more:
it excludes a value exactly when that value's p is below alpha.
"""

from __future__ import annotations

import math
from typing import Protocol

import msgspec

from agentbench_tui.analysis.distribution import student_cdf, student_quantile
from agentbench_tui.analysis.sample import upper_share

ROUNDED = 1e-9
"""Rounding error of a product of a small share and a count above a whole number."""


class Confidence(Protocol):
    """Confidence statement about one number."""

    def rejects_up_to(self, value: float) -> float:
        """Return the one-sided p against truths up to the value; nondecreasing in the value."""

    def rejects_from(self, value: float) -> float:
        """Return the one-sided p against truths from the value on; nonincreasing in the value."""

    def ends(self, tail: float) -> tuple[float, float]:
        """Return the least and the largest value whose one-sided p values are `tail` or more.

        An end is infinite (0 for a ratio) where the data exclude nothing on that side.
        """


def two_sided_p(found: Confidence, value: float) -> float:
    """Return the two-sided p of the hypothesis that the truth is the value."""
    return min(1.0, 2 * min(found.rejects_up_to(value), found.rejects_from(value)))


def two_sided_ends(found: Confidence, level: float) -> tuple[float, float]:
    """Return the ends of the interval at the level, which go with `two_sided_p`."""
    return found.ends(1 - upper_share(level))


class Cautious(msgspec.Struct, frozen=True):
    """The more cautious of two methods on each side: the larger p, the wider end."""

    first: Confidence
    second: Confidence

    def rejects_up_to(self, value: float) -> float:
        return max(self.first.rejects_up_to(value), self.second.rejects_up_to(value))

    def rejects_from(self, value: float) -> float:
        return max(self.first.rejects_from(value), self.second.rejects_from(value))

    def ends(self, tail: float) -> tuple[float, float]:
        of_first, of_second = self.first.ends(tail), self.second.ends(tail)
        return min(of_first[0], of_second[0]), max(of_first[1], of_second[1])


def least_count(tail: float, of: int) -> int:
    """Return the fewest of so many equally likely outcomes whose share is `tail` or more."""
    return max(0, math.ceil(tail * of - ROUNDED))


class ByStudent(msgspec.Struct, frozen=True):
    """An estimate with its standard error, by Student's t."""

    estimate: float
    error: float
    df: float

    def rejects_up_to(self, value: float) -> float:
        return student_cdf(-self._t(value), self.df)

    def rejects_from(self, value: float) -> float:
        return student_cdf(self._t(value), self.df)

    def ends(self, tail: float) -> tuple[float, float]:
        half = student_quantile(1 - tail, self.df) * self.error
        return self.estimate - half, self.estimate + half

    def _t(self, value: float) -> float:
        difference = self.estimate - value
        if self.error == 0:
            return math.copysign(math.inf, difference) if difference else 0.0
        return difference / self.error
