"""Cost per task, per success and per dollar, and the savings of a cheaper configuration.

"Dollar" stands for the unit of the given costs. Only figures that name it depend on it: efficiency
and savings are ratios.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import msgspec
import numpy as np
from numpy.typing import ArrayLike

from agentbench_tui.analysis.boards.ranking import case_table
from agentbench_tui.analysis.intervals.estimate import Estimate, estimate, needs
from agentbench_tui.analysis.intervals.interval import ratio_of_sums, zero_event_upper
from agentbench_tui.analysis.sample import Floats, column, grouped

OPTIMAL_ABOVE = 0.8
"""A configuration with more than this share of the best one's value counts as optimal."""


class CostFigures(msgspec.Struct, frozen=True):
    """Costs of an agent's tasks. All money is in the unit of the given costs."""

    tasks: int
    successes: float
    """Sum of the scores: a count if they are yes/no."""
    total: float
    per_task: Estimate
    per_success: Estimate
    """Failed tasks are paid for too. Infinite without a success; `low` then still holds."""
    per_dollar: Estimate
    """Successes that one dollar buys."""


class Configuration(msgspec.Struct, frozen=True):
    """One way to run an agent, compared with others over the same cases."""

    figures: CostFigures
    value: float
    """accuracy × speed ÷ cost per task: successes per dollar, times tasks per second if times were
    given.

    This is the specification's performance per dollar, with explicit units.
    """
    efficiency: float
    """Its value as a share of the best one's, 0 … 1: the same in any unit."""
    optimal: bool
    """Efficiency above 0.8."""
    equal_quality: bool
    """Whether its quality was found equal to that of the current configuration."""
    saving: Estimate | None
    """1 - its cost ÷ the current cost, as a share; negative when dearer. None for the current
    configuration, without equal quality, and when the current one costs nothing."""


def cost_figures(
    costs: ArrayLike,
    scores: ArrayLike,
    clusters: ArrayLike | None = None,
    level: float = 0.95,
) -> CostFigures:
    """Return the figures of float64[tasks] costs >= 0 and scores in [0, 1].

    `clusters`, one label a task, tells which tasks are of one case. Ratios are ratios of sums, not
    means of ratios, with Fieller's interval over tasks or clusters.
    With no success in n of them the chance of one is below b = 1 - (1-level)^(1/n), one-sided, so
    that a success costs at least the cost per task / b; with no failure, at most the upper end of
    the cost per task / (1 - b). ValueError for no tasks, negative costs, scores out of range, and
    columns of different lengths.
    """
    paid, won = column(costs), column(scores)
    if paid.size == 0 or paid.size != won.size:
        raise ValueError(f"{paid.size} costs but {won.size} scores; each task needs both")
    if (paid < 0).any():
        raise ValueError("a cost cannot be negative")
    if ((won < 0) | (won > 1)).any():
        raise ValueError("a score lies between 0 and 1")
    per_success = _per_success(paid, won, clusters, level)
    return CostFigures(
        tasks=paid.size,
        successes=float(won.sum()),
        total=float(paid.sum()),
        per_task=estimate(paid, "amount", clusters, level=level),
        per_success=per_success,
        per_dollar=_reciprocal(per_success),
    )


def configurations(
    scores: ArrayLike,
    costs: ArrayLike,
    current: int,
    equal: Callable[[Floats, Floats], bool],
    seconds: ArrayLike | None = None,
    level: float = 0.95,
) -> tuple[Configuration, ...]:
    """Return every configuration (row) against the current one; all tables float64[configurations,
    cases].

    `equal` is asked with the current and the other configuration's scores by case, and says
    whether their quality is shown to be equal (an equivalence test with a margin, not a failed
    test of difference). `seconds` are times per task, above 0; speed is tasks per second, one
    at a time. Savings have Fieller's interval over cases. ValueError on gaps (NaN), unlike shapes,
    values out of range, and an unknown `current`.
    """
    won, paid = case_table(scores, complete=True), case_table(costs, complete=True)
    if won.shape != paid.shape:
        raise ValueError(f"scores of shape {won.shape} but costs of {paid.shape}")
    if not 0 <= current < won.shape[0]:
        raise ValueError(f"no configuration {current}; there are {won.shape[0]}")
    speeds = _speeds(seconds, won.shape)
    values = [
        _value(float(w.mean()), float(speed), float(p.mean()))
        for w, speed, p in zip(won, speeds, paid, strict=True)
    ]
    rows = []
    for row, value in enumerate(values):
        alike = row == current or equal(won[current], won[row])
        efficiency = _share_of(value, max(values))
        rows.append(
            Configuration(
                figures=cost_figures(paid[row], won[row], level=level),
                value=value,
                efficiency=efficiency,
                optimal=efficiency > OPTIMAL_ABOVE,
                equal_quality=alike,
                saving=_saving(paid[current], paid[row], level)
                if alike and row != current
                else None,
            )
        )
    return tuple(rows)


