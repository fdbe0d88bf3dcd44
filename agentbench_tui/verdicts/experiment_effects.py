"""Main effects of a sweep's parameters on the measurements of a run's experiments.

The values of a point are the means of its repeats; with a single repeat its iterations, which do
not include the between-repeat variance. A point without measurements is excluded.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from agentbench_tui.analysis.groups.main_effect import LevelEffect, SweepCell, main_effects
from agentbench_tui.contracts.experiments import EffectOfLevel, EffectsDocument, MetricEffects
from agentbench_tui.experiments.aggregate import read_columns
from agentbench_tui.experiments.declared import declared_of
from agentbench_tui.experiments.units import unit_of
from agentbench_tui.store.queries.experiments import iteration_times, planned_points

if TYPE_CHECKING:
    import sqlite3

    from agentbench_tui.analysis.sample import Floats, Integers

TIME = "e2e_ms"
VARIANT = "variant"
"""The parameter that identifies variants, or agents."""


class _Point(NamedTuple):
    """One execution of an experiment."""

    key: int
    levels: dict[str, str]
    """Of each parameter."""


class _Iterations(NamedTuple):
    """The repeat of each completed iteration, and its values by metric, in the same order."""

    repeats: Integers
    columns: dict[str, Floats]


def effects_document(
    connection: sqlite3.Connection, run_id: str, metrics: Sequence[str] = ()
) -> EffectsDocument:
    """Return, for every swept experiment of the run, the effect of each
    level of each parameter on the time and on declared metrics, or on `metrics`.

    Differences are in the metric's unit, against the first level; `relative` is the share of that
    level's mean. `effects` is empty where nothing was swept.
    """
    found = []
    for benchmark_id, executions in _by_benchmark(connection, run_id).items():
        measured = {one.key: _measured(connection, one.key) for one in executions}
        names = metrics or _default_metrics(connection, executions, measured.values())
        for name in names:
            effect = _effect(benchmark_id, executions, measured, name)
            if effect is not None:
                found.append(effect)
    return EffectsDocument(run_id=run_id, level=0.95, effects=tuple(found))


def known_metrics(connection: sqlite3.Connection, run_id: str) -> list[str]:
    """Return all metrics with effects: the time, and every returned number."""
    names = {TIME: None}
    for executions in _by_benchmark(connection, run_id).values():
        for one in executions:
            names |= dict.fromkeys(_measured(connection, one.key).columns)
    return list(names)


def _by_benchmark(connection: sqlite3.Connection, run_id: str) -> dict[str, list[_Point]]:
    """Return the executions of experiments by benchmark, in order."""
    found: dict[str, list[_Point]] = {}
    for key, benchmark_id, agent_id, parameters in planned_points(connection, run_id):
        levels = {name: _words(value) for name, value in json.loads(parameters).items()}
        found.setdefault(benchmark_id, []).append(_Point(key, {**levels, VARIANT: agent_id}))
    return found


def _measured(connection: sqlite3.Connection, key: int) -> _Iterations:
    times = iteration_times(connection, key)
    repeats, columns = read_columns(connection, key)
    return _Iterations(repeats, {TIME: np.array(times, np.float64), **columns})


def _default_metrics(
    connection: sqlite3.Connection,
    executions: Sequence[_Point],
    measured: Iterable[_Iterations],
) -> list[str]:
    returned = {name for _, columns in measured for name in columns}
    declared = {name: None for one in executions for name in declared_of(connection, one.key)}
    return [TIME, *(name for name in declared if name in returned)]


def _effect(
    benchmark_id: str, executions: Sequence[_Point], measured: Mapping[int, _Iterations], name: str
) -> MetricEffects | None:
    """Return the effects on one metric; None if nothing was swept, or it has no values."""
    cells, units = [], set()
    names = list(dict.fromkeys(name for one in executions for name in one.levels))
    for one in executions:
        repeats, columns = measured[one.key]
        values = columns.get(name)
        if values is None or not np.isfinite(values).any():
            continue
        known = np.isfinite(values)
        unit, independent = _independent(repeats[known], values[known])
        units.add(unit)
        levels = {key: one.levels.get(key, "–") for key in names}
        cells.append(SweepCell(levels, independent))
    swept = {key for cell in cells for key in cell.levels if key != VARIANT} and any(
        len({cell.levels[key] for cell in cells}) > 1 for key in names if key != VARIANT
    )
    if not swept:
        return None
    found = main_effects(cells)
    return MetricEffects(
        benchmark_id=benchmark_id,
        metric=name,
        unit="ms" if name == TIME else unit_of(name),
        points=len(cells),
        missing=len(executions) - len(cells),
        of="iterations" if "iterations" in units else "repeats",
        levels=tuple(_row(one, _first(found, one.parameter)) for one in found),
    )


def _independent(repeats: Integers, values: Floats) -> tuple[str, list[float]]:
    """Return the independent unit and its values: a mean per repeat, if there are several."""
    numbers = np.unique(repeats)
    if len(numbers) < 2:
        return "iterations", values.tolist()
    return "repeats", [float(values[repeats == number].mean()) for number in numbers]


def _first(found: Sequence[LevelEffect], parameter: str) -> LevelEffect:
    return next(one for one in found if one.parameter == parameter)


def _row(one: LevelEffect, first: LevelEffect) -> EffectOfLevel:
    is_first = one is first
    low, high = (None, None) if one.interval is None else (one.interval.low, one.interval.high)
    single = (None, None) if one.single is None else one.single
    relative = None
    if not is_first and one.difference is not None and first.mean:
        relative = one.difference / first.mean
    return EffectOfLevel(
        parameter=one.parameter,
        level=one.level,
        points=one.cells,
        mean=one.mean,
        difference=None if is_first else one.difference,
        low=low,
        high=high,
        relative=relative,
        least=single[0],
        most=single[1],
        reason=one.reason,
    )


def _words(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
