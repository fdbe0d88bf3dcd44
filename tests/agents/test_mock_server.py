"""The practice server over real sockets: what it says, how, and what it keeps of it."""

import asyncio
import json
import re
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import aiohttp
import pytest

from agentbench_tui.agents.mock.options import read_options
from agentbench_tui.agents.mock.question import Question
from agentbench_tui.agents.mock.server import Server
from agentbench_tui.http.sse import SseParser

QUICK = {"ttft": "1ms", "itl": "1ms", "tokens": "5"}


class Client:
    """Talks to a server of its own."""

    def __init__(self, server: Server, url: str, session: aiohttp.ClientSession) -> None:
        self.truth = server.truth.document
        self.url = url
        self.port = int(url.split(":")[2].partition("/")[0])
        self._session = session

    def post(self, path: str = "/chat/completions", **fields: Any) -> Any:
        asked = {"model": "m", "messages": [{"role": "user", "content": "one two three"}]}
        return self._session.post(self.url + path, json={**asked, **fields})

    async def whole(self, path: str = "/chat/completions", **fields: Any) -> Any:
        async with self.post(path, **fields) as answer:
            assert answer.status == 200
            return await answer.json()

    async def stream(self, path: str = "/chat/completions", **fields: Any) -> list[Any]:
        """The events' data, decoded; `[DONE]` as it is."""
        async with self.post(path, stream=True, **fields) as answer:
            assert answer.status == 200
            assert answer.content_type == "text/event-stream"
            parser = SseParser()
            events = parser.feed(await answer.read())
        assert parser.finish() == []
        return [e.data if e.data == b"[DONE]" else json.loads(e.data) for e in events]

    async def raw(self, *requests: bytes) -> bytes:
        """All that comes back for these bytes until the server closes."""
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        writer.writelines(requests)
        try:
            return await reader.read()
        finally:
            writer.close()
            await writer.wait_closed()


@asynccontextmanager
async def serving(**options: Any) -> AsyncIterator[Client]:
    server = Server(read_options({**QUICK, **options}))
    url = await server.start("127.0.0.1", 0)
    try:
        async with aiohttp.ClientSession() as session:
            yield Client(server, url, session)
    finally:
        await server.close()


def deltas(events: list[Any], name: str) -> list[str]:
    found = [event["choices"][0]["delta"] for event in events[:-1] if event["choices"]]
    return [delta[name] for delta in found if name in delta]


async def test_a_stream_is_role_tokens_reason_usage_and_end() -> None:
    async with serving() as client:
        events = await client.stream(stream_options={"include_usage": True})
    first, *tokens, reason, usage, end = events
    assert first["choices"][0]["delta"] == {"role": "assistant", "content": ""}
    assert [t["choices"][0]["delta"]["content"] for t in tokens] == [
        " one", " two", " three", " four", " five",
    ]  # fmt: skip
    assert {t["choices"][0]["finish_reason"] for t in tokens} == {None}
    assert reason["choices"][0] == {"index": 0, "delta": {}, "finish_reason": "stop"}
    assert usage["choices"] == []
    assert usage["usage"] == {
        "prompt_tokens": 3,
        "completion_tokens": 5,
        "total_tokens": 8,
        "prompt_tokens_details": {"cached_tokens": 0},
        "completion_tokens_details": {"reasoning_tokens": 0},
    }
    assert end == b"[DONE]"
    assert len({event["id"] for event in events[:-1]}) == 1


async def test_usage_is_streamed_only_when_asked_for() -> None:
    async with serving() as client:
        assert not any("usage" in event for event in (await client.stream())[:-1])


async def test_reasoning_comes_first_and_is_counted() -> None:
    async with serving(reasoning_tokens=3, chunk_tokens=2) as client:
        events = await client.stream(stream_options={"include_usage": True})
        whole = await client.whole()
    assert deltas(events, "reasoning_content") == [" one two", " three"]
    assert deltas(events, "content") == ["", " four five"]
    assert events[-2]["usage"]["completion_tokens_details"] == {"reasoning_tokens": 3}
    assert events[-2]["usage"]["completion_tokens"] == 5
    message = whole["choices"][0]["message"]
    assert (message["reasoning_content"], message["content"]) == (" one two three", " four five")


