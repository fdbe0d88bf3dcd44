"""The whole of `agentbench load`, headless and stored, beside a server that knows the truth.

    python benchmarks/load.py [capacity] [accuracy] [steps] [stalls] [footprint] [--seconds S]

- capacity: closed loop, 32 connections, answers of one token, against a C server: requests a
  second, CPU of the whole tree a thousand requests, beside wrk where it is installed.
- accuracy: open loop, 200/s, TTFT 50 ms, 32 tokens 10 ms apart: what is reported ÷ what the
  practice server did; send lag, CPU (beside that of a client that only sends and receives, in the
  same minute), connections, bytes on disk.
- steps: 200 and 400 streams in flight whose tokens come in the same moment, and so do their ends:
  the error of the TTFT against what the C server did, beside that of a client that only sends and
  receives, on the same loop and against the same server in the same minute.
- stalls: 50/s asked, 10 in flight at most, the server frozen for 2 s twice in 20 s: the p95 that
  is reported ÷ the true one of that schedule, and what an uncorrected tool would have shown.
- footprint: seconds from the start to the first request; memory of the tree at 500 streams.

Load goes to 127.0.0.1 alone. Ratios are the result; absolute figures belong to the machine.
"""

from __future__ import annotations

import argparse
import heapq
import json
import os
import resource
import shutil
import signal
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import numpy as np
import psutil

ROOT = Path(__file__).resolve().parents[1]
AGENTBENCH = [sys.executable, "-m", "agentbench_tui"]
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(ROOT)}
# As installed: where Python may not keep what it compiles, every process compiles what it imports.
ENVIRONMENT.pop("PYTHONDONTWRITEBYTECODE", None)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parts = {"capacity": capacity, "accuracy": accuracy, "steps": steps, "stalls": stalls,
             "footprint": footprint}  # fmt: skip
    parser.add_argument("parts", nargs="*", help=", ".join(parts))
    parser.add_argument("--seconds", type=float, default=20.0, help="of a measured window")
    given = parser.parse_args()
    for name in given.parts or parts:
        print(f"\n== {name}")
        parts[name](given.seconds)


def capacity(seconds: float) -> None:
    seconds = min(seconds, 8.0)
    with c_server() as server:
        found, cpu_s = load(
            f"openai:{server.url}/v1#mock", "--concurrency", "32", "--no-stream",
            "--output-tokens", "1", "--duration", f"{seconds}s", "--warmup", "20",
        )  # fmt: skip
        sent = found["requests"]["sent"]
        rate = found["requests"]["sent_per_s"]
        bar("requests/s", rate, ">= 20,000", rate >= 20_000)
        each = cpu_s / sent * 1000
        bar("CPU s a 1,000 requests, tree, start and calibration in", each, "<= 0.06", each <= 0.06)
        say("  sender alone", found["harness"]["cpu_us_per_request"], "us a request")
        say("  verdict", found["verdict"], "")
        if shutil.which("wrk"):
            command = ["wrk", "-t1", "-c32", "-d3", f"{server.url}/json"]
            said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
            line = next(line for line in said.splitlines() if line.startswith("Requests/sec"))
            of_wrk = float(line.split()[1])
            bar("÷ wrk's requests/s", rate / of_wrk, ">= 0.20", rate / of_wrk >= 0.20)


def accuracy(seconds: float) -> None:
    count = int(200 * seconds)
    with tempfile.TemporaryDirectory() as folder:
        database = Path(folder) / "bench.db"
        with mock(Path(folder), "--ttft", "50ms", "--itl", "10ms", "--tokens", "32") as server:
            target = f"openai:{server.url}#mock"
            size_of_empty = first_size(database, target)
            found, cpu_s = load(
                target, "--rate", "200", "--requests", str(count), "--warmup", "0",
                "--db", str(database),
            )  # fmt: skip
            size = sum(path.stat().st_size for path in Path(folder).glob("bench.db*"))
            bare_s = bare_cpu_s(server.url, count)
        truth = server.truth(skip=1, count=count)
    for metric, part, limit in (
        ("ttft_ms", "mean", 2.0), ("ttft_ms", "p50", 2.0), ("ttft_ms", "p99", 2.0),
        ("e2e_ms", "mean", 0.5), ("e2e_ms", "p50", 0.5), ("e2e_ms", "p99", 0.5),
        ("tpot_ms", "mean", 0.5), ("tpot_ms", "p50", 0.5), ("tpot_ms", "p99", 0.5),
    ):  # fmt: skip
        reported = found["metrics"][metric][part]
        error = 100 * (reported / truth[metric][part] - 1)
        what = f"{metric}.{part}: {reported:.3f}, true {truth[metric][part]:.3f}, error %"
        bar(what, error, f"<= {limit}", abs(error) <= limit)
    lag = found["metrics"]["send_lag_ms"]["p99"]
    bar("send_lag_ms.p99", lag, "<= 1", lag <= 1)
    each = cpu_s / count * 1e3
    bar("CPU s a 1,000 requests, tree, start and calibration in", each, "<= 1", each <= 1)
    say("  of a client that only sends and receives", bare_s / count * 1e3, "s, start in")
    opened, most = found["requests"]["connections"], truth["most_in_flight"]
    bar(
        f"connections opened ÷ most in flight ({most})",
        opened / most,
        "<= 1.1",
        opened <= 1.1 * most,
    )
    disk = (size - size_of_empty) / count
    bar("bytes on disk a request", disk, "<= 100", disk <= 100)
    say("  verdict", found["verdict"], " ".join(found.get("reasons", [])))


