"""Results of `load` and `stress`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import msgspec
from msgspec import UNSET

from agentbench_tui.contracts.load import LoadDocument, SweepLimit
from agentbench_tui.contracts.stress import AgentStress
from agentbench_tui.presentation.numbers import duration, duration_s
from agentbench_tui.python_api.display import ResultPage, ResultTable, shown
from agentbench_tui.python_api.results import (
    Row,
    RunResult,
    common_fields,
    gate_table,
    place_of,
)

if TYPE_CHECKING:
    from typing import Self

    from agentbench_tui.verdicts.runs.ended_run import EndedRun


@dataclass(frozen=True, repr=False)
class LoadResult(RunResult):
    """A load test: latency, throughput and the verdict on the measurement at each load level."""

    tables: ClassVar[tuple[str, ...]] = ("points", "metrics", "gates")

    within_slo: SweepLimit | None = None
    """The highest load level that keeps the service-level objective, of several levels."""

    @classmethod
    def of_ended_run(cls, ended: EndedRun) -> Self:
        """Make the result of a load test that has ended."""
        from agentbench_tui.verdicts.load.load_sweep import within_slo

        document, failures = common_fields(ended)
        return cls(document, failures, next(iter(within_slo(document.executions)), None))

    @property
    def points(self) -> tuple[LoadDocument, ...]:
        """The load levels that were measured."""
        return tuple(one.load for one in self.executions if one.load is not UNSET)

    def _points_rows(self) -> list[Row]:
        return [*map(_load_row, self.points)]

    def _metrics_rows(self) -> list[Row]:
        return [row for one in self.points for row in _load_metric_rows(one)]

    def _page(self) -> ResultPage:
        notes = [*self.document.remarks, *self._what_failed()]
        notes += dict.fromkeys(text for one in self.points for text in one.warnings)
        if self.within_slo is not None and self.within_slo.highest is not None:
            limit = self.within_slo
            notes.append(f"highest {limit.parameter} within the SLO: {shown(limit.highest)}")
        rows = [*map(_shown_row, self.points)]
        return ResultPage(
            f"load {self.run_id}: {self.status}",
            (ResultTable("", _POINTS, rows), gate_table(self.gates)),
            notes,
        )


@dataclass(frozen=True, repr=False)
class StressResult(RunResult):
    """A stress test: breaking point, cause and recovery in each scenario."""

    tables: ClassVar[tuple[str, ...]] = ("scenarios", "windows", "gates")

    agents: tuple[AgentStress, ...] = ()
    """What was found of each agent."""

    @classmethod
    def of_ended_run(cls, ended: EndedRun) -> Self:
        """Make the result of a stress test that has ended."""
        from agentbench_tui.verdicts.stress.stress_document import agents_under_stress

        document, failures = common_fields(ended)
        return cls(document, failures, agents_under_stress(document))

    def _scenarios_rows(self) -> list[Row]:
        rows = []
        for agent in self.agents:
            for one in agent.scenarios:
                point = one.breaking_point
                rows.append(
                    {
                        "agent_id": agent.agent,
                        "simulated": agent.simulated,
                        "scenario": one.name,
                        "status": one.status,
                        "broke": one.broke,
                        "passes": None if point is None else point.passes,
                        "fails": None if point is None else point.fails,
                        "unit": None if point is None else point.unit,
                        "resilience": one.resilience,
                        "recovery_s": one.recovery_s,
                        "reason": one.reason or None,
                    }
                )
        return rows

    def _windows_rows(self) -> list[Row]:
        return [
            {"agent_id": agent.agent, "scenario": one.name, **msgspec.structs.asdict(window)}
            for agent in self.agents
            for one in agent.scenarios
            for window in one.windows
        ]

    def _page(self) -> ResultPage:
        advice = [
            f"{one.name}: {words.words}"
            for agent in self.agents
            for one in agent.scenarios
            for words in one.recommendations
        ]
        rows = [
            row | {"recovery_s": duration_s(row["recovery_s"])} for row in self._scenarios_rows()
        ]
        return ResultPage(
            f"stress {self.run_id}: {self.status}",
            (ResultTable("", _SCENARIOS, rows), gate_table(self.gates)),
            [*self.document.remarks, *self._what_failed(), *advice],
        )


_POINTS = {
    "agent_id": "agent", "parameters": "load", "verdict": "verdict", "asked_per_s": "offered/s",
    "answered_per_s": "completed/s", "failed": "failed", "e2e_ms.p50": "e2e p50",
    "e2e_ms.p95": "e2e p95", "e2e_ms.p99": "e2e p99", "ttft_ms.p50": "TTFT p50",
    "ttft_ms.p95": "TTFT p95", "output_tokens_per_s": "tokens/s", "goodput_per_s": "goodput/s",
}  # fmt: skip
_SCENARIOS = {
    "agent_id": "agent", "scenario": "scenario", "status": "status", "broke": "broke",
    "passes": "passes", "fails": "fails", "unit": "unit", "resilience": "resilience",
    "recovery_s": "recovery", "reason": "reason",
}  # fmt: skip
_LOAD_PARTS = ("mean", "p50", "p90", "p95", "p99", "p999", "max", "n")


def _load_row(one: LoadDocument) -> Row:
    requests = one.requests
    row = place_of(one) | {
        "simulated": one.simulated,
        "verdict": one.verdict,
        "asked_per_s": requests.asked_per_s,
        "sent_per_s": requests.sent_per_s,
        "answered_per_s": None,
        "failed": sum(requests.failed.values()),
        "unfinished": requests.unfinished,
    }
    for name, found in one.metrics.items():
        if isinstance(found, float | int) or found is None:
            row[name] = found
        else:
            row |= {f"{name}.{part}": found.part(part) for part in _LOAD_PARTS}
    row["answered_per_s"] = row.get("request_throughput_per_s")
    return row


def _shown_row(one: LoadDocument) -> Row:
    row = _load_row(one)
    times = {key: duration(row.get(key)) for key in _POINTS if "_ms." in key}
    return row | times | {"parameters": one.parameters}


def _load_metric_rows(one: LoadDocument) -> Iterator[Row]:
    for name, found in one.metrics.items():
        if isinstance(found, float | int) or found is None:
            yield place_of(one) | {"metric": name, "value": found}
        else:
            yield (
                place_of(one) | {"metric": name} | {part: found.part(part) for part in _LOAD_PARTS}
            )
