"""How near the truth the breaking point of a real server is found, through the whole product.

    python benchmarks/stress_breaking_point.py [--runs 10] [--slots 8] [--service-ms 50]

Each run is the scenario high_load against a practice server of its own, which serves slots ÷
service time requests a second and no more. A run is right when the middle of its bracket lies
within 10% of that.

Measured on 2 cores that others kept busy (a load of 2 to 12), in 10 runs of 62 to 82 s each: 10
right, between +3.2% and +5.9%. Above the truth, because a level may leave 5% of what is asked
unanswered at the end of its window before it fails.
"""

from __future__ import annotations

import argparse
import asyncio
import tempfile
import time
from pathlib import Path

from agentbench_tui.engine.run.coordinator import carry_out
from agentbench_tui.engine.run.planning import RunOptions, make_plan
from agentbench_tui.engine.suite.loading import suite_of_data
from agentbench_tui.store.database import create_or_migrate, reading
from agentbench_tui.stress.reporter import read_report
from agentbench_tui.stress.search.breaking_point import BreakingPoint

NEAR = 0.10


async def one_run(folder: Path, slots: int, service_ms: float, scale: float) -> BreakingPoint:
    document = {
        "suite_id": "truth",
        "agents": [{"id": "server", "target": f"mock?slots={slots}&service-time={service_ms:g}ms"}],
        "benchmarks": [
            {
                "benchmark_id": "high-load",
                "kind": "stress",
                "stress": {
                    "scenario": "high_load",
                    "time_scale": scale,
                    "duration_s": 10.0,
                    "limits": {"error_share": 0.05},
                },
            }
        ],
    }
    plan = make_plan([suite_of_data(document, folder)], RunOptions(folder=folder))
    database = folder / "store.db"
    create_or_migrate(database)
    await carry_out(plan, database)
    with reading(database) as connection:
        report = read_report(connection, 1)
    assert report is not None
    return report.breaking_points[0]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--slots", type=int, default=8)
    parser.add_argument("--service-ms", type=float, default=50.0)
    parser.add_argument("--time-scale", type=float, default=0.1)
    options = parser.parse_args()
    truth, right = options.slots / options.service_ms * 1e3, 0
    for number in range(options.runs):
        began = time.perf_counter()
        with tempfile.TemporaryDirectory() as folder:
            point = asyncio.run(
                one_run(Path(folder), options.slots, options.service_ms, options.time_scale)
            )
        seconds = time.perf_counter() - began
        middle = point.middle
        near = middle is not None and abs(middle / truth - 1) <= NEAR
        right += near
        off = "-" if middle is None else f"{middle / truth - 1:+.1%}"
        print(f"{number + 1:>3}  {off:>7}  {point.words}  ({seconds:.0f} s)", flush=True)
    print(f"{right} of {options.runs} within {NEAR:.0%} of {truth:g} requests/s")


if __name__ == "__main__":
    main()
