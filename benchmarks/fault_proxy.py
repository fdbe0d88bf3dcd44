"""What the fault proxy costs while it has no fault to put on anything.

    python benchmarks/fault_proxy.py

One request after the other to the loopback stub, directly and through the proxy in turn, so that
what disturbs the machine disturbs both alike; then 64 at a time, as fast as they go. Added latency
is the difference of the percentiles; CPU is of the proxy's process alone.
"""

from __future__ import annotations

import asyncio
import os
import socket
from time import perf_counter_ns

import psutil
import uvloop

from agentbench_tui.analysis.histogram import Histogram
from agentbench_tui.http.client import Timeouts
from agentbench_tui.http.exchange import Exchange
from agentbench_tui.http.pool import Pool
from agentbench_tui.http.wire import Origin, request_bytes
from agentbench_tui.load.calibration.stub_process import Stubs
from agentbench_tui.stress.faults.proxy_process import FaultProxy

TURNS, REQUESTS_A_TURN = 30, 100
AT_ONCE, SECONDS = 64, 2.0
CHUNKS = 64
BODY = b'{"model":"bench","messages":[{"role":"user","content":"What is six times seven?"}]}'
HEADERS = {"content-type": "application/json", "authorization": "Bearer practice"}
END = b"\r\n0\r\n\r\n"


def ask(connection: socket.socket, wire: bytes, *, stream: bool) -> int:
    """Time of one request, in ns, to the last byte of its answer."""
    begun_ns = perf_counter_ns()
    connection.sendall(wire)
    got = connection.recv(1 << 20)
    if stream:
        while not got.endswith(END):
            got += connection.recv(1 << 20)
    else:
        head, _, body = got.partition(b"\r\n\r\n")
        left = int(head.lower().partition(b"content-length: ")[2].split(b"\r")[0]) - len(body)
        while left > 0:
            left -= len(connection.recv(left))
    return perf_counter_ns() - begun_ns


def one_by_one(urls: dict[str, str], proxy: psutil.Process, *, stream: bool) -> None:
    wires, connections = {}, {}
    for way, url in urls.items():
        wires[way] = request_bytes("POST", url, HEADERS, BODY)
        origin = Origin.of(url)
        connections[way] = socket.create_connection((origin.host, origin.port))
        connections[way].setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    times = {way: Histogram() for way in urls}
    cpu_s = cpu_of(proxy)
    for turn in range(TURNS):
        for way, connection in connections.items():
            for nth in range(REQUESTS_A_TURN):
                took_ns = ask(connection, wires[way], stream=stream)
                if turn and nth:
                    times[way].record(took_ns / 1e3)
    cpu_us = (cpu_of(proxy) - cpu_s) / (TURNS * REQUESTS_A_TURN) * 1e6
    for connection in connections.values():
        connection.close()
    percentiles = {way: times[way].percentiles((0.5, 0.99)) for way in urls}
    print(f"\none after the other, {'a stream of 64 chunks' if stream else 'a short answer'}")
    for way, (p50, p99) in percentiles.items():
        print(f"  {way:<14} p50 {p50:7.1f} µs   p99 {p99:7.1f} µs")
    added = [via - bare for via, bare in zip(*list(percentiles.values())[::-1], strict=True)]
    print(f"  {'added':<14} p50 {added[0]:7.1f} µs   p99 {added[1]:7.1f} µs")
    print(f"  {'CPU':<14} {cpu_us:.1f} µs a request")


class Repeated(Exchange):
    """Sends its request again until the time is up."""

    def __init__(self, pool: Pool, wire: bytes, until_ns: int) -> None:
        self.requests = 0
        self.over = asyncio.get_running_loop().create_future()
        self._pool, self._wire, self._until_ns = pool, wire, until_ns

    def on_head(self, status: int, _headers: object, _received_ns: int, /) -> None:
        assert status == 200

    def on_body(self, part: bytes, received_ns: int, /) -> None: ...

    def on_end(self, received_ns: int, /) -> None:
        self.requests += 1
        if received_ns < self._until_ns:
            self._pool.send(self._wire, self)
        else:
            self.over.set_result(None)

    def on_failure(self, failure: Exception, _received_ns: int, /) -> None:
        self.over.set_exception(failure)


async def at_once(way: str, url: str, proxy: psutil.Process) -> None:
    loop = asyncio.get_running_loop()
    pool = Pool(Origin.of(url), loop, timeouts=Timeouts(), max_body_bytes=1 << 20)
    wire = request_bytes("POST", url, HEADERS, BODY)
    cpu_s = cpu_of(proxy)
    begun_ns = perf_counter_ns()
    until_ns = begun_ns + round(SECONDS * 1e9)
    exchanges = [Repeated(pool, wire, until_ns) for _ in range(AT_ONCE)]
    for exchange in exchanges:
        pool.send(wire, exchange)
    await asyncio.gather(*(exchange.over for exchange in exchanges))
    requests = sum(exchange.requests for exchange in exchanges)
    rate = requests / (perf_counter_ns() - begun_ns) * 1e9
    cpu_us = (cpu_of(proxy) - cpu_s) / requests * 1e6
    cost = "" if way == "direct" else f"   proxy's CPU {cpu_us:.1f} µs a request"
    print(f"  {way:<14} {rate:8.0f} requests/s{cost}")
    pool.close()
    await pool.wait_closed()


def cpu_of(process: psutil.Process) -> float:
    times = process.cpu_times()
    return times.user + times.system


async def main() -> None:
    print(f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}")
    for chunks in (None, CHUNKS):
        async with Stubs(1, chunks) as stubs:
            (url,) = stubs.urls
            target = Origin.of(url).place
            async with (
                FaultProxy(f"http://{target}") as http,
                FaultProxy(f"tcp://{target}") as tcp,
            ):
                for way, proxy in (("http proxy", http), ("tcp proxy", tcp)):
                    urls = {"direct": url, way: proxy.through(url)}
                    process = psutil.Process(proxy.pid)
                    one_by_one(urls, process, stream=chunks is not None)
                if chunks is None:
                    print(f"\n{AT_ONCE} at a time, a short answer")
                    for way, proxy in (("direct", http), ("http proxy", http), ("tcp proxy", tcp)):
                        to = url if way == "direct" else proxy.through(url)
                        await at_once(way, to, psutil.Process(proxy.pid))


if __name__ == "__main__":
    uvloop.run(main())
