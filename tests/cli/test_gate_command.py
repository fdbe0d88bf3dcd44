"""`agentbench gate`: the gates of `run --fail-on`, on a run that is stored."""

import json
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from processes import Place, make_place

from agentbench_tui.cli.main import _run
from agentbench_tui.python_api.store import open_store

GATES = ["accuracy>=0.6", "accuracy>=0.7", "e2e_ms.p50<=60000", "failed<=0"]
"""On 30 answers of which 20 are right: holds, fails, holds, and one that only loads can have."""

Gate = Callable[..., tuple[int, str, str]]


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Place:
    """A run of an agent that is right on two of three cases, with one gate of its own."""
    place = make_place(tmp_path_factory.mktemp("gates"))
    place.suite(30)
    done = place.run(
        "run", "suite.json", "--no-ui", "-q", "--agent", "echo=python:agents.py:echo",
        "--fail-on", "accuracy>=0.7", "--format", "json",
    )  # fmt: skip
    assert done.returncode == 1, done.stderr
    (place.folder / "run.json").write_text(done.stdout)
    (place.folder / "run.err").write_text(done.stderr)
    return place


@pytest.fixture
def gate(place: Place, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Gate:
    """Runs the command in this process: exit code, stdout, stderr."""
    monkeypatch.setenv("AGENTBENCH_DB", str(place.database))

    def run(*arguments: str) -> tuple[int, str, str]:
        capfd.readouterr()
        return (_run(["gate", *arguments]), *capfd.readouterr())

    return run


@pytest.mark.parametrize(
    ("gates", "code"),
    [
        (GATES[:1], 0),
        ([GATES[0], GATES[2]], 0),
        (GATES[1:2], 1),
        (GATES[3:], 3),
        ([GATES[0], GATES[3]], 3),
        (GATES, 1),
    ],
)
def test_the_exit_code_is_that_of_the_worst_gate(gate: Gate, gates: list[str], code: int) -> None:
    assert gate("latest", *gates)[0] == code


def test_what_is_printed_and_judged_is_what_the_run_itself_said(place: Place, gate: Gate) -> None:
    code, out, err = gate("latest", "accuracy>=0.7", "--format", "json")
    told = json.loads((place.folder / "run.json").read_text())
    assert json.loads(out)["gates"] == told["gates"]
    lines = [
        line for line in (place.folder / "run.err").read_text().splitlines() if "gate:" in line
    ]
    assert err.splitlines() == lines
    assert code == 1


def test_a_run_without_named_gates_is_judged_by_its_own(gate: Gate) -> None:
    code, out, _ = gate("--format", "json")
    assert code == 1
    assert [one["gate"] for one in json.loads(out)["gates"]] == ["accuracy>=0.7"]


def test_the_run_may_be_left_out(gate: Gate) -> None:
    assert gate("accuracy>=0.6")[:2] == gate("latest", "accuracy>=0.6")[:2]


def test_a_gate_that_cannot_be_judged_gives_its_reason(gate: Gate) -> None:
    _, out, _ = gate("failed<=0", "accuracy>=0", "--format", "json")
    load, share = json.loads(out)["gates"]
    assert (load["value"], load["holds"]) == (None, None)
    assert "no load was measured" in load["reason"]
    assert (share["value"], share["holds"]) == (pytest.approx(2 / 3), True)
    assert share["reason"] is None


def test_the_table_lists_failed_gates_first_and_ends_with_the_verdict(gate: Gate) -> None:
    _, out, _ = gate(*GATES)
    lines = out.splitlines()
    assert [line.split()[0] for line in lines[1:5]] == [GATES[1], GATES[3], GATES[0], GATES[2]]
    assert lines[-1].endswith("failed; 1 of 4 checks failed")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["latest", "acuracy>=0.8"], 'did you mean "accuracy"'),
        (["latest", "accuracy=0.8"], "expected NAME OPERATOR NUMBER"),
        (["zzz"], "no run 'zzz'"),
    ],
)
def test_a_mistake_is_a_usage_error(gate: Gate, arguments: list[str], said: str) -> None:
    code, out, err = gate(*arguments)
    assert (code, out) == (2, "")
    assert said in err


def test_an_interrupted_run_does_not_pass(place: Place, tmp_path: Path, gate: Gate) -> None:
    copy = tmp_path / "copy.db"
    with (
        closing(sqlite3.connect(place.database)) as source,
        closing(sqlite3.connect(copy)) as target,
    ):
        source.backup(target)
        with target:
            target.execute("UPDATE runs SET status='interrupted'")
    code, out, _ = gate("accuracy>=0.6", "--db", str(copy))
    assert code == 3
    assert "undecided; part of it could not be measured (it is interrupted)" in out


def test_a_run_without_any_gate_says_so(tmp_path: Path, gate: Gate) -> None:
    place = make_place(tmp_path)
    place.suite(3)
    done = place.run("run", "suite.json", "--no-ui", "-q", "--agent", "a=python:agents.py:echo")
    assert done.returncode == 0, done.stderr
    code, _, err = gate("--db", str(place.database))
    assert code == 2
    assert "has no gates of its own" in err


def test_python_judges_a_stored_run_too(place: Place) -> None:
    run = open_store(place.database).run(gates=["accuracy>=0.6", "accuracy>=0.7"])
    assert [one.holds for one in run.gates] == [True, False]
    assert open_store(place.database).run().gates == ()
