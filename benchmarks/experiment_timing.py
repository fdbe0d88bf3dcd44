"""How far the times of experiments can be trusted: equal variants, a planted change, instruments.

    python benchmarks/experiment_timing.py [--runs 100]

Every figure goes the whole way: plan, threads, store, `compare`. Run it on a quiet machine.
"""

from __future__ import annotations

import argparse
import asyncio
import shutil
import statistics
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import instrument_cost
from pydantic import BaseModel

from agentbench_tui.engine.run.coordinator import carry_out
from agentbench_tui.engine.run.planning import RunOptions, make_plan
from agentbench_tui.engine.suite.loading import suite_of_data
from agentbench_tui.experiments.experiment import Experiment, ExperimentContext
from agentbench_tui.store.database import create_or_migrate, reading
from agentbench_tui.verdicts.comparison.compare import compare
from agentbench_tui.verdicts.comparison.comparison import Asked, Comparison
from agentbench_tui.verdicts.evidence.case_numbers import CaseNumbers
from agentbench_tui.verdicts.selection.side import load_sides

EQUAL = 1.0
PLANTED = 1.2
REPEATS = 6


class Work(Experiment):
    """A fixed amount of work for the processor; about 25 ns for each step."""

    class Parameters(BaseModel):
        steps: int = 12_000
        factor: float = 1.0
        point: int = 0
        label: str = ""

    def execute_once(self, context: ExperimentContext) -> dict[str, Any]:
        del context
        total = int(self.params["point"]) + len(self.params["label"])  # read, so that they count
        for step in range(int(self.params["steps"] * self.params["factor"])):
            total += step
        return {"total": total}


def suite(folder: Path, factor: float, points: int, **keys: Any) -> Any:
    """Two variants, the second `factor` times as long, measured `points` times."""
    agents = [
        {"id": name, "target": "variant", "options": {"label": name, "factor": of}}
        for name, of in (("a", 1.0), ("b", factor))
    ]
    benchmark = {
        "benchmark_id": "work",
        "kind": "experiment",
        "experiment": f"python:{Path(__file__).resolve()}:Work",
        "iterations": {"warmup": 1, "measured": 4},
        "sweep": {"parameters": {"point": list(range(points))}},
        **keys,
    }
    return suite_of_data(
        {"suite_id": "timing", "agents": agents, "benchmarks": [benchmark]}, folder
    )


def measured(folder: Path, name: str, loaded: Any, repeats: int) -> tuple[Path, str]:
    """Database and id of a run of the suite."""
    database = folder / f"{name}.db"
    create_or_migrate(database)
    plan = make_plan([loaded], RunOptions(repeats=repeats, folder=folder))
    asyncio.run(carry_out(plan, database))
    return database, plan.run_id


def verdicts(database: Path, run_id: str, points: int) -> Iterator[Comparison]:
    """B against A at each point, as if each were a run of its own."""
    with reading(database) as connection:
        for point in range(points):
            numbers = CaseNumbers(connection)
            sides = load_sides(
                connection,
                [f"run:{run_id}/{name}?point={point}" for name in "ab"],
                None,
                None,
                numbers,
            )
            found = compare(connection, sides, numbers, Asked(), ("e2e_ms",))
            yield found.pairs[0].metrics[0]


def equal_variants(folder: Path, runs: int) -> None:
    database, run_id = measured(folder, "equal", suite(folder, EQUAL, runs), REPEATS)
    found = list(verdicts(database, run_id, runs))
    apart = sum(one.verdict in {"better", "worse"} for one in found)
    print(f"A/A: {runs - apart} of {runs} equal variants were not called different")


def planted_change(folder: Path, runs: int) -> None:
    database, run_id = measured(folder, "planted", suite(folder, PLANTED, runs), REPEATS)
    found = list(verdicts(database, run_id, runs))
    worse = sum(one.verdict == "worse" for one in found)
    covered = sum((one.low or 0) <= PLANTED <= (one.high or 0) for one in found)
    ratio = statistics.median(one.ratio or 0 for one in found)
    print(
        f"20% slower: median ratio {ratio:.3f}; the interval holds 1.2 in {covered} of {runs},"
        f" called worse in {worse}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=100)
    parser.add_argument("--rounds", type=int, default=400, help="of instruments")
    parser.add_argument("--only", choices=("equal", "planted", "instruments"))
    given = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="experiment-timing-"))
    try:
        if given.only in {None, "equal"}:
            equal_variants(folder, given.runs)
        if given.only in {None, "planted"}:
            planted_change(folder, max(10, given.runs // 4))
        if given.only in {None, "instruments"}:
            instrument_cost.report(*instrument_cost.measure(folder, given.rounds))
    finally:
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()
