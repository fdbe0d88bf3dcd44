"""Runs a simulation with the recommended configuration and keeps its journal for analysis.

python -m agentbench_tui.experiments.farm.run_with_recommended_config --steps 200 --agents 50
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from agentbench_tui.experiments.farm.simulation import get_recommended_config, simulate


def run_with_recommended_config(arguments: Sequence[str] | None = None) -> int:
    """Simulate with the journal in memory until the end; return the exit code."""
    given = _parser().parse_args(arguments)
    path = given.output / "simulation.db"
    if path.exists():
        sys.stderr.write(f"{path} is there already: name another --output\n")
        return 2
    try:
        given.output.mkdir(parents=True, exist_ok=True)
        config = get_recommended_config(given.agents, given.steps, seed=given.seed)
        found = simulate(config, path)
    except OSError as error:
        sys.stderr.write(f"{path}: cannot be written: {error.strerror}; name another --output\n")
        return 2
    sys.stdout.write(
        f"{found.steps} steps in {found.total_s:.3f} s"
        f" (world {found.simulate_s:.3f}, journal {found.write_s:.3f}, file {found.persist_s:.3f});"
        f" {found.population} agents alive at the end\n{found.rows} rows in {path}\n"
    )
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        description="Simulate, with the journal in memory until the end."
    )
    parser.add_argument("--steps", type=_count, default=100, help="100 by default")
    parser.add_argument("--agents", type=_count, default=30, help="at the start; 30 by default")
    parser.add_argument(
        "--output", type=Path, default=Path("simulation_results"), help="folder for the journal"
    )
    parser.add_argument("--seed", type=int, default=0, help="equal seeds give equal journals")
    return parser


def _count(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"a whole number, at least 1, not {text}")
    return int(text)


if __name__ == "__main__":
    sys.exit(run_with_recommended_config())
