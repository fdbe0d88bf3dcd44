"""Learning curves of several runs, from a file each or one file with a column of runs; each run as
two numbers: the area under the last part of its curve, and its slope.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from agentbench_tui.analysis.learning_curve import slope
from agentbench_tui.model.errors import UsageError
from agentbench_tui.verdicts.files.sample_columns import ROLES
from agentbench_tui.verdicts.files.table_file import Table, read_table
from agentbench_tui.verdicts.selection.measured import RunValues
from agentbench_tui.verdicts.training.run_summary import Run, SummaryKind, seed_of_name, summarized
from agentbench_tui.verdicts.training.training_run import (
    DEFAULT_METRIC,
    STEPS,
    VALUE,
    Series,
    Unlogged,
    metric_column,
    no_column,
    read_series,
)


@dataclass(frozen=True, slots=True)
class CurveNumbers:
    """One kind of number, for every run that has it."""

    name: str
    runs: RunValues


@dataclass(frozen=True, slots=True)
class LearningRuns:
    """The runs of some files as numbers, and the excluded ones."""

    numbers: tuple[CurveNumbers, ...]
    """Area, then slope."""
    notes: tuple[str, ...]


def is_curve_file(path: Path) -> bool:
    """Return whether a file has a column of steps, so that each of its runs is a curve."""
    content = read_table(path, _is_step)
    return isinstance(content, Table) and bool(content.columns)


def learning_runs(paths: Sequence[Path], metric: str | None) -> LearningRuns:
    """Return every run of the files. Raises UsageError if no run logged the metric."""
    runs = [run for path in paths for run in runs_of_file(path, metric)]
    if all(run.series is None for run in runs):
        raise UsageError(f"{runs[0].name}: {runs[0].reason}")
    summary = summarized(runs, SummaryKind())
    areas = [(run.seed, run.value) for run in summary.runs if run.value is not None]
    slopes = []
    for run in summary.runs:  # of those that finished: a slope over less is another slope
        if run.series is not None and run.value is not None:
            known = ~np.isnan(run.series.values)
            slopes.append((run.seed, slope(run.series.steps[known], run.series.values[known])))
    notes = [f"{run.name}: left out, {run.reason}" for run in summary.runs if run.value is None]
    if notes:
        notes.insert(0, f"{len(areas)} of {len(runs)} runs finished")
    return LearningRuns(
        (
            CurveNumbers(f"AUC: {summary.words}", _values(areas)),
            CurveNumbers("derivative: slope per step", _values(slopes)),
        ),
        tuple(notes),
    )


def _values(found: Sequence[tuple[int | None, float]]) -> RunValues:
    seeds = [seed for seed, _ in found]
    known = np.array(seeds) if all(seed is not None for seed in seeds) and seeds else None
    return RunValues(np.array([value for _, value in found]), known, "learning curves")


def runs_of_file(path: Path, metric: str | None) -> list[Run]:
    """Return the run of a file, or each one named in its column of runs; a run without the metric
    has a reason. Raises UsageError for an unreadable file.
    """
    names = {*STEPS, VALUE, (metric or DEFAULT_METRIC).lower(), "seed", *ROLES["run"]}
    content = read_table(path, lambda name: name.lower() in names)
    if isinstance(content, Table) and (label := _named(content, ROLES["run"])) is not None:
        return _of_column(content, label, metric)
    series = read_series(path, metric)
    if isinstance(series, Unlogged):
        return [Run(str(path), reason=series.reason)]
    seed = series.seed if series.seed is not None else seed_of_name(path.name)
    return [Run(str(path), seed, series)]


def _of_column(table: Table, label: str, metric: str | None) -> list[Run]:
    """Return the runs of a file with a column that names them."""
    steps, column = _named(table, STEPS), metric_column(table, metric)
    if steps is None:
        raise UsageError(f"{table.path}: no column of steps; it has {', '.join(table.names)}")
    if column is None:
        raise UsageError(f"{table.path}: {no_column(table, metric)}")
    seeds = _named(table, ("seed",))
    rows: dict[str, list[int]] = {}
    for row, cell in enumerate(table.columns[label]):
        rows.setdefault(str(cell), []).append(row)
    runs = []
    for name, own in rows.items():
        cells = table.columns[column]
        logged = [row for row in own if cells[row] is not None and str(cells[row]).strip()]
        # A step that was logged again counts as it was logged last.
        last = {
            _finite(table, steps, row): _number(table, column, row, cells[row]) for row in logged
        }
        ordered = np.array(sorted(last))
        values = np.array([last[step] for step in ordered.tolist()])
        values[~np.isfinite(values)] = np.nan
        series = Series(ordered, values, None, len(logged) - len(last), column)
        seed = seed_of_name(name)
        if seeds is not None and table.columns[seeds][own[0]] not in (None, ""):
            seed = int(_finite(table, seeds, own[0]))
        if len(ordered):
            runs.append(Run(name, seed, series))
        else:
            runs.append(Run(name, seed, reason=f"has no value of {column}"))
    return runs


def _number(table: Table, name: str, row: int, cell: object) -> float:
    try:
        return float(str(cell))
    except ValueError:
        raise UsageError(_no_number(table, name, row, cell)) from None


def _finite(table: Table, name: str, row: int) -> float:
    """Return the finite number of a step or seed."""
    cell = table.columns[name][row]
    number = _number(table, name, row, cell)
    if not math.isfinite(number):
        raise UsageError(_no_number(table, name, row, cell))
    return number


def _no_number(table: Table, name: str, row: int, cell: object) -> str:
    return f"{table.path}:{table.lines[row]}: {name}: '{str(cell)[:40]}' is no number"


def _named(table: Table, names: Sequence[str]) -> str | None:
    return next(
        (given for name in names for given in table.columns if given.lower() == name.lower()), None
    )


def _is_step(name: str) -> bool:
    return name.lower() in STEPS
