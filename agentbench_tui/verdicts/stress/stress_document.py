"""`agentbench.stress/1`: results of the stress scenarios of a run, for scripts and screens."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import msgspec

from agentbench_tui.analysis.load.resilience import overall
from agentbench_tui.stress.catalogue import SCENARIOS
from agentbench_tui.stress.reporter import read_report

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable, Mapping, Sequence

    from agentbench_tui.stress.report import ScenarioReport
    from agentbench_tui.stress.search.breaking_point import BreakingPoint

SCHEMA = "agentbench.stress/1"
_AT_EASE = ("ladder", "normal")
"""Phases of windows that measure normal load."""

Document = dict[str, Any]


def scenario_document(
    connection: sqlite3.Connection, row: Document, benchmark: Mapping[str, Any]
) -> Document:
    """Return the findings of a stress scenario's execution (a row of `queries.executions_of`), or
    why there are none; `benchmark` as in the run's plan.

    A number that could not be measured is null, and `missing` or `reason` says why.
    """
    report = read_report(connection, row["key"])
    place = {
        "execution_id": row["id"],
        "benchmark_id": row["benchmark_id"],
        "parameters": row["parameters"],
    }
    if report is not None:
        return told(report) | place
    name = benchmark["stress"].get("scenario")
    return _untold(name, row["status"], row["stop_reason"] or row["status"]) | place


def told(report: ScenarioReport) -> Document:
    """Return a scenario as in the document."""
    score = report.score
    points = [_point(one) for one in report.breaking_points]
    return {
        "name": report.scenario,
        "status": report.status,
        "reason": report.reason,
        "resilience": None if score is None else score.value,
        "interval": None if score is None or score.low is None else [score.low, score.high],
        "resilience_watched": None if score is None else score.watched,
        "resilience_words": "" if score is None else score.words,
        "worst_second": None if score is None else score.worst_second,
        "piece_s": None if score is None else score.piece_s,
        "broke": report.broke if report.broke or _was_tried(report) else None,
        "breaking_point": _first_that_fails(points),
        "breaking_points": points,
        "recovery_s": slowest(report),
        "recommendations": _plain(report.advice),
        "time_scale": report.time_scale,
        "simulated": report.simulated,
        "normal": _plain(report.normal),
        "limits": _plain(report.limits),
        "recoveries": _plain(report.recoveries),
        "trends": _plain(report.trends),
        "scaling": _scaling(_plain(report.scaling)),
        "observations": dict(report.observations),
        "windows": _plain(report.windows),
        "missing": dict(report.missing),
    }


def _was_tried(report: ScenarioReport) -> bool:
    """Return whether a load above normal was tried."""
    return any(window.phase not in _AT_EASE for window in report.windows)


def slowest(report: ScenarioReport) -> float | None:
    """Return the seconds of the longest recovery; None if a recovery was not observed, and if there
    was nothing to recover from.
    """
    seconds = [one.seconds for one in report.recoveries]
    known = [one for one in seconds if one is not None]
    return max(known) if known and len(known) == len(seconds) else None


def stress_document(run: Document) -> Document:
    """Return what `agentbench stress --format json` prints. `run` is `agentbench.run/1`.

    With one agent, all keys are at the top level; with several, each has a document under `agents`.
    """
    by_agent: dict[str, list[Document]] = {}
    for execution in run["executions"]:
        if "stress" in execution:
            by_agent.setdefault(execution["agent_id"], []).append(execution)
    head = {
        "schema": SCHEMA,
        "run_id": run["run_id"],
        "run_status": run["status"],
        "stop_reason": run["stop_reason"],
    }
    agents = [_of_agent(executions) for executions in by_agent.values()]
    return head | (agents[0] if len(agents) == 1 else {"agents": agents})


def standing(scenarios: Iterable[Document]) -> Document:
    """Return the score over scenarios (geometric mean), the worst one, and those without a
    score.

    A scenario that was run more than once counts by its worst time: a mean would hide it.
    """
    scores: dict[str, float | None] = dict.fromkeys(SCENARIOS)
    for one in scenarios:
        found, before = one["resilience"], scores.get(one["name"])
        if found is not None:
            scores[one["name"]] = found if before is None else min(found, before)
    whole = overall(scores)
    return {
        "resilience_score": whole.score,
        "worst": whole.worst,
        "missing": list(whole.missing),
    }


def _of_agent(executions: Sequence[Document]) -> Document:
    first = executions[0]
    order = {name: place for place, name in enumerate(SCENARIOS)}
    scenarios = sorted(
        (one["stress"] for one in executions), key=lambda one: order.get(one["name"], math.inf)
    )
    scales = {one["time_scale"] for one in scenarios if one["time_scale"] is not None}
    return {
        "agent": first["agent_id"],
        "agent_version": first["agent_version"],
        "simulated": any(one["simulated"] for one in executions),
        "time_scale": scales.pop() if len(scales) == 1 else None,
        "scenarios": scenarios,
        **standing(scenarios),
        "scaling": next((one["scaling"] for one in scenarios if one["scaling"]), None),
    }


def _untold(name: str | None, status: str, reason: str) -> Document:
    """Return the result of a scenario without any measurement."""
    nothing = (
        *(
            "resilience",
            "interval",
            "resilience_watched",
            "worst_second",
            "piece_s",
            "broke",
            "breaking_point",
        ),
        *("recovery_s", "time_scale", "simulated", "normal", "limits", "scaling"),
    )
    lists = ("breaking_points", "recommendations", "recoveries", "trends", "windows")
    return {
        "name": name,
        "status": status,
        "reason": reason,
        **dict.fromkeys(nothing),
        **{key: [] for key in lists},
        "observations": {},
        "resilience_words": "",
        "missing": {},
    }


def _point(found: BreakingPoint) -> Document:
    document: Document = _plain(found)
    return document | {"words": found.words}


def _first_that_fails(points: Sequence[Document]) -> Document | None:
    """Return the breaking point to name first: of the first search that found a failing level."""
    failing = (one for one in points if one["fail"] is not None)
    return next(failing, points[0] if points else None)


def _scaling(facts: Document | None) -> Document | None:
    if facts is not None:
        facts["peak"] = facts.pop("peak_per_s")
    return facts


def _plain(facts: Any) -> Any:
    """Convert to JSON values: no tuples, and null for what is not a number."""
    return msgspec.json.decode(msgspec.json.encode(facts))
