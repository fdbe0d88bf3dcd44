"""Learning curves of several runs, from a file each or from one file with a column of runs; and
each run as two numbers: the area under the last of its curve, and its slope."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from agentbench_tui.analysis.learning_curve import slope
from agentbench_tui.model.errors import UsageError
from agentbench_tui.verdicts.measured import RunValues
from agentbench_tui.verdicts.run_summary import Run, SummaryKind, seed_of_name, summarised
from agentbench_tui.verdicts.sample_columns import ROLES
from agentbench_tui.verdicts.table_file import Table, read_table
from agentbench_tui.verdicts.training_run import STEPS, VALUE, Series, Unlogged, read_series

if TYPE_CHECKING:
    from agentbench_tui.verdicts.evidence import Floats

DEFAULT_METRIC = "overview/reward"
"""What is looked for where no metric is asked for and no column is named `value`."""


@dataclass(frozen=True, slots=True)
class CurveNumbers:
    """One kind of number of every run that has it."""

    name: str
    runs: RunValues


@dataclass(frozen=True, slots=True)
class LearningRuns:
    """The runs of some files as numbers, and what was left out."""

    numbers: tuple[CurveNumbers, ...]
    """Area, then slope."""
    notes: tuple[str, ...]


def is_curve_file(path: Path) -> bool:
    """Whether a file has a column of steps, so that each of its runs is a curve."""
    content = read_table(path, _is_step)
    return isinstance(content, Table) and bool(content.columns)


def learning_runs(paths: Sequence[Path], metric: str | None) -> LearningRuns:
    """Every run of the files. Raises UsageError where no run logged the metric."""
    wanted = metric or DEFAULT_METRIC
    runs = [run for path in paths for run in _runs(path, wanted)]
    if all(run.series is None for run in runs):
        raise UsageError(f"{runs[0].name}: {runs[0].reason}")
    summary = summarised(runs, SummaryKind())
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


def _runs(path: Path, metric: str) -> list[Run]:
    names = {*STEPS, VALUE, metric.lower(), "seed", *ROLES["run"]}
    content = read_table(path, lambda name: name.lower() in names)
    if isinstance(content, Table) and (label := _named(content, ROLES["run"])) is not None:
        return _of_column(content, label, metric)
    series = read_series(path, metric)
    if isinstance(series, Unlogged):
        return [Run(str(path), reason=series.reason)]
    seed = series.seed if series.seed is not None else seed_of_name(path.name)
    return [Run(str(path), seed, series)]


def _of_column(table: Table, label: str, metric: str) -> list[Run]:
    """The runs of a file with a column that names them."""
    steps, column = _named(table, STEPS), _named(table, (metric, VALUE))
    if steps is None or column is None:
        missing = "steps" if steps is None else metric
        raise UsageError(f"{table.path}: no column of {missing}; it has {', '.join(table.names)}")
    seeds = _named(table, ("seed",))
    rows: dict[str, list[int]] = {}
    for row, cell in enumerate(table.columns[label]):
        rows.setdefault(str(cell), []).append(row)
    runs = []
    for name, own in rows.items():
        at, values = _numbers(table, steps, own), _numbers(table, column, own)
        logged = ~np.isnan(values)
        # A step that was logged again counts as it was logged last.
        last = dict(zip(at[logged].tolist(), values[logged].tolist(), strict=True))
        ordered = np.array(sorted(last))
        series = Series(
            ordered,
            np.array([last[step] for step in ordered]),
            None,
            int(logged.sum()) - len(last),
        )
        seed = seed_of_name(name)
        if seeds is not None and (told := table.columns[seeds][own[0]]) is not None:
            seed = int(_number(table, seeds, own[0], told))
        if len(ordered):
            runs.append(Run(name, seed, series))
        else:
            runs.append(Run(name, seed, reason=f"has no value of {column}"))
    return runs


def _numbers(table: Table, name: str, rows: Sequence[int]) -> Floats:
    cells = [table.columns[name][row] for row in rows]
    return np.array(
        [
            np.nan if cell is None or str(cell).strip() == "" else _number(table, name, row, cell)
            for row, cell in zip(rows, cells, strict=True)
        ],
        dtype=np.float64,
    )


def _number(table: Table, name: str, row: int, cell: object) -> float:
    try:
        return float(str(cell))
    except ValueError:
        raise UsageError(
            f"{table.path}:{table.lines[row]}: {name}: '{str(cell)[:40]}' is no number"
        ) from None


def _named(table: Table, names: Sequence[str]) -> str | None:
    return next(
        (given for name in names for given in table.columns if given.lower() == name.lower()), None
    )


def _is_step(name: str) -> bool:
    return name.lower() in STEPS
