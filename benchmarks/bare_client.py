"""The least that an open loop of streamed requests costs in Python: what a harness is held against.

    python benchmarks/bare_client.py HOST PORT RATE COUNT

Sends `COUNT` requests, `RATE` a second, and notes when the first and the last byte of each came. It
knows no JSON, no events, no failures, and neither stores nor tells anything.
"""

from __future__ import annotations

import asyncio
import gc
import json
import sys
from time import perf_counter_ns

import uvloop

QUESTION = {
    "model": "mock", "stream": True, "stream_options": {"include_usage": True},
    "messages": [{"role": "user", "content": "Really?"}],
}  # fmt: skip
END = b"\r\n0\r\n\r\n"


class Stream(asyncio.Protocol):
    """One connection."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self.began_ns = 0
        self.first_ns = 0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = transport
        self.send()

    def send(self) -> None:
        self.began_ns = perf_counter_ns()
        self.first_ns = 0
        self.transport.write(self._client.wire)  # type: ignore[attr-defined]

    def data_received(self, data: bytes) -> None:
        now_ns = perf_counter_ns()
        if not self.first_ns:
            self.first_ns = now_ns
        if data.endswith(END):
            self._client.ended(self, now_ns)


class Client:
    """Sends by the clock, on connections that are free."""

    def __init__(self, host: str, port: int, rate: float, count: int) -> None:
        body = json.dumps(QUESTION).encode()
        self.wire = (
            f"POST /v1/chat/completions HTTP/1.1\r\nHost: {host}:{port}\r\n"
            f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
        ).encode() + body
        self._place = host, port
        self._rate, self._count, self._sent = rate, count, 0
        self._free: list[Stream] = []
        self._times: list[tuple[int, int]] = []
        """(ns to the first byte, ns to the last) of each."""
        self._loop = asyncio.get_running_loop()
        self._opening: set[asyncio.Task[object]] = set()
        self._over = asyncio.Event()

    async def run(self) -> None:
        """Until all are answered."""
        self._start = self._loop.time()
        self._next()
        await self._over.wait()

    def _next(self) -> None:
        if self._free:
            self._free.pop().send()
        else:
            opening = self._loop.create_connection(lambda: Stream(self), *self._place)
            task: asyncio.Task[object] = self._loop.create_task(opening)
            self._opening.add(task)
            task.add_done_callback(self._opening.discard)
        self._sent += 1
        if self._sent < self._count:
            self._loop.call_at(self._start + self._sent / self._rate, self._next)

    def ended(self, stream: Stream, now_ns: int) -> None:
        self._times.append((stream.first_ns - stream.began_ns, now_ns - stream.began_ns))
        self._free.append(stream)
        if len(self._times) == self._count:
            self._over.set()


async def main(host: str, port: str, rate: str, count: str) -> None:
    gc.freeze()
    gc.disable()
    await Client(host, int(port), float(rate), int(count)).run()


if __name__ == "__main__":
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(main(*sys.argv[1:]))