def bare_cpu_s(url: str, count: int) -> float:
    """CPU of `bare_client.py` for as many requests: what this machine takes for them just now."""
    place = urlsplit(url)
    client = ROOT / "benchmarks" / "bare_client.py"
    command = [sys.executable, str(client), str(place.hostname), str(place.port), "200", str(count)]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


_ROUNDS = 3
_STEPS = {
    "all answers begin at once": "first_us=2000,interval_us=10000,events=37",
    "all tokens in step": "first_us=5000,interval_us=10000,events=37,step_us=10000",
    "jitter": "first_us=9000,interval_us=10000,events=37,step_us=10000,jitter_us=5000",
}
"""How the C server streams, by what is special in it."""


def steps(seconds: float) -> None:
    del seconds  # each case takes about two
    for streams in (200, 400):
        for name, how in _STEPS.items():
            rounds = [_in_steps(f"tokens,{how}", streams) for _ in range(_ROUNDS)]
            for place, part in enumerate(("p50", "p99")):
                error, of_bare = (
                    statistics.median(each[which][place] for each in rounds) for which in (0, 1)
                )
                most = 2 * max(abs(of_bare), 0.5)
                what = f"{streams} streams, {name}: ttft_ms.{part}, error %"
                bar(what, error, f"<= {most:.1f}, twice the bare client's", abs(error) <= most)


def _in_steps(path: str, streams: int) -> tuple[list[float], list[float]]:
    """Errors of TTFT p50 and p99 in percent, ours and the bare client's, in its window each."""
    count = 6 * streams
    with tempfile.TemporaryDirectory() as folder, c_server() as server:
        database = Path(folder) / "bench.db"
        load(
            f"openai:{server.url}/{path}#mock", "--concurrency", str(streams), "--requests",
            str(count), "--warmup", "1", "--workers", "1", "--db", str(database),
        )  # fmt: skip
        ours = _first_tokens_on_open_connections(database)
    true = server.first_token_ms(skip=1 + streams)
    with c_server() as server:
        command = [
            sys.executable, str(ROOT / "benchmarks" / "bare_client.py"), "127.0.0.1",
            str(server.port), "--path", f"/{path}/chat/completions", "--streams", str(streams),
            str(count),
        ]  # fmt: skip
        said = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
    bare = [float(said[2]), float(said[4])]
    true_of_bare = server.first_token_ms(skip=streams)
    return _errors(ours, true), _errors(bare, true_of_bare)


def _first_tokens_on_open_connections(database: Path) -> list[float]:
    """p50 and p99 of TTFT from sending in ms: what opening hundreds of connections at once takes
    is another question."""
    from agentbench_tui.load.results.columns import read_columns

    with closing(sqlite3.connect(database)) as connection:
        ((key,),) = connection.execute("SELECT key FROM benchmark_executions").fetchall()
        columns = read_columns(connection, key)
    open_before = columns.ok & ~columns.new_connection
    taken = columns.ttft_from_send_ms[open_before]
    return [float(value) for value in np.percentile(taken, (50, 99))]


def _errors(reported: list[float], true: list[float]) -> list[float]:
    return [100 * (value / of - 1) for value, of in zip(reported, true, strict=True)]


