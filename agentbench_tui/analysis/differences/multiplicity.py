"""p values adjusted for multiple testing; each result is in the order of its input.

For a family (the primary metrics of one comparison): `holm`, or `weighted_holm` where some matter
more; neither needs an assumption. For a scan
(many benchmarks × metrics): `benjamini_hochberg`, which bounds the share of false ones among those
found. What has no p is left out by the caller, who thereby says that it was not tested.
ValueError on NaN and outside [0, 1].
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from agentbench_tui.analysis.sample import Floats, column


def bonferroni(p: Sequence[float]) -> list[float]:
    """Return p × number of tests: the simplest bound on the probability of any false positive."""
    values = _probabilities(p)
    return _adjusted(values, np.full(values.size, float(values.size)), up=True)


def holm(p: ArrayLike) -> list[float]:
    """Bound the probability of any false positive (Holm 1979): the smallest p × n, the next × n-1,
    …
    """
    values = _probabilities(p)
    return _adjusted(values, np.arange(values.size, 0, -1.0), up=False)


def weighted_holm(p: Sequence[float], weights: Sequence[float]) -> list[float]:
    """Adjust like `holm`, with a share of the error for each test (Holm 1979, section 4).

    In order of p ÷ weight, p × the weights that are left ÷ its own; with equal weights `holm`.
    ValueError unless each p has a weight above 0.
    """
    values, shares = _probabilities(p), column(weights)
    if shares.size != values.size or (shares <= 0).any():
        raise ValueError("each p value needs a weight above 0")
    if not values.size:
        return []
    order = np.argsort(values / shares, kind="stable")
    left = np.cumsum(shares[order][::-1])[::-1]
    adjusted = np.empty(values.size)
    adjusted[order] = np.minimum(np.maximum.accumulate(values[order] * left / shares[order]), 1.0)
    return [float(one) for one in adjusted]


def hochberg_simes(p: Sequence[float]) -> list[float]:
    """Adjust like `holm`, but from the largest p up (Hochberg 1988): smaller, for independent
    tests.
    """
    values = _probabilities(p)
    return _adjusted(values, np.arange(values.size, 0, -1.0), up=True)


def benjamini_hochberg(p: Sequence[float]) -> list[float]:
    """Bound the share of false positives (Benjamini & Hochberg 1995): the i-th smallest p ×
    n / i.
    """
    values = _probabilities(p)
    return _adjusted(values, values.size / np.arange(1.0, values.size + 1), up=True)


def benjamini_yekutieli(p: Sequence[float]) -> list[float]:
    """Return `benjamini_hochberg` × Σ 1/i, for tests with any dependence (2001)."""
    values = _probabilities(p)
    places = np.arange(1.0, values.size + 1)
    return _adjusted(values, (1 / places).sum() * values.size / places, up=True)


def _probabilities(p: ArrayLike) -> Floats:
    values = column(p)
    if ((values < 0) | (values > 1)).any():
        raise ValueError("a p value lies between 0 and 1")
    return values


def _adjusted(values: Floats, factors: Floats, *, up: bool) -> list[float]:
    """Return the i-th smallest p times the i-th factor, made monotone in p, at most 1.

    Stepping up, a p takes over a smaller product of any larger p; stepping down, a larger product
    of any smaller p.
    """
    order = np.argsort(values)
    products = values[order] * factors
    if up:
        products = np.minimum.accumulate(products[::-1])[::-1]
    else:
        products = np.maximum.accumulate(products)
    adjusted = np.empty(values.size)
    adjusted[order] = np.minimum(products, 1.0)
    return [float(p) for p in adjusted]
