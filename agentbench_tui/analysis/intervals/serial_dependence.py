"""Effective number of independent values of a column in order of time, for its mean and
quantiles.

Neighbors that are alike say less than independent values: n of an AR(1) series with correlation r
are worth n (1 - r) / (1 + r) for their mean. For a quantile what counts is how far the values below
it go together, which follows from r if the ranks are those of a normal series.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike

from agentbench_tui.analysis.distribution import normal_quantile
from agentbench_tui.analysis.sample import Floats, column
from agentbench_tui.analysis.summary import lag1_autocorrelation

FEWEST = 6
"""Minimum number of values; fewer have no usable correlation, and count as at most two."""
LEAST_WORTH = 2.0
_FEW = 20
_HIGHEST = 0.95
_FARTHEST = 200
"""Lags; at the highest correlation 200 steps leave 0.00004."""
_ANGLES = 200
_FARTHEST_SCORE = 6.0
"""The score of the lowest of 500 million values."""
_SCORES = 8_001


def worth_of_mean(values: ArrayLike, caution: float = 0.0) -> float:
    """Return the effective number of independent values for the mean, between 2 and n.

    r1 of few values lies (1 + 4r) / n too low (Marriott & Pope 1954). `caution` is the number of
    its standard errors, 1/√n, that are put upon it.
    """
    x = column(values)
    n = x.size
    if n < FEWEST:
        return LEAST_WORTH
    r = _corrected(lag1_autocorrelation(x), n, caution)
    return max(n * (1 - r) / (1 + r), LEAST_WORTH)


def worth_of_quantile(values: ArrayLike, q: float) -> float:
    """Return the effective number of independent values for the q-quantile, between 2 and n.

    A column in order of size is not taken for one in order of time. Simulated series with
    correlations up to 0.9 set the caution: too high a worth is an interval that misses, so half a
    standard error of the correlation is put upon one that is beyond two, and a whole one on any of
    below 20 values.
    """
    x = column(values)
    n = x.size
    if n < FEWEST or not 0 < q < 1:
        return float(n)
    steps = np.diff(x)
    if (steps >= 0).all() or (steps <= 0).all():
        return float(n)
    found = lag1_autocorrelation(_normal_scores(x))
    r = _corrected(found, n, 0.0)
    if n < _FEW:
        r = _corrected(found, n, 1.0)
    elif r > 2 / math.sqrt(n):
        r = _corrected(found, n, 0.5)
    if r == 0:
        return float(n)
    lags = np.arange(1, min(n, _FARTHEST))
    angles, shares = _indicator_correlation(q)
    alike = np.interp(np.arcsin(r**lags), angles, shares)
    return max(n / (1 + 2 * float(alike @ (1 - lags / n))), LEAST_WORTH)


def _corrected(r1: float | None, n: int, caution: float) -> float:
    if r1 is None:
        return 0.0
    r = (n * r1 + 1) / (n - 4)
    return 0.0 if r <= 0 else min(r + caution / math.sqrt(n), _HIGHEST)


def _normal_scores(x: Floats) -> Floats:
    """Return Φ⁻¹((rank - 1/2) / n) with averaged ranks for ties, so that one outlier is no
    correlation.

    Read from a table, to 1e-6: scipy's function takes a third of a second to import.
    """
    order = np.argsort(x, kind="stable")
    ordered = x[order]
    tie = np.concatenate([[0], np.cumsum(ordered[1:] != ordered[:-1])])
    counts = np.bincount(tie)
    middle = (np.cumsum(counts) - counts / 2) / x.size
    scores = np.empty(x.size)
    scores[order] = np.interp(middle, *_normal_table())[tie]
    return scores


@lru_cache(maxsize=1)
def _normal_table() -> tuple[Floats, Floats]:
    """Return Φ(z) and z, ascending."""
    z = np.linspace(-_FARTHEST_SCORE, _FARTHEST_SCORE, _SCORES)
    root = math.sqrt(2)
    return np.array([math.erfc(-one / root) / 2 for one in z.tolist()]), z


@lru_cache(maxsize=64)
def _indicator_correlation(q: float) -> tuple[Floats, Floats]:
    """Return, by arcsin r, the correlation of "both below the q-quantile" of two normal values.

    ∫ exp(-z² / (1 + sin θ)) dθ / (2π q (1-q)) from 0 to arcsin r (Owen 1956); 2/π arcsin r for the
    median.
    """
    z = normal_quantile(q)
    angles = np.linspace(0, math.asin(_HIGHEST), _ANGLES)
    density = np.exp(-z * z / (1 + np.sin(angles))) / (2 * math.pi * q * (1 - q))
    steps = (density[1:] + density[:-1]) / 2 * np.diff(angles)
    return angles, np.concatenate([[0.0], np.cumsum(steps)])