@pytest.mark.parametrize("name", ["max_tokens", "max_completion_tokens"])
async def test_a_request_says_how_long_its_answer_is(name: str) -> None:
    async with serving() as client:
        whole = await client.whole(**{name: 20})
        events = await client.stream(**{name: 2})
    assert len(whole["choices"][0]["message"]["content"].split()) == 20
    assert whole["usage"]["completion_tokens"] == 20
    assert whole["choices"][0]["finish_reason"] == "length"
    assert deltas(events, "content") == ["", " one", " two"]


async def test_completions_are_spoken_too() -> None:
    async with serving() as client:
        whole = await client.whole("/completions", prompt="a b", messages=None)
        *events, usage, end = await client.stream(
            "/completions", prompt="a b", messages=None, stream_options={"include_usage": True}
        )
    assert whole["choices"][0]["text"] == " one two three four five"
    assert (whole["usage"]["prompt_tokens"], whole["usage"]["completion_tokens"]) == (2, 5)
    assert [event["choices"][0]["text"] for event in events[:-1]] == [
        " one", " two", " three", " four", " five",
    ]  # fmt: skip
    assert events[-1]["choices"][0]["finish_reason"] == "stop"
    assert (usage["usage"], end) == (whole["usage"], b"[DONE]")


async def test_a_tool_is_called_until_its_result_is_there() -> None:
    tools = [{"type": "function", "function": {"name": "look_up", "parameters": {}}}]
    user = {"role": "user", "content": "x"}
    result = {"role": "tool", "tool_call_id": "call_0", "content": "found"}
    async with serving(tool_calls="true") as client:
        whole = await client.whole(tools=tools)
        events = await client.stream(tools=tools)
        after = await client.whole(tools=tools, messages=[user, result])
        without = await client.whole()
    call = whole["choices"][0]["message"]["tool_calls"][0]
    assert call["function"] == {"name": "look_up", "arguments": "{}"}
    assert whole["choices"][0]["finish_reason"] == "tool_calls"
    assert whole["usage"]["completion_tokens"] == 1
    ((streamed,),) = deltas(events, "tool_calls")
    assert (streamed["index"], streamed["function"]) == (0, call["function"])
    for answer in (after, without):
        assert answer["choices"][0]["message"]["content"] == " one two three four five"


async def test_prefixes_are_cached_by_blocks_of_64_words() -> None:
    words = [f"w{i}" for i in range(200)]

    def asked(*parts: list[str]) -> list[dict[str, Any]]:
        text = " ".join(word for part in parts for word in part)
        return [{"role": "user", "content": [{"type": "text", "text": text}]}]

    async with serving(prefix_cache="true") as client:
        cached = [
            (await client.whole(messages=asked(*parts)))["usage"]["prompt_tokens_details"]
            for parts in (
                [words],  # new
                [words],  # 3 blocks of the same 200
                [words[:130], ["other"] * 70],  # 2 blocks
                [["other"], words],  # none: it begins otherwise
                [words[:63]],  # shorter than a block
            )
        ]
    assert [details["cached_tokens"] for details in cached] == [0, 192, 128, 0, 0]


async def test_without_a_cache_nothing_is_cached() -> None:
    async with serving() as client:
        for _ in range(2):
            whole = await client.whole(messages=[{"role": "user", "content": "x " * 100}])
    assert whole["usage"]["prompt_tokens_details"] == {"cached_tokens": 0}


async def test_every_error_is_a_500_when_all_are() -> None:
    async with serving(error_rate=1) as client:
        for stream in (True, False):
            async with client.post(stream=stream) as answer:
                assert answer.status == 500
                assert (await answer.json())["error"]["type"] == "server"
        assert client.truth()["requests"]["failed"] == {"server": 2}


async def test_over_the_limit_is_told_when_to_come_back() -> None:
    async with serving(rate_limit="1/s", retry_after="1500ms") as client:
        await client.whole()
        async with client.post() as answer:
            assert answer.status == 429
            assert answer.headers["retry-after"] == "2"
            assert answer.headers["retry-after-ms"] == "1500"
            assert (await answer.json())["error"]["code"] == "rate_limited"
        requests = client.truth()["requests"]
    assert (requests["ok"], requests["failed"]) == (1, {"rate_limited": 1})


@pytest.mark.parametrize("stream", [True, False])
async def test_a_cut_answer_ends_in_the_middle(stream: bool) -> None:
    async with serving(cut_rate=1) as client:
        async with client.post(stream=stream) as answer:
            assert answer.status == 200
            with pytest.raises(aiohttp.ClientPayloadError):
                await answer.read()
        requests = client.truth()["requests"]
    assert (requests["ok"], requests["failed"]) == (0, {"truncated": 1})


