"""What of our environment a child gets to see."""

import os
import subprocess
from pathlib import Path

import pytest

from agentbench_tui.process.environment import child_environment, python_module


def test_secrets_are_passed_only_when_they_are_named() -> None:
    ours = {"PATH": "/bin", "OPENAI_API_KEY": "sk-x", "LC_ALL": "C", "OTHER": "1"}
    assert child_environment(source=ours) == {"PATH": "/bin", "LC_ALL": "C"}
    assert "OPENAI_API_KEY" in child_environment(["OPENAI_API_KEY"], ours)


def test_a_relative_search_path_means_our_folder_also_in_another_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    passed = child_environment(source={"PYTHONPATH": f".{os.pathsep}lib"})
    assert passed["PYTHONPATH"].split(os.pathsep) == [str(tmp_path), str(tmp_path / "lib")]


def test_a_module_runs_whatever_the_current_folder_holds(tmp_path: Path) -> None:
    for name in ("json", "queue", "types"):
        (tmp_path / f"{name}.py").write_text("raise ImportError('not the one of Python')")
    done = subprocess.run(
        python_module("agentbench_tui", "--version"), cwd=tmp_path, capture_output=True, text=True
    )
    assert (done.returncode, done.stderr) == (0, "")
