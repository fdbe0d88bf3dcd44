"""Agents behind chat completions and the responses API, against a server that can misbehave."""

import re
from datetime import UTC, date, datetime, timedelta
from typing import Any

import msgspec
import pytest
from openai_process import RunningServer
from opening import ask, failure, opened
from raw_server import raw_server, saying_once

from agentbench_tui.agents.model_apis.retry_after import retry_after_s
from agentbench_tui.agents.registry import check_agent
from agentbench_tui.agents.target import parse_agent
from agentbench_tui.model.answer import (
    Answer,
    FailureKind,
    Message,
    Request,
    ToolCall,
    Usage,
)

CANARY = "canary-Zq9+/word=17"
APIS = ["chat", "responses"]
BOTH_WAYS = [(api, stream) for api in APIS for stream in (True, False)]
WEATHER = {
    "name": "weather.at",
    "description": "Weather of a city",
    "parameters": {"type": "object", "properties": {"city": {"type": "string"}}},
}


async def answer(
    server: RunningServer, model: str, request: Request | None = None, **options: Any
) -> Answer:
    async with opened(f"openai:{server.url}#{model}", **options) as agent:
        return await agent.answer(request or ask("one two three"))


@pytest.mark.parametrize(("api", "stream"), BOTH_WAYS)
async def test_an_answer_carries_text_usage_and_model(
    model_server: RunningServer, api: str, stream: bool
) -> None:
    got = await answer(model_server, "small-model", api=api, stream=stream)
    assert got.text == "one two three"
    assert got.usage == Usage(3, 3, 1, 0)
    assert got.model == "small-model"
    assert got.finish_reason == {"chat": "stop", "responses": "completed"}[api]
    assert got.metadata.get("chunks") == (3 if stream else None)
    assert (got.ttft_ms is not None) == stream


async def test_what_is_sent(model_server: RunningServer) -> None:
    turns = (Message("system", "Be brief."), Message("user", "a"), Message("assistant", "b"))
    options = {"temperature": "0.5", "max_tokens": "9", "seed": "request", "extra": '{"top_k": 4}'}
    await answer(model_server, "m", ask("c", messages=turns, seed=2**62 + 5), **options)
    sent = model_server.last_request()
    assert sent["path"] == "/v1/chat/completions"
    assert "authorization" not in sent["headers"]
    assert sent["body"] == {
        "model": "m",
        "temperature": 0.5,
        "max_tokens": 9,
        "seed": 5,
        "top_k": 4,
        "stream": True,
        "stream_options": {"include_usage": True},
        "messages": [
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": "a"},
            {"role": "assistant", "content": "b"},
            {"role": "user", "content": "c"},
        ],
    }


async def test_earlier_tool_calls_are_sent_as_the_api_writes_them(
    model_server: RunningServer,
) -> None:
    call = ToolCall("weather.at", {"city": "Oslo"}, "c1")
    turns = (Message("assistant", "", (call,)), Message("tool", "rain", tool_call_id="c1"))
    await answer(model_server, "m", ask("so?", messages=turns))
    chat = model_server.last_request()["body"]["messages"]
    function = {"name": "weather_at", "arguments": '{"city":"Oslo"}'}
    assert chat[0]["tool_calls"] == [{"id": "c1", "type": "function", "function": function}]
    assert chat[1] == {"role": "tool", "content": "rain", "tool_call_id": "c1"}
    await answer(model_server, "m", ask("so?", messages=turns), api="responses")
    assert model_server.last_request()["body"]["input"] == [
        {"type": "function_call", "call_id": "c1", **function},
        {"type": "function_call_output", "call_id": "c1", "output": "rain"},
        {"role": "user", "content": "so?"},
    ]


@pytest.mark.parametrize("base", ["", "/", "/v1", "/v1/", "/v1/chat/completions"])
async def test_the_url_may_be_the_host_the_base_or_the_call(
    model_server: RunningServer, base: str
) -> None:
    async with opened(f"openai:{model_server.url}{base}#m") as agent:
        await agent.answer(ask())
    assert model_server.last_request()["path"] == "/v1/chat/completions"


