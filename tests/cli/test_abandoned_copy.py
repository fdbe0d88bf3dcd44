"""A run that is killed while its database is on a network file system: what it did is found."""

import errno
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from agentbench_tui.cli.main import _run
from agentbench_tui.model.errors import StoreError
from agentbench_tui.store import location

AGENT = """
import os
from pathlib import Path

def answer(question):
    if question == "2" and not (Path(__file__).parent / "go").exists():
        os.kill(os.getpid(), 9)
    return question
"""
SUITE = {
    "suite_id": "small",
    "benchmarks": [
        {
            "benchmark_id": "echo",
            "dataset": {
                "cases": [{"input": "1", "expected": "1"}, {"input": "2", "expected": "2"}]
            },
            "scorers": ["exact"],
            "iterations": {"warmup": 0, "measured": 1},
            "concurrency": 1,
        }
    ],
}
ON_NETWORK = """
import sys
from agentbench_tui.store import location
location.filesystem_of = lambda path: "nfs4"
from agentbench_tui.cli.main import _run
sys.exit(_run(sys.argv[1:]))
"""


@pytest.fixture
def database(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A database whose run was killed at its second case."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    (tmp_path / "agent.py").write_text(AGENT)
    (tmp_path / "suite.json").write_text(json.dumps(SUITE))
    path = tmp_path / "shared" / "runs.db"
    command = ["run", "suite.json", "--agent", "a=python:agent.py:answer", "--no-ui", "-q"]
    killed = subprocess.run(
        [sys.executable, "-c", ON_NETWORK, *command, "--db", str(path)],
        cwd=tmp_path,
        env=os.environ,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert killed.returncode != 0, killed.stderr
    monkeypatch.setattr(location, "filesystem_of", lambda _: "nfs4")
    return path


def test_resume_finds_the_local_copy_and_delivers_it(
    database: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (copy,) = (database.parents[1] / "cache" / "agentbench").glob("*.db")
    assert not database.exists()
    (database.parents[1] / "go").touch()
    assert _run(["resume", "--no-ui", "-q", "--format", "json", "--db", str(database)]) == 0

    out, err = capfd.readouterr()
    assert f"continuing in the local copy of a killed run, {copy}" in err
    assert json.loads(out)["status"] == "complete"
    assert database.exists()
    assert list(copy.parent.iterdir()) == []
    assert _run(["runs", "list", "--db", str(database)]) == 0
    assert "local copy" not in capfd.readouterr().err


def test_the_list_of_runs_says_where_the_copy_is(
    database: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (copy,) = (database.parents[1] / "cache" / "agentbench").glob("*.db")

    _run(["runs", "list", "--db", str(database)])

    assert f"the local copy {copy}; `agentbench resume` continues it" in capfd.readouterr().err


def test_a_copy_that_is_being_written_is_not_taken_for_abandoned(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(location, "filesystem_of", lambda _: "nfs4")
    target = tmp_path / "runs.db"
    here = location.Location.resolve(str(target))

    assert location.abandoned_copy(target) is None

    here.discard()
    assert list((tmp_path / "cache" / "agentbench").iterdir()) == []


def test_a_copy_that_is_not_whole_is_never_continued(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It would replace the database with a part of itself."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    target = tmp_path / "runs.db"
    target.write_bytes(b"x" * 100)
    killed = """
import os, sys
from agentbench_tui.store import location
location.filesystem_of = lambda path: "nfs4"
location.shutil.copyfile = lambda *_: os._exit(9)
location.Location.resolve(sys.argv[1])
"""
    ended = subprocess.run([sys.executable, "-c", killed, str(target)], check=False)
    assert ended.returncode == 9

    assert location.abandoned_copy(target) is None


def test_a_copy_for_which_there_is_no_room_is_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(location, "filesystem_of", lambda _: "nfs4")
    target, log = tmp_path / "runs.db", tmp_path / "runs.db-wal"
    target.write_bytes(b"x" * 100)
    log.write_bytes(b"x" * 100)
    copy = shutil.copyfile

    def fill_disk(source: str, destination: str) -> None:
        copy(source, destination)
        if source.endswith("-wal"):
            raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(location.shutil, "copyfile", fill_disk)
    with pytest.raises(StoreError, match="no space left on device"):
        location.Location.resolve(str(target))

    assert list((tmp_path / "cache" / "agentbench").iterdir()) == []
    assert location.abandoned_copy(target) is None
