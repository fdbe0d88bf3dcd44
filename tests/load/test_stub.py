"""The loopback stub: well-formed answers, and an end with its standard input."""

import asyncio
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import aiohttp
import msgspec
import pytest

from agentbench_tui.http.sse import SseParser
from agentbench_tui.load.calibration.stub_process import StubTruth

PATIENCE_S = 60.0
REQUEST = {"model": "stub", "messages": [{"role": "user", "content": "Really?"}]}


@contextmanager
def running_stub() -> Iterator[tuple[subprocess.Popen[str], str]]:
    """The process and its base URL."""
    with subprocess.Popen(
        [sys.executable, "-m", "agentbench_tui.load.calibration.stub"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        yield process, f"http://127.0.0.1:{int(process.stdout.readline())}"


def ended(process: subprocess.Popen[str]) -> StubTruth:
    """What a stub says when its standard input ends."""
    said, _ = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 0
    return msgspec.json.decode(said, type=StubTruth)


@pytest.fixture(scope="module")
def stub() -> Iterator[str]:
    """Base URL of a stub."""
    with running_stub() as (process, url):
        yield url
        ended(process)


async def post(url: str) -> tuple[aiohttp.ClientResponse, bytes]:
    async with aiohttp.ClientSession() as session, session.post(url, json=REQUEST) as response:
        return response, await response.read()


async def test_a_chat_completion_with_its_usage(stub: str) -> None:
    response, body = await post(f"{stub}/v1/chat/completions")
    assert response.status == 200
    assert response.content_type == "application/json"
    completion = msgspec.json.decode(body)
    assert completion["object"] == "chat.completion"
    assert completion["choices"][0]["message"] == {"role": "assistant", "content": "Yes."}
    assert completion["choices"][0]["finish_reason"] == "stop"
    assert completion["usage"]["completion_tokens"] == 1


@pytest.mark.parametrize("chunks", [0, 1, 7])
async def test_a_stream_of_so_many_chunks(stub: str, chunks: int) -> None:
    response, body = await post(f"{stub}/v1/chat/completions?chunks={chunks}")
    assert response.content_type == "text/event-stream"
    parser = SseParser()
    events = [event.data for event in (*parser.feed(body), *parser.finish())]
    assert events.pop() == b"[DONE]"
    parsed = [msgspec.json.decode(event) for event in events]
    contents = [event["choices"][0]["delta"].get("content") for event in parsed]
    assert contents == ["word "] * chunks + [None]
    assert [event["choices"][0]["finish_reason"] for event in parsed] == [None] * chunks + ["stop"]
    assert parsed[-1]["usage"]["completion_tokens"] == chunks


async def test_at_its_end_it_tells_how_long_answering_took() -> None:
    with running_stub() as (process, url):
        for chunks in range(3):
            await post(f"{url}/v1/chat/completions?chunks={chunks}")
        truth = ended(process)
    assert truth.requests == 3
    assert truth.service_p50_us is not None
    assert truth.service_p99_us is not None
    assert 0 <= truth.service_p50_us <= truth.service_p99_us


async def test_what_was_answered_before_it_is_told_to_begin_does_not_count() -> None:
    with running_stub() as (process, url):
        await post(f"{url}/v1/chat/completions")
        assert process.stdin is not None
        process.stdin.write("\n")
        process.stdin.flush()
        for _ in range(2):
            await post(f"{url}/v1/chat/completions")
        truth = ended(process)
    assert truth.requests == 2


def test_without_a_request_it_claims_no_time() -> None:
    with running_stub() as (process, _):
        assert ended(process) == StubTruth(0, None, None)


WIRE = (
    b"POST /v1/chat/completions HTTP/1.1\r\nhost: stub\r\nContent-Length: 4\r\n\r\n\r\n\r\n"
    b"POST /v1/chat/completions HTTP/1.1\r\nhost: stub\r\ncontent-length:2\r\n\r\n{}"
)
"""Two requests in a row; the first one's body looks like the end of a head."""


async def test_requests_may_be_cut_anywhere_and_lie_together(stub: str) -> None:
    port = int(stub.rpartition(":")[2])
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    for place in range(len(WIRE)):
        for part in (WIRE[:place], WIRE[place:]):
            writer.write(part)
            await asyncio.sleep(0)  # a turn of the loop, so that the parts are sent apart
        for _ in range(2):
            head = await reader.readuntil(b"\r\n\r\n")
            assert head.startswith(b"HTTP/1.1 200 OK\r\n")
            length = int(head.partition(b"content-length: ")[2].partition(b"\r")[0])
            msgspec.json.decode(await reader.readexactly(length))
    writer.close()
    await writer.wait_closed()


@pytest.mark.parametrize("sent", [b"nonsense\r\n\r\n", b"POST / x\r\ncontent-length: y\r\n\r\n"])
async def test_what_is_no_request_ends_its_connection_alone(stub: str, sent: bytes) -> None:
    reader, writer = await asyncio.open_connection("127.0.0.1", int(stub.rpartition(":")[2]))
    writer.write(sent)
    assert await reader.read() == b""
    writer.close()
    await writer.wait_closed()
    response, _ = await post(f"{stub}/v1/chat/completions")
    assert response.status == 200
