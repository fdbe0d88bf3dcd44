"""The number and interval that a table prints for a metric, by kind of metric."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from agentbench_tui.analysis.intervals.effective_number import bounded_mean
from agentbench_tui.analysis.intervals.interval import (
    Interval,
    clustered_mean,
    quantile_interval,
    ratio_of_sums,
    t_log_interval,
    t_mean,
)
from agentbench_tui.analysis.intervals.serial_dependence import worth_of_quantile
from agentbench_tui.analysis.intervals.skewed_amount import (
    REPEATS_FROM,
    SKEWED_FROM,
    skewed_mean,
)
from agentbench_tui.analysis.sample import Floats, column, grouped, median
from agentbench_tui.analysis.summary import needed, quantile, supported

Kind = Literal["time", "share", "amount"]


@dataclass(frozen=True, slots=True)
class Estimate:
    """A number to print, with its uncertainty."""

    value: float | None
    low: float | None
    high: float | None
    n: int
    """Observations."""
    method: str
    """What the value is and how the interval was found."""
    reason: str = ""
    """Why the value or its interval is missing, such as `needs 59 (have 12)`."""


def estimate(
    values: ArrayLike,
    kind: Kind,
    clusters: ArrayLike | None = None,
    runs: ArrayLike | None = None,
    level: float = 0.95,
) -> Estimate:
    """Return the value of a metric over its observations, float64[n], with an interval if there is
    one.

    - `share`: values in [0, 1]: Wilson on the effective number of cases (`bounded_mean`), which for
      yes/no values, one a case, is Wilson's own interval. Several observations a case
      (`clusters`, int64[n]) count as one unit.
    - `time`: values >= 0. Two repeats or more (`runs`, int64[n]): geometric mean of the repeats'
      medians, t on logs over repeats, since samples of one repeat are not independent. One repeat,
      in order of time: the median, with order statistics of the number of independent values that
      the repeat is worth; that interval holds for this repeat only.
    - `amount` (tokens, cost, …): mean with t below 5 cases, clustered where cases repeat, and from
      5 on with an interval that allows for skew (`skewed_mean`); not below 0 when no value is.
      Two repeats or more (`runs`) are the units instead of the cases, with t below 10 of them.

    A single case is its own population: its observations then count as independent.
    ValueError on NaN and infinity, on values out of range, and on labels of another length.
    """
    x = column(values)
    cases = None if clusters is None else _repeated(x, clusters)
    if x.size == 0:
        return Estimate(None, None, None, 0, "none", "no observations")
    if kind == "time":
        return _time(x, runs, level)
    if kind == "share":
        return _share(x, cases, level)
    if runs is not None and grouped(x, runs)[1] > 1:
        return _amount(x, _repeated(x, runs), level, REPEATS_FROM)
    return _amount(x, cases, level, SKEWED_FROM)


def ratio_estimate(
    top: ArrayLike, bottom: ArrayLike, clusters: ArrayLike | None, *, share: bool
) -> Estimate:
    """Return Σ top ÷ Σ bottom, float64[n] each, with Fieller's interval (see `ratio_of_sums`).

    No interval, and the reason, of values below 0 and where nothing varies. A `share` stays at 1
    or below. No value where nothing is counted.
    """
    tops, bottoms = column(top), column(bottom)
    name, n = "ratio of sums", tops.size
    if not n:
        return Estimate(None, None, None, 0, "none", "no observations")
    if not bottoms.sum():
        return Estimate(None, None, None, n, "none", "the second numbers of all answers are 0")
    value = float(tops.sum() / bottoms.sum())
    if min(tops.min(), bottoms.min()) < 0:
        reason = "no interval: a number of a pair is below 0"
        return Estimate(value, None, None, n, name, reason)
    interval = ratio_of_sums(tops, bottoms, clusters)
    if interval is None or interval.low == interval.high:
        reason = "no interval: nothing varies, which is not certainty"
        return Estimate(value, None, None, n, name, reason)
    high = min(interval.high, 1.0) if share else interval.high
    low = max(0.0, interval.low)
    return Estimate(value, low, None if np.isinf(high) else high, n, f"{name}; {interval.method}")


def quantile_estimate(values: ArrayLike, q: float, level: float = 0.95) -> Estimate:
    """Return the q-quantile (type 7) of values in order of time, with its order-statistic
    interval.

    No value, and the reason, below `needed(q)` values. For q near 0.5 the interval needs one value
    more than the quantile itself, and more where neighbors are alike; it is then missing alone.
    """
    x = column(values)
    if not supported(q, x.size, level):
        reason = needs(needed(q, level), x.size)
        return Estimate(None, None, None, x.size, "quantile", reason)
    worth = worth_of_quantile(x, q)
    interval = quantile_interval(x, q, level, worth)
    why = why_no_ranks(q, x.size, worth, level)
    return _with(quantile(x, q), interval, x.size, "quantile", why)


def why_no_ranks(q: float, n: int, worth: float, level: float) -> str:
    """Say why no two of n values, worth this many independent ones, bound the q-quantile."""
    fewest = needed(q, level) + 1
    if worth >= n or n < fewest:
        return needs(fewest, n)
    return (
        f"no interval: neighboring values are alike, {n:,} are worth {worth:.0f} independent ones"
    )


def _time(x: Floats, runs: ArrayLike | None, level: float) -> Estimate:
    if (x < 0).any():
        raise ValueError("a time cannot be negative")
    numbers, count = (None, 1) if runs is None else grouped(x, runs)
    if numbers is None or count == 1:
        worth = worth_of_quantile(x, 0.5)
        interval = quantile_interval(x, 0.5, level, worth)
        return _with(median(x), interval, x.size, "median", why_no_ranks(0.5, x.size, worth, level))
    medians = np.array([median(x[numbers == run]) for run in range(count)])
    if not medians.all():
        value = median(medians)
        reason = "a repeat's median is 0: times without resolution have no ratio"
        return Estimate(value, None, None, x.size, "median of repeats' medians", reason)
    value = float(np.exp(np.log(medians).mean()))
    name = f"geometric mean of {count} repeats' medians"
    return _with(value, t_log_interval(medians, level), x.size, name, "")


def _share(x: Floats, cases: ArrayLike | None, level: float) -> Estimate:
    if ((x < 0) | (x > 1)).any():
        raise ValueError("a share lies between 0 and 1")
    mean = min(max(float(x.mean()), float(x.min())), float(x.max()))
    return _with(mean, bounded_mean(x, cases, level), x.size, "share", "")


def _amount(x: Floats, units: ArrayLike | None, level: float, fewest: int) -> Estimate:
    interval = skewed_mean(x, units, level, fewest)
    if interval is None:
        interval = t_mean(x, level) if units is None else clustered_mean(x, units, level)
    mean = min(max(float(x.mean()), float(x.min())), float(x.max()))
    floor = 0.0 if x.min() >= 0 else -np.inf
    return _with(mean, interval, x.size, "mean", needs(2, x.size), floor=floor)


def _repeated(x: Floats, clusters: ArrayLike) -> ArrayLike | None:
    """The clusters if they matter: more than one, and one with several observations."""
    _, count = grouped(x, clusters)
    return clusters if 1 < count < x.size else None


def _with(
    value: float,
    interval: Interval | None,
    n: int,
    name: str,
    reason: str,
    *,
    floor: float = -np.inf,
) -> Estimate:
    if interval is None:
        return Estimate(value, None, None, n, name, reason)
    return Estimate(value, max(interval.low, floor), interval.high, n, f"{name}; {interval.method}")


def needs(count: int, have: int) -> str:
    """Return why a figure is missing that requires more observations."""
    return f"needs {count:,} (have {have:,})"
