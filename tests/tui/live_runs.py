"""Runs in processes of their own, and one that waits as long as a test wants."""

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

WEIGHTS = {"accuracy": 1, "speed": 0, "efficiency": 0, "cost": 0, "reliability": 0}
HOSTILE = "boom [bold]\x1b]52;c;aGVsbG8=\x07"
GATED = """
import asyncio
from pathlib import Path
from agentbench_tui.model.answer import AgentFailure, FailureKind
async def answer(prompt):
    if "bad" in prompt:
        raise AgentFailure(FailureKind.SERVER, {hostile!r})
    while "slow" in prompt and not Path({gate!r}).exists():
        await asyncio.sleep(0.01)
    return prompt
"""


def suite(*inputs: str, concurrency: int = 4) -> str:
    cases = [{"id": f"c-{one}", "input": one, "expected": one} for one in inputs]
    return json.dumps(
        {
            "suite_id": "small",
            "weights": WEIGHTS,
            "benchmarks": [
                {
                    "benchmark_id": "echo",
                    "dataset": {"cases": cases},
                    "scorers": ["exact"],
                    "iterations": {"warmup": 0, "measured": 1},
                    "retries": 0,
                    "concurrency": concurrency,
                }
            ],
        }
    )


def command(*more: str) -> list[str]:
    return [sys.executable, "-m", "agentbench_tui", "run", "suite.json", "--no-ui", "--quiet",
            "--db", "s.db", *more]  # fmt: skip


@pytest.fixture
def going_on(tmp_path: Path) -> Iterator[Path]:
    """The store of a run of which two cases wait for the file `gate`."""
    gate = tmp_path / "gate"
    (tmp_path / "gated.py").write_text(GATED.format(hostile=HOSTILE, gate=str(gate)))
    (tmp_path / "suite.json").write_text(suite("one", "bad", "slow1", "slow2"))
    process = subprocess.Popen(
        command("--agent", "it=python:gated:answer"), cwd=tmp_path,
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    yield tmp_path / "s.db"
    gate.touch()
    process.wait(30)
