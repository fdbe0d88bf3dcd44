"""Run documents with the fields that a test does not care about filled in."""

from __future__ import annotations

from typing import Any

import msgspec

from agentbench_tui.contracts.document import Part
from agentbench_tui.contracts.load import HarnessFigures, LoadDocument, RequestTotals
from agentbench_tui.contracts.run import (
    CaseCounts,
    ExecutionResult,
    MetricValue,
    RunDocument,
    RunLeaderboardEntry,
    ScoreValues,
)

_NO_SCORES = ScoreValues(
    accuracy=None, speed=None, efficiency=None, cost=None, reliability=None, overall=None
)


def metric(value: float | None, low: float | None = None, high: float | None = None,
           reason: str | None = None, unit: str = "") -> MetricValue:  # fmt: skip
    return MetricValue(value=value, unit=unit, low=low, high=high, n=None, reason=reason)


def execution(agent_id: str = "a", benchmark_id: str = "b", **changes: Any) -> ExecutionResult:
    """A complete execution of a task, with three right answers to three questions."""
    return ExecutionResult(
        **{
            "execution_id": f"{agent_id}-{benchmark_id}",
            "suite_id": "s",
            "benchmark_id": benchmark_id,
            "agent_id": agent_id,
            "agent_version": "1",
            "parameters": {},
            "seed": 42,
            "simulated": False,
            "status": "complete",
            "stop_reason": None,
            "cases": CaseCounts(total=3, observed=3, answered=3, correct=3),
            "metrics": {},
            "scores": _NO_SCORES,
            "weights": {},
            "percentile_rank": None,
            "deviation_from_baseline": None,
            "failures": {},
            "judges": None,
            "unmeasured": {},
            "kind": "task",
            **changes,
        }
    )


def entry(agent_id: str = "a", **changes: Any) -> RunLeaderboardEntry:
    """An agent of a run's leaderboard, without scores."""
    return RunLeaderboardEntry(
        **{
            "rank": None,
            "agent_id": agent_id,
            "agent_version": "1",
            "simulated": False,
            "reason": "",
            "benchmarks": 1,
            "observed": 3,
            "answered": 3,
            "correct": 3,
            "failures": 0,
            "rank_shown": "–",
            **dict.fromkeys(
                ("overall", "low", "high", "cost_usd", "rank_low", "rank_high", "rank_metric")
            ),
            **dict.fromkeys(("accuracy", "speed", "efficiency", "cost", "reliability")),
            "ranked_by": None,
            **changes,
        }
    )


def run(*executions: ExecutionResult, **changes: Any) -> RunDocument:
    """A complete run of these executions."""
    given = {"run_id": "r1", "status": "complete", "harness": "clean", "leaderboard": ()} | changes
    return RunDocument(executions=executions, **given)


def load(**changes: Any) -> LoadDocument:
    """A load of which nothing is known but these fields, as JSON has them."""
    required = (one.name for one in msgspec.structs.fields(LoadDocument) if one.required)
    whose = ("run_id", "execution_id", "agent_id", "agent_version", "suite_id", "benchmark_id")
    known: dict[str, Any] = {
        **dict.fromkeys(required),
        **dict.fromkeys(whose, "m"),
        "parameters": {},
        "simulated": False,
        "status": "complete",
        "reasons": [],
        "warnings": [],
        "metrics": {},
        "unmeasured": {},
    }
    parts: dict[str, Any] = {
        "requests": dict.fromkeys(RequestTotals.__struct_fields__) | {"failed": {}},
        "harness": dict.fromkeys(HarnessFigures.__struct_fields__),
    }
    given = {name: part | changes.get(name, {}) for name, part in parts.items()}
    return msgspec.convert(known | changes | given, LoadDocument)


def as_printed(document: Part) -> dict[str, Any]:
    """The document as JSON has it."""
    plain: dict[str, Any] = msgspec.to_builtins(document)
    return plain
