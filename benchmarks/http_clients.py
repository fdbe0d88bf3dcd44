"""Our HTTP client beside aiohttp and wrk: requests a second, and how late events are taken in.

    python benchmarks/http_clients.py

Compiles `server.c` (gcc) into a temporary folder and runs every client against it, in turn, three
times; medians and ratios are printed beside their bars. Server and client have a core each where
the machine has two, and real-time priority where that is permitted, which shields the figures
from whatever else runs. Ratios hold from machine to machine; absolute figures do not.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

ROUNDS = 3
EVENTS, INTERVAL_US = 75, 20_000
BODY = b'{"model":"bench","messages":[{"role":"user","content":"What is six times seven?"}]}'
HEADERS = {"content-type": "application/json", "authorization": "Bearer practice"}
SENT_NS = re.compile(rb'"sent_ns":(\d+)')
CLOSED = ("own/uvloop", "own/asyncio", "own-tasks/uvloop", "aiohttp/uvloop", "wrk")
PACED = ("own/uvloop", "aiohttp/uvloop")
Taken = list[tuple[int, bytes]]


class Load(NamedTuple):
    """Workers that begin `apart_s` after each other and repeat their request for `seconds`."""

    workers: int
    seconds: float
    apart_s: float = 0.0


WARMUP = Load(64, 0.1)
CLOSED_LOOP = Load(64, 1.0)
STREAMS = Load(100, 0.0, INTERVAL_US / 1e6 / 100)
"""Each worker one stream, their beginnings spread so that events come one by one."""


class Exchange:
    """Sends its request again until the time is up, keeping the parts it is told to keep."""

    def __init__(self, pool: Any, wire: bytes, until: float, taken: Taken | None) -> None:
        self.requests = 0
        self.over = asyncio.get_running_loop().create_future()
        self._pool = pool
        self._wire = wire
        self._until = until
        self._taken = taken

    def on_head(self, status: int, _headers: object, _received_ns: int, /) -> None:
        assert status == 200

    def on_body(self, part: bytes, received_ns: int, /) -> None:
        if self._taken is not None:
            self._taken.append((received_ns, part))

    def on_end(self, _received_ns: int, /) -> None:
        self.requests += 1
        if time.perf_counter() < self._until:
            self._pool.send(self._wire, self)
        else:
            self.over.set_result(None)

    def on_failure(self, failure: Exception, _received_ns: int, /) -> None:
        self.over.set_exception(failure)


async def own(url: str, load: Load, taken: Taken | None) -> int:
    """Our pool by its callbacks, as the load worker drives it."""
    from agentbench_tui.http.client import Timeouts
    from agentbench_tui.http.pool import Pool
    from agentbench_tui.http.wire import Origin, request_bytes

    loop = asyncio.get_running_loop()
    pool = Pool(Origin.of(url), loop, timeouts=Timeouts(), max_body_bytes=1 << 20)
    wire = request_bytes("POST", url, HEADERS, BODY)
    until = time.perf_counter() + load.seconds
    exchanges = [Exchange(pool, wire, until, taken) for _ in range(load.workers)]
    for place, exchange in enumerate(exchanges):
        loop.call_later(place * load.apart_s, pool.send, wire, exchange)
    await asyncio.gather(*(exchange.over for exchange in exchanges))
    pool.close()
    await pool.wait_closed()
    return sum(exchange.requests for exchange in exchanges)


async def in_tasks(ask: Callable[[], Any], load: Load) -> int:
    until = time.perf_counter() + load.seconds

    async def repeat(place: int) -> int:
        requests = 0
        await asyncio.sleep(place * load.apart_s)
        while True:
            await ask()
            requests += 1
            if time.perf_counter() >= until:
                return requests

    return sum(await asyncio.gather(*(repeat(place) for place in range(load.workers))))


async def own_tasks(url: str, load: Load, taken: Taken | None) -> int:
    """Our client by the interface that agents use: a task and a context manager a request."""
    from agentbench_tui.http.client import HttpRequest
    from agentbench_tui.http.httptools_client import HttptoolsClient

    client = HttptoolsClient()
    request = HttpRequest("POST", url, HEADERS, BODY)

    async def ask() -> None:
        async with client.send(request) as response:
            async for part in response:
                if taken is not None:
                    taken.append(part)

    requests = await in_tasks(ask, load)
    await client.close()
    return requests


async def aiohttp(url: str, load: Load, taken: Taken | None) -> int:
    import aiohttp as library

    connector = library.TCPConnector(limit=0)
    async with library.ClientSession(connector=connector, headers=HEADERS) as session:

        async def ask() -> None:
            async with session.post(url, data=BODY) as response:
                while part := await response.content.readany():
                    if taken is not None:
                        taken.append((time.perf_counter_ns(), part))

        return await in_tasks(ask, load)


RUNNERS = {"own": own, "own-tasks": own_tasks, "aiohttp": aiohttp}


def cell(kind: str, client: str, base: str) -> dict[str, float]:
    """One measurement, in a process of its own (this file with arguments)."""
    name, loop = client.split("/")
    factory = asyncio.new_event_loop
    if loop == "uvloop":
        import uvloop

        factory = uvloop.new_event_loop
    runner = RUNNERS[name]
    with asyncio.Runner(loop_factory=factory) as loop_runner:
        if kind == "closed":
            loop_runner.run(runner(f"{base}/json", WARMUP, None))
            wall, cpu = time.perf_counter(), time.process_time()
            requests = loop_runner.run(runner(f"{base}/json", CLOSED_LOOP, None))
            wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
            return {"per_s": requests / wall, "cpu_us": 1e6 * cpu / requests}
        taken: Taken = []
        url = f"{base}/sse?events={EVENTS}&interval_us={INTERVAL_US}"
        cpu = time.process_time()
        loop_runner.run(runner(url, STREAMS, taken))
        cpu = time.process_time() - cpu
    late = sorted(
        (received_ns - int(sent)) / 1000
        for received_ns, part in taken
        for sent in SENT_NS.findall(part)
    )
    assert len(late) == STREAMS.workers * EVENTS, len(late)
    cuts = statistics.quantiles(late, n=100, method="inclusive")
    return {"p50_us": cuts[49], "p99_us": cuts[98], "cpu_us": 1e6 * cpu / len(late)}


def prefix(core: int) -> list[str]:
    """What gives a program a core of its own and real-time priority, as far as is permitted."""
    words: list[str] = []
    cores = sorted(os.sched_getaffinity(0))
    if shutil.which("taskset") and len(cores) > 1:
        words += ["taskset", "-c", str(cores[core])]
    if (
        shutil.which("chrt")
        and not subprocess.run(
            ["chrt", "-f", "5", "true"], capture_output=True, check=False
        ).returncode
    ):
        words += ["chrt", "-f", "5"]
    return words


@contextmanager
def server(folder: Path) -> Iterator[str]:
    program = folder / "server"
    source = Path(__file__).with_name("server.c")
    subprocess.run(["gcc", "-O2", "-o", str(program), str(source)], check=True)
    command = [*prefix(1), str(program)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        yield f"http://127.0.0.1:{int(process.stdout.readline())}"


def measured(kind: str, client: str, base: str) -> dict[str, float]:
    command = [*prefix(0), sys.executable, __file__, kind, client, base]
    done = subprocess.run(command, stdout=subprocess.PIPE, check=True, timeout=20)
    result: dict[str, float] = json.loads(done.stdout)
    return result


def wrk(script: Path, base: str) -> dict[str, float]:
    script.write_text(
        f"wrk.method = 'POST'\nwrk.body = '{BODY.decode()}'\n"
        + "".join(f"wrk.headers['{name}'] = '{value}'\n" for name, value in HEADERS.items())
    )
    command = [
        "wrk",
        "-t1",
        f"-c{CLOSED_LOOP.workers}",
        f"-d{CLOSED_LOOP.seconds:.0f}s",
        "-s",
        str(script),
    ]
    done = subprocess.run(
        [*prefix(0), *command, f"{base}/json"], stdout=subprocess.PIPE, check=True, timeout=20
    )
    found = re.search(rb"Requests/sec:\s*([\d.]+)", done.stdout)
    assert found is not None
    return {"per_s": float(found[1]), "cpu_us": float("nan")}


def compare(name: str, ratio: float, bar: float, *, least: bool) -> None:
    holds = ratio >= bar if least else ratio <= bar
    sign = "≥" if least else "≤"
    print(f"{name:<52} {ratio:>8.2f}x  bar {sign} {bar:.2f}x  {'ok' if holds else 'MISSED'}")


def main() -> None:
    closed = [name for name in CLOSED if name != "wrk" or shutil.which("wrk")]
    results: dict[tuple[str, str], list[dict[str, float]]] = {}
    with tempfile.TemporaryDirectory() as folder, server(Path(folder)) as base:
        run_wrk = partial(wrk, Path(folder, "post.lua"), base)
        for _ in range(ROUNDS):
            for name in closed:
                one = run_wrk() if name == "wrk" else measured("closed", name, base)
                results.setdefault(("closed", name), []).append(one)
            for name in PACED:
                results.setdefault(("paced", name), []).append(measured("paced", name, base))
    medians = {
        key: {figure: statistics.median(one[figure] for one in rounds) for figure in rounds[0]}
        for key, rounds in results.items()
    }
    for (kind, name), figures in medians.items():
        shown = "  ".join(f"{figure} {value:,.1f}" for figure, value in figures.items())
        print(f"{kind:<8}{name:<20}{shown}")
    rate = {name: medians["closed", name]["per_s"] for name in closed}
    compare("requests/s, own/uvloop ÷ aiohttp/uvloop",
            rate["own/uvloop"] / rate["aiohttp/uvloop"], 3.0, least=True)  # fmt: skip
    if "wrk" in rate:
        ratio = rate["own/uvloop"] / rate["wrk"]
        compare("requests/s, own/uvloop ÷ wrk", ratio, 0.20, least=True)
    ours, theirs = medians["paced", "own/uvloop"], medians["paced", "aiohttp/uvloop"]
    for figure, bar in (("p50_us", 0.6), ("p99_us", 0.8)):
        ratio = ours[figure] / theirs[figure]
        compare(f"receive error {figure}, own ÷ aiohttp", ratio, bar, least=False)


if __name__ == "__main__":
    if len(sys.argv) > 1:
        print(json.dumps(cell(*sys.argv[1:])))
    else:
        main()
