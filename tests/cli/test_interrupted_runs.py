"""Ctrl-C, SIGTERM and kill -9: what was measured is kept, and `resume` goes on with it."""

import json
import re
import signal
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from processes import INTERRUPT, TERMINATE, Place, kill, line_with, make_place, until

from agentbench_tui.cli.main import _run
from agentbench_tui.cli.run import running
from agentbench_tui.engine.run.plan import Plan

RUN = ("run", "suite.json", "--agent", "echo=python:agents.py:echo", "--no-ui", "--format", "json")


@pytest.fixture
def place(tmp_path: Path) -> Place:
    made = make_place(tmp_path)
    made.doors()
    made.suite(9)
    return made


def essence(document: dict[str, Any]) -> dict[str, Any]:
    """What must not depend on whether a run was interrupted."""
    (execution,) = document["executions"]
    kept = ("cases", "failures", "status", "stop_reason", "scores")
    timeless = {
        name: metric
        for name, metric in execution["metrics"].items()
        if not name.startswith(("e2e_ms", "throughput", "waiting"))
    }
    return {**{name: execution[name] for name in kept}, "metrics": timeless}


@pytest.mark.parametrize(("number", "code"), [(INTERRUPT, 130), (TERMINATE, 143)])
def test_the_first_signal_finishes_what_is_in_flight_and_keeps_all(
    place: Place, number: signal.Signals, code: int
) -> None:
    with place.started(*RUN, DOOR="4") as process:
        place.someone_at_the_door()
        process.send_signal(number)
        line_with(process.stderr, "waiting for in-flight requests")
        place.open_the_door()
        document = json.load(process.stdout)
        assert process.wait() == code
    assert (document["status"], document["stop_reason"]) == ("interrupted", "interrupted")
    assert document["executions"][0]["cases"]["observed"] == 5
    assert document["executions"][0]["status"] == "interrupted"


def test_the_second_signal_ends_the_run_at_once_and_a_third_harms_nothing(place: Place) -> None:
    with place.started(*RUN, DOOR="4") as process:
        place.someone_at_the_door()
        process.send_signal(INTERRUPT)
        line_with(process.stderr, "waiting for in-flight requests")
        process.send_signal(INTERRUPT)
        process.send_signal(INTERRUPT)
        document = json.load(process.stdout)
        assert process.wait() == 130
    assert document["status"] == "interrupted"
    assert document["executions"][0]["cases"]["observed"] == 4
    assert place.rows("SELECT observed, status FROM iterations") == [(4, "stopped")]


def test_a_killed_run_is_resumed_without_asking_again_what_was_committed(
    place: Place, tmp_path_factory: pytest.TempPathFactory
) -> None:
    with place.started(*RUN, DOOR="4") as process:
        place.someone_at_the_door()
        until(lambda: place.rows("SELECT COUNT(*) FROM answers") == [(4,)])
        kill(process)
    (listed,) = json.loads(place.run("runs", "list", "--format", "json").stdout)["runs"]
    assert (listed["status"], listed["observed"], listed["correct"]) == ("interrupted", 4, 2)
    shown = json.loads(place.run("runs", "show", "--format", "json").stdout)
    assert shown["status"] == "interrupted"
    assert shown["executions"][0]["cases"] == {
        "total": 9, "observed": 4, "answered": 4, "correct": 2,
    }  # fmt: skip
    printed = place.run("runs", "show").stdout
    kept = "the run was not finished; 4 answers of the unfinished executions are kept;"
    assert f"{kept} `agentbench resume {shown['run_id']}` continues it" in printed
    assert "not measured" not in printed
    assert place.rows("SELECT status FROM runs") == [("running",)]

    resumed = place.run("resume", "--no-ui", "--format", "json")
    assert resumed.returncode == 0, resumed.stderr
    asked = (place.folder / "asked").read_text().split()
    assert asked == [*"01234", *"45678"]
    assert place.rows("SELECT COUNT(*), COUNT(DISTINCT case_key) FROM answers") == [(9, 9)]
    iterations = place.rows("SELECT observed, asking_s > 0 FROM iterations ORDER BY seq")
    assert iterations == [(4, 1), (5, 1)]

    whole = make_place(tmp_path_factory.mktemp("whole"))
    whole.suite(9)
    once = json.loads(whole.run(*RUN).stdout)
    document = json.loads(resumed.stdout)
    assert document["status"] == once["status"] == "complete"
    assert essence(document) == essence(once)

    again = place.run("resume", "--no-ui")
    assert again.returncode == 2
    assert "no run was interrupted, so there is nothing to resume" in again.stderr


