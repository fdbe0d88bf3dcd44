"""The least that streamed requests cost in Python: what a harness is held against.

    python benchmarks/bare_client.py HOST PORT RATE COUNT
    python benchmarks/bare_client.py HOST PORT --streams N [--ramp S] COUNT
    python benchmarks/bare_client.py HOST PORT --bursts SIZE,S COUNT

Sends `COUNT` requests: `RATE` a second, or with N of them in flight at all times, or in bursts of
SIZE that are S seconds apart. Prints how long the first and the last byte of each took, of those
that found a connection open. It knows no JSON, no events, no failures, and stores nothing.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import json
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
        self.is_new = True

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
    """Sends on connections that are free: by the clock, or when an answer has ended."""

    def __init__(self, given: argparse.Namespace) -> None:
        body = json.dumps(QUESTION).encode()
        self.wire = (
            f"POST {given.path} HTTP/1.1\r\nHost: {given.host}:{given.port}\r\n"
            f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
        ).encode() + body
        self.times: list[tuple[int, int]] = []
        """(ns to the first byte, ns to the last) of each on a connection that was open."""
        self._given = given
        self._sent = self._ended = 0
        self._free: list[Stream] = []
        self._loop = asyncio.get_running_loop()
        self._opening: set[asyncio.Task[object]] = set()
        self._over = asyncio.Event()

    async def run(self) -> None:
        """Until all are answered."""
        self._start = self._loop.time()
        if self._given.streams:
            for nth in range(self._given.streams):
                wait_s = self._given.ramp * nth / self._given.streams
                self._loop.call_at(self._start + wait_s, self._send)
        else:
            self._next()
        await self._over.wait()

    def _next(self) -> None:
        size, apart_s = self._given.bursts or (1, 1 / self._given.rate)
        for _ in range(size):
            self._send()
        if self._sent < self._given.count:
            self._loop.call_at(self._start + self._sent // size * apart_s, self._next)

    def _send(self) -> None:
        self._sent += 1
        if self._free:
            self._free.pop().send()
            return
        place = self._given.host, self._given.port
        opening = self._loop.create_connection(lambda: Stream(self), *place)
        task: asyncio.Task[object] = self._loop.create_task(opening)
        self._opening.add(task)
        task.add_done_callback(self._opening.discard)

    def ended(self, stream: Stream, now_ns: int) -> None:
        if not stream.is_new:
            self.times.append((stream.first_ns - stream.began_ns, now_ns - stream.began_ns))
        stream.is_new = False
        self._ended += 1
        self._free.append(stream)
        if self._ended == self._given.count:
            self._over.set()
        elif self._given.streams and self._sent < self._given.count:
            self._send()


def burst(text: str) -> tuple[int, float]:
    size, _, apart_s = text.partition(",")
    return int(size), float(apart_s)


async def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("host")
    parser.add_argument("port", type=int)
    parser.add_argument("rate", type=float, nargs="?")
    parser.add_argument("count", type=int)
    parser.add_argument("--path", default="/v1/chat/completions")
    parser.add_argument("--streams", type=int)
    parser.add_argument("--ramp", type=float, default=0.0, help="the streams begin over so long, s")
    parser.add_argument("--bursts", type=burst, metavar="SIZE,SECONDS")
    given = parser.parse_intermixed_args()
    gc.freeze()
    gc.disable()
    client = Client(given)
    await client.run()
    for name, which in (("first", 0), ("end", 1)):
        taken = sorted(times[which] for times in client.times)
        p50, p99 = (taken[int(share * (len(taken) - 1))] / 1e6 for share in (0.5, 0.99))
        print(f"{name}_ms p50 {p50:.4f} p99 {p99:.4f}")


if __name__ == "__main__":
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(main())
