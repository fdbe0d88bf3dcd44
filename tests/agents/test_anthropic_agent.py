"""Agents behind the messages API, against a server that can misbehave."""

from typing import Any

import pytest
from openai_process import RunningServer
from opening import ask, failure, opened

from agentbench_tui.agents.registry import check_agent
from agentbench_tui.agents.target import parse_agent
from agentbench_tui.model.answer import Answer, FailureKind, Message, Request, ToolCall, Usage

WEATHER = {
    "name": "weather.at",
    "description": "Weather of a city",
    "parameters": {"type": "object", "properties": {"city": {"type": "string"}}},
}


async def answer(
    server: RunningServer, model: str, request: Request | None = None, **options: Any
) -> Answer:
    async with opened(f"anthropic:{server.url}#{model}", **options) as agent:
        return await agent.answer(request or ask("one two three four"))


@pytest.mark.parametrize("stream", [True, False])
async def test_an_answer_carries_text_usage_and_model(
    model_server: RunningServer, stream: bool
) -> None:
    """The server counts 4 tokens of input, 2 of them from the cache and so apart."""
    got = await answer(model_server, "small-model", stream=stream)
    assert got.text == "one two three four"
    assert got.usage == Usage(4, 4, 2, cache_write_tokens=0)
    assert got.model == "small-model"
    assert got.finish_reason == "end_turn"
    assert (got.ttft_ms is not None) == stream


async def test_what_is_sent(model_server: RunningServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MODEL_ACCESS", "key-of-the-test")
    call = ToolCall("weather.at", {"city": "Oslo"}, "c1")
    turns = (
        Message("system", "Be brief."),
        Message("user", "a"),
        Message("assistant", "b", (call,)),
        Message("tool", "rain", tool_call_id="c1"),
    )
    await answer(
        model_server, "m", ask("c", messages=turns, tools=(WEATHER,)), key_env="MODEL_ACCESS"
    )
    sent = model_server.last_request()
    assert sent["path"] == "/v1/messages"
    assert sent["headers"]["x-api-key"] == "key-of-the-test"
    assert sent["headers"]["anthropic-version"] == "2023-06-01"
    assert sent["body"] == {
        "model": "m",
        "max_tokens": 4096,
        "stream": True,
        "system": "Be brief.",
        "messages": [
            {"role": "user", "content": "a"},
            {
                "role": "assistant",
                "content": [
                    {"type": "text", "text": "b"},
                    {
                        "type": "tool_use",
                        "id": "c1",
                        "name": "weather_at",
                        "input": {"city": "Oslo"},
                    },
                ],
            },
            {
                "role": "user",
                "content": [{"type": "tool_result", "tool_use_id": "c1", "content": "rain"}],
            },
            {"role": "user", "content": "c"},
        ],
        "tools": [
            {
                "name": "weather_at",
                "description": "Weather of a city",
                "input_schema": WEATHER["parameters"],
            }
        ],
    }


@pytest.mark.parametrize("stream", [True, False])
async def test_tool_calls_are_the_answer(model_server: RunningServer, stream: bool) -> None:
    got = await answer(model_server, "tool-calls", ask(tools=(WEATHER,)), stream=stream)
    assert got.tool_calls == (
        ToolCall("weather.at", {"city": "Oslo", "days": 3}, "toolu_0"),
        ToolCall("weather.at", {"city": "Rome"}, "toolu_1"),
    )
    assert got.finish_reason == "tool_use"


async def test_thinking_is_the_first_token_but_not_the_first_output(
    model_server: RunningServer,
) -> None:
    got = await answer(model_server, "reasoning:200")
    assert got.text == "one two three four"
    assert got.ttft_ms is not None
    # The first may be seen late, where much runs beside this.
    assert got.metadata["ttfo_ms"] - got.ttft_ms >= 100


@pytest.mark.parametrize("model", ["no-usage", "bad-usage"])
async def test_without_a_servers_count_chunks_are_counted(
    model_server: RunningServer, model: str
) -> None:
    got = await answer(model_server, model)
    assert got.usage is not None
    assert got.usage.input_tokens is None
    whole = await answer(model_server, model, stream=False)
    assert whole.text == "one two three four"
    assert whole.usage is None


async def test_a_server_that_streams_unless_told_is_told(model_server: RunningServer) -> None:
    got = await answer(model_server, "streams-unless-told", stream=False)
    assert got.text == "one two three four"
    assert got.ttft_ms is None


@pytest.mark.parametrize("stream", [True, False])
@pytest.mark.parametrize(
    ("model", "kind"),
    [
        ("rate-limited:3", FailureKind.RATE_LIMITED),
        ("status:529", FailureKind.SERVER),
        ("error-in-200", FailureKind.SERVER),
        ("truncated", FailureKind.TRUNCATED),
        ("malformed", FailureKind.PARSE),
        ("no-utf8", FailureKind.PARSE),
        ("empty", FailureKind.PARSE),
        ("wrong-shape", FailureKind.PARSE),
    ],
)
async def test_each_fault_has_its_kind(
    model_server: RunningServer, model: str, kind: FailureKind, stream: bool
) -> None:
    async with opened(f"anthropic:{model_server.url}#{model}", stream=stream) as agent:
        await failure(agent, ask("one two three"), kind)


async def test_a_stream_without_its_end_is_truncated(model_server: RunningServer) -> None:
    async with opened(f"anthropic:{model_server.url}#no-end") as agent:
        caught = await failure(agent, ask("one two three four"), FailureKind.TRUNCATED)
    assert caught.partial is not None
    assert caught.partial.text.startswith("one")


def test_its_own_host_needs_its_key(monkeypatch: pytest.MonkeyPatch) -> None:
    spec = parse_agent("anthropic:#claude", base_dir="")
    assert "ANTHROPIC_API_KEY" in check_agent(spec)[0]
    monkeypatch.setenv("ANTHROPIC_API_KEY", "k" * 20)
    assert check_agent(spec) == []
