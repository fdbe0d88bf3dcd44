"""A run of two small market worlds, which tests of its report read."""

import subprocess
import sys
from pathlib import Path

SMALL = ("--duration=10", "--interval", "60", "--markets=2", "--perpetuals", "1", "--worlds", "2")


def play_market(database: Path, output: Path) -> None:
    """Let hold, momentum and the oracle play, and write the report folder.

    In a process of its own, because a browser that a test opened has an event loop in this one.
    """
    agents = [f"--agent=market:{name}" for name in ("hold", "momentum", "oracle")]
    place = ["--db", str(database), "--output", str(output), "--no-ui", "--quiet"]
    play = [sys.executable, "-m", "agentbench_tui", "market", "run", *SMALL, *agents, *place]
    subprocess.run(play, check=True)
