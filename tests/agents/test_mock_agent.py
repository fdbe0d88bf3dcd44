"""`mock` targets: a server of their own for the length of a session."""

import asyncio
import json
from pathlib import Path

import psutil
import pytest
from opening import ask, failure, opened

from agentbench_tui.agents.mock.options import read_options
from agentbench_tui.agents.mock.process import start_server
from agentbench_tui.agents.registry import check_agent
from agentbench_tui.agents.target import parse_agent
from agentbench_tui.model.answer import FailureKind
from agentbench_tui.model.errors import UsageError

QUICK = "mock?ttft=1ms&itl=1ms&tokens=3"


@pytest.mark.parametrize("more", ["", "&stream=false", "&api=responses", "&chunk-tokens=2"])
async def test_it_answers_as_a_model_does_and_is_simulated(more: str) -> None:
    async with opened(QUICK + more) as agent:
        answer = await agent.answer(ask("what is it"))
    assert answer.text == " one two three"
    assert answer.simulated
    assert answer.usage is not None
    assert (answer.usage.input_tokens, answer.usage.output_tokens) == (3, 3)
    assert (answer.ttft_ms is None) == ("stream=false" in more)


def test_a_bare_mock_is_an_agent() -> None:
    spec = parse_agent("mock", base_dir="")
    assert (spec.id, spec.target, spec.simulated) == ("mock", "mock", True)
    assert check_agent(spec) == []


async def test_it_fails_as_it_is_told_to() -> None:
    async with opened(f"{QUICK}&error_rate=1") as agent:
        await failure(agent, ask(), FailureKind.SERVER)
    async with opened(f"{QUICK}&cut_rate=1") as agent:
        await failure(agent, ask(), FailureKind.TRUNCATED)
    async with opened(f"{QUICK}&rate_limit=1/s&retry-after=3s") as agent:
        await agent.answer(ask())
        refused = await failure(agent, ask(), FailureKind.RATE_LIMITED)
    assert refused.retry_after_s == 3


async def test_the_server_ends_with_the_session() -> None:
    async with opened(QUICK) as agent:
        (pid,) = agent.pids
        assert psutil.Process(pid).is_running()
        assert agent.cpu_seconds is not None
    assert not psutil.pid_exists(pid)


@pytest.mark.parametrize(
    ("target", "said"),
    [
        ("mock?tttf=5ms", 'no option `tttf` (did you mean "ttft"?)'),
        ("mock?ttft=5", "option `ttft`: `5` is not a duration: write a number and a unit"),
        ("mock?ttft=-5ms", "option `ttft`: `-5ms` is not a duration"),
        ("mock?ttft=9e9s", "option `ttft`: `9e9s` is not a duration"),
        ("mock?ttft=90000s", "option `ttft`: `90000s` is longer than a day"),
        ("mock?ttft_dist=bimodul", 'no distribution `bimodul` (did you mean "bimodal"?)'),
        ("mock?stall=2s", "write how long, a slash, and how often"),
        ("mock?stall=2s/1s", "less than its period"),
        ("mock?tokens=0", "option `tokens`: 0 is not between 1 and"),
        ("mock?tokens=x", "option `tokens`: `x` is not a whole number"),
        ("mock?error-rate=1.5", "option `error-rate`: 1.5 is not between 0 and 1"),
        ("mock?error-rate=nan", "option `error-rate`: nan is not between 0 and 1"),
        ("mock?rate_limit=fast", "option `rate_limit`: `fast` is not a number"),
        ("mock?tool-calls=yes", "option `tool-calls`: `yes` is neither true nor false"),
        ("mock?tokens=5&reasoning-tokens=5", "reasoning-tokens: fewer than tokens"),
        ("mock?service_time=5ms", "service-time: only with slots"),
        ("mock:there", "`mock` takes nothing but options"),
        ("mock#model", "is not a target"),
    ],
)
def test_what_is_wrong_is_told_in_one_line(target: str, said: str) -> None:
    try:
        problems = check_agent(parse_agent(target, base_dir=""))
    except UsageError as error:
        problems = [str(error)]
    assert len(problems) == 1
    assert said in problems[0]
    assert "\n" not in problems[0]


async def test_a_server_can_be_had_without_an_agent(tmp_path: Path) -> None:
    truth, log = tmp_path / "truth.json", tmp_path / "requests.jsonl"
    options = read_options({"tokens": "2", "ttft": "1ms", "itl": "1ms", "stall": "1ms/1000s"})
    async with await start_server(options, truth_file=truth, requests_log=log) as server:
        async with opened(f"openai:{server.url}#m") as agent:
            await asyncio.gather(*(agent.answer(ask()) for _ in range(4)))
        assert not truth.exists()
    assert json.loads(truth.read_text())["requests"]["ok"] == 4
    assert [json.loads(line)["tokens"] for line in log.read_text().splitlines()] == [2] * 4
    await server.close()


async def test_a_server_that_keeps_no_truth_remembers_nothing(tmp_path: Path) -> None:
    """So that its memory stays as it is, however many it is asked."""
    log = tmp_path / "requests.jsonl"
    options = read_options({"tokens": "1"})
    async with (
        await start_server(options, requests_log=log, keeps_truth=False) as server,
        opened(f"openai:{server.url}#m") as agent,
    ):
        assert (await agent.answer(ask())).text == " one"
    assert log.read_text() == ""
