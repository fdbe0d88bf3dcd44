"""What is handed out to agents is masked wherever something is kept or shown."""

import json
import os
import sqlite3
import stat
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from agentbench_tui.engine.run.plan import Group, Plan, check_unmasked, encode_plan, masked
from agentbench_tui.engine.run.plan_secrets import declare_secrets_of, exposed_keys
from agentbench_tui.model.errors import UsageError
from agentbench_tui.model.text import secrets

SECRET = "plain-word-of-mine"
ON_LINE = "qwertz-uiop-123"
PROGRAM = """
import json, os, sys
request = json.loads(sys.stdin.readline())
value = os.environ["HARMLESS"]
if request["input"] == "fail":
    sys.stderr.write("cannot use " + value + "\\n")
    sys.exit(3)
print(json.dumps({"text": "it is " + value, "metadata": {"seen": value}}))
"""
COMMAND = f"command:{sys.executable} program.py"
SUITE = {
    "suite_id": "small",
    "agents": [{"id": "a", "target": COMMAND, "options": {"env": ["HARMLESS"]}}],
    "notes": f"with {SECRET}",
    "benchmarks": [
        {
            "benchmark_id": "echo",
            "description": f"uses {SECRET}",
            "dataset": {"cases": [{"input": "ok", "expected": "x"}, {"input": "fail"}]},
            "scorers": ["exact"],
            "iterations": {"warmup": 0, "measured": 1},
            "retries": 0,
        }
    ],
}


@pytest.fixture
def no_secrets() -> Iterator[None]:
    """What a test declares is no secret of the next one."""
    yield
    secrets._handed_out.clear()
    secrets._declared.clear()
    secrets.declare_secrets()


def agentbench(
    folder: Path, *arguments: str, secret: str = SECRET
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "agentbench_tui", *arguments],
        cwd=folder,
        env={**os.environ, "HARMLESS": secret, "AGENTBENCH_DB": str(folder / "runs.db")},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def everything_in(database: Path) -> str:
    """Every row of every table, as text."""
    with closing(sqlite3.connect(database)) as connection:
        tables = connection.execute("SELECT name FROM sqlite_master WHERE type='table'").fetchall()
        return "\n".join(
            repr(row) for (name,) in tables for row in connection.execute(f"SELECT * FROM {name}")
        )


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "program.py").write_text(PROGRAM)
    (tmp_path / "suite.json").write_text(json.dumps(SUITE))
    return tmp_path


def test_a_variable_of_any_name_is_masked_in_every_row_and_on_stderr(folder: Path) -> None:
    options = ("--tag", f"t-{SECRET}", "--notes", f"n {SECRET}", "--no-ui")
    ended = agentbench(folder, "run", "suite.json", *options)

    assert SECRET not in ended.stderr
    assert SECRET not in ended.stdout
    stored = everything_in(folder / "runs.db")
    assert "it is ***" in stored
    assert "cannot use ***" in stored
    assert "t-***" in stored
    assert SECRET not in stored
    assert SECRET not in agentbench(folder, "runs", "show", "latest", "--answers").stdout


def test_a_key_on_a_command_line_is_warned_about_and_not_stored(folder: Path) -> None:
    (folder / "program.py").write_text("import sys\nprint('said ' + sys.argv[-1])\n")
    agent = f"a=command:{sys.executable} program.py --api-key {ON_LINE}"
    ended = agentbench(folder, "run", "suite.json", "--agent", agent, "--no-ui")

    assert "agent a: its command line holds a key" in ended.stderr
    stored = everything_in(folder / "runs.db")
    assert "said ***" in stored
    assert ON_LINE not in stored

    with closing(sqlite3.connect(folder / "runs.db")) as connection:
        connection.execute("UPDATE runs SET status='interrupted'")
        connection.commit()
    resumed = agentbench(folder, "resume", "--no-ui")
    assert resumed.returncode == 2
    assert "its target contained a secret, which is not stored" in resumed.stderr


@pytest.mark.parametrize(
    "benchmark",
    [
        {"scorers": [{"model_graded": {"judges": [f"j=command:judge --api-key {ON_LINE}"]}}]},
        {"stress": {"scenario": "failure_recovery", "serve": f"vllm serve m --api-key={ON_LINE}"}},
    ],
)
def test_a_key_on_a_command_line_of_a_benchmark_is_warned_about_and_not_stored(
    benchmark: dict[str, object], no_secrets: None
) -> None:
    group = Group(
        suite_id="s",
        suite_hash="h",
        benchmark={"benchmark_id": "b", **benchmark},
        parameters={},
        values={},
        seed=1,
        base_dir=".",
    )
    plan = Plan(run_id="r", suites=(), groups=(group,), repeats=1, seed=1)
    check_unmasked(plan)

    (warning,) = exposed_keys(plan.groups)
    assert warning.startswith("benchmark b: the command line of its judge or server holds a key")
    declare_secrets_of(plan)
    stored = masked(plan)

    assert ON_LINE not in encode_plan(stored)
    with pytest.raises(UsageError, match="benchmark b: a command in it contained a secret"):
        check_unmasked(stored)


LINES = [
    "{",
    '"type": "account",',
    '"id": "0a1b2c3d4e5f60718293",',
    "MIIEvQIBADANBgkqhkiG9w0B",
    "}",
]


def test_a_value_of_several_lines_is_masked_in_failures_and_answers(folder: Path) -> None:
    ended = agentbench(folder, "run", "suite.json", "--no-ui", secret="\n".join(LINES))
    shown = agentbench(folder, "runs", "show", "latest", "--answers").stdout
    everything = "\n".join((everything_in(folder / "runs.db"), ended.stdout, ended.stderr, shown))
    assert "cannot use ***" in everything
    for line in LINES[1:-1]:
        assert line[3:-3] not in everything


def modes_beside(database: Path) -> dict[str, int]:
    return {
        path.name.removeprefix(database.name) or "database": stat.S_IMODE(path.stat().st_mode)
        for path in database.parent.glob(f"{database.name}*")
    }


def test_a_database_and_its_locks_are_for_their_owner_alone(folder: Path) -> None:
    os.umask(0o022)
    agentbench(folder, "run", "suite.json", "--no-ui", "-q")

    modes = modes_beside(folder / "runs.db")

    assert modes["database"] == modes[".lock"] == 0o600
    assert modes[".leases"] == 0o700


def test_whoever_opens_the_database_to_a_group_opens_its_locks_too(folder: Path) -> None:
    run = ("run", "suite.json", "--no-ui", "-q")
    agentbench(folder, *run)
    (folder / "runs.db").chmod(0o660)

    agentbench(folder, *run)

    modes = modes_beside(folder / "runs.db")
    assert modes[".lock"] == 0o660
    assert modes[".leases"] == 0o770