def test_requests_of_a_killed_load_can_be_read_until_it_is_measured_anew(tmp_path: Path) -> None:
    place = make_place(tmp_path)
    target = "mock?ttft=2ms&itl=1ms&tokens=2"
    load = ("load", target, "--rate", "50,60", "--duration", "60s", "--warmup", "0", "--no-ui")
    with place.started(*load) as process:
        stored = "SELECT COALESCE(SUM(rows), 0) FROM sample_chunks"
        told = "SELECT COALESCE(SUM(observed), 0), COALESCE(SUM(answered), 0) FROM ticks"
        until(lambda: place.database.exists() and place.tables() and place.rows(told)[0][0] > 0)
        kill(process)
    ((count,),) = place.rows(stored)
    (listed,) = json.loads(place.run("runs", "list", "--format", "json").stdout)["runs"]
    assert (listed["observed"], listed["answered"]) == place.rows(told)[0]
    assert 0 < listed["observed"] <= count

    shown = place.run("runs", "show").stdout.splitlines()
    assert shown[0] == "not measured: load mock rate=50, load mock rate=60"
    assert shown[1].endswith(": interrupted")
    assert shown[2].startswith(f"{count} requests of a repeat that was cut off are stored")
    document = json.loads(place.run("runs", "show", "--format", "json").stdout)
    assert [one["status"] for one in document["executions"]] == ["interrupted", "interrupted"]

    whole = place.run("runs", "samples", "--format", "jsonl")
    assert whole.stdout == ""
    assert f"{count} requests" in whole.stderr
    samples = place.run("runs", "samples", "--unfinished", "--format", "jsonl").stdout
    rows = [json.loads(line) for line in samples.splitlines()]
    assert len(rows) == count
    assert {(row["cut_off"], row["parameters"]["rate"]) for row in rows} == {(True, 50)}
    elsewhere = place.run("runs", "samples", "--unfinished", "--point", "rate=60")
    assert "no request of this load was stored before it ended" in elsewhere.stderr


def test_resuming_leaves_alone_what_had_ended_and_heeds_what_was_spent(place: Place) -> None:
    (place.folder / "agents.py").write_text(
        (place.folder / "agents.py").read_text()
        + "from agentbench_tui.model.answer import Answer\n"
        "def dear(prompt): return Answer(echo(prompt), cost_usd=1.0)\n"
    )
    place.suite(9, early_stop={"half_width": 0.5}, iterations={"warmup": 2, "measured": 7})
    early = json.loads((place.folder / "suite.json").read_text())
    (benchmark,) = early["benchmarks"]
    second = {**benchmark, "benchmark_id": "again", "early_stop": {}}
    second["iterations"] = {"warmup": 0, "measured": 1}
    second["dataset"] = {
        "cases": [{"id": f"d{n}", "input": str(n + 20), "expected": str(n + 20)} for n in range(9)]
    }
    (place.folder / "suite.json").write_text(
        json.dumps({**early, "benchmarks": [benchmark, second]})
    )
    run = ("run", "suite.json", "--agent", "dear=python:agents.py:dear", "--no-ui")
    with place.started(*run, "--max-cost", "52", DOOR="24") as process:
        place.someone_at_the_door()
        until(lambda: place.rows("SELECT COUNT(*) FROM answers") == [(5 * 9 + 4,)])
        kill(process)
    (place.folder / "asked").unlink()
    document = json.loads(place.run("resume", "--no-ui", "--format", "json").stdout)
    assert (place.folder / "asked").read_text().split() == ["24", "25", "26"]
    ended, stopped = document["executions"]
    assert ended["stop_reason"].startswith("precise enough")
    assert stopped["stop_reason"] == "cost limit reached: 52.0000 of 52 USD"
    assert document["status"] == "complete"


