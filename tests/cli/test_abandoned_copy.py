"""A run that is killed while its database is on a network file system: what it did is found."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from agentbench_tui.cli.main import _run
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
