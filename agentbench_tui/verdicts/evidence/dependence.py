"""Correlation between consecutive answers, and its effect on a difference of means.

By simulation on seven shapes of noise (benchmarks/compare_rates.py) this keeps false alarms near
5% on bursts and on AR(1) of 0.7, where tests that take answers for independent reach 40 to 55%;
independent answers lose some power by it, 100% stay 100% at n = 30 and 20% more of sd 0.1.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import msgspec

from agentbench_tui.analysis.distribution import student_cdf
from agentbench_tui.analysis.intervals.serial_dependence import LEAST_WORTH, worth_of_mean

if TYPE_CHECKING:
    from agentbench_tui.analysis.sample import Floats

_CAUTION = 0.5
"""Standard errors (1/√n) added to the correlation of neighbors, whose estimate is rough."""


class Dependence(msgspec.Struct, frozen=True):
    """Correlation of the values behind a difference of means."""

    factor: float
    """By what its variance is larger than that of independent values; 1 and more."""
    worth: float
    """Effective number of independent values per side, or of pairs."""
    p: float
    """Two-sided p of the difference, by *t* with that many values."""
    df: float
    error: float
    """Standard error of the difference."""


def paired_dependence(d: Floats, again: Floats | None = None) -> Dependence | None:
    """Return the correlation for the mean of differences in order of time; None for one value or
    equal ones.

    `again` holds the differences in the order in which the other side was asked, if it differs.
    Correlation on one side shows only in that side's order; the order with the smaller effective
    number counts.
    """
    if len(d) < LEAST_WORTH or d.min() == d.max():
        return None
    worth = min(worth_of_mean(one, _CAUTION) for one in (d, again) if one is not None)
    variance = float(d.var(ddof=1))
    if variance == 0:  # of differences so tiny that their squares vanish
        return None
    error = math.sqrt(variance / worth)
    p = 2 * student_cdf(-abs(float(d.mean())) / error, worth - 1)
    return Dependence(len(d) / worth, worth, p, worth - 1, error)


def group_dependence(x: Floats, y: Floats) -> Dependence | None:
    """Return the correlation for mean(y) - mean(x), each in order of time; None for one value or
    equal ones.
    """
    if min(len(x), len(y)) < LEAST_WORTH:
        return None
    worths = worth_of_mean(x), worth_of_mean(y)
    variances = float(x.var(ddof=1)), float(y.var(ddof=1))
    parts = [v / n for v, n in zip(variances, worths, strict=True)]
    whole = sum(parts)
    if whole <= 0:
        return None
    shares = [part / whole for part in parts]
    df = 1 / sum(s * s / (n - 1) for s, n in zip(shares, worths, strict=True))
    error = math.sqrt(whole)
    p = 2 * student_cdf(-abs(float(y.mean() - x.mean())) / error, df)
    independent = variances[0] / len(x) + variances[1] / len(y)
    return Dependence(whole / independent, min(worths), p, df, error)
