"""Differences of means over whole repeats, for all pairs of a table at once.

Of a thousand agents, half a million pairs: arrays take half a second, a loop five.
"""

from __future__ import annotations

import math
from functools import cache
from typing import TYPE_CHECKING

import msgspec
import numpy as np

from agentbench_tui.analysis.distribution import normal_cdf, student_cdf

if TYPE_CHECKING:
    from collections.abc import Sequence

    from agentbench_tui.analysis.sample import Floats

_MANY = 20_000
"""Number of pairs from which on importing scipy takes less time than it saves."""


class Strata(msgspec.Struct, frozen=True):
    """Mean over places with its error; variances are those of the places' means."""

    mean: float
    variances: tuple[float, ...]
    freedom: tuple[int, ...]
    known: bool
    """Whether every place has two values or more."""

    @classmethod
    def of(cls, places: Sequence[Floats]) -> Strata:
        """Return the mean over places of the mean of their values."""
        k = len(places)
        known = all(len(one) > 1 for one in places)
        return cls(
            float(np.mean([one.mean() for one in places])),
            tuple(float(one.var(ddof=1)) / len(one) / k**2 for one in places) if known else (),
            tuple(len(one) - 1 for one in places),
            known,
        )


def freedom_of_sum(variances: Sequence[float], freedom: Sequence[float]) -> float:
    """Return Satterthwaite's degrees of freedom of a sum of variances; infinite for known ones."""
    total = sum(variances)
    below = sum((v / total) ** 2 / n for v, n in zip(variances, freedom, strict=True))
    return 1 / below if below else math.inf


def repeat_differences(
    strata: Sequence[Strata], allowed: Floats | float = 0.0, run_error: Floats | float = 0.0
) -> Floats:
    """Return two-sided p of the difference of each pair of means, or of the part of it beyond what
    is allowed, by Welch's t: float64[agents, agents], below the diagonal; NaN elsewhere, and for
    pairs of which one is not known.

    `run_error`: a further standard error of the difference, with infinite degrees of freedom. Both
    are one for all pairs, or float64[agents, agents].
    """
    count = len(strata)
    p = np.full((count, count), np.nan)
    known = np.array([one.known for one in strata], np.bool_)
    a, b = np.nonzero(np.tril(np.logical_and.outer(known, known), -1))
    if not a.size:
        return p
    means = np.array([one.mean for one in strata])
    own = np.array([sum(one.variances) for one in strata])
    # Σ v² / n of each agent: Satterthwaite's degrees of freedom are the total² over those of both.
    squares = np.array(
        [sum(v**2 / n for v, n in zip(one.variances, one.freedom, strict=False)) for one in strata]
    )
    each = [np.broadcast_to(one, p.shape)[a, b] for one in (allowed, run_error)]
    difference = np.maximum(0.0, np.abs(means[a] - means[b]) - each[0])
    total = own[a] + own[b] + each[1] ** 2
    # Without any variance t has nothing to go by: the chance of just this split of the repeats.
    constant = own[a] + own[b] == 0
    found = np.zeros(a.size)
    found[constant] = [
        1.0 if apart == 0 else _chance_of_split(strata[first].freedom, strata[second].freedom)
        for first, second, apart in zip(
            a[constant].tolist(), b[constant].tolist(), difference[constant].tolist(), strict=True
        )
    ]
    varies = total > 0
    with np.errstate(divide="ignore"):
        freedom = total[varies] ** 2 / (squares[a] + squares[b])[varies]
    tails = _tails(-difference[varies] / np.sqrt(total[varies]), freedom)
    found[varies] = np.maximum(found[varies], np.minimum(1.0, 2 * tails))
    p[a, b] = found
    return p


@cache
def _chance_of_split(a: tuple[int, ...], b: tuple[int, ...]) -> float:
    """Return the chance that repeats of two agents, all alike, split as they did, two-sided."""
    splits = min(math.comb(n + m + 2, n + 1) for n, m in zip(a, b, strict=True))
    return min(1.0, 2 / splits)


def _tails(t: Floats, freedom: Floats) -> Floats:
    """Return P(T <= t), by the normal distribution where the degrees of freedom are infinite."""
    if t.size >= _MANY:
        from scipy.special import stdtr

        return np.asarray(stdtr(freedom, t))
    return np.array(
        [
            normal_cdf(one) if df == math.inf else student_cdf(one, df)
            for one, df in zip(t.tolist(), freedom.tolist(), strict=True)
        ]
    )
