"""Distribution of times in the execution that a running one is compared with."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

from agentbench_tui.analysis.histogram import Histogram
from agentbench_tui.store.queries.baselines import DEFAULT, baselines_of
from agentbench_tui.store.queries.executions import execution_at, executions_before
from agentbench_tui.store.queries.ticks import TickHistograms, tick_histograms

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Mapping

    from agentbench_tui.store.queries.baselines import Baseline
    from agentbench_tui.store.queries.runs import Row

_LOOKED_AT = 500
"""Earlier executions among which a baseline is looked for."""


@dataclass(frozen=True, slots=True)
class Reference:
    """An earlier execution of the same agent on the same benchmark."""

    name: str
    """Name for a legend: `baseline run 01a2…`, `run before`."""
    histograms: Mapping[str, Histogram]
    """Column of `ticks` → all its ticks together, in ms."""


def reference_of(connection: sqlite3.Connection, execution_key: int) -> Reference | None:
    """Return the execution to compare with: that of the baseline's run, version or tag, or the
    newest complete one before it. None if there is none.
    """
    execution = execution_at(connection, execution_key)
    baseline = _baseline(connection, execution)
    rows = executions_before(connection, execution, 1 if baseline is None else _LOOKED_AT)
    for row in rows:
        if baseline is None:
            return Reference(
                f"run {row['run_id'][:13]} before", _histograms(connection, row["key"])
            )
        if _is_meant(baseline, row):
            name = f"baseline {baseline.kind} {baseline.target[:13]}"
            return Reference(name, _histograms(connection, row["key"]))
    return None


def _histograms(connection: sqlite3.Connection, execution_key: int) -> dict[str, Histogram]:
    found = {column: Histogram() for column in TickHistograms._fields}
    for tick in tick_histograms(connection, execution_key):
        for column, encoded in zip(TickHistograms._fields, tick, strict=True):
            if encoded:
                found[column].merge(Histogram.from_bytes(encoded))
    return found


def _baseline(connection: sqlite3.Connection, execution: Row) -> Baseline | None:
    """Return the default baseline that was set for this agent here."""
    for one in baselines_of(connection, execution["agent_id"]):
        if (
            one.name == DEFAULT
            and one.suite_id in {"", execution["suite_id"]}
            and one.benchmark_id in {"", execution["benchmark_id"]}
        ):
            return one
    return None


def _is_meant(baseline: Baseline, row: Row) -> bool:
    if baseline.kind == "version":
        return bool(row["agent_version"] == baseline.target)
    if baseline.kind == "run":
        return bool(row["run_id"] == baseline.target)
    return baseline.target in json.loads(row["tags"])
