"""`agentbench.stress/1`: results of the stress scenarios of a run, for scripts and screens."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import msgspec

from agentbench_tui.analysis.load.resilience import overall
from agentbench_tui.contracts.stress import (
    AgentStress,
    NormalLevel,
    ScenarioResult,
    StressAdvice,
    StressAgentsDocument,
    StressBreakingPoint,
    StressDocument,
    StressLimits,
    StressRecovery,
    StressScaling,
    StressTrend,
    StressWindow,
)
from agentbench_tui.stress.catalog import SCENARIOS
from agentbench_tui.stress.report import ScenarioReport
from agentbench_tui.stress.reporter import read_report

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable, Mapping, Sequence
    from typing import TypeVar

    from agentbench_tui.analysis.load.resilience import Overall
    from agentbench_tui.contracts.document import Json
    from agentbench_tui.contracts.run import ExecutionResult, RunDocument
    from agentbench_tui.store.queries.runs import Row
    from agentbench_tui.stress.report import ScalingFacts

    Facts = TypeVar("Facts")

_AT_EASE = ("ladder", "normal")
"""Phases of windows that measure normal load."""


def scenario_document(
    connection: sqlite3.Connection, row: Row, benchmark: Mapping[str, Json]
) -> ScenarioResult:
    """Return the findings of a stress scenario's execution (a row of `queries.executions_of`), or
    why there are none; `benchmark` as in the run's plan.

    A number that could not be measured is None, and `missing` or `reason` says why.
    """
    report = read_report(connection, row["key"])
    if report is not None:
        found = scenario_result(report)
    else:
        found = msgspec.structs.replace(
            scenario_result(ScenarioReport(scenario="high_load")),  # without any finding
            name=benchmark["stress"].get("scenario"),
            status=row["status"],
            reason=row["stop_reason"] or row["status"],
            time_scale=None,
            simulated=None,
        )
    return msgspec.structs.replace(
        found,
        execution_id=row["id"],
        benchmark_id=row["benchmark_id"],
        parameters=row["parameters"],
    )


def scenario_result(report: ScenarioReport) -> ScenarioResult:
    """Return the result in a report, as of an execution named after its scenario."""
    score = report.score
    points = _several(report.breaking_points, StressBreakingPoint)
    return ScenarioResult(
        name=report.scenario,
        status=report.status,
        reason=report.reason,
        resilience=None if score is None else score.value,
        interval=None if score is None else _interval(score.low, score.high),
        resilience_watched=None if score is None else score.watched,
        resilience_words="" if score is None else score.words,
        worst_second=None if score is None else score.worst_second,
        piece_s=None if score is None else score.piece_s,
        broke=report.broke if report.broke or _was_tried(report) else None,
        breaking_point=_first_that_fails(points),
        breaking_points=points,
        recovery_s=slowest(report),
        recommendations=_several(report.advice, StressAdvice),
        time_scale=report.time_scale,
        simulated=report.simulated,
        normal=_one(report.normal, NormalLevel),
        limits=_one(report.limits, StressLimits),
        recoveries=_recoveries(report),
        trends=_several(report.trends, StressTrend),
        scaling=_scaling(report.scaling),
        observations=report.observations,
        windows=_several(report.windows, StressWindow),
        missing=report.missing,
        execution_id=report.scenario,
        benchmark_id=report.scenario,
        parameters={},
    )


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


def stress_document(run: RunDocument) -> StressDocument | StressAgentsDocument:
    """Return what `agentbench stress --format json` prints.

    With one agent, all keys are at the top level; with several, each has a document under `agents`.
    """
    agents = agents_under_stress(run)
    if len(agents) == 1:
        return StressDocument(
            run_id=run.run_id,
            run_status=run.status,
            stop_reason=run.stop_reason,
            **msgspec.structs.asdict(agents[0]),
        )
    return StressAgentsDocument(
        run_id=run.run_id, run_status=run.status, stop_reason=run.stop_reason, agents=agents
    )


def agents_under_stress(run: RunDocument) -> tuple[AgentStress, ...]:
    """Return the agents of a run that were put under stress, each with its scenarios in the order
    of the catalog."""
    by_agent: dict[str, list[ExecutionResult]] = {}
    for execution in run.executions:
        if execution.scenario is not None:
            by_agent.setdefault(execution.agent_id, []).append(execution)
    return tuple(map(_of_agent, by_agent.values()))


def overall_resilience(scenarios: Iterable[ScenarioResult]) -> Overall:
    """Return the score over scenarios (geometric mean), the worst one, and those without a
    score.

    A scenario that was run more than once counts by its worst time: a mean would hide it.
    """
    scores: dict[str, float | None] = dict.fromkeys(SCENARIOS)
    for one in scenarios:
        found, before = one.resilience, scores.get(one.name or "")
        if found is not None and one.name is not None:
            scores[one.name] = found if before is None else min(found, before)
    return overall(scores)


def _of_agent(executions: Sequence[ExecutionResult]) -> AgentStress:
    first = executions[0]
    order = {name: place for place, name in enumerate(SCENARIOS)}
    scenarios = sorted(
        (one.scenario for one in executions if one.scenario is not None),
        key=lambda one: order.get(one.name or "", math.inf),
    )
    scales = {one.time_scale for one in scenarios if one.time_scale is not None}
    whole = overall_resilience(scenarios)
    return AgentStress(
        agent=first.agent_id,
        agent_version=first.agent_version,
        simulated=any(one.simulated for one in executions),
        time_scale=scales.pop() if len(scales) == 1 else None,
        scenarios=tuple(scenarios),
        resilience_score=whole.score,
        worst=whole.worst,
        missing=whole.missing,
        scaling=next((one.scaling for one in scenarios if one.scaling), None),
    )


def _recoveries(report: ScenarioReport) -> tuple[StressRecovery, ...]:
    """Return the recoveries, each with whether it was watched long enough to tell."""
    return tuple(
        StressRecovery(
            after=one.after,
            seconds=one.seconds,
            known=report.knows(one),
            watched_s=one.watched_s,
            words=one.words,
        )
        for one in report.recoveries
    )


def _first_that_fails(points: Sequence[StressBreakingPoint]) -> StressBreakingPoint | None:
    """Return the breaking point to name first: of the first search that found a failing level."""
    failing = (one for one in points if one.fails is not None)
    return next(failing, points[0] if points else None)


def _scaling(facts: ScalingFacts | None) -> StressScaling | None:
    if facts is None:
        return None
    return StressScaling(
        peak=facts.peak_per_s,
        **{
            name: value
            for name, value in msgspec.structs.asdict(facts).items()
            if name != "peak_per_s"
        },
    )


def _interval(low: float | None, high: float | None) -> tuple[float, float] | None:
    return None if low is None or high is None else (low, high)


def _one(facts: object, of: type[Facts]) -> Facts | None:
    """Return stored facts as the part of the document that has the same fields."""
    return None if facts is None else msgspec.convert(facts, of, from_attributes=True)


def _several(facts: Sequence[object], of: type[Facts]) -> tuple[Facts, ...]:
    return tuple(msgspec.convert(one, of, from_attributes=True) for one in facts)
