"""Learning curves of one or two groups of training runs: each run, their mean with its interval,
each as a number, and the second group compared with the first.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from agentbench_tui.analysis.differences.multiplicity import holm
from agentbench_tui.analysis.learning_curve import mean_curve
from agentbench_tui.model.errors import UsageError
from agentbench_tui.verdicts.training.curve_comparison import AskedOfRuns, compare_runs, judged_runs
from agentbench_tui.verdicts.training.curve_question import direction
from agentbench_tui.verdicts.training.learning_runs import runs_of_file
from agentbench_tui.verdicts.training.run_summary import (
    SummaryKind,
    paired_by_seed,
    summarized,
    summary_window,
)
from agentbench_tui.verdicts.training.training_run import DEFAULT_METRIC, SUFFIXES

if TYPE_CHECKING:
    from agentbench_tui.analysis.learning_curve import MeanCurve
    from agentbench_tui.analysis.scale import Better
    from agentbench_tui.verdicts.training.curve_comparison import RunComparison
    from agentbench_tui.verdicts.training.run_summary import Run

MOST_GROUPS = 2
MOST_FILES = 500
KINDS = (SummaryKind(), SummaryKind(type="last_n"))
"""Area over the last quarter of the steps, and the mean of the last values."""


@dataclass(frozen=True, slots=True)
class CurveGroup:
    """Runs that differ only in their seeds."""

    name: str
    runs: tuple[Run, ...]
    """With the value of the first kind."""
    mean: MeanCurve | None
    """Of the finite values of runs that have several."""
    reason: str
    """Why there is no mean curve."""
    values: tuple[tuple[float | None, ...], ...]
    """A tuple a kind of `KINDS`, a value a run."""


@dataclass(frozen=True, slots=True)
class TrainingCurves:
    """Results on one or two groups."""

    metric: str
    groups: tuple[CurveGroup, ...]
    summaries: tuple[str, ...]
    """What the values of each kind are."""
    comparisons: tuple[RunComparison | None, ...]
    """The second group against the first, a kind each; None for one group alone, and where no run
    of a group finished."""
    pairing: str
    better: Better | None
    """Which way the metric is good; None where nobody said so, and nothing is compared."""
    window: tuple[float, float] | None
    """Steps of the area; None where it is not known."""
    notes: tuple[str, ...] = ()


def read_curves(
    paths: Sequence[Path], metric: str | None = None, better: Better | None = None
) -> TrainingCurves:
    """Read one group per path: a file of one or more runs, or a folder of such files. `better`
    gives the metric's better direction if its name does not.

    Raises UsageError for what cannot be read, and where no run logged the metric.
    """
    if not 1 <= len(paths) <= MOST_GROUPS:
        raise UsageError(f"one or two files or folders are shown, not {len(paths)}")
    groups = [(_name(path, paths), _runs(path, metric)) for path in paths]
    for _, runs in groups:
        if all(run.series is None for run in runs):
            raise UsageError(f"{runs[0].name}: {runs[0].reason}")
    columns = {run.series.column for _, runs in groups for run in runs if run.series is not None}
    name = metric or (columns.pop() if len(columns) == 1 else DEFAULT_METRIC)
    return training_curves(groups, name, better)


def training_curves(
    groups: Sequence[tuple[str, Sequence[Run]]], metric: str, better: Better | None = None
) -> TrainingCurves:
    """Return the curves of named groups of runs; the first group is the control."""
    everybody = [run for _, runs in groups for run in runs]
    summed = [summarized(everybody, kind) for kind in KINDS]
    found, start = [], 0
    by_kind = []
    for name, runs in groups:
        own = slice(start, start + len(runs))
        start += len(runs)
        by_kind.append([list(summary.runs[own]) for summary in summed])
        mean, reason = _mean(runs)
        values = tuple(tuple(run.value for run in summary.runs[own]) for summary in summed)
        found.append(CurveGroup(name, tuple(summed[0].runs[own]), mean, reason, values))
    notes = [
        f"{run.name}: left out of the area, {run.reason}"
        for run in summed[0].runs
        if run.value is None
    ]
    comparisons: tuple[RunComparison | None, ...] = (None,) * len(KINDS)
    pairing = ""
    way = _direction(metric, better)
    if len(groups) == MOST_GROUPS and way is not None:
        sides = [[of[kind] for of in by_kind] for kind in range(len(KINDS))]
        comparisons, pairing = _judged(metric, way, sides)
    return TrainingCurves(
        metric,
        tuple(found),
        tuple(summary.words for summary in summed),
        comparisons,
        pairing,
        way,
        summary_window([run.series for run in everybody if run.series is not None], KINDS[0]),
        tuple(notes),
    )


def _name(path: Path, paths: Sequence[Path]) -> str:
    """Return the last part of the path; all of it if both end alike."""
    return path.name if len({one.name for one in paths}) == len(paths) else str(path)


def _runs(path: Path, metric: str | None) -> list[Run]:
    if path.is_file():
        return runs_of_file(path, metric)
    if not path.is_dir():
        raise UsageError(f"{path}: no such file or folder of training runs")
    files = sorted(one for one in path.rglob("*") if one.name.endswith(SUFFIXES))
    if not files:
        raise UsageError(f"{path}: no CSV or JSON lines file in this folder")
    if len(files) > MOST_FILES:
        raise UsageError(f"{path}: {len(files):,} files; {MOST_FILES} are shown at most")
    return [run for file in files for run in runs_of_file(file, metric)]


def _mean(runs: Sequence[Run]) -> tuple[MeanCurve | None, str]:
    curves = []
    for run in runs:
        if run.series is not None:
            known = ~np.isnan(run.series.values)
            if known.sum() > 1:
                curves.append((run.series.steps[known], run.series.values[known]))
    try:
        return mean_curve(curves), ""
    except ValueError as error:
        return None, str(error)


def _direction(metric: str, better: Better | None) -> Better | None:
    """Return the better direction as given, or by the metric's name."""
    try:
        return direction(metric, better)
    except UsageError:
        return None


def _judged(
    metric: str, way: Better, sides: Sequence[Sequence[Sequence[Run]]]
) -> tuple[tuple[RunComparison | None, ...], str]:
    """Compare the second side with the first by each kind, with p adjusted together by
    Holm's rule.
    """
    found = [_compared(metric, way, *pair) for pair in sides]
    tested = [one.p_value for one in found if one is not None and one.p_value is not None]
    adjusted = iter(holm(tested))
    judged = []
    for one in found:
        p = None if one is None or one.p_value is None else next(adjusted)
        judged.append(None if one is None else judged_runs(one, p))
    known = next((one for one in found if one is not None), None)
    if known is None:
        return tuple(judged), "no run of a group finished"
    if known.paired:
        return tuple(judged), "paired by seed"
    return tuple(judged), "not paired: not the same seeds on both sides"


def _compared(
    metric: str, way: Better, control: Sequence[Run], candidate: Sequence[Run]
) -> RunComparison | None:
    """Return the comparison, not yet judged; None if no run of a side finished."""
    if not all(any(run.value is not None for run in side) for side in (control, candidate)):
        return None
    of_control, of_candidate, alone = paired_by_seed(control, candidate)
    paired = bool(of_control) and not alone
    if paired:
        control, candidate = of_control, of_candidate
    return compare_runs(metric, "", way, control, candidate, AskedOfRuns(), paired=paired)
