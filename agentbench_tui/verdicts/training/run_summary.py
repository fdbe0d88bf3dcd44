"""Reduces each of several training runs to one number, and lists the unfinished ones.

The window is the same steps for all runs, so that one which stopped early is seen to have, rather
than being summed up over a time at which the others were not done either. What did not finish has
a reason instead of a value; nothing is dropped.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

import numpy as np

from agentbench_tui.analysis.learning_curve import Window, auc, last_n
from agentbench_tui.model.errors import UsageError
from agentbench_tui.model.text.plain_number import plain
from agentbench_tui.verdicts.training.training_run import Series

if TYPE_CHECKING:
    from agentbench_tui.analysis.sample import Floats

FINISHED_FROM = 0.95
"""Share of the longest run's steps with which one counts as finished, unless bounds are given."""
_SEED = re.compile(r"seed[_=-]?(\d{1,15})", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class SummaryKind:
    """How a curve is reduced to a number."""

    type: Literal["auc", "last_n"] = "auc"
    percent: float = 0.25
    """Share of the common steps, where no bounds are given."""
    window: Window = "last"
    step_min: float | None = None
    step_max: float | None = None
    normalize: bool = True
    """Whether the area is divided by the window: the mean of the metric over it."""
    n: int = 5

    def __post_init__(self) -> None:
        if not 0 < self.percent <= 1:
            raise UsageError(
                f"--summary.percent {plain(self.percent)}: a share above 0 and up to 1 is needed"
            )
        if (self.step_min is None) != (self.step_max is None):
            raise UsageError("--summary.step_min and --summary.step_max: give both, or neither")
        if self.step_min is not None and self.step_max is not None:
            if not self.step_min < self.step_max:
                raise UsageError("--summary.step_min must be below --summary.step_max")
            if self.type == "last_n":
                raise UsageError("--summary.step_min is for --summary.type auc, not for last_n")


@dataclass(frozen=True, slots=True)
class Run:
    """A run by name, with its series or value, or the reason why it has neither."""

    name: str
    seed: int | None = None
    series: Series | None = None
    value: float | None = None
    reason: str = ""
    simulated: bool = False

    @property
    def is_finished(self) -> bool:
        return self.value is not None


@dataclass(frozen=True, slots=True)
class Summarized:
    """Runs with their values, and a description of these."""

    runs: tuple[Run, ...]
    words: str
    """What a value is: `mean over steps 750,000 to 1,000,000`; empty where there is no series."""


def seed_of_name(name: str) -> int | None:
    """Return the seed in a run's name, such as `base.arch.seed1072`."""
    found = _SEED.findall(name)
    return int(found[-1]) if found else None


def paired_by_seed(
    control: Sequence[Run], candidate: Sequence[Run]
) -> tuple[list[Run], list[Run], int]:
    """Pair control and candidate runs by seed; return both lists and the number of unpaired runs.

    A seed that a side has twice pairs nothing.
    """
    of_candidate = _by_seed(candidate)
    of_control = _by_seed(control)
    seeds = [seed for seed in of_control if seed in of_candidate]
    alone = len(control) + len(candidate) - 2 * len(seeds)
    return [of_control[seed] for seed in seeds], [of_candidate[seed] for seed in seeds], alone


def _by_seed(runs: Sequence[Run]) -> dict[int, Run]:
    seeds = [run.seed for run in runs]
    return {run.seed: run for run in runs if run.seed is not None and seeds.count(run.seed) == 1}


def summarized(runs: Sequence[Run], kind: SummaryKind) -> Summarized:
    """Return the runs with their values, all over the same window.

    Those that have a value already keep it.
    """
    curves = [run.series for run in runs if run.series is not None]
    if not curves:
        return Summarized(tuple(runs), "")
    longest = max(float(one.steps[-1]) for one in curves)
    bounds = summary_window(curves, kind)
    found = [
        run if run.series is None else _with_value(run, run.series, kind, bounds, longest)
        for run in runs
    ]
    return Summarized(tuple(found), _words(kind, bounds))


def summary_window(curves: Sequence[Series], kind: SummaryKind) -> tuple[float, float] | None:
    """Return the first and last step of the window of these curves; None for the last n values, and
    without curves.
    """
    if kind.type == "last_n":
        return None
    if kind.step_min is not None and kind.step_max is not None:
        return kind.step_min, kind.step_max
    if not curves:
        return None
    longest = max(float(one.steps[-1]) for one in curves)
    finished = [one for one in curves if one.steps[-1] >= FINISHED_FROM * longest]
    start = max(float(one.steps[0]) for one in finished)
    end = min(float(one.steps[-1]) for one in finished)
    width = kind.percent * (end - start)
    return (end - width, end) if kind.window == "last" else (start, start + width)


def _with_value(
    run: Run,
    series: Series,
    kind: SummaryKind,
    bounds: tuple[float, float] | None,
    longest: float,
) -> Run:
    reason = _unfinished(series, bounds, longest)
    if reason:
        return replace(run, reason=reason)
    if bounds is None:
        tail = series.values[-kind.n :]
        if np.isnan(tail).any():
            return replace(run, reason="its last values are not finite")
        if len(tail) < kind.n:
            return replace(run, reason=f"has {len(tail)} values of {kind.n}")
        return replace(run, value=last_n(tail, kind.n))
    steps, values, reason = _within(series, bounds)
    if reason:
        return replace(run, reason=reason)
    try:
        area = auc(steps, values, step_min=bounds[0], step_max=bounds[1], normalize=kind.normalize)
    except ValueError as error:
        return replace(run, reason=str(error))
    return replace(run, value=area)


def _unfinished(series: Series, bounds: tuple[float, float] | None, longest: float) -> str:
    last = float(series.steps[-1])
    if bounds is None:
        return "" if last >= FINISHED_FROM * longest else f"stopped at step {last:,.0f}"
    if last < bounds[1]:
        return f"stopped at step {last:,.0f}"
    first = float(series.steps[0])
    return f"began at step {first:,.0f}" if first > bounds[0] else ""


def _within(series: Series, bounds: tuple[float, float]) -> tuple[Floats, Floats, str]:
    """Return the points that the window needs; invalid values matter only inside it."""
    known = ~np.isnan(series.values)
    inside = (bounds[0] <= series.steps) & (series.steps <= bounds[1])
    lost = series.steps[inside & ~known]
    if len(lost):
        return series.steps, series.values, f"not finite at step {lost[0]:,.0f}"
    return series.steps[known], series.values[known], ""


def _words(kind: SummaryKind, bounds: tuple[float, float] | None) -> str:
    if bounds is None:
        return f"mean of the last {kind.n} values"
    what = "mean" if kind.normalize else "area"
    return f"{what} over steps {bounds[0]:,.0f} to {bounds[1]:,.0f}"
