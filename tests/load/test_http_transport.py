"""The measuring transport in this process."""

import asyncio
import json
import sys
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from driving import constant, model_target, plan, practice_server, request_type

from agentbench_tui.agents.adapter import OpenContext
from agentbench_tui.agents.model_apis.chat_completions import ChatCompletions
from agentbench_tui.agents.model_apis.endpoint import Endpoint, EndpointOptions
from agentbench_tui.agents.model_apis.transcript import Transcript
from agentbench_tui.http.sse import SseEvent
from agentbench_tui.load.sending.http_transport import HttpTransport
from agentbench_tui.load.sending.sample import NEW_CONNECTION, STATUSES
from agentbench_tui.load.sending.sender import Call, Reply
from agentbench_tui.model.answer import AgentFailure, FailureKind

sys.path.insert(0, str(Path(__file__).parents[1] / "servers"))

from raw_server import raw_server, saying, saying_once, sized

STREAM = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"


class Asked:
    """One request on its way."""

    def __init__(self, transport: HttpTransport, call: Call) -> None:
        self.transport = transport
        self.call = call
        self._ended: asyncio.Queue[tuple[Call, Reply, AgentFailure | None]] = asyncio.Queue()

    def end(self, call: Call, reply: Reply, failure: AgentFailure | None = None) -> None:
        self._ended.put_nowait((call, reply, failure))

    async def ended(self) -> tuple[Call, Reply, AgentFailure | None]:
        async with asyncio.timeout(30):
            return await self._ended.get()


@asynccontextmanager
async def asked(url: str, *, stream: bool = False) -> AsyncIterator[Asked]:
    target = model_target(url, stream=stream)
    one = plan(target, constant(1), workload=(request_type(),))
    transport = HttpTransport(one, target, asyncio.get_running_loop())
    asked = Asked(transport, Call(0, one.workload[0].conversations[0], None, due_ns=0))
    await transport.open(asked.end)
    transport.send(asked.call)
    yield asked
    await transport.close()


def chunk(*events: object) -> bytes:
    """Events as one chunk of a body."""
    lines = b"".join(b"data: %b\n\n" % _data(event) for event in events)
    return b"%x\r\n%b\r\n" % (len(lines), lines)


def _data(event: object) -> bytes:
    return event if isinstance(event, bytes) else json.dumps(event).encode()


def saying_that(text: str) -> dict[str, object]:
    return {"choices": [{"delta": {"content": text}}]}


