"""Event streams through a socket: any split into packets gives the same events.

Each part is sent when the client has taken in the one before, so that a split is one for sure.
"""

import socket
import threading
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise

import pytest
from aiohttp.client_proto import ResponseHandler
from raw_server import Talk, raw_server, read_request

from agentbench_tui.http.client import HttpClient, HttpRequest
from agentbench_tui.http.connection import Connection
from agentbench_tui.http.sse import SseParser

STREAM = (
    "\ufeff: comment\n"
    "data: plain\n\n"
    "event: named\ndata: first line\ndata:second line\ndata:\n\n"
    ":\n\n"
    "id: 7\ndata: ü and \U0001f600\n\n"
    "data: [DONE]\n"
).encode()
"""A byte order mark, comments, a name, several lines, no blank line at the end."""
EVENTS = [
    (b"plain", "message"),
    (b"first line\nsecond line\n", "named"),
    ("ü and \U0001f600".encode(), "message"),
    (b"[DONE]", "message"),
]
Framing = Callable[[bytes], bytes]
SIZES = (1, 3, 16, 40, 1000)
"""Of chunks, in turn: some inside a line, one longer than what is left."""


def chunked(body: bytes) -> bytes:
    framed = b""
    sizes = list(SIZES)
    while body:
        size = sizes.pop(0)
        part, body = body[:size], body[size:]
        framed += b"%x;ext=1\r\n%b\r\n" % (len(part), part)
    return b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n" + framed + b"0\r\n\r\n"


def until_closed(body: bytes) -> bytes:
    return b"HTTP/1.1 200 OK\r\n\r\n" + body


@pytest.fixture
def taken_in(monkeypatch: pytest.MonkeyPatch) -> threading.Semaphore:
    """Released whenever a client has taken in a packet."""
    semaphore = threading.Semaphore(0)
    for protocol in (Connection, ResponseHandler):
        own = protocol.data_received

        def data_received(self, data: bytes, own=own) -> None:  # type: ignore[no-untyped-def]
            own(self, data)
            semaphore.release()

        monkeypatch.setattr(protocol, "data_received", data_received)
    return semaphore


def in_parts(each: Iterator[Sequence[bytes]], taken_in: threading.Semaphore) -> Talk:
    """Answers the next request with the next parts, each when the one before has been read."""

    def talk(connection: socket.socket) -> None:
        while read_request(connection):
            parts = next(each)
            for part in parts:
                connection.sendall(part)
                assert taken_in.acquire(timeout=60)
            if b"chunked" not in b"".join(parts):
                return

    return talk


async def events(client: HttpClient, url: str) -> list[tuple[bytes, str]]:
    parser = SseParser()
    found = []
    async with client.send(HttpRequest("POST", url, {}, b"asked")) as response:
        async for _, part in response:
            found += parser.feed(part)
    return [(event.data, event.event) for event in (*found, *parser.finish())]


@pytest.mark.parametrize("line_end", [b"\n", b"\r\n", b"\r"], ids=["LF", "CRLF", "CR"])
@pytest.mark.parametrize("framed", [chunked, until_closed])
async def test_a_stream_split_at_any_byte(
    client: HttpClient,
    taken_in: threading.Semaphore,
    framed: Callable[[bytes], bytes],
    line_end: bytes,
) -> None:
    answer = framed(STREAM.replace(b"\n", line_end))
    splits = [(answer[:at], answer[at:]) for at in range(1, len(answer))]
    with raw_server(in_parts(iter(splits), taken_in)) as server:
        for _ in splits:
            assert await events(client, server.url) == EVENTS
        await client.close()


@pytest.mark.parametrize("line_end", [b"\n", b"\r\n", b"\r"], ids=["LF", "CRLF", "CR"])
async def test_a_stream_in_packets_of_a_few_bytes(
    client: HttpClient, taken_in: threading.Semaphore, line_end: bytes
) -> None:
    answer = chunked(STREAM.replace(b"\n", line_end))
    packets = [
        [answer[start:stop] for start, stop in pairwise((*range(0, len(answer), size), None))]
        for size in (1, 2, 3, 7)
    ]
    with raw_server(in_parts(iter(packets), taken_in)) as server:
        for _ in packets:
            assert await events(client, server.url) == EVENTS
        assert server.connections == 1
        await client.close()
