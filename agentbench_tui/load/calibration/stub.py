"""An HTTP server that answers immediately, used to measure the load workers themselves.

`python -m agentbench_tui.load.calibration.stub` listens on a free port of 127.0.0.1 and prints the
port; when its standard input ends it prints, as JSON, how long answering took
(`stub_process.StubTruth`), and ends; a line there begins that anew. To any POST it gives a fixed
chat completion, or, where the query says `chunks=N`, an event stream with N content-bearing chunks,
all at once.

It reads only what it must: queries and content lengths of well-formed requests, such as our own
client's. It imports little, since a load waits for its start and pays for it, and no event loop:
a plain loop over what can be read does all there is to do.
"""

from __future__ import annotations

import json
import os
import socket
import sys
from array import array
from selectors import EVENT_READ, DefaultSelector

from agentbench_tui.model.clock import perf_counter_ns as now_ns

HOST = "127.0.0.1"
_BACKLOG = 4096
_READ_BYTES = 256 * 1024
_HEAD_END = b"\r\n\r\n"
_LENGTH = b"content-length:"
_ANSWER = b"HTTP/1.1 200 OK\r\ncontent-type: %b\r\n%b\r\n\r\n%b"


class Answers:
    """Answers, built once for each number of chunks, and the time spent answering."""

    def __init__(self) -> None:
        self._made: dict[bytes, bytes] = {}
        self._service_ns = array("q")

    def answer(self, query: bytes, known_ns: int) -> bytes:
        """Return the whole answer to a POST received at `known_ns`."""
        made = self._made.get(query)
        if made is None:
            made = self._made[query] = _ANSWER % _made(_chunks(query))
        self._service_ns.append(now_ns() - known_ns)
        return made

    def begin(self) -> None:
        """Reset the measurements."""
        del self._service_ns[:]

    def truth(self) -> dict[str, float | None]:
        """Return the measurements since the beginning, as the fields of `StubTruth`."""
        took = sorted(self._service_ns)
        count = len(took)
        return {
            "requests": count,
            "service_p50_us": took[count // 2] / 1e3 if took else None,
            "service_p99_us": took[count * 99 // 100] / 1e3 if took else None,
        }


class StubConnection:
    """One connection; requests may arrive in any pieces, and several at once."""

    def __init__(self, taken: socket.socket, answers: Answers) -> None:
        self._socket = taken
        self._answers = answers
        self._rest = b""
        taken.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def read(self, known_ns: int) -> bool:
        """Answer everything that can be read; return False when the client has gone."""
        try:
            data = self._socket.recv(_READ_BYTES)
            if data:
                self._take(data, known_ns)
        except (OSError, ValueError, IndexError):  # what is no request ends its connection alone
            data = b""
        return bool(data)

    def _take(self, data: bytes, known_ns: int) -> None:
        if self._rest:
            data = self._rest + data
        at = 0
        while (head_end := data.find(_HEAD_END, at)) >= 0:
            head = data[at:head_end]
            end = head_end + len(_HEAD_END) + _content_length(head)
            if end > len(data):
                break
            query = head.split(b" ", 2)[1].partition(b"?")[2]
            self._socket.sendall(self._answers.answer(query, known_ns))
            at = end
        self._rest = data[at:]

    def close(self) -> None:
        """Close the socket."""
        self._socket.close()


def _content_length(head: bytes) -> int:
    head = head.lower()
    start = head.find(_LENGTH)
    return int(head[start + len(_LENGTH) :].split(b"\r", 1)[0]) if start >= 0 else 0


def _chunks(query: bytes) -> int | None:
    """Return the chunks of the requested stream; None if it is not streamed."""
    for field in query.split(b"&"):
        name, _, value = field.partition(b"=")
        if name == b"chunks":
            return int(value)
    return None


def _made(chunks: int | None) -> tuple[bytes, bytes, bytes]:
    """Return the content type, the header with the body's length, and the body."""
    if chunks is None:
        body = _completion(message={"role": "assistant", "content": "Yes."}, tokens=1)
        return b"application/json", b"content-length: %d" % len(body), body
    events = [_completion(delta={"content": "word "})] * chunks
    events.append(_completion(delta={}, tokens=chunks))
    texts = [b"data: %b\n\n" % event for event in events]
    texts.append(b"data: [DONE]\n\n")
    framed = b"".join(b"%x\r\n%b\r\n" % (len(text), text) for text in texts)
    return b"text/event-stream", b"transfer-encoding: chunked", framed + b"0\r\n\r\n"


def _completion(*, tokens: int | None = None, **said: dict[str, str]) -> bytes:
    """Return a chat completion, or one chunk of it; the chunk with `tokens` ends it."""
    completion: dict[str, object] = {
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
    return json.dumps(completion, separators=(",", ":")).encode()


def serve() -> None:
    """Answer until standard input ends, then report the answering times."""
    answers = Answers()
    standard_input = sys.stdin.fileno()
    with socket.create_server((HOST, 0), backlog=_BACKLOG) as server, DefaultSelector() as selector:
        selector.register(server, EVENT_READ)
        selector.register(standard_input, EVENT_READ)
        print(server.getsockname()[1], flush=True)  # noqa: T201 - to whoever started us
        while True:
            ready = selector.select()
            known_ns = now_ns()
            for key, _ in ready:
                connection: StubConnection | None = key.data
                if connection is not None:
                    if not connection.read(known_ns):
                        selector.unregister(key.fd)
                        connection.close()
                elif key.fd != standard_input:
                    taken, _ = server.accept()
                    selector.register(taken, EVENT_READ, StubConnection(taken, answers))
                elif os.read(standard_input, _READ_BYTES):
                    answers.begin()
                else:
                    print(json.dumps(answers.truth()), flush=True)  # noqa: T201
                    return


if __name__ == "__main__":
    serve()
