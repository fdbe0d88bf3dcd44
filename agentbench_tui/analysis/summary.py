"""Descriptive figures of one column, and whether it is long and steady enough for them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import msgspec
import numpy as np
from numpy.typing import ArrayLike

from agentbench_tui.analysis.differences.rank import mann_whitney
from agentbench_tui.analysis.intervals.interval import Interval, t_log_interval, t_mean
from agentbench_tui.analysis.sample import column

MAD_TO_SD = 1.482602218505602
"""Makes the median absolute deviation estimate the sd of normal data: 1 / quantile(0.75)."""
DRIFT_FROM = 15
"""Thirds of 5 are the first whose rank test can fall below p = 0.01."""
LOOKS = (5, 10, 15, 20, 30)
"""Numbers of values at which a run may stop for precision; after the last, every 10."""
_LOOKS_THEN_EVERY = 10


class Summary(msgspec.Struct, frozen=True):
    """Figures of one column in its unit; None if a figure does not exist."""

    n: int
    mean: float
    sd: float | None
    """Sample standard deviation (n-1); None for one value."""
    min: float
    max: float
    median: float
    geometric_mean: float | None
    """None unless every value is positive."""
    mad: float
    """Median absolute deviation × 1.4826: the sd, were the data normal; ignores outliers."""
    cv: float | None
    """sd / mean; None for one value or a mean of 0."""


def summarize(values: ArrayLike) -> Summary | None:
    """Return the figures of a column; None for an empty one."""
    x = column(values)
    if x.size == 0:
        return None
    low, high, mean, median = float(x.min()), float(x.max()), float(x.mean()), float(np.median(x))
    mean = min(max(mean, low), high)  # a mean of equal values may round past them
    sd = None
    if x.size > 1:  # of equal values it is 0, although their mean may round
        sd = float(x.std(ddof=1)) if low < high else 0.0
    return Summary(
        n=x.size,
        mean=mean,
        sd=sd,
        min=low,
        max=high,
        median=median,
        geometric_mean=math.exp(float(np.log(x).mean())) if low > 0 else None,
        mad=MAD_TO_SD * float(np.median(np.abs(x - median))),
        cv=None if sd is None or mean == 0 else sd / mean,
    )


def quantile(values: ArrayLike, q: float) -> float:
    """Return the q-quantile by linear interpolation (type 7 of Hyndman & Fan 1996, as numpy).

    ValueError for an empty column or q outside 0 … 1.
    """
    x = column(values)
    if x.size == 0 or not 0 <= q <= 1:
        raise ValueError(f"a quantile needs values and 0 <= q <= 1, got {x.size} values, q = {q}")
    # As `np.quantile` has it, which imports a lot when it is called.
    at = (x.size - 1) * q
    below = math.floor(at)
    above = min(below + 1, x.size - 1)
    part = np.partition(x, [below, above])
    low, high, share = float(part[below]), float(part[above]), at - below
    if share >= 0.5:
        return high - (high - low) * (1 - share)
    return low + (high - low) * share


def needed(q: float, level: float = 0.95) -> int:
    """Return the fewest values that bound the q-quantile: 1 - q^n >= level.

    Below, the largest value seen is likelier than 1 - level to lie under the quantile, so that
    nothing bounds it. 59 for 0.95, 299 for 0.99, 2,995 for 0.999, 5 for the median; low
    quantiles mirror high ones.
    """
    if not 0 < q < 1 or not 0 < level < 1:
        raise ValueError(f"q and level must lie between 0 and 1, got {q} and {level}")
    return math.ceil(math.log1p(-level) / math.log(max(q, 1 - q)))


def supported(q: float, n: int, level: float = 0.95) -> bool:
    """Return whether n values are enough to print the q-quantile."""
    return n >= needed(q, level)


def iqm(values: ArrayLike) -> float:
    """Return the mean without the lowest and highest quarter, each rounded down to whole values.

    As in Agarwal et al. 2021 (rliable). ValueError for an empty column.
    """
    x = np.sort(column(values))
    if x.size == 0:
        raise ValueError("an interquartile mean needs values")
    cut = x.size // 4
    return float(x[cut : x.size - cut].mean())


def lag1_autocorrelation(values: ArrayLike) -> float | None:
    """Return r1 = Σ (x_t - m)(x_(t+1) - m) / Σ (x_t - m)², in order of time.

    None below 3 values or when all are equal.
    """
    x = column(values)
    if x.size < 3 or x.min() == x.max():
        return None
    deviations = x - x.mean()
    largest = float(np.abs(deviations).max())
    if largest == 0:  # tiny differences that the mean swallows
        return None
    deviations = deviations / largest  # squares of tiny values vanish
    return float(deviations[:-1] @ deviations[1:] / (deviations @ deviations))


def effective_sample_size(values: ArrayLike) -> float:
    """Return the effective number of independent values for the mean: n (1 - r1) / (1 + r1).

    Exact for a long AR(1) series. Held between 1 and n (0 for an empty column): a negative r1 is
    not taken for more data than there is, and neither is an unknown one.
    """
    n = column(values).size
    r1 = lag1_autocorrelation(values)
    if r1 is None:
        return float(n)
    return min(float(n), max(1.0, n * (1 - r1) / (1 + r1)))


def pass_at_k(n: int, c: int, k: int) -> float:
    """Chance that at least one of k answers passes, when c of n did: 1 - C(n-c,k)/C(n,k).

    Unbiased (Chen et al. 2021). For one case; take the mean over cases. ValueError unless
    0 <= c <= n and 1 <= k <= n.
    """
    _check_passes(n, c, k)
    draws = math.comb(n, k)
    return (draws - math.comb(n - c, k)) / draws


def pass_hat_k(n: int, c: int, k: int) -> float:
    """Chance that all of k answers pass, when c of n did: C(c,k)/C(n,k) (Yao et al. 2024)."""
    _check_passes(n, c, k)
    return math.comb(c, k) / math.comb(n, k)


def _check_passes(n: int, c: int, k: int) -> None:
    if not (0 <= c <= n and 1 <= k <= n):
        raise ValueError(f"needs 0 <= passes <= n and 1 <= k <= n, got c = {c}, n = {n}, k = {k}")


@dataclass(frozen=True, slots=True)
class Drift:
    """First against last third of a series."""

    first: float
    """Median of the first third."""
    last: float
    """Median of the last third."""
    p: float
    """Two-sided Mann-Whitney. Values that hang together in time make it too small."""


def drift(values: ArrayLike) -> Drift | None:
    """Return whether a series in order of time moved: p < 0.01 deserves a flag. None below 15
    values.
    """
    x = column(values)
    if x.size < DRIFT_FROM:
        return None
    third = x.size // 3
    first, last = x[:third], x[-third:]
    test = mann_whitney(first, last)
    assert test is not None
    return Drift(float(np.median(first)), float(np.median(last)), test.p)


def relative_half_width(interval: Interval, value: float) -> float:
    """Return half the width of the interval as a share of the value; infinite around 0."""
    half = (interval.high - interval.low) / 2
    if half == 0:
        return 0.0
    return half / abs(value) if value else math.inf


def precision_reached(
    values: ArrayLike,
    half_width: float,
    looks: Sequence[int] = LOOKS,
    level: float = 0.95,
    *,
    relative: bool = True,
) -> bool:
    """Return whether a series in order of time was precise enough at one of the planned looks.

    Precise is an interval with a half width of at most `half_width`: as a share of the value, of
    the geometric mean for positive values and of the mean otherwise; or, unless `relative`, in
    the unit of the values and of the mean. Only fixed numbers of values count (`looks`, after the
    last every 10 more), because stopping at the first lucky dip of a running figure makes
    intervals too narrow. Called late, it answers for the looks that were passed.
    """
    if half_width <= 0:
        raise ValueError(f"a positive half width is needed, got {half_width}")
    x = column(values)
    later = range(looks[-1] + _LOOKS_THEN_EVERY, x.size + 1, _LOOKS_THEN_EVERY) if looks else ()
    width = _relative_precision if relative else _precision
    return any(width(x[:look], level) <= half_width for look in (*looks, *later) if look <= x.size)


def _precision(values: ArrayLike, level: float) -> float:
    interval = t_mean(values, level)
    return math.inf if interval is None else (interval.high - interval.low) / 2


def _relative_precision(values: ArrayLike, level: float) -> float:
    summary = summarize(values)
    if summary is None:
        return math.inf
    if summary.geometric_mean is not None:
        interval, value = t_log_interval(values, level), summary.geometric_mean
    else:
        interval, value = t_mean(values, level), summary.mean
    return math.inf if interval is None else relative_half_width(interval, value)
