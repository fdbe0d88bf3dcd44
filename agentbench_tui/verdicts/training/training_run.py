"""One training run as a learning curve, read from a file of steps and values.

A file is CSV or JSON lines, a row each time something was logged: a column of steps and one a
metric. Rows that do not log the metric say nothing of it; NaN that was logged is kept, since it
says that the run diverged.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from agentbench_tui.model.bounds import LARGEST_NUMBER
from agentbench_tui.model.errors import UsageError, did_you_mean
from agentbench_tui.model.text.delimited import with_decimal_point
from agentbench_tui.verdicts.files.table_file import Table, read_table, table_of_object

if TYPE_CHECKING:
    from agentbench_tui.analysis.sample import Floats

STEPS = ("_step", "step", "global_step", "timestep", "timesteps", "metric/agent_step")
"""Names of the step column, of which the first existing one counts."""
VALUE = "value"
"""Name of the values in a file of one metric alone."""
DEFAULT_METRIC = "overview/reward"
"""What is looked for where no metric is asked for."""
_BESIDE = {
    *STEPS, VALUE, "seed", "run", "run_id", "wall time", "wall_time", "timestamp", "_timestamp",
    "_runtime", "relative time (process)", "relative time (wall)",
}  # fmt: skip
"""Columns beside which `value` is the only metric of its file."""
SUFFIXES = (".csv", ".jsonl", ".ndjson", ".json", ".csv.gz", ".jsonl.gz")
_IN_FOLDER = ("history", "metrics", "progress", "series")
"""Which file of a run's folder holds its series, if there are several."""
_NO_VALUE = {"", "null", "none"}


@dataclass(frozen=True, slots=True)
class Series:
    """The logged values of one metric of a run."""

    steps: Floats
    """Rising."""
    values: Floats
    """NaN where that was logged."""
    seed: int | None
    """Where a column `seed` says it."""
    replaced: int
    """Points that were logged again, after the run went back to an earlier step."""
    column: str = ""
    """Where the values stood."""


@dataclass(frozen=True, slots=True)
class Unlogged:
    """A file without a value of the metric."""

    reason: str


def find_series(name: str, folder: Path | None) -> Path | None:
    """Return the file with the series of a run: a path, or a name within `folder`; None without
    one.

    Raises UsageError for a folder of several files of which none is told to be it.
    """
    places = [Path(name)] if folder is None else [folder / name, Path(name)]
    for place in places:
        for path in [place, *(place.with_name(place.name + suffix) for suffix in SUFFIXES)]:
            if path.is_file():
                return path
        if place.is_dir():
            return _in_folder(place)
    return None


def _in_folder(folder: Path) -> Path:
    files = sorted(path for path in folder.iterdir() if path.name.endswith(SUFFIXES))
    told = [path for path in files if path.name.split(".")[0] in _IN_FOLDER]
    if len(told or files) != 1:
        names = ", ".join(path.name for path in files[:4]) or "none"
        raise UsageError(
            f"{folder}: one CSV or JSON lines file with the run's series is expected, such as "
            f"history.csv; found {names}"
        )
    return (told or files)[0]


def metric_column(table: Table, metric: str | None) -> str | None:
    """Return the column of a metric; by default that of the usual one, or `value` of a file without
    other columns. A requested metric is never read from a column of another name.
    """
    found = _named(table, (metric or DEFAULT_METRIC,))
    if found is None and metric is None and all(name.lower() in _BESIDE for name in table.names):
        return _named(table, (VALUE,))
    return found


def no_column(table: Table, metric: str | None) -> str:
    """Report that a file lacks a metric, and which it has."""
    name = metric or DEFAULT_METRIC
    has = ", ".join(table.names[:12]) + (" …" if len(table.names) > 12 else "")
    return f"does not log {name}{did_you_mean(name, table.names)}; it has {has}"


def read_series(path: Path, metric: str | None) -> Series | Unlogged:
    """Return the series of one metric; see `metric_column` for None.

    Raises UsageError with file and line for what cannot be read.
    """
    wanted = {*STEPS, VALUE, (metric or DEFAULT_METRIC).lower(), "seed"}
    content = read_table(path, lambda name: name.lower() in wanted)
    if isinstance(content, dict):
        content = table_of_object(path, content, lambda name: name.lower() in wanted)
    column = metric_column(content, metric)
    steps = _named(content, STEPS)
    if steps is None:
        has = ", ".join(content.names[:12])
        raise UsageError(f"{path}: no column of steps ({', '.join(STEPS[:3])}); it has {has}")
    if column is None:
        return Unlogged(no_column(content, metric))
    return _series(content, steps, column)


def _named(table: Table, names: Sequence[str]) -> str | None:
    for name in names:
        for given in table.columns:
            if given == name or given.lower() == name.lower():
                return given
    return None


def _series(table: Table, steps: str, column: str) -> Series | Unlogged:
    at: list[float] = []
    values: list[float] = []
    replaced = 0
    for row, (step_cell, cell) in enumerate(
        zip(table.columns[steps], table.columns[column], strict=True)
    ):
        if cell is None or str(cell).strip().lower() in _NO_VALUE:
            continue
        value = _number(table, row, column, cell)
        step = _number(table, row, steps, step_cell)
        if not math.isfinite(step):
            raise UsageError(f"{table.path}:{table.lines[row]}: {steps}: no step is given")
        while at and at[-1] >= step:
            at.pop()
            values.pop()
            replaced += 1
        at.append(step)
        values.append(value)
    if not at:
        return Unlogged(f"has no value of {column}")
    return Series(np.array(at), np.array(values), _seed(table), replaced, column)


def _number(table: Table, row: int, name: str, cell: Any) -> float:
    """Return the number of a cell; infinity counts as NaN, since neither has a mean."""
    text = str(cell).strip()
    try:
        value = float(with_decimal_point(text) if table.has_decimal_commas(name) else text)
    except (ValueError, OverflowError):
        raise UsageError(
            f"{table.path}:{table.lines[row]}: {name}: '{text[:40]}' is no number"
        ) from None
    if abs(value) > LARGEST_NUMBER and math.isfinite(value):
        raise UsageError(f"{table.path}:{table.lines[row]}: {name}: {value:g} is out of range")
    return value if math.isfinite(value) else math.nan


def _seed(table: Table) -> int | None:
    name = _named(table, ("seed",))
    told = {str(cell).strip() for cell in table.columns[name] if cell is not None} if name else {""}
    told.discard("")
    if len(told) != 1:
        return None
    try:
        return int(float(told.pop()))
    except (ValueError, OverflowError):
        return None
