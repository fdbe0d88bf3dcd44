"""What a run measured over time: latencies of its answers, answers per second, gauges."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from agentbench_tui.store.queries.answers import answer_times
from agentbench_tui.store.queries.gauges import gauge_readings
from agentbench_tui.store.queries.ticks import answered_ticks
from agentbench_tui.verdicts.evidence.place import point_words

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable, Mapping

    from agentbench_tui.analysis.sample import Floats
    from agentbench_tui.contracts.run import ExecutionResult

GAUGES = {
    "cpu_percent": "%", "rss_mb": "MB", "utilisation_percent": "%", "memory_used_mb": "MB",
}  # fmt: skip
"""Fields of gauges that a report draws → unit."""


@dataclass(frozen=True, slots=True)
class Latencies:
    """End-to-end times in ms of one agent on one benchmark at one point."""

    benchmark: str
    """With its point, if it was swept."""
    agent_id: str
    e2e_ms: Floats


@dataclass(frozen=True, slots=True)
class TimeCourse:
    """Values of one thing over the run."""

    name: str
    at_s: Sequence[float]
    """Seconds since the first one of the run."""
    values: Sequence[float]


@dataclass(frozen=True, slots=True)
class RunTimes:
    """Everything that a run measured over time."""

    latencies: Sequence[Latencies]
    answers_per_s: Sequence[TimeCourse]
    """Of each agent."""
    gauges: Mapping[str, Sequence[TimeCourse]]
    """Field of `GAUGES` → its course in each scope."""


def run_times(
    connection: sqlite3.Connection,
    run_key: int,
    executions: Iterable[tuple[int, ExecutionResult]],
) -> RunTimes:
    """Read them; `executions` with their keys."""
    latencies = []
    for key, one in executions:
        times = latencies_of(connection, key, has_mean=one.value("e2e_ms.mean") is not None)
        if len(times):
            point = point_words(one.parameters)
            benchmark = f"{one.benchmark_id} ({point})" if point else one.benchmark_id
            latencies.append(Latencies(benchmark, one.agent_id, times))
    return RunTimes(latencies, _answers(connection, run_key), _gauges(connection, run_key))


def latencies_of(connection: sqlite3.Connection, execution_key: int, *, has_mean: bool) -> Floats:
    """Return the end-to-end time in ms of each answer that the mean covers: answers to cases,
    calls of code, or requests of a load (from the due time in an open loop).

    Empty if the execution has no mean: with recorded answers, which take no time, and of stress,
    whose windows have different loads.
    """
    if not has_mean:
        return np.empty(0)
    times = answer_times(connection, execution_key)
    if times:
        return np.array(times)
    from agentbench_tui.load.results.aggregate import read_requests

    found = read_requests(connection, execution_key).e2e_ms
    return found[~np.isnan(found)]


def _answers(connection: sqlite3.Connection, run_key: int) -> list[TimeCourse]:
    """Count answers in each second; a second without a tick had none."""
    counted: dict[str, dict[int, int]] = defaultdict(lambda: defaultdict(int))
    first = None
    for agent, at, answered in answered_ticks(connection, run_key):
        first = at if first is None else first
        counted[agent][round(at - first)] += answered
    last = max((second for seconds in counted.values() for second in seconds), default=0)
    return [
        TimeCourse(agent, [*map(float, range(last + 1))],
                   [float(seconds.get(second, 0)) for second in range(last + 1)])
        for agent, seconds in counted.items()
    ]  # fmt: skip


def _gauges(connection: sqlite3.Connection, run_key: int) -> dict[str, list[TimeCourse]]:
    found: dict[str, dict[str, tuple[list[float], list[float]]]] = {}
    first = None
    for at, scope, field, value in gauge_readings(connection, run_key, tuple(GAUGES)):
        first = at if first is None else first
        seconds, values = found.setdefault(field, {}).setdefault(scope, ([], []))
        seconds.append(at - first)
        values.append(value)
    return {
        field: [TimeCourse(scope, *course) for scope, course in found[field].items()]
        for field in GAUGES
        if field in found
    }
