"""Paths below `/benchmarks`: start a run, and read results, leaderboards and verdicts."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec
from fastapi import APIRouter, Path, Query, Request, Response

from agentbench_tui.api import readings
from agentbench_tui.api.answers import body_as, document_answer, json_answer, service_of
from agentbench_tui.api.examples import AGENT_IDS, CONFIGURATION
from agentbench_tui.api.openapi import Responses, answers_with, json_body, reference_to
from agentbench_tui.contracts.service import RunConfiguration, StartedRunDocument

TEXT = r"^[^\x00-\x1f\x7f]+$"
"""Names have no control characters."""
Name = Annotated[str, Query(min_length=1, max_length=200, pattern=TEXT)]
AgentPath = Annotated[
    str,
    Path(
        description="Agent, or AGENT@VERSION.", min_length=1, max_length=200, pattern=TEXT,
        examples=["planner"],
    ),
]  # fmt: skip
AgentIds = Annotated[
    tuple[Annotated[str, msgspec.Meta(pattern=readings.SELECTOR)], ...],
    msgspec.Meta(min_length=2, max_length=20),
]
_AGENT_IDS_SCHEMA = {
    "type": "array",
    "minItems": 2,
    "maxItems": 20,
    "items": {"type": "string", "pattern": readings.SELECTOR, "maxLength": 200},
}
router = APIRouter(prefix="/benchmarks", tags=["benchmarks"])


def _run_answers() -> Responses:
    finished = answers_with("run/1", errors=(404, 422, 429), body=True)
    started = answers_with("started-run/1", status=202)[202]
    return {**finished, 202: started}


@router.post(
    "/run",
    summary="Run a suite against an agent",
    response_class=Response,
    responses=_run_answers(),
    openapi_extra=json_body(reference_to(RunConfiguration), CONFIGURATION, required=False),
)
async def run_benchmark(
    request: Request,
    agent_id: Annotated[
        str,
        Query(
            description="An agent that the suite, the operator or the database has, or a target"
            " whose scheme the operator allowed.",
            min_length=1,
            max_length=2000,
            pattern=TEXT,
            examples=["planner"],
        ),
    ],
    suite_id: Annotated[
        str,
        Query(
            description="A suite of `GET /suites`.",
            min_length=1,
            max_length=200,
            pattern=TEXT,
            examples=["quickstart"],
        ),
    ],
    async_execution: Annotated[
        bool,
        Query(description="Answer as soon as the run has started, instead of when it has ended."),
    ] = False,
) -> Response:
    """Start a run as a process of its own, which continues without the service and the client.

    The body is a configuration; without one, the run is as the suite says.
    """
    service = service_of(request)
    configuration = await body_as(request, RunConfiguration, default=RunConfiguration())
    run_id = await service.start_run(agent_id, suite_id, configuration)
    if async_execution:
        url = f"/runs/{run_id}"
        started = StartedRunDocument(run_id=run_id, run_url=url, events_url=f"{url}/events")
        return document_answer(started, 202, {"Location": url})
    await service.wait_for_end(run_id)
    body = await service.reader.read(lambda connection: readings.ended_run(connection, run_id))
    return json_answer(body)


@router.get(
    "/agents/{agent_id}/results",
    summary="Results of an agent",
    response_class=Response,
    responses=answers_with("results/1", errors=(404, 422)),
)
async def get_benchmark_results(
    request: Request,
    agent_id: AgentPath,
    suite_id: Annotated[Name | None, Query(description="Only this suite.")] = None,
    timeframe: Annotated[
        str,
        Query(
            description="`latest`: of each benchmark the newest whole run; `all`; or a time such as"
            " `24h`, `7d` or `4w`.",
            pattern=r"^(latest|all|[1-9][0-9]{0,3}[hdw])$",
            examples=["latest", "7d"],
        ),
    ] = "latest",
    limit: Annotated[int, Query(description="Most executions.", ge=1, le=1000)] = 100,
) -> Response:
    """Return complete executions, the newest first."""
    service = service_of(request)
    body = await service.reader.answer(
        ("results", agent_id, suite_id, timeframe, limit),
        lambda c: readings.agent_results(c, agent_id, suite_id, timeframe, limit),
        of_history=True,
    )
    return json_answer(body)


@router.get(
    "/leaderboard",
    summary="Leaderboard",
    response_class=Response,
    responses=answers_with("leaderboard/1", errors=(422,)),
)
async def get_leaderboard(
    request: Request,
    category: Annotated[
        Name, Query(description="Category of suites; `overall` for all together.")
    ] = readings.OVERALL,
    metric: Annotated[
        Name, Query(description="Metric or score to rank by; `all` for the usual one.")
    ] = readings.ALL,
    limit: Annotated[
        int, Query(description="Most rows of a board.", ge=1, le=1000)
    ] = readings.MOST_ROWS,
) -> Response:
    """Rank agents by their executions of the last 30 days; tied agents share a rank."""
    service = service_of(request)
    body = await service.reader.answer(
        *readings.leaderboard_answer(category, metric, limit), of_history=True
    )
    return json_answer(body)


@router.post(
    "/compare",
    summary="Compare agents",
    response_class=Response,
    responses=answers_with("compare/1", "agent-matrix/1", errors=(404, 422), body=True),
    openapi_extra=json_body(_AGENT_IDS_SCHEMA, AGENT_IDS, required=True),
)
async def compare_agents(
    request: Request,
    suite_id: Annotated[Name, Query(description="Suite whose benchmarks are compared.")],
    comparison_type: Annotated[
        Literal["head_to_head", "matrix"],
        Query(
            description="`head_to_head`: every pair of agents, with tests; `matrix`: mean scores"
            " and ranks."
        ),
    ] = "head_to_head",
) -> Response:
    """Compare the agents of the body, a list: `AGENT`, `AGENT@VERSION`, `run:ID/AGENT` or
    `tag:NAME/AGENT`."""
    from agentbench_tui.verdicts.comparison.selector_comparison import ComparisonOptions

    service = service_of(request)
    agent_ids = await body_as(request, AgentIds)
    key = ("compare", agent_ids, suite_id, comparison_type)
    if comparison_type == "matrix":
        body = await service.reader.answer(
            key, lambda c: readings.comparison_matrix(c, agent_ids, suite_id), of_history=True
        )
        return json_answer(body)
    options = ComparisonOptions(
        agent_ids, suite_id, None, (), None, {}, "", None, "auto", None, 42, 5, None
    )
    body = await service.reader.answer(
        key, lambda c: readings.comparison(c, options), of_history=True
    )
    return json_answer(body)


@router.get(
    "/agents/{agent_id}/regressions",
    summary="Regressions of an agent",
    response_class=Response,
    responses=answers_with("regressions/1", errors=(404, 422)),
)
async def detect_performance_regressions(
    request: Request,
    agent_id: AgentPath,
    baseline_version: Annotated[
        Name | None,
        Query(
            description="A version, `run:ID`, `tag:NAME` or the name of a baseline; the one set by"
            " `agentbench baseline`, else the history, without it."
        ),
    ] = None,
    threshold: Annotated[
        float,
        Query(
            description="Smallest change that matters: a share of the value, or of percentage"
            " points for shares.",
            gt=0,
            lt=1,
        ),
    ] = 0.1,
) -> Response:
    """Say whether the newest runs are worse than a baseline or than the history."""
    service = service_of(request)
    body = await service.reader.answer(
        ("regressions", agent_id, baseline_version, threshold),
        lambda c: readings.regressions(c, agent_id, baseline_version, threshold),
        of_history=True,
    )
    return json_answer(body)
