"""Metrics that benchmarks define, one for each of several scorers and those of answers: of a run
that has ended and, provisionally, of one in progress.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from agentbench_tui.store.queries.executions import planned_and_observed
from agentbench_tui.verdicts.evidence.place import point_words

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable, Mapping, Sequence

_MORE = 1.1
"""Growth of the number of answers after which provisional values are computed again: each answer
is then read a bounded number of times, however many follow."""


@dataclass(frozen=True, slots=True)
class DefinedMetric:
    """One metric of one execution."""

    agent_id: str
    simulated: bool
    benchmark_id: str
    parameters: Mapping[str, Any]
    metric: str
    unit: str
    value: float | None
    low: float | None
    high: float | None
    n: int | None
    """Answers behind the value."""


def by_metric(metrics: Iterable[DefinedMetric]) -> list[DefinedMetric]:
    """Return the agents of one metric next to each other, benchmarks and metrics in their order."""
    places: dict[tuple[str, str, str], list[DefinedMetric]] = {}
    for one in metrics:
        place = (one.benchmark_id, point_words(one.parameters), one.metric)
        places.setdefault(place, []).append(one)
    return [one for some in places.values() for one in some]


@dataclass(slots=True)
class _MetricsSoFar:
    status: str = ""
    answers: int = 0
    metrics: list[DefinedMetric] = field(default_factory=list)


class DefinedMetricReader:
    """Reads the metrics of a run in progress repeatedly."""

    def __init__(self, benchmarks: Mapping[str, Mapping[str, Any]]) -> None:
        """`benchmarks`: execution id → benchmark, as the plan of the run has it."""
        self._benchmarks = {
            execution: one
            for execution, one in benchmarks.items()
            if one.get("metrics") or len(one.get("scorers", ())) > 1
        }
        self._known: dict[str, _MetricsSoFar] = {}

    def read(
        self, connection: sqlite3.Connection, rows: Sequence[Mapping[str, Any]]
    ) -> list[DefinedMetric]:
        """Return the metrics so far of these executions, rows of `executions_of`."""
        found: list[DefinedMetric] = []
        for row in rows:
            benchmark = self._benchmarks.get(row["id"])
            if benchmark is not None:
                known = self._known.setdefault(row["id"], _MetricsSoFar())
                self._refresh(connection, row, benchmark, known)
                found += known.metrics
        return by_metric(found)

    def _refresh(
        self,
        connection: sqlite3.Connection,
        row: Mapping[str, Any],
        benchmark: Mapping[str, Any],
        known: _MetricsSoFar,
    ) -> None:
        has_ended = row["status"] != "running"
        if has_ended and known.status == row["status"]:
            return
        known.status = row["status"]
        _, answers = planned_and_observed(connection, row["key"])
        wanted = known.answers if has_ended else _MORE * known.answers
        if answers <= known.answers or answers < wanted:
            return
        # These load numpy, which a run without such metrics does not need.
        from agentbench_tui.engine.task.observations import Observations
        from agentbench_tui.engine.task.own_metrics import own_metrics

        seen = Observations(connection, row["key"])
        known.answers = answers
        found = own_metrics(benchmark.get("scorers", ()), benchmark.get("metrics", ()), seen)
        known.metrics = [
            DefinedMetric(
                row["agent_id"], bool(row["simulated"]), row["benchmark_id"], row["parameters"],
                one.name, one.unit, one.value, one.low, one.high, one.n,
            )
            for one in sorted(found, key=lambda one: one.name)  # as stored ones are ordered
        ]  # fmt: skip
