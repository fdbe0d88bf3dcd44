"""Agents of markets are looked at before they play, and nothing of theirs runs in the harness."""

import sys
from pathlib import Path

import pytest

from agentbench_tui.agents.target import parse_agent
from agentbench_tui.cli.main import _run
from agentbench_tui.market.play.player import check_agent


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "loud.py").write_text(
        "from pathlib import Path\n"
        "Path(__file__).with_name('ran').write_text('')\n"
        "class Mine:\n    def turn(self, market): pass\n"
        "if True:\n    turn = Mine().turn\n"
    )
    (tmp_path / "pack").mkdir()
    (tmp_path / "pack" / "__init__.py").write_text("raise SystemExit('ran')\n")
    (tmp_path / "pack" / "inner.py").write_text("from pack.other import *\n")
    (tmp_path / "broken.py").write_text("def turn(market)\n    pass\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    ("target", "said"),
    [
        ("python:loud.py:turn", ""),
        ("python:loud:Mine", ""),
        ("python:pack.inner:turn", ""),  # whatever the other module has
        ("python:math:sqrt", ""),
        ("python:loud.py:trun", 'has no `trun` (did you mean "turn"?)'),
        ("python:loud", "expected python:MODULE:FUNCTION"),
        ("python:quiet.py:turn", "no file"),
        ("python:quiet:turn", "no such module"),
        ("python:pack.outer:turn", "no such module"),
        ("python:broken.py:turn", "(broken.py:1)"),
        ("python?inlin=1:loud.py:turn", "inlin"),
        ("market:hodl", "hold"),
    ],
)
def test_an_agent_is_checked_without_being_run(folder: Path, target: str, said: str) -> None:
    before = set(sys.modules)
    problems = check_agent(parse_agent(target, base_dir=str(folder)))
    assert said in "".join(problems)
    assert bool(said) == bool(problems)
    assert not (folder / "ran").exists()
    assert not {"loud", "pack", "pack.inner"} & (set(sys.modules) - before)


def test_a_plan_runs_nothing_of_the_agents(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    plan = ["market", "run", "--agent", "python:loud.py:turn", "--dry-run"]
    assert _run(plan) == 0
    assert not (folder / "ran").exists()
    (folder / "second.py").write_text("def turn(market): pass\n")
    assert _run([*plan, "--agent", "python:second.py:turn"]) == 2
    said = capfd.readouterr().err
    assert 'would both be "turn": name one of them, --agent NAME=python:second.py:turn' in said
    assert _run([*plan, "--agent", "me=python:second.py:turn"]) == 0


def test_a_folder_that_cannot_be_written_is_told_before_anything_is_played(
    folder: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    run = ["market", "run", "--agent", "market:hold", "--output", "loud.py/out", "--db", "a.db"]
    assert _run(run) == 2
    assert "loud.py/out cannot be written" in capfd.readouterr().err
    assert not (folder / "a.db").exists()


def test_a_seed_beside_a_world_is_told_to_be_the_agents(
    folder: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert _run(["market", "generate", "--duration", "5", "--output", "w.json"]) == 0
    assert _run(["market", "run", "w.json", "--seed", "3", "--baselines", "--dry-run"]) == 0
    assert (
        "--seed 3 sets only what agents draw at random; w.json keeps its own seed"
        in capfd.readouterr().err
    )
