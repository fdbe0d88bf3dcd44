"""One figure over many tasks with few runs each, after Agarwal et al. 2021.

Scores come as one array of runs for each task, higher is better; tasks may differ in their runs (a
matrix of runs × tasks goes in as `matrix.T`). Intervals come from a stratified bootstrap: the runs
of each task are drawn again, the tasks are those of the benchmark and stay. Percentile ends, as
rliable has them, are too narrow for few runs: drawing from r runs loses a share 1/r of their
variance. What is shown has it back, and Student's t (`with_few_runs`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Literal, TypeAlias

import msgspec
import numpy as np
from numpy.typing import ArrayLike

from agentbench_tui.analysis.distribution import student_quantile
from agentbench_tui.analysis.intervals.effective_number import bounded_interval
from agentbench_tui.analysis.intervals.interval import Interval
from agentbench_tui.analysis.resampling.resampling import (
    DEFAULT,
    RESAMPLES,
    Bootstrap,
    Resampling,
    blocks,
    ends,
    percentile_bootstrap,
    streams,
)
from agentbench_tui.analysis.sample import Floats, column

RUNS_BEYOND_ONE = 10
"""Degrees of freedom between runs without which `with_few_runs` gives no interval."""

Tasks: TypeAlias = Sequence[ArrayLike] | Floats
Aggregate: TypeAlias = Literal["iqm", "median_of_task_means", "mean", "optimality_gap"]
"""- `iqm`: mean of all runs of all tasks without the lowest and highest quarter, each cut down to
  whole runs;
- `median_of_task_means`;
- `mean`: mean of the tasks' means;
- `optimality_gap`: how far runs stay below the target, runs above it counting as the target; mean
  over tasks. Lower is better.
