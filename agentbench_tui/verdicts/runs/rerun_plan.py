"""Requests of a planned rerun with their expected cost: the document of `rerun --dry-run`."""

from __future__ import annotations

from math import fsum
from typing import TYPE_CHECKING

from agentbench_tui.contracts.plan import RepeatedRequest, RerunExecution, RerunPlanDocument
from agentbench_tui.engine.run.rerun import earlier_places
from agentbench_tui.store.queries.executions import find_execution
from agentbench_tui.store.reruns import costs_of_answers, observations_of, planned_of

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Mapping, Sequence

    from agentbench_tui.engine.run.plan import Continued, ExecutionPlan, Group, Plan
    from agentbench_tui.store.reruns import StoredObservation

_Place = tuple[str, int, int]


def rerun_plan_document(connection: sqlite3.Connection, plan: Plan) -> RerunPlanDocument:
    """Return the requests of a plan of `rerun_plan`; nothing is written."""
    executions = tuple(
        _execution(connection, group, execution, execution.continued)
        for group, execution in plan.executions()
        if execution.continued is not None
    )
    costs = [one.cost_usd for one in executions if one.requests]
    known = [cost for cost in costs if cost is not None]
    return RerunPlanDocument(
        run_id=plan.rerun_of,
        requests=sum(one.requests for one in executions),
        cost_usd=fsum(known) if len(known) == len(costs) else None,
        cost_limit_usd=plan.cost_limit_usd,
        executions=executions,
    )


def _execution(
    connection: sqlite3.Connection, group: Group, execution: ExecutionPlan, continued: Continued
) -> RerunExecution:
    key = find_execution(connection, continued.execution_id)
    assert key is not None  # its observations were just chosen from it
    stored = {_place(one): one for one in observations_of(connection, key)}
    places = earlier_places(group, continued)
    planned, observed = planned_of(connection, key)
    never_asked = planned - observed if continued.asks_rest else 0
    costs = costs_of_answers(connection, key)
    return RerunExecution(
        execution_id=continued.execution_id,
        suite_id=group.suite_id,
        benchmark_id=group.benchmark["benchmark_id"],
        agent_id=execution.agent.id,
        agent_version=execution.agent.version,
        parameters=group.parameters,
        seed=group.seed,
        attempt=continued.attempt,
        requests=len(places) + never_asked,
        never_asked=never_asked,
        kept=observed - len(places) if continued.attempt == 1 else 0,
        cost_usd=_expected_cost(costs, places, never_asked),
        asked=tuple(
            RepeatedRequest(
                case_id=place[0],
                repeat=place[1],
                iteration=place[2],
                outcome=_outcome(stored[place]),
            )
            for place in places
        ),
    )


def _place(one: StoredObservation) -> _Place:
    return (one.case_id, one.repeat, one.iteration)


def _outcome(one: StoredObservation) -> str:
    return one.failure_kind or ("right" if one.correct else "wrong")


def _expected_cost(
    costs: Mapping[_Place, float], asked: Sequence[_Place], never_asked: int
) -> float | None:
    """The earlier answer to a question predicts the cost better than the mean: long questions
    cost more, and are more often wrong."""
    if not costs:
        return 0.0 if not asked and not never_asked else None
    mean = fsum(costs.values()) / len(costs)
    return fsum([*(costs.get(place, mean) for place in asked), mean * never_asked])
