"""Reference agents do what their names say, the same in every rerun."""

import asyncio
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from agentbench_tui.model.answer import AgentFailure, Answer, FailureKind, ToolCall

sys.path.insert(0, str(Path(__file__).parent))

from opening import ask, opened


@pytest.mark.parametrize(
    ("expected", "answer"),
    [
        (None, Answer(simulated=True)),
        ("42", Answer(text="42", simulated=True)),
        (42, Answer(text="42", data=42, simulated=True)),
        (True, Answer(text="true", data=True, simulated=True)),
        (["a", "b"], Answer(text="a", data=["a", "b"], simulated=True)),
        ({"city": "Rome"}, Answer(text='{"city":"Rome"}', data={"city": "Rome"}, simulated=True)),
        ([], Answer(text="[]", data=[], simulated=True)),
    ],
)
async def test_perfect_gives_what_is_expected(expected: Any, answer: Answer) -> None:
    async with opened("reference:perfect") as agent:
        assert await agent.answer(ask(expected=expected)) == answer


@pytest.mark.parametrize(
    "expected",
    [
        [{"name": "f", "arguments": {"x": 1}}],
        {"name": "f", "arguments": {"x": 1}},
        [{"f": {"x": [1, 2], "left_out": [""]}}],
        [{"f": {"x": 1}}],
    ],
)
async def test_perfect_calls_the_tools_that_are_expected(expected: Any) -> None:
    async with opened("reference:perfect") as agent:
        answer = await agent.answer(ask(expected=expected))
    assert answer.tool_calls == (ToolCall("f", {"x": 1}),)


@pytest.mark.parametrize(
    ("allowed", "picked"),
    [
        ([{"k": ["v", "w"], "left_out": ["", 1]}], {"k": "v", "left_out": 1}),
        ([[{"k": ["v"], "gone": [""]}, {"k": ["w"]}]], [{"k": "v"}, {"k": "w"}]),
        ([{"k": {"deep": [1, 2]}}], {"k": {"deep": 1}}),
        ([{}], {}),
        ([[1, 2], [3]], [1, 2]),
        ({"k": [1, 2]}, {"k": [1, 2]}),
    ],
)
async def test_perfect_picks_allowed_values_inside_allowed_values(
    allowed: Any, picked: Any
) -> None:
    async with opened("reference:perfect") as agent:
        answer = await agent.answer(ask(expected=[{"f": {"x": allowed}}]))
    assert answer.tool_calls == (ToolCall("f", {"x": picked}),)


async def test_perfect_picks_a_choice_by_its_letter() -> None:
    async with opened("reference:perfect") as agent:
        answer = await agent.answer(ask(expected=2, metadata={"choices": ["x", "y", "z"]}))
    assert answer.text == "C"


async def test_noisy_is_right_as_often_as_it_says_and_always_for_the_same_seeds() -> None:
    async with opened("reference:noisy?accuracy=0.7") as agent:
        first = [(await agent.answer(ask(expected="yes", seed=n))).text for n in range(2000)]
    async with opened("reference:noisy?accuracy=0.7") as agent:
        second = [(await agent.answer(ask(expected="yes", seed=n))).text for n in range(2000)]
    assert first == second
    # Four standard deviations of a binomial share: 4 × √(0.7 × 0.3 / 2000) = 0.041
    assert first.count("yes") / 2000 == pytest.approx(0.7, abs=0.041)


@pytest.mark.parametrize("expected", ["yes", 7, -3.5, 0, True, {"a": 1}, [1], ["x"]])
async def test_noisy_answers_that_are_wrong_differ_from_what_is_expected(expected: Any) -> None:
    async with opened("reference:noisy?accuracy=0") as agent:
        wrong = await agent.answer(ask(expected=expected))
    async with opened("reference:perfect") as agent:
        right = await agent.answer(ask(expected=expected))
    assert wrong.text != right.text
    assert wrong.data is None or wrong.data != right.data


async def test_slow_takes_its_time_within_its_jitter() -> None:
    async with opened("reference:slow?latency_ms=40&jitter=0.5") as agent:
        taken = []
        for seed in range(5):
            started = time.perf_counter()
            assert (await agent.answer(ask(expected="x", seed=seed))).text == "x"
            taken.append((time.perf_counter() - started) * 1000)
    assert min(taken) >= 19
    assert max(taken) - min(taken) > 2


async def test_flaky_fails_as_often_as_it_says_and_another_attempt_may_do() -> None:
    async with opened("reference:flaky?failure_rate=0.3&kinds=server,timeout") as agent:

        async def outcome(seed: int, attempt: int) -> str:
            try:
                return (await agent.answer(ask(expected="x", seed=seed, attempt=attempt))).text
            except AgentFailure as caught:
                return str(caught.kind)

        first = [await outcome(n, 0) for n in range(2000)]
        assert first == [await outcome(n, 0) for n in range(2000)]
        failed = [n for n, text in enumerate(first) if text != "x"]
        # 4 × √(0.3 × 0.7 / 2000) = 0.041
        assert len(failed) / 2000 == pytest.approx(0.3, abs=0.041)
        assert {first[n] for n in failed} == {"server", "timeout"}
        again = [await outcome(n, 1) for n in failed]
        assert 0.5 < again.count("x") / len(again) < 0.9


async def test_rate_limited_says_when_to_come_back() -> None:
    async with opened("reference:rate-limited?requests_per_s=20") as agent:

        async def refusal() -> tuple[int, AgentFailure]:
            for answered in range(10_000):  # a slow machine gets more than the 20 of a burst
                try:
                    await agent.answer(ask(expected="x"))
                except AgentFailure as caught:
                    return answered, caught
            raise AssertionError("nothing was refused")

        answered, caught = await refusal()
        assert answered >= 20
        assert caught.kind == FailureKind.RATE_LIMITED
        assert caught.retry_after_s is not None
        assert 0 < caught.retry_after_s <= 1 / 20
        await asyncio.sleep(caught.retry_after_s)
        assert (await agent.answer(ask(expected="x"))).text == "x"


async def test_streaming_tells_its_first_token_and_its_usage() -> None:
    async with opened("reference:streaming?ttft_ms=20&tokens=4&itl_ms=10") as agent:
        started = time.perf_counter()
        answer = await agent.answer(ask("one two three", expected="x"))
        taken_ms = (time.perf_counter() - started) * 1000
    assert answer.usage is not None
    assert (answer.usage.input_tokens, answer.usage.output_tokens) == (3, 4)
    assert answer.ttft_ms is not None
    assert 19 <= answer.ttft_ms < taken_ms
    assert taken_ms >= 49


async def test_noop_answers_nothing_and_every_answer_is_marked_simulated() -> None:
    async with opened("reference:noop") as agent:
        assert await agent.answer(ask(expected="x")) == Answer(simulated=True)
        assert agent.pids == ()
        assert agent.cpu_seconds is None
