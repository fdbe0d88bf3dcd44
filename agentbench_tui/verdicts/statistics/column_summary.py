"""All figures of one column, each with a suitable interval."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from agentbench_tui.analysis.attempts import attempts_at, pass_values
from agentbench_tui.analysis.boards.task_aggregate import (
    RUNS_BEYOND_ONE,
    bootstrap_aggregate,
    runs_beyond_one,
    with_few_runs,
)
from agentbench_tui.analysis.groups.components import two_level
from agentbench_tui.analysis.intervals.effective_number import bounded_mean
from agentbench_tui.analysis.intervals.estimate import estimate, needs
from agentbench_tui.analysis.intervals.interval import (
    Interval,
    clustered_se,
    t_log_interval,
    t_mean,
    wilson,
)
from agentbench_tui.analysis.intervals.quantiles import quantile_estimates
from agentbench_tui.analysis.resampling.resampling import Resampling
from agentbench_tui.analysis.summary import (
    effective_sample_size,
    summarize,
)
from agentbench_tui.model.text.plain_number import counted, plain
from agentbench_tui.model.text.untrusted import one_line

if TYPE_CHECKING:
    from agentbench_tui.analysis.sample import Floats, Integers

_SHARE, _MEAN, _DEVIATION = "share", "mean", "standard deviation"
QUANTILES = {"p50": 0.5, "p90": 0.9, "p95": 0.95, "p99": 0.99}
USUAL = frozenset({_SHARE, _MEAN, _DEVIATION, *QUANTILES})
"""Figures that are shown without being asked for: the one of a share, and what most look at of an
amount."""
RESAMPLES = 10_000
_MOST_RESAMPLED = 5_000
"""Values beyond which a bootstrap takes seconds."""
_FEWEST_OF_TASKS, _DRAWN_OF_TASKS = 2_000, 10_000_000
"""Minimum number of resamples over tasks, and total number of drawn values: about a second."""
_CONSTANT = "nothing varies, which is not certainty"
_PASSES = (1, 2, 3, 5, 8, 10, 16, 32, 64, 100)


@dataclass(frozen=True, slots=True)
class Observed:
    """A column in order of time; rows of equal case or repeat belong together."""

    values: Floats
    repeat: Integers
    case: Integers | None
    """None if there are no cases."""
    cluster: Integers | None
    """Independent units."""
    is_share: bool
    case_name: Callable[[int], str] | None = None
    """The id of a case by its number in `case`."""


@dataclass(frozen=True, slots=True)
class Figure:
    """One figure; None, with the reason, if the values are not sufficient."""

    figure: str
    value: float | None
    low: float | None
    high: float | None
    n: int
    method: str
    reason: str = ""


def figures(of: Observed, seed: int) -> list[Figure]:
    """Return all figures of a column with values."""
    found = [_as_printed(of)]
    if of.is_share:
        found += _shares(of)
    else:
        found += _amounts(of)
    found += [*_clustered(of), _interquartile(of, seed)]
    if not of.is_share:
        found += _quantiles(of.values)
    return [*found, *_passes(of), _effective(of)]


def _as_printed(of: Observed) -> Figure:
    """Return the number that tables of runs print."""
    found = estimate(of.values, "share" if of.is_share else "amount", of.cluster)
    return Figure(
        _SHARE if of.is_share else _MEAN,
        found.value,
        found.low,
        found.high,
        found.n,
        found.method,
        found.reason,
    )


def _shares(of: Observed) -> list[Figure]:
    x = of.values
    if not ((x == 0) | (x == 1)).all():
        return []
    interval = wilson(float(x.sum()), len(x))
    return [_figure("share, values independent", float(x.mean()), interval, len(x))]


def _amounts(of: Observed) -> list[Figure]:
    x = of.values
    summary = summarize(x)
    assert summary is not None
    found = []
    if of.cluster is not None and _repeats_units(of.cluster):
        found.append(_figure("mean, values independent", summary.mean, t_mean(x), len(x)))
    found += [
        Figure(_DEVIATION, summary.sd, None, None, len(x), "n - 1"),
        Figure("coefficient of variation", summary.cv, None, None, len(x), "sd / mean"),
    ]
    if summary.geometric_mean is not None:
        ends = t_log_interval(x)
        found.append(
            _figure(
                "geometric mean, values independent",
                summary.geometric_mean,
                ends,
                len(x),
                needs(2, len(x)),
            )
        )
        medians = _by_repeat(of, np.median)
        if len(medians) > 1 and (medians > 0).all():
            value = math.exp(float(np.log(medians).mean()))
            interval = t_log_interval(medians)
            name = "geometric mean of the repeats' medians"
            found.append(_figure(name, value, interval, len(medians)))
    return found


def _clustered(of: Observed) -> list[Figure]:
    if of.cluster is None or not _repeats_units(of.cluster):
        return []
    count = len(np.unique(of.cluster))
    if count < 2 or of.values.min() == of.values.max():
        return []
    error = clustered_se(of.values, of.cluster, "CR1")
    as_if = float(of.values.std(ddof=1)) / math.sqrt(len(of.values))
    method = f"CR1 over {count} clusters; as if independent {plain(as_if, 4)}"
    return [Figure("standard error, clustered", error, None, None, count, method)]


def _interquartile(of: Observed, seed: int) -> Figure:
    """Return the interquartile mean over cases, resampling the answers of each."""
    x, name = of.values, "interquartile mean"
    cut = len(x) // 4
    value = float(np.sort(x)[cut : len(x) - cut].mean())
    if of.case is None or not _repeats_units(of.case):
        return Figure(name, value, None, None, len(x), "", "its interval needs repeats of cases")
    if len(x) > _MOST_RESAMPLED:
        reason = f"no interval for more than {_MOST_RESAMPLED:,} values"
        return Figure(name, value, None, None, len(x), "", reason)
    _, place = np.unique(of.case, return_inverse=True)
    place = place.reshape(-1)
    tasks = [x[place == number] for number in range(int(place.max()) + 1)]
    draws = min(RESAMPLES, max(_FEWEST_OF_TASKS, _DRAWN_OF_TASKS // len(x)))
    found = bootstrap_aggregate(tasks, "iqm", Resampling(seed, draws))
    interval = None if found is None else with_few_runs(found, tasks)
    if interval is None:
        reason = "no interval: every draw gives the same, which is not certainty"
        if (have := runs_beyond_one(tasks)) < RUNS_BEYOND_ONE:
            reason = f"needs {RUNS_BEYOND_ONE} more answers than cases (has {have} more)"
        return Figure(name, value, None, None, len(x), "", reason)
    bounds = (0.0, 1.0) if of.is_share else (-math.inf, math.inf)
    return _figure(name, value, interval, len(x), bounds=bounds)


def _quantiles(x: Floats) -> list[Figure]:
    found = quantile_estimates(x, list(QUANTILES.values()))
    return [
        Figure(name, one.value, one.low, one.high, one.n, one.method, one.reason)
        for name, one in zip(QUANTILES, found, strict=True)
    ]


def _passes(of: Observed) -> list[Figure]:
    """Return pass@k and pass^k, means over the cases that have k answers, for each k that at least
    half of the cases have; for the next k the reason for the missing value.
    """
    x = of.values
    if not of.is_share or of.case is None or not ((x == 0) | (x == 1)).all():
        return []
    attempts = attempts_at(of.case, x == 1)
    cases, asked = attempts.cases, attempts.asked
    units = None if of.cluster is None else of.cluster[attempts.first]
    most, usual = attempts.most, attempts.usual
    if most < 2:
        return []
    found = []
    beyond = {min(k for k in (*_PASSES, most) if k > usual)} if most > usual else set()
    tried = {k for k in _PASSES if k <= usual} | {usual} if usual > 1 else set()
    for name in ("pass@", "pass^"):
        for k in sorted(tried | beyond):
            enough = asked >= k
            n = int(enough.sum())
            verb = "has" if n == 1 else "have"
            having = f"{n:,} of {counted(len(asked), 'case')} {verb} {counted(k, 'answer')}"
            if n < len(asked):
                least = int(asked.argmin())
                name_of = of.case_name or str
                having += f"; {one_line(name_of(int(cases[least])), 40)} has {asked[least]}"
            if k in beyond:
                reason = f"only {having}"
                found.append(Figure(f"{name}{k}", None, None, None, n, "", reason))
                continue
            each = pass_values(attempts, f"{name}{k}")[enough]
            figure = _over_cases(f"{name}{k}", each, None if units is None else units[enough])
            found.append(figure if n == len(asked) else replace(figure, reason=having))
    return found


def _over_cases(name: str, each: Floats, clusters: Integers | None) -> Figure:
    """Return the mean over cases, or over independent units; each case has equal weight."""
    values = np.clip(each, 0.0, 1.0)
    return _figure(name, float(values.mean()), bounded_mean(values, clusters), len(each))


def _effective(of: Observed) -> Figure:
    """Return the effective number of values under correlation within repeats (as a time series) or
    within cases, whichever is smaller.
    """
    name, n = "effective sample size", len(of.values)
    if of.values.min() == of.values.max():
        return Figure(name, None, None, None, n, "", _CONSTANT)
    worth = sum(
        effective_sample_size(of.values[of.repeat == number]) for number in np.unique(of.repeat)
    )
    method = "n (1 - r1) / (1 + r1) of each repeat"
    levels = None if of.cluster is None else two_level(of.values, of.cluster)
    if levels is not None and n / levels.design_effect < worth:
        worth = n / levels.design_effect
        method = f"n / design effect of answers to one case, ICC {levels.icc:.3f}"
    return Figure(name, worth, None, None, n, method)


def _by_repeat(of: Observed, figure: Callable[[Floats], float]) -> Floats:
    return np.array(
        [float(figure(of.values[of.repeat == number])) for number in np.unique(of.repeat)]
    )


def _repeats_units(labels: Integers) -> bool:
    return len(np.unique(labels)) < len(labels)


def _figure(
    name: str,
    value: float,
    interval: Interval | None,
    n: int,
    reason: str = "",
    *,
    bounds: tuple[float, float] = (-math.inf, math.inf),
) -> Figure:
    if interval is None:
        return Figure(name, value, None, None, n, "", reason)
    low, high = max(interval.low, bounds[0]), min(interval.high, bounds[1])
    return Figure(name, value, low, high, n, interval.method)
