"""What a user writes to run suites; mypy --strict checks it, and each ignore must be needed."""

from collections.abc import Coroutine
from typing import Any, assert_type

import agentbench_tui as agentbench
from agentbench_tui import Answer, Request


def answer(question: str) -> str:
    return f"You asked: {question}"


async def answer_later(request: Request) -> Answer:
    return Answer(request.text(), usage=agentbench.Usage(input_tokens=3, output_tokens=2))


class Session:
    def __init__(self) -> None:
        self.client: object | None = None

    async def start(self) -> None:
        self.client = object()

    async def answer(self, request: Request) -> Answer:
        raise agentbench.AgentFailure(agentbench.FailureKind.RATE_LIMITED, "later")


def run() -> None:
    result = agentbench.run(
        "quickstart",
        {"mine": answer, "later@2": answer_later, "class": Session, "model": "openai:URL#MODEL"},
        runs=3,
        settings={"dataset": "problems.jsonl"},
        gates=["accuracy>=0.8"],
        db="runs.db",
    )
    assert_type(result, agentbench.RunResult)
    assert_type(result.run_id, str)
    assert_type(result.executions[0], agentbench.ExecutionResult)
    assert_type(result.executions[0].metrics["accuracy"].value, float | None)
    assert_type(result.leaderboard[0].overall, float | None)
    assert_type(result.gates[0].holds, bool | None)
    assert_type(result.rows("metrics"), list[dict[str, Any]])
    result.raise_for_gates()
    result.to_pandas("leaderboard")


async def run_async() -> None:
    work = agentbench.run_async(agentbench.Suite.model_validate({}), answer_later)
    result = await assert_type(work, Coroutine[Any, Any, agentbench.RunResult])
    assert_type(result, agentbench.RunResult)
    assert_type(await agentbench.load_async("mock"), agentbench.LoadResult)
    assert_type(await agentbench.stress_async("mock"), agentbench.StressResult)


def load_and_stress() -> None:
    load = agentbench.load("openai:URL#MODEL", rate=[5, 10, 20], slo={"ttft_ms": 200})
    assert_type(load, agentbench.LoadResult)
    assert_type(load.points[0], agentbench.LoadDocument)
    assert_type(load.points[0].verdict, str | None)
    stress = agentbench.stress("mock", ["high_load", "spike_load"], time_scale=0.02)
    assert_type(stress, agentbench.StressResult)
    assert_type(stress.agents[0].scenarios[0].broke, bool | None)


def wrong() -> None:
    agentbench.run("quickstart", run=3)  # type: ignore[call-arg]
    agentbench.run("quickstart", answer, runs="3")  # type: ignore[arg-type]
    agentbench.load("mock", arrivals="sometimes")  # type: ignore[arg-type]
    agentbench.stress("mock", "low_load")  # type: ignore[arg-type]
    agentbench.rnu()  # type: ignore[attr-defined]