def _per_success(paid: Floats, won: Floats, clusters: ArrayLike | None, level: float) -> Estimate:
    units = paid.size if clusters is None else grouped(paid, clusters)[1]
    bound = zero_event_upper(units, level)
    mean = float(paid.mean())
    if not won.any():
        reason = f"no success in {units:,}: its chance is below {bound:.2g}"
        method = "cost per task / bound of success"
        return Estimate(math.inf, mean / bound, math.inf, paid.size, method, reason)
    if (won < 1).any():
        return _ratio(paid, won, clusters, level)
    # without a failure the ratio's interval would take success for certain
    task = estimate(paid, "amount", clusters, level=level)
    high = None if task.high is None else task.high / (1 - bound)
    method = f"{task.method}, high / bound of success"
    reason = task.reason or f"no failure in {units:,}: its chance is below {bound:.2g}"
    return Estimate(mean, task.low, high, paid.size, method, reason)


def _reciprocal(cost: Estimate) -> Estimate:
    """Return successes per dollar from cost per success; Fieller's interval inverts exactly."""
    if cost.value == 0:
        return Estimate(None, None, None, cost.n, "1 / cost per success", "nothing was paid")
    value, low, high = (_inverse(end) for end in (cost.value, cost.high, cost.low))
    return Estimate(value, low, high, cost.n, f"1 / ({cost.method})", cost.reason)


def _inverse(value: float | None) -> float | None:
    if value is None:
        return None
    return math.inf if value == 0 else 1 / value


def _ratio(top: Floats, bottom: Floats, clusters: ArrayLike | None, level: float) -> Estimate:
    """Return Σ top / Σ bottom, which is positive."""
    value = float(top.sum() / bottom.sum())
    interval = ratio_of_sums(top, bottom, clusters, level)
    if interval is None:
        units = top.size if clusters is None else grouped(top, clusters)[1]
        reason = needs(2, units) if units < 2 else "the data exclude no ratio"
        return Estimate(value, None, None, top.size, "ratio of sums", reason)
    method = f"ratio of sums; {interval.method}"
    return Estimate(value, interval.low, interval.high, top.size, method)


def _speeds(seconds: ArrayLike | None, shape: tuple[int, ...]) -> Floats:
    """Return the tasks per second of each configuration; 1 without times."""
    if seconds is None:
        return np.ones(shape[0])
    times = case_table(seconds, complete=True)
    if times.shape != shape:
        raise ValueError(f"scores of shape {shape} but seconds of {times.shape}")
    if (times <= 0).any():
        raise ValueError("a time per task must be above 0")
    return np.asarray(1 / times.mean(axis=1))


def _value(accuracy: float, speed: float, cost: float) -> float:
    """Return accuracy × speed / cost; without cost infinity, or 0 without success."""
    performance = accuracy * speed
    if cost > 0:
        return performance / cost
    return math.inf if performance > 0 else 0.0


def _share_of(value: float, best: float) -> float:
    if value == best:
        return 1.0 if best > 0 else 0.0
    return 0.0 if best == math.inf else value / best


def _saving(current: Floats, other: Floats, level: float) -> Estimate | None:
    if not current.any():
        return None
    ratio = _ratio(other, current, None, level)
    value, low, high = (
        None if end is None else 1 - end for end in (ratio.value, ratio.high, ratio.low)
    )
    return Estimate(value, low, high, ratio.n, f"1 - {ratio.method}", ratio.reason)
