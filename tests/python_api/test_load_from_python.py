"""`agentbench.load` and `stress`: the suites that the commands would build, and their results."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

import agentbench_tui as agentbench
from agentbench_tui.cli.main import _run
from agentbench_tui.engine.run.plan import decode_plan
from agentbench_tui.python_api.background import close_loop_thread
from agentbench_tui.store.database import reading
from agentbench_tui.store.queries.runs import find_run

MOCK = "mock?ttft=2ms&itl=1ms"


@pytest.fixture(autouse=True, scope="module")
def _loop_thread_ends() -> Iterator[None]:
    yield
    close_loop_thread()


def blocks_of(run_id: str) -> list[dict[str, Any]]:
    """The `load:` or `stress:` of each group of a stored run's plan."""
    with reading(agentbench.open_store().path) as connection:
        plan = decode_plan(find_run(connection, run_id)["plan"])
    return [group.benchmark["load"] or group.benchmark["stress"] for group in plan.groups]


def printed(capfd: pytest.CaptureFixture[str], *arguments: str) -> Any:
    capfd.readouterr()
    assert _run([*arguments, "--no-ui", "--format", "json"]) == 0
    return json.loads(capfd.readouterr().out)


def test_a_sweep_is_the_suite_that_the_command_builds(capfd: pytest.CaptureFixture[str]) -> None:
    ours = agentbench.load(
        MOCK, rate=[20, 40], arrivals="poisson", duration_s=0.5, slo={"ttft_ms": 500},
        prompts="hello", output_tokens=4, timeout_s=5, warmup_requests=1,
    )  # fmt: skip
    theirs = printed(
        capfd, "load", MOCK, "--rate", "20,40", "--arrivals", "poisson", "--duration", "0.5",
        "--slo", "ttft_ms=500", "--prompt", "hello", "--output-tokens", "4", "--timeout", "5",
        "--warmup", "1",
    )  # fmt: skip
    assert blocks_of(ours.run_id) == blocks_of(theirs["run_id"])
    assert [point.parameters for point in ours.points] == [{"rate": 20}, {"rate": 40}]
    assert [point.requests.ok for point in ours.points] == [
        point["requests"]["ok"] for point in theirs["points"]
    ]
    assert ours.within_slo is not None
    assert ours.within_slo.highest == 40
    assert [row["metric"] for row in ours.rows("metrics") if row["metric"] == "e2e_ms"] == [
        "e2e_ms", "e2e_ms",
    ]  # fmt: skip


def test_without_a_schedule_one_user_sends_for_as_many_requests() -> None:
    result = agentbench.load(MOCK, requests=5, warmup_requests=0, gates=["reliability>=1"])
    (point,) = result.points
    assert (point.requests.ok, point.is_open) == (5, False)
    assert [gate.holds for gate in result.gates] == [True]
    assert "load" in str(result)
    assert result.rows()[0]["e2e_ms.p50"] > 0


async def test_a_load_is_awaited() -> None:
    result = await agentbench.load_async(MOCK, requests=3, warmup_requests=0)
    assert result.points[0].requests.ok == 3


def test_a_scenario_is_the_suite_that_the_command_builds(
    capfd: pytest.CaptureFixture[str],
) -> None:
    ours = agentbench.stress(
        MOCK, "spike_load", time_scale=0.01, spikes=1, normal_rate=20.0, limits={"p95_ms": 500.0}
    )
    theirs = printed(
        capfd, "stress", MOCK, "--scenario", "spike_load", "--time-scale", "0.01", "--spikes", "1",
        "--normal-rate", "20", "--p95-ms", "500",
    )  # fmt: skip
    assert blocks_of(ours.run_id) == blocks_of(theirs["run_id"])
    (agent,) = ours.agents
    assert [one.name for one in agent.scenarios] == ["spike_load"]
    assert ours.rows()[0]["scenario"] == "spike_load"
    assert len(ours.rows("windows")) == len(agent.scenarios[0].windows)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"rate": 5, "concurrency": 2}, "exactly one of"),
        ({"rate": -1}, "load: rate"),
        ({"rate": [5, -1]}, "load: rate"),
        ({"slo": {"tfft_ms": 3}}, 'did you mean "ttft_ms"'),
        ({"prompts": "a", "workload": [{"prompts": ["b"]}]}, "workload says what to send"),
        ({"trace": "none.jsonl"}, "none.jsonl"),
        ({"agents": "nonsense"}, "is not a target"),
        ({"runs": 0}, "runs is 0"),
    ],
)
def test_what_a_load_cannot_have_is_said_before_it_starts(
    arguments: dict[str, Any], message: str
) -> None:
    with pytest.raises(agentbench.AgentbenchError, match=message) as caught:
        agentbench.load(**{"agents": MOCK, **arguments})
    assert caught.value.exit_code == 2


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"scenarios": "spike"}, "no scenario 'spike'"),
        ({"scenarios": []}, "no scenario is given"),
        ({"scenarios": "high_load", "spikes": 2}, "spikes works only in the scenario spike_load"),
        ({"scenarios": "spike_load", "multiple": 0}, "stress: multiple"),
        ({"agents": "openai:https://192.0.2.1/v1#m"}, "192.0.2.1 is not this machine"),
        ({"agents": [lambda question: "x"]}, "cannot import <lambda>"),
    ],
)
def test_what_stress_cannot_have_is_said_before_it_starts(
    arguments: dict[str, Any], message: str
) -> None:
    with pytest.raises(agentbench.UsageError, match=message):
        agentbench.stress(**{"agents": MOCK, **arguments})