async def test_who_goes_away_is_counted_and_gives_its_slot_to_the_next() -> None:
    async with serving(ttft="3600s", slots=1) as client:
        first, gone = await asyncio.open_connection("127.0.0.1", client.port)
        gone.write(request(b'{"stream":true}'))
        assert await first.readline() == SERVED
        second, waits = await asyncio.open_connection("127.0.0.1", client.port)
        waits.write(request(b'{"stream":true}'))
        gone.close()
        assert await second.readline() == SERVED
        requests = client.truth()["requests"]
        for writer in (gone, waits):
            writer.close()
            await writer.wait_closed()
    assert (requests["received"], requests["cancelled"], requests["unfinished"]) == (2, 1, 1)


SERVED = b"HTTP/1.1 200 OK\r\n"
"""The first line of a stream, which is sent when its request has a slot."""


def request(body: bytes, *fields: bytes, version: bytes = b"1.1") -> bytes:
    head = b"POST /v1/chat/completions HTTP/%b\r\nhost: x\r\n" % version
    lines = b"".join(field + b"\r\n" for field in fields)
    return head + lines + b"content-length: %d\r\n\r\n" % len(body) + body


async def test_a_connection_is_kept_until_it_is_asked_to_close_and_requests_may_queue() -> None:
    async with serving() as client:
        said = await client.raw(
            request(b'{"max_tokens":1}'), request(b'{"max_tokens":2}'),
            request(b'{"max_tokens":3}', b"connection: close"),
        )  # fmt: skip
        counts = client.truth()["requests"]
    assert [len(text.split()) for text in re.findall(rb'"content":"([^"]*)"', said)] == [1, 2, 3]
    assert said.count(b"connection: close") == 1
    assert (counts["connections"], counts["ok"]) == (1, 3)


async def test_a_long_queue_of_wrong_requests_is_answered_one_by_one() -> None:
    async with serving() as client:
        said = await client.raw(
            request(b"{}"), *[request(b"junk")] * 2000, request(b"{}", b"connection: close")
        )
        counts = client.truth()["requests"]
    assert said.count(b"HTTP/1.1 400 ") == 2000
    assert (counts["ok"], counts["invalid"]) == (2, 2000)


async def test_a_client_of_http_1_0_gets_no_chunks() -> None:
    async with serving() as client:
        said = await client.raw(request(b'{"stream":true}', version=b"1.0"))
    head, _, body = said.partition(b"\r\n\r\n")
    assert b"chunked" not in head
    assert body.startswith(b"data: {")
    assert body.endswith(b"data: [DONE]\n\n")


async def test_a_client_that_asks_whether_to_go_on_is_told_to() -> None:
    async with serving() as client:
        said = await client.raw(request(b"{}", b"expect: 100-continue", b"connection: close"))
    assert said.startswith(b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\n")


def test_a_prompt_of_any_depth_is_read_or_refused() -> None:
    refused = 0
    for depth in range(500, 1010):
        body = b'{"input":%b"x"%b}' % (b"[" * depth, b"]" * depth)
        try:
            words = Question(body).words
        except ValueError:
            refused += 1
        else:
            assert words == ["x"]
    assert 0 < refused < 510


@pytest.mark.parametrize(
    ("sent", "status", "said"),
    [
        (request(b"{", b"connection: close"), 400, b"cannot be read"),
        (request(b'{"messages":3}', b"connection: close"), 400, b"cannot be read"),
        (request(b'{"max_tokens":-1}', b"connection: close"), 400, b"max_tokens"),
        (request(b'{"max_tokens":0}', b"connection: close"), 400, b"max_tokens"),
        (b"junk\r\n\r\n", 400, b"not an HTTP request"),
        (b"GET /v1/chat/completions HTTP/1.0\r\n\r\n", 405, b"takes POST"),
        (b"POST /health HTTP/1.0\r\ncontent-length: 0\r\n\r\n", 405, b"takes GET"),
        (b"GET /v2 HTTP/1.0\r\n\r\n", 404, b"there are /v1/chat/completions"),
    ],
)
async def test_a_wrong_request_is_told_what_is_wrong(sent: bytes, status: int, said: bytes) -> None:
    async with serving() as client:
        answer = await client.raw(sent)
        assert client.truth()["requests"]["received"] == 0
    head, _, body = answer.partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 %d " % status)
    assert said in json.loads(body)["error"]["message"].encode()


@pytest.mark.parametrize(
    ("asked", "status"), [(b"/health", 200), (b"/v1/chat/completions", 405), (b"/v2", 404)]
)
async def test_head_is_answered_by_a_head_alone(asked: bytes, status: int) -> None:
    async with serving() as client:
        said = await client.raw(b"HEAD %b HTTP/1.0\r\n\r\n" % asked)
        both = await client.raw(b"HEAD %b HTTP/1.1\r\n\r\nGET /health HTTP/1.0\r\n\r\n" % asked)
    assert said.startswith(b"HTTP/1.1 %d " % status)
    assert said.endswith(b"\r\n\r\n")
    assert both.endswith(b'{"status":"ok"}')


def test_the_truth_is_ready_to_be_computed_when_the_command_listens() -> None:
    program = """
import os, signal, sys
from agentbench_tui.agents.mock.options import read_options
from agentbench_tui.agents.mock.serving import serve

def say(line):
    print("numpy" in sys.modules)
    os.kill(os.getpid(), signal.SIGTERM)

serve(read_options({}), "127.0.0.1", 0, say)
"""
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, timeout=60)
    assert (ended.returncode, ended.stdout) == (0, b"True\n")


