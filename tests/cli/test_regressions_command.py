"""`agentbench regressions` and `baseline`: what they print, which codes they end with."""

import csv
import io
import json
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from processes import Place, make_place

from agentbench_tui.cli.main import _run
from agentbench_tui.model.identity import new_id

Said = Callable[..., str]
ECHO = "echo@2=python:agents.py:echo"
OF_ACCURACY = ("regressions", "echo", "--metric", "accuracy")


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> Place:
    """A place with one run, in which two answers of three are right, of version 2."""
    place = make_place(tmp_path_factory.mktemp("measured"))
    place.suite(3)
    done = place.run("run", "suite.json", "--agent", ECHO, "--no-ui", "--tag", "nightly")
    assert done.returncode == 0, done.stderr
    with closing(sqlite3.connect(place.database)) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return place


@pytest.fixture
def place(measured: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Place:
    for name in ("suite.json", "agents.py", "store.db"):
        (tmp_path / name).write_bytes((measured.folder / name).read_bytes())
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("AGENTBENCH_DB", str(tmp_path / "store.db"))
    return Place(tmp_path)


@pytest.fixture
def said(place: Place, capfd: pytest.CaptureFixture[str]) -> Said:
    """Runs a command in this process: stdout, of a slip stderr; its exit code is checked."""

    def run(*arguments: str, code: int = 0) -> str:
        capfd.readouterr()
        ended = _run(list(arguments))
        out, err = capfd.readouterr()
        assert ended == code, (out, err)
        assert "Traceback" not in err
        return out if code != 2 else err

    return run


def earlier(
    place: Place, count: int, accuracy: float, version: str = "1", metric: str = "accuracy"
) -> None:
    """Runs before the one that was measured, copies of it but for their accuracy (or the value of
    another metric) and version.
    """
    with closing(sqlite3.connect(place.database)) as connection:
        connection.row_factory = sqlite3.Row
        run = dict(connection.execute("SELECT * FROM runs").fetchone())
        execution = dict(connection.execute("SELECT * FROM benchmark_executions").fetchone())
        connection.execute(
            "INSERT INTO agent_versions SELECT agent_id, ?, specification, created_at"
            " FROM agent_versions",
            (version,),
        )
        for number in range(count):
            at = f"2026-01-01T{number:02d}:00:00.000Z"
            ids = {run["id"]: new_id(), execution["id"]: new_id()}
            plan = run["plan"]
            for old, new in ids.items():
                plan = plan.replace(old, new)
            added = {"id": ids[run["id"]], "plan": plan, "started_at": at, "tags": "[]"}
            key = inserted(connection, "runs", run | added)
            changed = {
                "id": ids[execution["id"]],
                "run_key": key,
                "agent_version": version,
                "created_at": at,
            }
            of_run = inserted(connection, "benchmark_executions", execution | changed)
            connection.execute(
                "INSERT INTO metrics (execution_key, name, value, unit, n)"
                " SELECT ?, name, ?, unit, 3 FROM metrics WHERE execution_key = ? AND name = ?",
                (of_run, accuracy, execution["key"], metric),
            )
        connection.commit()


def inserted(connection: sqlite3.Connection, table: str, row: dict[str, Any]) -> int:
    row = {name: value for name, value in row.items() if name != "key"}
    names, marks = ", ".join(row), ", ".join("?" * len(row))
    key = connection.execute(
        f"INSERT INTO {table} ({names}) VALUES ({marks})", tuple(row.values())
    ).lastrowid
    assert key is not None
    return key


def document(said: Said, *options: str, code: int = 0) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(said(*OF_ACCURACY, *options, "--format", "json", code=code))
    return found


def test_a_first_run_ends_with_3_and_says_what_is_needed(said: Said) -> None:
    out = said("regressions", "--metric", "accuracy", code=3)
    assert "echo@2: not enough data" in out
    assert "there is no earlier run" in out


def test_no_regression_ends_with_0_and_says_what_would_have_been_seen(
    place: Place, said: Said
) -> None:
    earlier(place, 14, accuracy=2 / 3)
    out = said(*OF_ACCURACY)
    assert "echo@2: no regression; one of 2.0 pp would have been noticed" in out
    assert "health 100 of 100; none" in out


def test_a_suspect_is_run_again_when_asked(place: Place, said: Said) -> None:
    earlier(place, 14, accuracy=1.0)
    assert "echo@2: suspect; `agentbench regressions echo --confirm` decides" in said(
        *OF_ACCURACY, code=3
    )
    told = document(said, "--confirm", code=1)
    assert told["schema"] == "agentbench.regressions/1"
    assert (told["verdict"], told["recommended_action"]) == ("regression", "block")
    (found,) = told["regressions"]
    assert (found["severity"], found["against"]) == ("critical", "the 14 runs before")
    assert found["change"] == pytest.approx(-1 / 3)
    runs = place.rows("SELECT notes, status FROM runs ORDER BY key")
    first = place.rows("SELECT id FROM runs WHERE tags='[\"nightly\"]'")[0][0]
    assert runs[-1] == (f"again, to confirm run {first}", "complete")
    assert found["change_point"]["last"]["run_id"] == first
    assert document(said, "--confirm", code=1)["findings"] == told["findings"]
    assert len(place.rows("SELECT id FROM runs")) == len(runs)


def test_a_suspect_time_is_run_again_until_three_runs_in_a_row_decide(
    place: Place, said: Said
) -> None:
    """Fourteen earlier runs of a nanosecond, so that every real run is slower."""
    earlier(place, 14, accuracy=1e-6, metric="e2e_ms.p50")
    of_time = ("regressions", "echo", "--metric", "e2e_ms.p50")
    assert "(1 of 3 runs in a row)" in said(*of_time, code=3)
    runs = len(place.rows("SELECT id FROM runs"))
    assert "echo@2: regression" in said(*of_time, "--confirm", code=1)
    assert len(place.rows("SELECT id FROM runs")) == runs + 2


@pytest.mark.parametrize(
    ("fail_on", "code"), [("regression", 1), ("major", 1), ("critical", 1), ("none", 0)]
)
def test_what_fails_can_be_chosen(place: Place, said: Said, fail_on: str, code: int) -> None:
    earlier(place, 14, accuracy=1.0)
    said(*OF_ACCURACY, "--confirm", code=1)
    assert "echo@2: regression" in said(*OF_ACCURACY, "--fail-on", fail_on, code=code)


def test_every_format_tells_the_same(place: Place, said: Said) -> None:
    earlier(place, 14, accuracy=2 / 3)
    (row,) = csv.DictReader(io.StringIO(said(*OF_ACCURACY, "--format", "csv")))
    (line,) = said(*OF_ACCURACY, "--format", "jsonl").splitlines()
    (found,) = document(said)["findings"]
    assert json.loads(line) == found
    assert (row["metric"], row["verdict"]) == ("accuracy", "no change seen")
    assert float(row["baseline_value"]) == found["baseline_value"]
    assert (row["overall_health"], row["at_least_percentage"]) == ("100.0", "")
    markdown = said(*OF_ACCURACY, "--format", "md", "--threshold", "2%")
    assert "- echo@2: no regression" in markdown
    assert "- health 100 of 100; none" in markdown


def test_a_baseline_is_set_shown_used_and_removed(place: Place, said: Said) -> None:
    earlier(place, 14, accuracy=1.0)
    assert "no baseline is set" in said("baseline", "list")
    said("baseline", "set", "echo@1")
    assert "version 1" in said("baseline", "show", "echo")
    told = document(said, code=3)
    assert (told["findings"][0]["against"], told["verdict"]) == ("version 1", "not enough data")
    said("baseline", "set", "tag:nightly", "--name", "night")
    (night,) = json.loads(said("baseline", "show", "echo", "--name", "night", "--format", "json"))[
        "baselines"
    ]
    assert (night["kind"], night["target"]) == ("tag", "nightly")
    said("baseline", "remove", "echo")
    assert document(said, code=3)["verdict"] == "suspect"


def test_a_run_as_baseline_may_be_named_by_its_beginning(place: Place, said: Said) -> None:
    run_id = place.rows("SELECT id FROM runs")[0][0]
    said("baseline", "set", f"run:{run_id[:20]}")
    assert f"run:{run_id}" in said("baseline", "list", "echo")
    assert "the newest run is the baseline itself" in said(*OF_ACCURACY, code=3)


def test_deleting_the_run_behind_a_baseline_says_so_and_names_given_twice_count_once(
    place: Place, said: Said, capfd: pytest.CaptureFixture[str]
) -> None:
    said("baseline", "set", "run:latest", "--name", "release")
    run_id = place.rows("SELECT id FROM runs")[0][0]
    capfd.readouterr()
    assert _run(["runs", "delete", "latest", run_id, "--yes"]) == 0
    told = capfd.readouterr().err
    assert f"baseline release of echo refers to run {run_id} and is removed with it" in told
    assert told.count("deleted") == 1
    assert place.rows("SELECT id FROM runs") == []


def test_a_change_is_accepted_and_taken_back(
    place: Place, said: Said, capfd: pytest.CaptureFixture[str]
) -> None:
    earlier(place, 14, accuracy=1.0)
    assert "no detected change can be accepted" in said(
        "baseline", "accept", "echo", "--metric", "accuracy", code=2
    )
    said(*OF_ACCURACY, "--confirm", code=1)
    assert "accuracy" in said("baseline", "accept", "echo", "--metric", "accuracy")
    assert document(said)["verdict"] == "no regression"
    assert _run(["baseline", "set", "echo@1"]) == 0
    told = " ".join(capfd.readouterr().err.split())
    assert "this baseline replaces 1 change of echo accepted earlier" in told
    assert "`agentbench baseline remove echo` judges from it on" in said(*OF_ACCURACY, code=3)
    said("baseline", "remove", "echo")
    taken_back = said("baseline", "accept", "echo", "--undo")
    assert "no longer accepted" in taken_back
    assert "as new levels" not in taken_back
    said(*OF_ACCURACY, code=1)


def test_the_gate_no_regression_judges_the_run_that_has_just_ended(
    place: Place, said: Said
) -> None:
    gate = ("run", "suite.json", "--agent", ECHO, "--no-ui", "-q", "--fail-on", "no-regression")
    done = place.run(*gate)
    assert done.returncode == 3
    assert "no-regression cannot be judged for echo on echo: e2e_ms.p50" in done.stderr
    earlier(place, 14, accuracy=1.0)
    done = place.run(*gate, "--format", "json")
    (told,) = json.loads(done.stdout)["gates"]
    assert (told["gate"], told["benchmark_id"], told["holds"]) == ("no-regression", "echo", False)
    assert done.returncode == 1, done.stderr
    assert (
        "no-regression FAILS for echo on echo: accuracy at least 33.3 points worse" in done.stderr
    )


def test_the_gate_no_regression_of_a_metric_looks_at_nothing_else(place: Place) -> None:
    earlier(place, 14, accuracy=1.0)
    gates = ("--fail-on", "no-regression(accuracy)", "--fail-on", "no-regression(e2e_ms.mean)")
    done = place.run("run", "suite.json", "--agent", ECHO, "--no-ui", "-q", *gates)
    assert "no-regression(accuracy) FAILS for echo on echo: accuracy" in done.stderr
    assert (
        "no-regression(e2e_ms.mean) cannot be judged for echo on echo: e2e_ms.mean:" in done.stderr
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("regressions", "ecko"), "no agent 'ecko' (did you mean \"echo\"?)"),
        (("regressions", "run:x"), "expected an agent"),
        (("regressions", "--threshold", "5"), "expected [METRIC=]T between 0 and 1"),
        (("regressions", "--threshold", "accurcy=0.1"), 'did you mean "accuracy"'),
        (("regressions", "--metric", "acuracy"), 'did you mean "accuracy"'),
        (("baseline", "set", "echo@7"), "there is no complete execution"),
        (("baseline", "set", "file:x.csv"), "a file cannot be a baseline"),
        (("baseline", "show", "ecko"), "no agent 'ecko'"),
        (("baseline", "remove", "echo", "--name", "x"), "echo has no baseline 'x'; there are none"),
        (("baseline", "show", "echo", "--name", "x"), "echo has no baseline 'x'; there are none"),
        (("regressions", "--baseline", "zz"), "there are 2; baselines by name: none"),
        (("run", "suite.json", "--fail-on", "no-regresion"), "or no-regression"),
    ],
)
def test_a_slip_is_told_in_a_line(said: Said, arguments: tuple[str, ...], message: str) -> None:
    assert message in said(*arguments, code=2)


def test_several_agents_in_the_newest_run_ask_which(place: Place, said: Said) -> None:
    both = ("--agent", ECHO, "--agent", "other=python:agents.py:other")
    assert place.run("run", "suite.json", *both, "--no-ui", "-q").returncode == 0
    assert "the newest run has 2 agents; name one of them: echo, other" in said(
        "regressions", code=2
    )
