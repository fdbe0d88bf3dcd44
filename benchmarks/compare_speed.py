"""What comparing two executions costs, from the start of the command to its last line.

    python benchmarks/compare_speed.py [CASES]

Two reference agents answer so many cases (10,000); times, tokens and costs are put in afterwards,
since theirs are all alike. Seconds of wall time, best of several turns. The bar: 1 s within the
process, from the store to the document.
"""

from __future__ import annotations

import json
import sqlite3
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from agentbench_tui.store.database import reading
from agentbench_tui.verdicts.comparison.compare import compare
from agentbench_tui.verdicts.comparison.compare_document import compare_document
from agentbench_tui.verdicts.comparison.comparison import Asked
from agentbench_tui.verdicts.evidence.case_numbers import CaseNumbers
from agentbench_tui.verdicts.selection.side import load_sides

CASES, TURNS, BAR_S = 10_000, 3, 1.0
AGENTS = {"a": 0.80, "b": 0.81}


def measured(folder: Path, cases: int) -> Path:
    """A database with both executions."""
    rows = ({"id": f"c{n}", "input": f"question {n}", "expected": str(n)} for n in range(cases))
    (folder / "cases.jsonl").write_text("\n".join(json.dumps(row) for row in rows))
    suite = {
        "suite_id": "speed", "name": "Speed", "category": "accuracy",
        "description": "Many cases.",
        "benchmarks": [
            {
                "benchmark_id": "many", "name": "Many", "dataset": {"data_source": "cases.jsonl"},
                "scorers": ["exact"], "iterations": {"warmup": 0, "measured": 1},
                "concurrency": 16,
            }
        ],
    }  # fmt: skip
    (folder / "suite.json").write_text(json.dumps(suite))
    database = folder / "speed.db"
    command = [sys.executable, "-m", "agentbench_tui", "run", str(folder / "suite.json")]
    for name, accuracy in AGENTS.items():
        command += ["--agent", f"{name}=reference:noisy?accuracy={accuracy}"]
    subprocess.run([*command, "--no-ui", "--db", str(database)], check=True, capture_output=True)
    generator = np.random.default_rng(1)
    with sqlite3.connect(database) as connection:
        keys = [row[0] for row in connection.execute("SELECT seq FROM answers")]
        times, tokens = generator.lognormal(6, 0.4, len(keys)), generator.poisson(200, len(keys))
        connection.executemany(
            "UPDATE answers SET e2e_ms=?, output_tokens=?, cost_usd=? WHERE seq=?",
            zip(times.tolist(), tokens.tolist(), (tokens * 1e-6).tolist(), keys, strict=True),
        )
    connection.close()
    return database


def once(database: Path) -> tuple[float, float]:
    """Seconds of loading the evidence, and of everything."""
    began = time.perf_counter()
    with reading(database) as connection:
        numbers = CaseNumbers(connection)
        sides = load_sides(connection, list(AGENTS), None, None, numbers)
        loaded = time.perf_counter() - began
        found = compare(connection, sides, numbers, Asked())
        compare_document(connection, found, numbers, 5)
    return loaded, time.perf_counter() - began


def main() -> None:
    cases = int(sys.argv[1]) if len(sys.argv) > 1 else CASES
    with tempfile.TemporaryDirectory() as name:
        database = measured(Path(name), cases)
        turns = [once(database) for _ in range(TURNS)]
        loaded, whole = min(turns, key=lambda turn: turn[1])
        began = time.perf_counter()
        subprocess.run(
            [sys.executable, "-m", "agentbench_tui", "compare", *AGENTS, "--db", str(database)],
            check=True, capture_output=True,
        )  # fmt: skip
        command = time.perf_counter() - began
    print(f"{cases:,} cases a side: evidence {loaded:.2f} s, with verdicts {whole:.2f} s")
    print(f"first turn, which imports what is needed, {turns[0][1]:.2f} s")
    print(f"the command with the start of Python {command:.2f} s")
    print(f"bar: {BAR_S:g} s, {'held' if turns[0][1] <= BAR_S else 'MISSED'}")


if __name__ == "__main__":
    main()
