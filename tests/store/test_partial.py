"""What a killed export leaves is removed by the next one."""

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from agentbench_tui.store.partial import partial_file

KILLED = """
import os, sys
from pathlib import Path
from agentbench_tui.store.partial import partial_file
with partial_file(Path(sys.argv[1])) as partial:
    for suffix in ("", "-wal", ".lock"):
        Path(f"{partial}{suffix}").write_text("half")
    os.kill(os.getpid(), 9)
"""


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_a_whole_file_takes_its_place_and_nothing_else_stays(tmp_path: Path) -> None:
    target = tmp_path / "out.db"
    with partial_file(target) as partial:
        partial.write_text("whole")
        partial.replace(target)

    assert (names(tmp_path), target.read_text()) == (["out.db"], "whole")


def test_what_breaks_leaves_nothing(tmp_path: Path) -> None:
    def broken() -> None:
        with partial_file(tmp_path / "out.db") as partial:
            partial.write_text("half")
            raise ValueError("broken")

    with pytest.raises(ValueError, match="broken"):
        broken()

    assert names(tmp_path) == []


def test_the_next_one_removes_what_a_killed_one_left(tmp_path: Path) -> None:
    (tmp_path / ".agentbench-notes").write_text("of the user")
    killed = subprocess.run(
        [sys.executable, "-c", KILLED, str(tmp_path / "out.db")], check=False, timeout=60
    )
    assert killed.returncode == -signal.SIGKILL
    assert len(names(tmp_path)) == 5

    with partial_file(tmp_path / "other.db"):
        pass

    assert names(tmp_path) == [".agentbench-notes"]


def test_files_of_a_living_process_are_left_alone(tmp_path: Path) -> None:
    with partial_file(tmp_path / "one.db") as first:
        first.write_text("first")
        with partial_file(tmp_path / "other.db") as second:
            second.write_text("second")
        assert first.read_text() == "first"