async def test_a_fault_of_ours_while_an_answer_is_read_ends_its_request(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def fail(*_: object) -> None:
        raise KeyError("usage")

    monkeypatch.setattr(ChatCompletions, "plain_usage", fail)
    monkeypatch.setattr(ChatCompletions, "read_whole", fail)
    async with practice_server(ttft="1ms", tokens=1) as server, asked(server.url) as one:
        call, reply, failure = await one.ended()

    assert call is one.call
    assert STATUSES[reply.status] == "harness"
    assert failure is not None
    assert failure.detail == "KeyError while an answer was read"


async def test_an_answer_that_is_cut_after_its_end_ended_with_its_last_event(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    read, done = ChatCompletions.read_event, asyncio.Event()

    def read_event(dialect: ChatCompletions, event: SseEvent, at: int, told: Transcript) -> None:
        read(dialect, event, at, told)
        if event.data == b"[DONE]":
            done.set()

    monkeypatch.setattr(ChatCompletions, "read_event", read_event)
    with raw_server(saying(STREAM + chunk(saying_that("a"), b"[DONE]"))) as server:
        async with asked(server.url, stream=True) as one, asyncio.timeout(30):
            await done.wait()
            hung_up_ns = time.perf_counter_ns()
            server.hang_up()
            _, reply, failure = await one.ended()

    assert (STATUSES[reply.status], failure) == ("ok", None)
    assert reply.first_token_ns <= reply.ended_ns < hung_up_ns


CHAT = b'{"choices": [{"message": {"content": "a"}, "finish_reason": "stop"}]}'


@pytest.mark.parametrize(
    ("said", "status", "counted"),
    [(CHAT, "ok", len(CHAT)), (CHAT[:-1], "truncated", len(CHAT) - 1), (b"", "truncated", 0)],
)
async def test_a_body_that_breaks_off_is_whole_if_its_json_is(
    said: bytes, status: str, counted: int
) -> None:
    head = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 999\r\n\r\n"
    with raw_server(saying_once(head + said)) as server:
        async with asked(server.url) as one:
            _, reply, failure = await one.ended()

    assert STATUSES[reply.status] == status
    assert reply.received_bytes == counted
    assert (failure is None) == (status == "ok")


@pytest.mark.parametrize(
    ("fields", "told_s"),
    [(b"retry-after: 3\r\n", 3.0), (b"", None), (b"retry-after: soon\r\n", None)],
)
async def test_a_refusal_tells_how_long_to_wait(fields: bytes, told_s: float | None) -> None:
    head = b"HTTP/1.1 429 Too Many Requests\r\n" + fields + b"content-length: 0\r\n\r\n"
    with raw_server(saying(head)) as server:
        async with asked(server.url) as one:
            _, _, failure = await one.ended()

    assert failure is not None
    assert (failure.kind, failure.retry_after_s) == (FailureKind.RATE_LIMITED, told_s)


@pytest.mark.parametrize(
    ("status", "advice"),
    [
        (b"401 No", " (no key was sent: name the variable that holds it with key_env=NAME)"),
        (b"404 No", " (asked for /v2/chat/completions)"),
        (b"500 No", ""),
    ],
)
async def test_a_refusal_says_what_is_to_be_looked_at(status: bytes, advice: str) -> None:
    with raw_server(saying(sized(b'{"detail": "Not here"}', status=status))) as server:
        async with asked(f"{server.url}v2") as one:
            _, _, failure = await one.ended()

    assert failure is not None
    place = server.url.removeprefix("http://").removesuffix("/")
    assert failure.detail == f"HTTP {status[:3].decode()} from {place}: Not here{advice}"


def _refusal(said: str) -> bytes:
    return sized(json.dumps({"error": {"message": said}}).encode(), status=b"401 No")


def _broken_whole(said: str) -> bytes:
    return sized(f"<html>{said}".encode())


def _broken_event(said: str) -> bytes:
    return STREAM + chunk(f"<html>{said}".encode())


def _error_event(said: str) -> bytes:
    return STREAM + chunk({"error": {"message": said}})


def _redirect(said: str) -> bytes:
    return sized(b"", b"location: /%b" % said.encode(), status=b"307 Go")


@pytest.mark.parametrize(
    "answer", [_refusal, _broken_whole, _broken_event, _error_event, _redirect]
)
async def test_a_key_that_a_server_repeats_is_masked_wherever_its_answer_is_cut(
    answer: Callable[[str], bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    key = "0123456789abcdef" * 8
    monkeypatch.setenv("NAME_OF_NO_SHAPE", key)
    endpoint = Endpoint(
        "http://127.0.0.1/",
        EndpointOptions(key_env="NAME_OF_NO_SHAPE"),
        ("authorization", "Bearer "),
        "NAME_OF_NO_SHAPE",
    )
    endpoint.start({}, OpenContext())
    # The key lies across the 300 characters that are kept.
    with raw_server(saying(answer("x" * 200 + f" {key}"))) as server:
        async with asked(server.url, stream=True) as one:
            _, _, failure = await one.ended()
    await endpoint.close()

    assert failure is not None
    assert failure.kind in {FailureKind.SERVER, FailureKind.PARSE}
    kept = endpoint.clean(failure.detail)
    assert "x" * 200 in kept
    assert key[:16] not in kept


STOPPED = {"choices": [{"delta": {}, "finish_reason": "stop"}]}
WHOLE = b"content-type: application/json"


@pytest.mark.parametrize(
    ("answer", "status"),
    [
        (STREAM + chunk(b"[DONE]") + b"0\r\n\r\n", "truncated"),
        (STREAM + chunk(saying_that(""), b"[DONE]") + b"0\r\n\r\n", "truncated"),
        (STREAM + chunk(b"[DONE]"), "truncated"),  # the connection ends in the body
        (STREAM + chunk(STOPPED, b"[DONE]") + b"0\r\n\r\n", "ok"),
        (STREAM + chunk(saying_that("yes"), b"[DONE]") + b"0\r\n\r\n", "ok"),
        (sized(b'{"choices": [{"message": {"content": ""}}]}', WHOLE), "parse"),
        (sized(b'{"choices": [{"message": {}, "finish_reason": "length"}]}', WHOLE), "ok"),
        (sized(b'{"choices": [{"message": {"refusal": "no"}}]}', WHOLE), "ok"),
        (
            sized(b'{"choices": [{"message": {"tool_calls": [{"id": "1"}]}}]}', WHOLE),
            "ok",
        ),
    ],
)
async def test_an_answer_with_no_content_and_no_reason_to_end_is_none(
    answer: bytes, status: str
) -> None:
    with raw_server(saying_once(answer)) as server:
        async with asked(f"{server.url}v1", stream=True) as one:
            _, reply, failure = await one.ended()

    assert STATUSES[reply.status] == status
    assert (failure is None) == (status == "ok")
    if failure is not None and b"0\r\n\r\n" in answer:
        assert "the answer is empty" in failure.detail


def _completion(usage: object, **message: object) -> bytes:
    choice = {"index": 0, "message": message, "finish_reason": "stop"}
    return json.dumps({"choices": [choice], "usage": usage}).encode()


USAGE = {"prompt_tokens": 7, "completion_tokens": 3, "total_tokens": 10}


@pytest.mark.parametrize(
    "answer",
    [
        sized(_completion(USAGE, content="yes"), WHOLE),
        sized(_completion({**USAGE, "prompt_tokens_details": {"cached_tokens": 5}}, content="yes")),
        sized(_completion({**USAGE, "total_tokens": 14}, content="yes"), WHOLE),
        sized(_completion({**USAGE, "completion_tokens": 10**8}, content="yes"), WHOLE),
        sized(_completion({**USAGE, "completion_tokens": 0}, content="yes"), WHOLE),
        sized(_completion({**USAGE, "prompt_tokens": "many"}, content="yes"), WHOLE),
        sized(_completion(None, content="yes"), WHOLE),
        sized(_completion(USAGE, content=""), WHOLE),
        sized(_completion(USAGE, content=[{"type": "text", "text": "yes"}]), WHOLE),
        sized(_completion(USAGE, tool_calls=[{"id": "1", "function": {"name": "f"}}]), WHOLE),
        sized(b'{"choices": [], "usage": {}}', WHOLE),
        sized(b'{"error": {"message": "no"}}', WHOLE),
        sized(b'{"choices": [{"message": {"content": "a"}}], "error": "no"}', WHOLE),
        sized(b'{"choices": [{"message": {"content": "a"}}', WHOLE),
        sized(b'{"choices": [{"message": {"content": "\xff"}}]}', WHOLE),
        sized(b"<html>", b"content-type: text/html"),
        sized(b"", WHOLE),
        sized(b"{}", b"retry-after: 3", status=b"429 Later"),
        sized(b"", b"location: /there", status=b"307 Go"),
        sized(b"{}", status=b"500 No"),
        sized(b"data: [DONE]\n\n", b"content-type: text/event-stream"),
        sized(b'data: {"choices": [{"delta": {"content": "a"}}]}\n\ndata: [DONE]\n\n',
              b"content-type: text/event-stream"),
        sized(CHAT, b"connection: close"),
        sized(CHAT, b"content-encoding: gzip"),
    ],
)  # fmt: skip
async def test_an_answer_whose_head_is_known_gives_what_it_gave_the_first_time(
    answer: bytes,
) -> None:
    found = []
    with raw_server(saying(answer)) as server:
        async with asked(server.url) as one:
            for nth in range(4):
                if nth:
                    one.transport.send(one.call)
                call, reply, failure = await one.ended()
                told = failure and (failure.kind, failure.detail, failure.retry_after_s)
                assert call is one.call
                assert 0 < reply.first_byte_ns <= reply.ended_ns
                found.append((
                    reply.status, reply.flags & ~NEW_CONNECTION, reply.output_tokens,
                    reply.input_tokens, reply.cached_tokens, reply.received_bytes,
                    reply.first_token_ns > 0, reply.chunks, told,
                ))  # fmt: skip
    assert found == [found[0]] * 4


async def test_a_request_that_an_answer_makes_due_is_sent_when_it_goes_out() -> None:
    with raw_server(saying(sized(CHAT, WHOLE))) as server:
        async with asked(server.url) as one:
            after: list[int] = []
            sent_again = Call(0, one.call.conversation, None, due_ns=0)

            def end(call: Call, reply: Reply, failure: AgentFailure | None = None) -> None:
                if call is one.call:
                    sent_again.sent_ns = time.perf_counter_ns()
                    one.transport.send(sent_again)
                    after.append(time.perf_counter_ns())
                one.end(call, reply, failure)

            one.transport.ended = end
            await one.ended()
            _, reply, failure = await one.ended()
    assert failure is None
    assert after[0] <= sent_again.sent_ns <= reply.first_byte_ns