"""


def aggregate(tasks: Tasks, kind: Aggregate, target: float = 1.0) -> float:
    """Return the figure of one agent. Raises ValueError without tasks, or for a task
    without runs.
    """
    drawn = [runs[np.newaxis, :] for runs in _columns(tasks)]
    return float(_figure(kind, target)(drawn)[0])


def bootstrap_aggregate(
    tasks: Tasks, kind: Aggregate, how: Resampling = DEFAULT, target: float = 1.0
) -> Bootstrap | None:
    """Return `aggregate` with its interval, by default from 10,000 resamples; `how.method` is
    ignored.

    None when no task has 2 runs: drawing one run again tells nothing. Few runs give too narrow an
    interval: at 95% it held the figure of an endless number of runs 85-88% of the time with 3
    runs of each of 10 tasks, 90% with 5, 92-94% with 10 (benchmarks/interval_coverage.py);
    `with_few_runs` widens it.
    """
    columns = _columns(tasks)
    if not _repeated(columns):
        return None
    generator = np.random.default_rng(how.seed)
    figure = _figure(kind, target)
    resampled = _resampled(columns, figure, generator, how.resamples or RESAMPLES)
    estimate = aggregate(tasks, kind, target)
    return percentile_bootstrap(estimate, resampled, how, _name(kind))


def runs_beyond_one(*agents: Tasks) -> int:
    """Return runs minus tasks of the agent with fewest runs: the degrees of freedom between
    runs.
    """
    return min(sum(runs.size - 1 for runs in _columns(tasks)) for tasks in agents)


def with_few_runs(found: Bootstrap, *agents: Tasks, bounded: bool = False) -> Interval | None:
    """Return the interval of a bootstrapped figure, widened for the number of runs.

    Standard deviation of the draws × √(runs ÷ (runs - tasks)), and t with runs - tasks degrees of
    freedom; inside 0 … 1 if `bounded`. None below 10 of these, or where all draws are alike.
    """
    df = runs_beyond_one(*agents)
    variance = float(found.resampled.var())
    if df < RUNS_BEYOND_ONE or variance == 0:
        return None
    lost = max(runs / (runs - len(tasks)) for tasks in agents if (runs := _runs(tasks)))
    level = found.interval.level
    if bounded:
        units = float(min(_runs(tasks) for tasks in agents))
        return bounded_interval(found.estimate, variance * lost, units, level, df)
    reach = student_quantile(0.5 + level / 2, df) * math.sqrt(variance * lost)
    method = f"{found.interval.method}, t with {df} degrees of freedom"
    return Interval(found.estimate - reach, found.estimate + reach, level, method)


def _runs(tasks: Tasks) -> int:
    return sum(runs.size for runs in _columns(tasks))


def bootstrap_aggregate_difference(
    a: Tasks, b: Tasks, kind: Aggregate, how: Resampling = DEFAULT, target: float = 1.0
) -> Bootstrap | None:
    """Return `aggregate` of b minus that of a, with its interval; runs of both are drawn
    separately.

    None when neither has a task with 2 runs.
    """
    control, candidate = _columns(a), _columns(b)
    if not _repeated([*control, *candidate]):
        return None
    figure, count = _figure(kind, target), how.resamples or RESAMPLES
    generators = streams(np.concatenate(control), np.concatenate(candidate), how.seed)
    first = _resampled(control, figure, generators[0], count)
    second = _resampled(candidate, figure, generators[1], count)
    estimate = aggregate(b, kind, target) - aggregate(a, kind, target)
    return percentile_bootstrap(estimate, second - first, how, f"difference in {_name(kind)}")


def probability_of_improvement(x: Tasks, y: Tasks, how: Resampling = DEFAULT) -> Bootstrap | None:
    """Return the probability that a run of x beats one of y on a random task: mean over tasks of
    P(X > Y) + P(X = Y)/2 (Mann & Whitney's U over the number of pairs).

    Both cover the same tasks in the same order, otherwise ValueError. None when neither has a task
    with 2 runs.
    """
    first, second = _columns(x), _columns(y)
    if len(first) != len(second):
        raise ValueError(f"{len(first)} tasks of x but {len(second)} of y")
    if not _repeated([*first, *second]):
        return None
    generators = streams(np.concatenate(first), np.concatenate(second), how.seed)
    count, tasks = how.resamples or RESAMPLES, len(first)
    estimate, resampled = 0.0, np.zeros(count)
    for ours, theirs in zip(first, second, strict=True):
        beats = (1 + np.sign(ours[:, np.newaxis] - theirs)) / 2
        estimate += float(beats.mean())
        for block in blocks(count, ours.size + theirs.size):
            rows = block.stop - block.start
            won = _times_drawn(ours.size, generators[0], rows) @ beats
            times_theirs = _times_drawn(theirs.size, generators[1], rows)
            resampled[block] += (won * times_theirs).sum(axis=1) / beats.size
    name = "probability of improvement over tasks"
    return percentile_bootstrap(estimate / tasks, resampled / tasks, how, name)


class Profile(msgspec.Struct, frozen=True, eq=False):
    """Share of runs that score above each threshold; float64[T] each."""

    taus: Floats
    share: Floats
    low: Floats | None
    """Ends of the band, pointwise; None when no task has 2 runs, or too few have for `few_runs`."""
    high: Floats | None
    level: float
    seed: int


def performance_profile(
    scores: Tasks, taus: ArrayLike, how: Resampling = DEFAULT, *, few_runs: bool = False
) -> Profile:
    """Return the mean over tasks of the share of runs with a score above tau, for each tau.

    The band holds at each tau by itself, not along the whole curve. `few_runs` widens it as
    `with_few_runs` does.
    """
    columns, thresholds = _columns(scores), column(taus)
    above = [(runs[:, np.newaxis] > thresholds).astype(np.float64) for runs in columns]
    share = np.mean([task.mean(axis=0) for task in above], axis=0)
    if not _repeated(columns):
        return Profile(thresholds, share, None, None, how.level, how.seed)
    count, generator = how.resamples or RESAMPLES, np.random.default_rng(how.seed)
    resampled = np.zeros((count, thresholds.size))
    for task in above:
        runs = task.shape[0]
        for block in blocks(count, runs):
            rows = block.stop - block.start
            resampled[block] += _times_drawn(runs, generator, rows) @ task / runs
    resampled /= len(above)
    if few_runs:
        runs, df = _runs(columns), runs_beyond_one(columns)
        if df < RUNS_BEYOND_ONE:
            return Profile(thresholds, share, None, None, how.level, how.seed)
        lost = runs / df
        wide = [
            bounded_interval(float(at), float(drawn.var()) * lost, runs, how.level, df)
            for at, drawn in zip(share, resampled.T, strict=True)
        ]
        band = [(one.low, one.high) for one in wide]
    else:
        band = [ends(resampled[:, at], how) for at in range(thresholds.size)]
    low, high = np.array(band, dtype=np.float64).reshape(-1, 2).T
    return Profile(thresholds, share, low, high, how.level, how.seed)


_Figure: TypeAlias = Callable[[list[Floats]], Floats]
"""From the drawn runs of each task, float64[B, runs], to the figure, float64[B]."""


def _figure(kind: Aggregate, target: float) -> _Figure:
    if kind == "iqm":
        return _iqm
    if kind == "median_of_task_means":
        return lambda drawn: np.asarray(np.median(_task_means(drawn), axis=0))
    if kind == "mean":
        return lambda drawn: np.asarray(_task_means(drawn).mean(axis=0))
    if kind == "optimality_gap":
        return lambda drawn: np.asarray(
            target - _task_means([np.minimum(runs, target) for runs in drawn]).mean(axis=0)
        )
    raise ValueError(f"iqm, median_of_task_means, mean or optimality_gap is needed, got {kind!r}")


def _iqm(drawn: list[Floats]) -> Floats:
    runs = np.concatenate(drawn, axis=1)
    cut, n = runs.shape[1] // 4, runs.shape[1]
    if cut:
        runs = np.partition(runs, (cut, n - cut - 1), axis=1)
    return np.asarray(runs[:, cut : n - cut].mean(axis=1))


def _task_means(drawn: list[Floats]) -> Floats:
    return np.array([runs.mean(axis=1) for runs in drawn])


def _resampled(
    columns: list[Floats], figure: _Figure, generator: np.random.Generator, count: int
) -> Floats:
    found = np.empty(count)
    for block in blocks(count, sum(runs.size for runs in columns)):
        rows = block.stop - block.start
        drawn = [runs[generator.integers(0, runs.size, (rows, runs.size))] for runs in columns]
        found[block] = figure(drawn)
    return found


def _times_drawn(runs: int, generator: np.random.Generator, count: int) -> Floats:
    """Return how often each run is in each resample, float64[count, runs]."""
    drawn = generator.integers(0, runs, (count, runs)) + runs * np.arange(count)[:, np.newaxis]
    times = np.bincount(drawn.ravel(), minlength=count * runs)
    return times.reshape(count, runs).astype(np.float64)


def _columns(tasks: Tasks) -> list[Floats]:
    columns = [column(runs) for runs in tasks]
    if not columns or any(runs.size == 0 for runs in columns):
        raise ValueError("an aggregate needs tasks, each with runs; leave out and count the others")
    return columns


def _repeated(columns: list[Floats]) -> bool:
    return any(runs.size > 1 for runs in columns)


def _name(kind: Aggregate) -> str:
    return {
        "iqm": "interquartile mean over tasks",
        "median_of_task_means": "median of task means",
        "mean": "mean over tasks",
        "optimality_gap": "optimality gap over tasks",
    }[kind]