async def test_models_health_and_truth_can_be_asked_for() -> None:
    async with serving(model="some/name") as client, aiohttp.ClientSession() as session:
        async with session.get(client.url + "/models") as answer:
            models = await answer.json()
        await client.stream()
        base = client.url.removesuffix("/v1")
        async with session.get(base + "/health") as answer:
            assert await answer.json() == {"status": "ok"}
        async with session.get(base + "/truth") as answer:
            assert await answer.json() == client.truth()
    assert [model["id"] for model in models["data"]] == ["some/name"]


async def test_the_truth_holds_every_metric_of_what_was_streamed() -> None:
    async with serving(reasoning_tokens=2) as client:
        for _ in range(3):
            await client.stream()
        await client.whole()
        truth = client.truth()
    assert truth["schema"] == "agentbench.mock-truth/1"
    assert truth["simulated"] is True
    assert truth["requests"] == {
        "received": 4, "ok": 4, "failed": {}, "cancelled": 0, "unfinished": 0, "invalid": 0,
        "connections": 1,
    }  # fmt: skip
    counted = {name: m["n"] for name, m in truth["metrics"].items() if isinstance(m, dict)}
    assert counted == {
        "ttft_ms": 3, "ttfo_ms": 3, "e2e_ms": 4, "tpot_ms": 3, "itl_ms": 12, "icl_ms": 12,
    }  # fmt: skip
    means = {name: truth["metrics"][name]["mean"] for name in counted}
    assert 1 <= means["ttft_ms"] < means["ttfo_ms"]
    # Each stream went on after its first output; the request answered as a whole took time too.
    assert 3 * means["ttfo_ms"] < 4 * means["e2e_ms"]


async def test_the_same_seed_makes_the_same_requests_fail() -> None:
    async def statuses(seed: int) -> list[int]:
        found = []
        async with serving(error_rate=0.5, seed=seed) as client:
            for _ in range(20):
                async with client.post() as answer:
                    found.append(answer.status)
        return found

    first = await statuses(3)
    assert set(first) == {200, 500}
    assert await statuses(3) == first
    assert await statuses(4) != first


async def test_hundreds_of_streams_run_at_once() -> None:
    async with serving(ttft="100ms", tokens=20, itl="5ms") as client:
        answers = await asyncio.gather(
            *(client.raw(request(b'{"stream":true}', b"connection: close")) for _ in range(300))
        )
        requests = client.truth()["requests"]
    assert {answer.count(b'"content":" ') for answer in answers} == {20}
    assert {answer.count(b"data: [DONE]\n\n\r\n0\r\n\r\n") for answer in answers} == {1}
    assert (requests["ok"], requests["connections"]) == (300, 300)


async def test_tokens_that_are_due_at_once_come_in_order_and_whole() -> None:
    async with serving(ttft="0ms", itl="0ms", tokens=5000) as client:
        streams = await asyncio.gather(*(client.stream() for _ in range(4)))
    for events in streams:
        text = "".join(deltas(events, "content"))
        assert len(text.split()) == 5000
        assert text.startswith(" one two three")
        assert text.split()[16:18] == ["one", "two"]