AZURE = "/openai/deployments/d1/chat/completions"


@pytest.mark.parametrize(
    ("target", "path"),
    [
        (f"{AZURE}?api-version=2024-06-01#m", f"{AZURE}?api-version=2024-06-01"),
        (f"{AZURE}#m?api-version=2024-06-01", f"{AZURE}?api-version=2024-06-01"),
        (
            "/v1?query=tenant%3Da%2526b%26x%3D1&temperature=0#m",
            "/v1/chat/completions?tenant=a%26b&x=1",
        ),
        ('/v1?query={"x": 1}&api-version=v#m', "/v1/chat/completions?x=1&api-version=v"),
    ],
)
async def test_the_url_may_have_a_query(
    model_server: RunningServer, target: str, path: str
) -> None:
    async with opened(f"openai:{model_server.url}{target}") as agent:
        assert (await agent.answer(ask("one"))).text == "one"
    assert model_server.last_request()["path"] == path


@pytest.mark.parametrize("scheme", ["openai", "anthropic"])
async def test_a_suite_may_give_the_query_as_a_table(
    model_server: RunningServer, scheme: str
) -> None:
    query = {"api-version": date(2024, 6, 1), "n": 2, "beta": True}
    async with opened(f"{scheme}:{model_server.url}/v1#m", query=query) as agent:
        await agent.answer(ask())
    sent = model_server.last_request()["path"]
    assert sent.partition("?")[2] == "api-version=2024-06-01&n=2&beta=true"