def stalls(seconds: float) -> None:
    del seconds  # the case is 20 s long
    with tempfile.TemporaryDirectory() as folder:
        options = ("--ttft", "50ms", "--itl", "10ms", "--tokens", "8", "--stall", "2s/10s")
        with mock(Path(folder), *options) as server:
            found, _ = load(
                f"openai:{server.url}#mock", "--rate", "50", "--requests", "1000",
                "--max-in-flight", "10", "--warmup", "0",
            )  # fmt: skip
    true = stalled_schedule(count=1000, rate=50, places=10, service_s=0.12, stall_s=2, period_s=10)
    p95 = float(np.percentile(true, 95)) * 1e3
    reported = found["metrics"]["e2e_ms"]["p95"]
    bar(
        f"e2e_ms.p95 {reported:.0f} ÷ true {p95:.0f}", reported / p95, "0.97 … 1.03",
        0.97 <= reported / p95 <= 1.03,
    )  # fmt: skip
    uncorrected = found["metrics"]["e2e_from_send_ms"]["p95"]
    say(
        "  an uncorrected tool would show",
        uncorrected,
        f"ms, {p95 / uncorrected:.1f} times too good",
    )
    for warning in found.get("warnings", []):
        say("  warning", warning, "")


def stalled_schedule(
    *, count: int, rate: float, places: int, service_s: float, stall_s: float, period_s: float
) -> list[float]:
    """End to end from due, of a server whose requests take `service_s` and freeze with it."""

    def after(start: float, work: float) -> float:
        now, left = start, work
        while left > 0:
            phase = (now - period_s / 2) % period_s
            if now >= period_s / 2 and phase < stall_s:
                now += stall_s - phase
                continue
            until = period_s / 2 - now if now < period_s / 2 else period_s - phase
            step = min(left, until)
            now, left = now + step, left - step
        return now

    free = [0.0] * places
    found = []
    for nth in range(count):
        due = nth / rate
        start = max(due, heapq.heappop(free))
        end = after(start, service_s)
        heapq.heappush(free, end)
        found.append(end - due)
    return found


def footprint(seconds: float) -> None:
    del seconds
    starts = sorted(start_s() for _ in range(5))
    first_s = starts[2]
    bar("seconds from start to first request, median of 5", first_s, "<= 0.7", first_s <= 0.7)
    with tempfile.TemporaryDirectory() as folder:
        options = ("--ttft", "50ms", "--itl", "20ms", "--tokens", "100")
        with mock(Path(folder), *options) as server:
            command = [
                *AGENTBENCH, "load", f"openai:{server.url}#mock", "--concurrency", "500",
                "--duration", "6s", "--warmup", "0", "--db", str(Path(folder) / "memory.db"),
                "--no-ui", "--quiet", "--format", "json",
            ]  # fmt: skip
            process = subprocess.Popen(command, stdout=subprocess.PIPE, env=ENVIRONMENT)
            peak_mb, while_streaming_mb = watch_memory(process)
            assert process.stdout is not None
            found = json.loads(process.stdout.read())
            process.wait()
    bar("tree MB (RSS) at 500 streams", while_streaming_mb, "<= 120", while_streaming_mb <= 120)
    say("  peak of the whole run, report and calibration in", peak_mb, "MB")
    say("  answered", found["requests"]["ok"], "")


def start_s() -> float:
    """From starting the command to its first request at the server."""
    with tempfile.TemporaryDirectory() as folder:
        with mock(Path(folder), "--ttft", "5ms", "--itl", "1ms", "--tokens", "2") as server:
            command = [
                *AGENTBENCH, "load", f"openai:{server.url}#mock", "--rate", "10",
                "--requests", "1", "--warmup", "0", "--db", str(Path(folder) / "start.db"),
                "--no-ui", "--quiet",
            ]  # fmt: skip
            began_ns = time.perf_counter_ns()
            subprocess.run(command, env=ENVIRONMENT, capture_output=True, check=True)
        return (min(row["arrived_ns"] for row in server.requests()) - began_ns) / 1e9


def watch_memory(process: subprocess.Popen[bytes]) -> tuple[float, float]:
    """Peak of the tree's RSS: of all the time, and of the first 6 s, in which it streams."""
    peak = streaming = 0.0
    began = time.monotonic()
    while process.poll() is None:
        try:
            tree = [
                psutil.Process(process.pid),
                *psutil.Process(process.pid).children(recursive=True),
            ]
            total = sum(one.memory_info().rss for one in tree) / 1e6
        except psutil.Error:
            continue
        peak = max(peak, total)
        if time.monotonic() - began < 6:
            streaming = max(streaming, total)
        time.sleep(0.05)
    return peak, streaming


