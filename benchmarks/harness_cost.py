"""What the harness itself costs: CPU, memory and bytes per case, start-up, reading back.

    python benchmarks/harness_cost.py

Prints each figure beside its bar. Differences of two sizes give the cost of a case without the
start of the program. Run it on a quiet machine; ratios hold better than absolute times.
"""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).parent / "harness"
SMALL, MIDDLE, LARGE = 100, 10_000, 100_000
ENVIRONMENT = dict(os.environ)
# As installed: where Python may not keep what it compiles, every process compiles what it imports.
ENVIRONMENT.pop("PYTHONDONTWRITEBYTECODE", None)


def run(arguments: list[str], **more: str) -> tuple[float, float, float, bytes]:
    """(CPU s, wall s, peak RSS MB, stdout) of an agentbench command in a process of its own."""
    command = [sys.executable, "-m", "agentbench_tui", *arguments]
    began = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.PIPE, env={**ENVIRONMENT, **more})
    assert process.stdout is not None
    output = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        sys.exit(f"{command} ended with {process.returncode}")
    wall = time.perf_counter() - began
    return usage.ru_utime + usage.ru_stime, wall, usage.ru_maxrss / 1000, output


def noop(cases: int, database: Path) -> tuple[float, float, float, bytes]:
    return run(
        ["run", str(HERE / "noop.yaml"), "--agent", f"python:{HERE / 'noop_agent.py'}:answer",
         "--set", f"cases={cases}", "--no-ui", "--quiet", "--format", "json",
         "--db", str(database)]
    )  # fmt: skip


def report(name: str, value: float, unit: str, bar: str, holds: bool) -> None:
    print(f"{name:<52} {value:>12,.3f} {unit:<8} bar {bar:<12} {'ok' if holds else 'MISSED'}")


def measure_cases(folder: Path) -> Path:
    cpu_small, *_ = noop(SMALL, folder / "small.db")
    middle = folder / "middle.db"
    cpu_middle, _, rss_middle, output = noop(MIDDLE, middle)
    cpu_large, _, rss_large, _ = noop(LARGE, folder / "large.db")
    document = json.loads(output)
    assert document["executions"][0]["cases"]["correct"] == MIDDLE
    rate = document["executions"][0]["metrics"]["throughput_per_s"]["value"]
    per_case = 1000 * (cpu_middle - cpu_small) / (MIDDLE - SMALL)
    per_case_large = 1000 * (cpu_large - cpu_small) / (LARGE - SMALL)
    size = middle.stat().st_size / MIDDLE
    report("CPU per case, start left out", per_case, "ms", "<= 0.1", per_case <= 0.1)
    report("CPU per case, start counted in", 1000 * cpu_middle / MIDDLE, "ms", "<= 0.15",
           1000 * cpu_middle / MIDDLE <= 0.15)  # fmt: skip
    report("CPU per case at 100,000", per_case_large, "ms", "<= 0.05", per_case_large <= 0.05)
    report("cases a second while asking", rate, "1/s", ">= 3500", rate >= 3500)
    report("peak RSS at 10,000", rss_middle, "MB", "<= 90", rss_middle <= 90)
    report(
        "more RSS at 100,000", rss_large - rss_middle, "MB", "<= 20", rss_large - rss_middle <= 20
    )
    report("stored per case", size, "bytes", "<= 1000", size <= 1000)
    return middle


def measure_start() -> None:
    cpu = min(run(["--help"])[0] for _ in range(5))
    report("agentbench --help, CPU", cpu, "s", "<= 0.1", cpu <= 0.1)
    with tempfile.TemporaryDirectory() as name:
        cpu = min(noop(20, Path(name) / f"{number}.db")[0] for number in range(5))
    report("20 cases with start, CPU", cpu, "s", "<= 0.4", cpu <= 0.4)


def measure_reading(folder: Path, middle: Path) -> None:
    from agentbench_tui.store.database import connect_to_read
    from agentbench_tui.store.queries.answers import case_of
    from agentbench_tui.store.queries.runs import executions_of, find_run, list_runs

    many = folder / "many.db"
    noop(SMALL, many)
    with sqlite3.connect(many) as connection:
        columns = [row[1] for row in connection.execute("PRAGMA table_info(runs)")][2:]
        copied = [row[1] for row in connection.execute("PRAGMA table_info(benchmark_executions)")]
        copied = [name for name in copied if name not in {"key", "id", "run_key"}]
        for number in range(199):
            key = connection.execute(
                f"INSERT INTO runs (id, {', '.join(columns)})"
                f" SELECT 'copy-{number:03d}', {', '.join(columns)} FROM runs WHERE key=1"
            ).lastrowid
            connection.execute(
                f"INSERT INTO benchmark_executions (id, run_key, {', '.join(copied)})"
                f" SELECT 'copy-{number:03d}', {key}, {', '.join(copied)}"
                " FROM benchmark_executions WHERE run_key=1"
            )
    connection.close()
    reader = connect_to_read(many)
    taken = []
    for _ in range(5):
        began = time.perf_counter()
        rows = list_runs(reader, 200)
        taken.append(1000 * (time.perf_counter() - began))
        assert len(rows) == 200
    report("listing 200 runs", min(taken), "ms", "<= 50", min(taken) <= 50)
    reader.close()
    reader = connect_to_read(middle)
    execution = executions_of(reader, find_run(reader, "latest")["key"])[0]["key"]
    taken = []
    for number in (0, 5000, 9999):
        began = time.perf_counter()
        found = case_of(reader, execution, f"case-{number:06d}")
        taken.append(1000 * (time.perf_counter() - began))
        assert len(found) == 1
    reader.close()
    report("opening one case of 10,000", max(taken), "ms", "<= 5", max(taken) <= 5)


def main() -> None:
    load = os.getloadavg()[0]
    print(f"Python {sys.version.split()[0]}, SQLite {sqlite3.sqlite_version}, load {load:.1f}")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        measure_start()
        middle = measure_cases(folder)
        measure_reading(folder, middle)


if __name__ == "__main__":
    main()