async def test_the_key_may_have_a_header_of_its_own(
    model_server: RunningServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOME_KEY", CANARY)
    await answer(model_server, "m", key_env="SOME_KEY", key_header="Api-Key")
    headers = model_server.last_request()["headers"]
    assert headers["api-key"] == CANARY
    assert "authorization" not in headers


@pytest.mark.parametrize(("api", "stream"), BOTH_WAYS)
async def test_tool_calls_are_the_answer_under_the_suites_names(
    model_server: RunningServer, api: str, stream: bool
) -> None:
    request = ask(tools=(WEATHER,))
    got = await answer(model_server, "tool-calls", request, api=api, stream=stream)
    assert got.tool_calls == (
        ToolCall("weather.at", {"city": "Oslo", "days": 3}, "call_0"),
        ToolCall("weather.at", {"city": "Rome"}, "call_1"),
    )
    tool = model_server.last_request()["body"]["tools"][0]
    assert tool["type"] == "function"
    assert (tool["function"] if api == "chat" else tool)["name"] == "weather_at"


@pytest.mark.parametrize("stream", [True, False])
async def test_arguments_that_are_no_json_are_an_answer_without_arguments(
    model_server: RunningServer, stream: bool
) -> None:
    got = await answer(model_server, 'tool-calls:{"city"', ask(tools=(WEATHER,)), stream=stream)
    assert got.tool_calls[0] == ToolCall("weather.at", {}, "call_0")
    assert got.metadata["invalid_arguments"] == {"0": '{"city"'}


@pytest.mark.parametrize("api", APIS)
async def test_role_only_and_empty_events_are_no_first_token(
    model_server: RunningServer, api: str
) -> None:
    got = await answer(model_server, "late-content:60", api=api)
    assert got.ttft_ms is not None
    assert got.ttft_ms >= 60


@pytest.mark.parametrize("api", APIS)
async def test_reasoning_is_the_first_token_but_not_the_first_output(
    model_server: RunningServer, api: str
) -> None:
    got = await answer(model_server, "reasoning:200", api=api)
    assert got.text == "one two three"
    assert got.usage == Usage(3, 5, 1, 2)
    assert got.metadata["chunks"] == 5
    assert got.ttft_ms is not None
    # The first may be seen late, where much runs beside this.
    assert got.metadata["ttfo_ms"] - got.ttft_ms >= 100


async def test_chunk_gaps_are_summarized(model_server: RunningServer) -> None:
    got = await answer(model_server, "reasoning:0", ask("w " * 50))
    assert 0 <= got.metadata["icl_ms"] < 1000
    assert set(got.metadata) == {"chunks", "icl_ms", "ttfo_ms"}


@pytest.mark.parametrize("api", APIS)
@pytest.mark.parametrize("model", ["no-usage", "bad-usage"])
async def test_without_a_servers_count_chunks_are_counted_and_said_to_be(
    model_server: RunningServer, api: str, model: str
) -> None:
    streamed = await answer(model_server, model, api=api)
    assert streamed.usage == Usage(output_tokens=3, estimated=True)
    whole = await answer(model_server, model, api=api, stream=False)
    assert whole.usage is None
    assert whole.text == "one two three"


@pytest.mark.parametrize("api", APIS)
async def test_a_server_that_does_not_stream_is_understood(
    model_server: RunningServer, api: str
) -> None:
    got = await answer(model_server, "no-stream", api=api)
    assert got.text == "one two three"
    assert got.ttft_ms is None


@pytest.mark.parametrize("api", APIS)
async def test_a_server_that_streams_unless_told_is_told(
    model_server: RunningServer, api: str
) -> None:
    """As the responses API of `transformers serve` does."""
    got = await answer(model_server, "streams-unless-told", api=api, stream=False)
    assert got.text == "one two three"
    assert got.ttft_ms is None


async def test_a_stream_may_end_without_its_last_mark_and_count_beside_its_reason(
    model_server: RunningServer,
) -> None:
    """As chat completions of `transformers serve` do."""
    got = await answer(model_server, "short-end")
    assert got.text == "one two three"
    assert got.usage == Usage(3, 3, 1, 0)
    assert got.finish_reason == "stop"
    assert got.metadata["chunks"] == 3


SOON = {"first_byte_timeout_s": 0.1, "idle_timeout_s": 0.1}
"""Limits for servers that say nothing; on a busy machine others may take that long as well."""
FAULTS = [
    ("rate-limited", FailureKind.RATE_LIMITED),
    ("status:500", FailureKind.SERVER),
    ("status:404", FailureKind.SERVER),
    ("redirect", FailureKind.SERVER),
    ("error-in-200", FailureKind.SERVER),
    ("truncated", FailureKind.TRUNCATED),
    ("reset-middle", FailureKind.TRUNCATED),
    ("reset", FailureKind.CONNECTION),
    ("malformed", FailureKind.PARSE),
    ("no-utf8", FailureKind.PARSE),
    ("empty", FailureKind.PARSE),
    ("wrong-type", FailureKind.PARSE),
    ("wrong-shape", FailureKind.PARSE),
    ("not-http", FailureKind.PARSE),
    ("stall", FailureKind.TIMEOUT),
    ("silent", FailureKind.TIMEOUT),
]


@pytest.mark.parametrize(("api", "stream"), BOTH_WAYS)
@pytest.mark.parametrize(("model", "kind"), FAULTS)
async def test_each_fault_has_its_kind(
    model_server: RunningServer,
    api: str,
    stream: bool,
    model: str,
    kind: FailureKind,
) -> None:
    limits = SOON if kind is FailureKind.TIMEOUT else {}
    target = f"openai:{model_server.url}#{model}"
    async with opened(target, api=api, stream=stream, **limits) as agent:
        caught = await failure(agent, ask("one two three"), kind)
    assert "\n" not in caught.detail
    assert len(caught.detail) < 800
    path = "/v1/chat/completions" if api == "chat" else "/v1/responses"
    assert caught.detail.endswith(f" (asked for {path})") == (model == "status:404")


@pytest.mark.parametrize("model", ["truncated", "reset-middle", "stall", "no-end", "error-in-200"])
@pytest.mark.parametrize("api", APIS)
async def test_what_had_arrived_is_kept(model_server: RunningServer, model: str, api: str) -> None:
    limits = {"idle_timeout_s": 1.0} if model == "stall" else {}
    async with opened(f"openai:{model_server.url}#{model}", api=api, **limits) as agent:
        kind = {"stall": "timeout", "error-in-200": "server"}.get(model, "truncated")
        caught = await failure(agent, ask("a b c d e f g h"), FailureKind(kind))
    assert caught.partial is not None
    assert caught.partial.text.startswith("a b")
    assert "a b c d e f g h".startswith(caught.partial.text)


@pytest.mark.parametrize("api", APIS)
async def test_even_the_shortest_answer_needs_its_end(
    model_server: RunningServer, api: str
) -> None:
    async with opened(f"openai:{model_server.url}#truncated", api=api) as agent:
        caught = await failure(agent, ask("word"), FailureKind.TRUNCATED)
    assert caught.partial is not None
    assert caught.partial.text == "word"


async def test_a_page_in_place_of_an_answer_is_shown(model_server: RunningServer) -> None:
    async with opened(f"openai:{model_server.url}#wrong-type") as agent:
        caught = await failure(agent, ask(), FailureKind.PARSE)
    assert "text/html" in caught.detail
    assert "Welcome to the proxy" in caught.detail


@pytest.mark.parametrize(("given", "waited"), [("", None), (":7", 7.0), (":soon", None)])
async def test_the_wait_that_a_server_asks_for(
    model_server: RunningServer, given: str, waited: float | None
) -> None:
    async with opened(f"openai:{model_server.url}#rate-limited{given}") as agent:
        caught = await failure(agent, ask(), FailureKind.RATE_LIMITED)
    assert caught.retry_after_s == waited
    assert "slow down" in caught.detail
    assert ("(Retry-After: 7 s)" in caught.detail) is (waited is not None)


async def test_a_server_that_is_away_may_ask_for_a_wait_too(model_server: RunningServer) -> None:
    async with opened(f"openai:{model_server.url}#unavailable:7") as agent:
        caught = await failure(agent, ask(), FailureKind.SERVER)
    assert caught.retry_after_s == 7.0


def test_retry_after_in_every_form() -> None:
    now = datetime(2026, 11, 28, 8, 49, 37, tzinfo=UTC)
    assert retry_after_s("Sat, 28 Nov 2026 08:50:37 GMT", now) == 60
    assert retry_after_s("Saturday, 28-Nov-26 08:50:07 GMT", now) == 30
    assert retry_after_s("Sat, 28 Nov 2026 08:40:00 GMT", now) == 0
    far = now + timedelta(days=900)
    assert retry_after_s(far.strftime("%a, %d %b %Y %H:%M:%S GMT"), now) == 600
    assert retry_after_s("1.5") == 1.5
    assert retry_after_s("9" * 400) == 600
    assert [retry_after_s(text) for text in (None, "", "-5", "nan", "inf", "1s")] == [None] * 6


async def test_a_flaky_server_answers_in_the_end(model_server: RunningServer) -> None:
    async with opened(f"openai:{model_server.url}#flaky:2:openai") as agent:
        for _ in range(2):
            await failure(agent, ask("x"), FailureKind.SERVER)
        assert (await agent.answer(ask("x"))).text == "x"


@pytest.mark.parametrize("status", [401, 403, 500])
@pytest.mark.parametrize("in_header", [True, False])
async def test_the_key_is_sent_and_shows_nowhere(
    model_server: RunningServer,
    monkeypatch: pytest.MonkeyPatch,
    status: int,
    in_header: bool,
) -> None:
    monkeypatch.setenv("MODEL_ACCESS", CANARY)
    options: dict[str, Any] = {"key_env": "MODEL_ACCESS"}
    if in_header:
        options["headers"] = {"x-again": "${MODEL_ACCESS}"}
    target = f"openai:{model_server.url}#echo-key:{status}"
    async with opened(target, **options) as agent:
        caught = await failure(agent, ask(), FailureKind.SERVER)
    assert model_server.last_request()["headers"]["authorization"] == f"Bearer {CANARY}"
    if status != 500:
        assert "$MODEL_ACCESS" in caught.detail
    chain: BaseException | None = caught
    while chain is not None:
        assert not holds_canary(repr(chain) + str(vars(chain)))
        chain = chain.__cause__ or chain.__context__


@pytest.mark.parametrize(("api", "stream"), BOTH_WAYS)
async def test_a_key_in_an_answer_is_masked(
    model_server: RunningServer, monkeypatch: pytest.MonkeyPatch, api: str, stream: bool
) -> None:
    monkeypatch.setenv("MODEL_ACCESS", CANARY)
    options = {"key_env": "MODEL_ACCESS", "api": api, "stream": stream}
    got = await answer(model_server, "m", ask(f"say {CANARY}"), **options)
    assert got.text == "say ***"
    called = ask(tools=(WEATHER,))
    got = await answer(model_server, f'tool-calls:{{"a": "{CANARY}"}}', called, **options)
    assert not holds_canary(msgspec.json.encode(got).decode())


def holds_canary(text: str) -> bool:
    return re.search(r"canary-Zq9|Y2FuYXJ5", text) is not None


def problems(target: str) -> list[str]:
    return check_agent(parse_agent(target, base_dir=""))


def test_what_is_wrong_is_known_before_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    assert problems("openai:http://127.0.0.1:9/v1#m") == []
    assert "after a #" in problems("openai:http://127.0.0.1:9/v1")[0]
    assert "OPENAI_API_KEY" in problems("openai:#gpt")[0]
    monkeypatch.setenv("OPENAI_API_KEY", "k" * 20)
    assert problems("openai:#gpt") == []
    assert "not an http" in problems("openai:localhost:8000#m")[0]
    assert "MISSING_KEY" in problems("openai:http://127.0.0.1:9#m?key_env=MISSING_KEY")[0]
    assert "stream is set" in problems('openai:http://127.0.0.1:9#m?extra={"stream": 1}')[0]
    [unknown] = problems("openai:http://127.0.0.1:9/v1/chat/completions?tenant=a#m")
    assert unknown.startswith("no option `tenant`")
    assert "query=tenant%3D…" in unknown
    [stored] = problems("openai:http://127.0.0.1:9/v1?query=sig%3Dcanary-word#m")
    assert "key in its query" in stored
    assert "canary" not in stored
    [keyless] = problems("openai:http://127.0.0.1:9/v1?key_header=api-key#m")
    assert "key_env=NAME" in keyless
    assert "query" in problems("openai:http://127.0.0.1:9/v1?query=alone#m")[0]
    [refused] = problems("openai:http://joe:canary-word@127.0.0.1:9/v1#m")
    assert "user name or password" in refused
    assert "canary" not in refused


async def test_the_usual_key_goes_to_no_other_host(
    model_server: RunningServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", CANARY)
    await answer(model_server, "m")
    assert "authorization" not in model_server.last_request()["headers"]


@pytest.mark.parametrize("lost", [0, 1])
async def test_a_body_that_breaks_off_is_whole_if_its_json_is(lost: int) -> None:
    head = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 999\r\n\r\n"
    body = b'{"choices": [{"message": {"content": "a"}, "finish_reason": "stop"}]}'
    with raw_server(saying_once(head + body[: len(body) - lost])) as server:
        async with opened(f"openai:{server.url}v1#m", stream="false") as agent:
            if lost:
                await failure(agent, ask("one"), FailureKind.TRUNCATED)
            else:
                assert (await agent.answer(ask("one"))).text == "a"


@pytest.mark.parametrize(
    ("kind", "body", "failed"),
    [
        (b"text/event-stream", b"data: [DONE]\n\n", FailureKind.TRUNCATED),
        (b"application/json", b'{"choices": [{"message": {"content": ""}}]}', FailureKind.PARSE),
        (
            b"text/event-stream",
            b'data: {"choices": [{"delta": {}, "finish_reason": "stop"}]}\n\ndata: [DONE]\n\n',
            None,
        ),
    ],
)
async def test_an_answer_that_says_nothing_and_not_why_is_none(
    kind: bytes, body: bytes, failed: FailureKind | None
) -> None:
    length = str(len(body)).encode()
    head = b"HTTP/1.1 200 OK\r\ncontent-type: %b\r\ncontent-length: %b\r\n\r\n" % (kind, length)
    with raw_server(saying_once(head + body)) as server:
        async with opened(f"openai:{server.url}v1#m") as agent:
            if failed is None:
                assert (await agent.answer(ask("one"))).text == ""
            else:
                found = await failure(agent, ask("one"), failed)
                assert "the answer is empty" in found.detail
