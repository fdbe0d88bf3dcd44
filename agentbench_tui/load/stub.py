"""An HTTP server that answers at once: the other end when the senders themselves are measured.

`python -m agentbench_tui.load.stub` listens on a free port of 127.0.0.1 and prints the port; when
its standard input ends it prints, as JSON, how long answering took (`StubTruth`), and ends. To any
POST it gives a fixed chat completion, or, where the query says `chunks=N`, an event stream with N
content-bearing chunks, all at once.

It reads only what it must: queries and content lengths of well-formed requests, such as our own
client's.
"""

from __future__ import annotations

import asyncio
import sys
from time import perf_counter_ns as now_ns
from typing import Any, Final, cast

import msgspec

from agentbench_tui.analysis.histogram import Histogram

HOST: Final = "127.0.0.1"
_BACKLOG = 4096
_HEAD_END = b"\r\n\r\n"
_LENGTH = b"content-length:"
_ANSWER = b"HTTP/1.1 200 OK\r\ncontent-type: %b\r\n%b\r\n\r\n%b"


class StubTruth(msgspec.Struct, frozen=True):
    """What the stub says of itself."""

    requests: int
    """Answered."""
    service_p50_us: float | None
    """From receiving a request to sending its answer."""
    service_p99_us: float | None


class Answers:
    """What is answered, made once for each number of chunks, and how long answering took."""

    def __init__(self) -> None:
        self._made: dict[bytes, bytes] = {}
        self._service_us = Histogram()

    def answer(self, query: bytes, received_ns: int) -> bytes:
        """The whole answer to a POST."""
        made = self._made.get(query)
        if made is None:
            made = self._made[query] = _ANSWER % _made(_chunks(query))
        self._service_us.record((now_ns() - received_ns) / 1e3)
        return made

    def truth(self) -> StubTruth:
        """So far."""
        p50, p99 = self._service_us.percentiles((0.5, 0.99))
        return StubTruth(len(self._service_us), p50, p99)


class StubConnection(asyncio.Protocol):
    """One connection; requests may come in any pieces, and several at once."""

    def __init__(self, answers: Answers) -> None:
        self._answers = answers
        self._rest = b""
        self._transport: asyncio.Transport

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """See asyncio.Protocol."""
        self._transport = cast("asyncio.Transport", transport)

    def data_received(self, data: bytes) -> None:
        """See asyncio.Protocol."""
        received_ns = now_ns()
        if self._rest:
            data = self._rest + data
        at = 0
        while (head_end := data.find(_HEAD_END, at)) >= 0:
            head = data[at:head_end]
            end = head_end + len(_HEAD_END) + _content_length(head)
            if end > len(data):
                break
            query = head.split(b" ", 2)[1].partition(b"?")[2]
            self._transport.write(self._answers.answer(query, received_ns))
            at = end
        self._rest = data[at:]


def _content_length(head: bytes) -> int:
    head = head.lower()
    start = head.find(_LENGTH)
    return int(head[start + len(_LENGTH) :].split(b"\r", 1)[0]) if start >= 0 else 0


def _chunks(query: bytes) -> int | None:
    """Of the stream that is asked for; None for one that is not streamed."""
    for field in query.split(b"&"):
        name, _, value = field.partition(b"=")
        if name == b"chunks":
            return int(value)
    return None


def _made(chunks: int | None) -> tuple[bytes, bytes, bytes]:
    """Content type, the header that tells the body's length, and the body."""
    if chunks is None:
        body = msgspec.json.encode(
            _completion(message={"role": "assistant", "content": "Yes."}, tokens=1)
        )
        return b"application/json", _size(body), body
    events = [_completion(delta={"content": "word "}) for _ in range(chunks)]
    events.append(_completion(delta={}, tokens=chunks))
    texts = [b"data: %b\n\n" % msgspec.json.encode(event) for event in events]
    texts.append(b"data: [DONE]\n\n")
    framed = b"".join(b"%x\r\n%b\r\n" % (len(text), text) for text in texts)
    return b"text/event-stream", b"transfer-encoding: chunked", framed + b"0\r\n\r\n"


def _completion(*, tokens: int | None = None, **said: dict[str, str]) -> dict[str, Any]:
    """A chat completion, or a chunk of one; the one with `tokens` ends it."""
    completion: dict[str, Any] = {
        "id": "stub",
        "object": "chat.completion.chunk" if "delta" in said else "chat.completion",
        "created": 0,
        "model": "stub",
        "choices": [{"index": 0, **said, "finish_reason": None if tokens is None else "stop"}],
    }
    if tokens is not None:
        completion["usage"] = {
            "prompt_tokens": 1,
            "completion_tokens": tokens,
            "total_tokens": 1 + tokens,
        }
    return completion


def _size(body: bytes) -> bytes:
    return b"content-length: %d" % len(body)


async def serve() -> None:
    """Answer until standard input ends, then tell how long it took."""
    loop = asyncio.get_running_loop()
    answers = Answers()
    server = await loop.create_server(lambda: StubConnection(answers), HOST, 0, backlog=_BACKLOG)
    print(server.sockets[0].getsockname()[1], flush=True)  # noqa: T201 - to whoever started us
    await loop.run_in_executor(None, sys.stdin.buffer.read)
    print(msgspec.json.encode(answers.truth()).decode(), flush=True)  # noqa: T201


def main() -> None:
    """What `python -m` runs."""
    try:
        import uvloop
    except ImportError:
        asyncio.run(serve())
    else:
        uvloop.run(serve())


if __name__ == "__main__":
    main()