def load(target: str, *options: str) -> tuple[dict[str, Any], float]:
    """The document of one load, and the CPU seconds of the whole tree."""
    command = [*AGENTBENCH, "load", target, *options, "--no-ui", "--quiet", "--format", "json"]
    with tempfile.TemporaryDirectory() as folder:
        if "--db" not in options:
            command += ["--db", str(Path(folder) / "bench.db")]
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        done = subprocess.run(command, capture_output=True, text=True, env=ENVIRONMENT, check=False)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode not in {0, 3}:
        sys.exit(f"{' '.join(command)}: exit {done.returncode}: {done.stderr}")
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    found: dict[str, Any] = json.loads(done.stdout)
    return found, used


def first_size(database: Path, target: str) -> int:
    """Bytes of a database that holds a run of one request."""
    load(target, "--rate", "10", "--requests", "1", "--warmup", "0", "--db", str(database))
    return sum(path.stat().st_size for path in database.parent.glob("bench.db*"))


class Mock:
    """A practice server whose figures can be read when it has ended."""

    def __init__(self, url: str, folder: Path) -> None:
        self.url = url
        self._folder = folder
        self._rows: list[dict[str, Any]] = []

    def read(self) -> None:
        """Read what it wrote at its end."""
        lines = (self._folder / "requests.jsonl").read_text().splitlines()
        self._rows = [json.loads(line) for line in lines]

    def requests(self) -> list[dict[str, Any]]:
        return self._rows

    def truth(self, *, skip: int, count: int | None = None) -> dict[str, Any]:
        """By the server's own clock, of `count` requests (all) after the first `skip`."""
        asked = self._rows[skip:][:count]
        rows = [row for row in asked if row["status"] == "ok"]
        arrived = np.array([row["arrived_ns"] for row in rows])
        first = np.array([row["first_token_ns"] for row in rows])
        end = np.array([row["end_ns"] for row in rows])
        tokens = np.array([row["tokens"] for row in rows])
        columns = {
            "ttft_ms": (first - arrived) / 1e6,
            "e2e_ms": (end - arrived) / 1e6,
            "tpot_ms": (end - first) / (tokens - 1) / 1e6,
        }
        events = sorted([(at, 1) for at in arrived] + [(at, -1) for at in end])
        most = level = 0
        for _, step in events:
            level += step
            most = max(most, level)
        found: dict[str, Any] = {
            name: {
                "mean": float(values.mean()),
                "p50": float(np.percentile(values, 50)),
                "p99": float(np.percentile(values, 99)),
            }
            for name, values in columns.items()
        }
        return {**found, "most_in_flight": most}


@contextmanager
def mock(folder: Path, *options: str) -> Iterator[Mock]:
    command = [
        *AGENTBENCH, "mock", "--port", "0", *options,
        "--requests-log", str(folder / "requests.jsonl"),
    ]  # fmt: skip
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=ENVIRONMENT)
    assert process.stdout is not None
    server = Mock(process.stdout.readline().split()[-1], folder)
    try:
        yield server
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait()
        server.read()


class CServer:
    """The C server of this folder."""

    def __init__(self, port: int) -> None:
        self.port = port
        self.url = f"http://127.0.0.1:{port}"
        self.streamed = ""
        """What it prints of its streams at its end."""

    def first_token_ms(self, *, skip: int) -> list[float]:
        """p50 and p99 by its own clock, but for the first `skip` answers."""
        rows = sorted(tuple(map(int, line.split())) for line in self.streamed.splitlines())
        taken = [(first - asked) / 1e6 for asked, first, _ in rows[skip:]]
        return [float(value) for value in np.percentile(taken, (50, 99))]


@contextmanager
def c_server() -> Iterator[CServer]:
    """On a free port."""
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder) / "server"
        source = ROOT / "benchmarks" / "server.c"
        subprocess.run(["gcc", "-O2", "-o", program, source], check=True)
        process = subprocess.Popen(
            [program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        assert process.stdout is not None
        try:
            server = CServer(int(process.stdout.readline().split()[-1]))
            yield server
        finally:
            server.streamed = process.communicate()[0]


def bar(what: str, value: float, limit: str, holds: bool) -> None:
    print(f"{'ok  ' if holds else 'MISS'}  {what:70} {value:12,.3f}   bar {limit}")


def say(what: str, value: object, unit: str) -> None:
    shown = f"{value:,.3f}" if isinstance(value, float) else value
    print(f"      {what}: {shown} {unit}")


if __name__ == "__main__":
    main()
