"""What does a database in memory that is written out at the end save? Measured, then said.

    python benchmarks/store_in_memory.py [--runs 5]

Runs the experiments `memory_db` (the journal of a simulated world of agents) and `run_db` (a run of
agentbench with its own store), each repeat of each variant in a process of its own, and prints for
each what memory with persist on completion takes of the time on disk, with its 95% interval. Takes
two to three minutes with five repeats; measure on a machine that does nothing else.

The README has the sentence that it printed last.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
OWN, FARM = "run_db", "memory_db"
ITERATIONS = {OWN: 3, FARM: 5}
PERSIST = "memory-persist"


def agentbench(database: Path, *arguments: str) -> Any:
    """What the command prints as JSON. Raises CalledProcessError where it fails."""
    environment = {**os.environ, "AGENTBENCH_DB": str(database), "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, "-m", "agentbench_tui", *arguments, "--format", "json"],
        env=environment, cwd=database.parent, capture_output=True, text=True, check=True,
    )  # fmt: skip
    return json.loads(done.stdout)


def ratio(database: Path, run: str, control: str, metric: str) -> tuple[float, float, float]:
    """Time in memory with persist ÷ time of the control, with its interval."""
    found = agentbench(
        database, "compare", f"run:{run}/{control}", f"run:{run}/{PERSIST}",
        "--metric", metric, "--better", "lower",
    )["metrics"][0]  # fmt: skip
    return found["ratio"], found["low"], found["high"]


def measured(database: Path, slug: str, runs: int) -> str:
    """The id of a run of the experiment."""
    run = agentbench(
        database, "experiments", "run", slug, "--runs", str(runs), "--fresh-process",
        "--iterations", str(ITERATIONS[slug]), "--warmup", "1", "--no-ui", "--quiet",
    )  # fmt: skip
    return str(run["run_id"])


def words(found: tuple[float, float, float], than: str) -> str:
    """`27% of the time of … [25, 30]`."""
    value, low, high = (100 * one for one in found)
    return f"{value:.0f}% [{low:.0f}, {high:.0f}] of the time of {than}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=5)
    runs = parser.parse_args().runs
    with tempfile.TemporaryDirectory() as folder:
        database = Path(folder) / "runs.db"
        farm, own = (measured(database, slug, runs) for slug in (FARM, OWN))
        plain = ratio(database, farm, "disk", "total_s")
        wal = ratio(database, farm, "disk-wal", "total_s")
        ours = ratio(database, own, "disk", "command_s")
        cpu = ratio(database, own, "disk", "cpu_s")
    print(
        "In memory with persist on completion: the farm's simulation takes"
        f" {words(plain, 'SQLite on disk as it comes')}, {words(wal, 'a write-ahead log')};"
        f" a run of agentbench (`--db :memory: --persist FILE`) takes"
        f" {words(ours, '`--db FILE`')}, and {100 * cpu[0]:.0f}% [{100 * cpu[1]:.0f},"
        f" {100 * cpu[2]:.0f}] of its processor time."
    )


if __name__ == "__main__":
    main()
