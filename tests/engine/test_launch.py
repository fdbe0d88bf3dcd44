"""A run as a process of its own: how its plan gets there."""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from carried_out import plan, suite

from agentbench_tui.engine.run.launch import launch
from agentbench_tui.engine.run.plan import encode_plan

LAUNCH = """
import subprocess, sys
from pathlib import Path
from agentbench_tui.engine.run.launch import launch
from agentbench_tui.engine.run.plan import decode_plan

plan = decode_plan(Path(sys.argv[1]).read_text(encoding="utf-8"))
given = []
subprocess.Popen = lambda command, **_: given.append(command)
launch(plan, Path("store.db"), Path(sys.argv[2]))
carried = Path(given[0][given[0].index("carry-out") + 1])
assert decode_plan(carried.read_text(encoding="utf-8")) == plan
carried.unlink()
"""


def test_the_plan_is_handed_over_in_any_locale(tmp_path: Path) -> None:
    made = plan(tmp_path, {**suite(1), "name": "Größe"}, "def echo(text): return text", "echo")
    (tmp_path / "plan.json").write_text(encode_plan(made), encoding="utf-8")
    ascii_alone = {"LC_ALL": "C", "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0"}
    subprocess.run(
        [sys.executable, "-c", LAUNCH, str(tmp_path / "plan.json"), str(tmp_path / "log")],
        env={**os.environ, **ascii_alone},
        check=True,
    )


def test_a_process_that_cannot_begin_leaves_no_plan_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = plan(tmp_path, suite(1), "def echo(text): return text", "echo")
    plans = tmp_path / "plans"
    plans.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(plans))
    monkeypatch.setattr(sys, "executable", str(tmp_path / "no-python"))
    with pytest.raises(FileNotFoundError, match="no-python"):
        launch(made, tmp_path / "store.db", tmp_path / "log")
    assert not list(plans.iterdir())
