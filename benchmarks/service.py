"""What `agentbench serve` costs: idle, for each answer, and for a run that many clients follow.

    python benchmarks/service.py [--runs N] [--listeners L] [--seconds S]

A database of N runs of two agents (copies of one run). The service runs on one core. Latencies are
of one client on an open connection, throughput is of four. Both are also given in CPU time of the
service, which a busy machine disturbs less. Runs that clients follow alternate with
runs that nobody follows, so that drift hits both alike.
"""

from __future__ import annotations

import argparse
import http.client
import os
import re
import selectors
import socket
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import psutil
from growth import AGENTS, SUITE, copy_runs, measured, run_arguments

TOKEN = "a-token-of-the-benchmark-0123456789"
HEADERS = {"Authorization": f"Bearer {TOKEN}"}
COMPARED = "/benchmarks/compare?suite_id=growth"
"""Asked by POST."""
PATHS = {
    "leaderboard": "/benchmarks/leaderboard",
    "results": "/benchmarks/agents/a/results",
    "results of all time": "/benchmarks/agents/a/results?timeframe=all",
    "comparison": COMPARED,
    "regressions": "/benchmarks/agents/a/regressions",
    "runs": "/runs",
    "metrics": "/metrics",
}
IDLE_S = 10.0
RENEWED_S = 3.0
"""Time in which the service computes outdated answers again."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--runs", type=int, default=1000)
    parser.add_argument("--listeners", type=int, default=50)
    parser.add_argument("--seconds", type=float, default=5.0)
    parser.add_argument("--rounds", type=int, default=3)
    given = parser.parse_args()
    os.environ["AGENTBENCH_TOKEN"] = TOKEN
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "growth.yaml").write_text(SUITE)
        (folder / "agents.py").write_text(AGENTS)
        measured(folder, *run_arguments("store.db", 20))
        with closing(sqlite3.connect(folder / "store.db")) as store:
            copy_runs(store, given.runs)
        with service(folder) as (port, process):
            print(f"{given.runs:,} runs")
            idle(process, "at the start")
            latencies(folder, port, process)
            throughput(port, given.seconds, process)
            idle(process, "after all answers")
            followed(folder, port, process, given.listeners, given.rounds)


@contextmanager
def service(folder: Path) -> Iterator[tuple[int, psutil.Process]]:
    """Port and process of a service on one core."""
    command = [sys.executable, "-m", "agentbench_tui", "serve", "--port", "0", "--db", "store.db"]
    process = subprocess.Popen(command, cwd=folder, stderr=subprocess.PIPE, text=True)
    try:
        assert process.stderr is not None
        line = process.stderr.readline()
        found = re.search(r":([0-9]+) \(", line)
        if found is None:
            sys.exit(line + process.stderr.read())
        running = psutil.Process(process.pid)
        if hasattr(running, "cpu_affinity"):
            running.cpu_affinity(running.cpu_affinity()[:1])
        yield int(found[1]), running
    finally:
        process.terminate()
        process.wait()


def idle(process: psutil.Process, when: str) -> None:
    before = sum(process.cpu_times()[:2])
    time.sleep(IDLE_S)
    share = (sum(process.cpu_times()[:2]) - before) / IDLE_S
    memory = process.memory_info().rss / 1e6
    print(f"idle {when}: {memory:.0f} MB resident, {100 * share:.2f}% of a core")


def cpu_s(process: psutil.Process) -> float:
    """CPU seconds of all living threads of a process, to the nanosecond where Linux says so."""
    try:
        tasks = [*Path(f"/proc/{process.pid}/task").iterdir()]
        return sum(int((task / "schedstat").read_text().split()[0]) for task in tasks) / 1e9
    except OSError:
        return float(sum(process.cpu_times()[:2]))


def latencies(folder: Path, port: int, process: psutil.Process) -> None:
    """Print the first answer, those that are kept, and the next ones after a run has ended: at
    once, and when the service had time to compute them again.
    """
    with closing(http.client.HTTPConnection("127.0.0.1", port)) as connection:
        for name, path in PATHS.items():
            began = cpu_s(process)
            first = asked(connection, path)
            first_cpu = cpu_s(process) - began
            began = cpu_s(process)
            rest = sorted(asked(connection, path) for _ in range(200))
            kept_cpu = (cpu_s(process) - began) / len(rest)
            changed: dict[float, list[float]] = {0.0: [], RENEWED_S: []}
            for pause, found in changed.items():
                for _ in range(5):
                    change(folder)
                    time.sleep(pause)
                    found.append(asked(connection, path))
            at_once, later = (1e3 * statistics.median(found) for found in changed.values())
            print(
                f"{name:<20} first {1e3 * first:7.1f} ms (CPU {1e3 * first_cpu:.1f}), then"
                f" {1e3 * rest[len(rest) // 2]:6.2f} ms (CPU {1e3 * kept_cpu:.2f};"
                f" p99 {1e3 * rest[int(0.99 * len(rest))]:.2f} ms), after a run"
                f" {at_once:.1f} ms at once and {later:.1f} ms after {RENEWED_S:.0f} s"
            )


def change(folder: Path) -> None:
    """Change what answers depend on, as a run that ends does."""
    with closing(sqlite3.connect(folder / "store.db", timeout=10)) as store, store:
        store.execute(
            "UPDATE benchmark_executions SET cost_usd=COALESCE(cost_usd, 0)+1e-6"
            " WHERE key=(SELECT MAX(key) FROM benchmark_executions)"
        )


def asked(connection: http.client.HTTPConnection, path: str) -> float:
    began = time.perf_counter()
    if path == COMPARED:
        headers = HEADERS | {"Content-Type": "application/json"}
        connection.request("POST", path, body='["a", "b"]', headers=headers)
    else:
        connection.request("GET", path, headers=HEADERS)
    response = connection.getresponse()
    response.read()
    if response.status != 200:
        sys.exit(f"{path}: {response.status}")
    return time.perf_counter() - began


def throughput(port: int, seconds: float, process: psutil.Process) -> None:
    for name in ("leaderboard", "results"):
        counts = [0] * 4
        until = time.monotonic() + seconds

        def ask(place: int, path: str = PATHS[name], until: float = until) -> None:
            with closing(http.client.HTTPConnection("127.0.0.1", port)) as connection:
                while time.monotonic() < until:
                    asked(connection, path)
                    counts[place] += 1  # noqa: B023  # of this round

        began = cpu_s(process)
        threads = [threading.Thread(target=ask, args=(place,)) for place in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        per_cpu_s = sum(counts) / (cpu_s(process) - began)
        print(f"{name:<20} {sum(counts) / seconds:,.0f} requests/s, {per_cpu_s:,.0f} per CPU s")


def followed(folder: Path, port: int, process: psutil.Process, listeners: int, rounds: int) -> None:
    """Compare answers per second, and CPU time per answer, of a run that nobody follows and of one
    that many do.
    """
    rates: dict[bool, list[float]] = {False: [], True: []}
    costs: dict[bool, list[float]] = {False: [], True: []}
    used, lasted = 0.0, 0.0
    for place in range(2 * rounds):
        is_followed = place % 4 in {1, 2}
        cpu, began = sum(process.cpu_times()[:2]), time.monotonic()
        rate, cost = answers_per_s(folder, port, listeners if is_followed else 0)
        rates[is_followed].append(rate)
        costs[is_followed].append(cost)
        if is_followed:
            used += sum(process.cpu_times()[:2]) - cpu
            lasted += time.monotonic() - began
    alone, many = (statistics.median(rates[one]) for one in (False, True))
    shown = [" ".join(f"{rate:,.0f}" for rate in rates[one]) for one in (False, True)]
    print(f"answers/s alone {shown[0]}; with {listeners} listeners {shown[1]}: {many / alone:.3f}×")
    alone, many = (statistics.median(costs[one]) for one in (False, True))
    shown = [" ".join(f"{cost:,.0f}" for cost in costs[one]) for one in (False, True)]
    print(f"CPU µs/answer alone {shown[0]}; with {listeners} {shown[1]}: {many / alone:.3f}×")
    print(f"service with {listeners} listeners: {100 * used / lasted:.1f}% of a core")


def answers_per_s(folder: Path, port: int, listeners: int) -> tuple[float, float]:
    """Answers per second of a run, and CPU µs of it and its agents per answer."""
    command = [sys.executable, "-m", "agentbench_tui", *run_arguments("store.db", 20_000)]
    newest = "SELECT id FROM runs ORDER BY key DESC LIMIT 1"
    wanted = (
        "SELECT SUM(e.asking_s), SUM(e.observed) FROM runs r"
        " JOIN benchmark_executions e ON e.run_key=r.key WHERE r.id=?"
    )
    with closing(sqlite3.connect(folder / "store.db", timeout=10)) as store:
        (before,) = store.execute(newest).fetchone()
        child = subprocess.Popen(
            command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        while (run_id := store.execute(newest).fetchone()[0]) == before:
            time.sleep(0.02)
        follow(port, run_id, listeners)
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        asking_s, observed = store.execute(wanted, (run_id,)).fetchone()
    cpu = usage.ru_utime + usage.ru_stime
    return float(observed / asking_s), 1e6 * cpu / observed


def follow(port: int, run_id: str, listeners: int) -> None:
    """Read the events of a run on many connections by one thread, as they come."""
    request = (
        f"GET /runs/{run_id}/events HTTP/1.1\r\nHost: 127.0.0.1\r\n"
        f"Authorization: Bearer {TOKEN}\r\nConnection: close\r\n\r\n"
    )
    events: dict[socket.socket, int] = {}
    with selectors.DefaultSelector() as selector:
        for _ in range(listeners):
            connection = socket.create_connection(("127.0.0.1", port))
            connection.sendall(request.encode())
            selector.register(connection, selectors.EVENT_READ)
            events[connection] = 0
        while selector.get_map():
            for key, _ in selector.select():
                connection = key.fileobj
                assert isinstance(connection, socket.socket)
                part = connection.recv(1 << 16)
                events[connection] += part.count(b"data:")
                if not part:
                    selector.unregister(connection)
                    connection.close()
    if listeners and min(events.values()) == 0:
        sys.exit("a listener received nothing")


if __name__ == "__main__":
    main()
