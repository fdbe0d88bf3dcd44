"""What a run prints at its end: the answer first, every figure only when asked."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from agentbench_tui.cli.main import _run

AGENTS = """
def right(prompt):
    return prompt

def half(prompt):
    return prompt if int(prompt) % 2 else "?"
"""


@pytest.fixture
def command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """A run of two agents on two benchmarks, of which they answer one equally well."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "agents.py").write_text(AGENTS)
    odd, all_ = range(1, 60, 2), range(60)
    benchmarks = [
        {
            "benchmark_id": name,
            "dataset": {
                "cases": [{"id": f"c{n}", "input": f"{n}", "expected": f"{n}"} for n in numbers]
            },
            "scorers": ["exact"],
            "iterations": {"warmup": 0, "measured": 1},
        }
        for name, numbers in (("odd", odd), ("all", all_))
    ]
    weights = {"accuracy": 1, "speed": 0, "efficiency": 0, "cost": 0, "reliability": 0}
    suite = {"suite_id": "numbers", "weights": weights, "benchmarks": benchmarks}
    (tmp_path / "suite.json").write_text(json.dumps(suite))
    return [
        "run", "suite.json", "--no-ui", "--quiet", "--db", "s.db",
        "--agent", "right=python:agents.py:right", "--agent", "half=python:agents.py:half",
    ]  # fmt: skip


def test_it_leads_with_who_is_best_and_ends_with_what_to_do(
    command: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert _run(command) == 0
    lines = capsys.readouterr().out.splitlines()
    # 90 of 90 against 30 of 30 and 30 of 60: mean accuracies of 1 and 0.75
    assert lines[0].startswith("right is the best of 2 agents: overall score 1.000")
    assert "half at 0.750" in lines[0]
    assert lines[2].split()[:3] == ["#", "agent", "overall"]
    ((best, *_), (second, *_)) = (line.split() for line in lines[3:5])
    assert (best, second) == ("1", "2")
    assert ["all", "100%", "50.0%"] in [line.split() for line in lines]
    assert "All agents have the same accuracy on odd." in lines
    assert "Compare the first two: agentbench compare right half" in lines
    assert any(line.startswith("See what went wrong: agentbench runs show ") for line in lines)
    assert lines[-1].endswith(": complete")
    assert not any(line.startswith("benchmark ") for line in lines)


@pytest.mark.parametrize("options", [("--full",), ("--full", "--by", "benchmark")])
def test_with_full_every_execution_has_a_row(
    command: list[str], options: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    assert _run([*command, *options]) == 0
    out = capsys.readouterr().out
    rows = [line.split()[:2] for line in out.splitlines() if line.startswith(("odd ", "all "))]
    assert [row for row in rows if row[1] in {"right", "half"}] == [
        ["odd", "right"], ["odd", "half"], ["all", "right"], ["all", "half"]
    ]  # fmt: skip


def test_markdown_has_the_same_order_and_no_drawing(
    command: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert _run([*command, "--format", "md"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("**right is the best of 2 agents: overall score 1.000")
    assert lines[2].startswith("| # | agent | overall [95%] | accuracy |")
    assert not any("●" in line for line in lines)