def test_a_run_that_goes_on_is_neither_resumed_nor_deleted_nor_exported(place: Place) -> None:
    with place.started(*RUN, DOOR="4") as process:
        place.someone_at_the_door()
        for command in (
            ("resume",), ("rescore",), ("runs", "delete", "latest", "--yes"),
            ("runs", "export", "latest", "out.db"),
        ):  # fmt: skip
            refused = place.run(*command)
            assert refused.returncode == 2, refused
            assert "is still running" in refused.stderr
        place.open_the_door()
        process.communicate()
        assert process.returncode == 0
    assert place.rows("SELECT COUNT(*) FROM answers") == [(9,)]


def test_a_run_killed_before_its_cases_were_stored_can_be_resumed(place: Place) -> None:
    """As after kill -9 while the machine was being looked at."""
    from agentbench_tui.store.transaction import write_once

    with place.started(*RUN, DOOR="0") as process:
        place.someone_at_the_door()
        kill(process)
    write_once(
        place.database,
        [
            lambda c: c.execute("UPDATE benchmark_executions SET dataset_key=NULL, planned=0"),
            lambda c: c.execute("DELETE FROM datasets"),
        ],
    )
    document = json.loads(place.run("resume", "--no-ui", "--format", "json").stdout)
    assert document["executions"][0]["cases"]["observed"] == 9


def test_two_runs_write_one_database_while_a_third_process_reads(place: Place) -> None:
    place.suite(200)
    with place.started(*RUN) as first, place.started(*RUN) as second:
        reads = 0
        while first.poll() is None or second.poll() is None:
            if place.database.exists():
                listed = place.run("runs", "list", "--format", "json")
                assert "locked" not in listed.stderr
                reads += listed.returncode == 0
        documents = [json.load(process.stdout) for process in (first, second)]
        errors = "".join(process.stderr.read() for process in (first, second))
    assert "locked" not in errors
    assert reads
    assert [document["status"] for document in documents] == ["complete"] * 2
    assert place.rows("SELECT COUNT(*) FROM answers GROUP BY run_key") == [(200,), (200,)]


def test_a_detached_run_is_left_running_and_can_be_followed(place: Place) -> None:
    detached = place.run(*RUN, "--detach", DOOR="4")
    assert detached.returncode == 0, detached.stderr
    document = json.loads(detached.stdout)
    assert (document["schema"], document["status"]) == ("agentbench.run/1", "running")
    place.someone_at_the_door()
    (listed,) = json.loads(place.run("runs", "list", "--format", "json").stdout)["runs"]
    assert (listed["id"], listed["status"]) == (document["run_id"], "running")
    assert re.search(r"so far \d+ of \d+ asked", place.run("runs", "show").stdout)
    place.open_the_door()
    until(lambda: place.rows("SELECT status FROM runs") == [("complete",)])
    leases = Path(f"{place.database}.leases")
    until(lambda: not list(leases.iterdir()))


def test_a_run_imported_in_part_is_imported_again_not_resumed(place: Place) -> None:
    from agentbench_tui.store.run_copy import IMPORTED_IN_PART
    from agentbench_tui.store.transaction import write_once

    assert place.run(*RUN).returncode == 0
    half = f"UPDATE runs SET status='interrupted', error='{IMPORTED_IN_PART}'"
    write_once(place.database, [lambda c: c.execute(half)])
    refused = place.run("resume", "--no-ui")
    assert refused.returncode == 2
    assert "was imported in part only; import it again" in refused.stderr


@pytest.mark.parametrize(("status", "is_resumable"), [("interrupted", True), ("complete", False)])
def test_an_interrupt_after_a_run_has_ended_still_says_how_to_resume_it(
    place: Place,
    status: str,
    is_resumable: bool,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def report(database: Path, plan: Plan, how: running.How) -> int:
        with closing(sqlite3.connect(database)) as connection, connection:
            connection.execute("UPDATE runs SET status=?", (status,))
        raise KeyboardInterrupt

    monkeypatch.chdir(place.folder)
    monkeypatch.setenv("AGENTBENCH_DB", str(place.database))
    monkeypatch.setattr(running, "report", report)
    assert _run([*RUN, "--quiet"]) == 130
    lines = capsys.readouterr().err.splitlines()
    assert lines[0] == "interrupted"
    ((run_id,),) = place.rows("SELECT id FROM runs")
    hint = [f"continue the run with `agentbench resume {run_id}`"]
    assert lines[1:] == (hint if is_resumable else [])
