"""`attach` and `resume` without a run: the newest that is running, or was interrupted."""

import json
from pathlib import Path

import pytest
from processes import INTERRUPT, Place, kill, line_with, make_place, until

RUN = ("run", "suite.json", "--agent", "echo=python:agents.py:echo", "--no-ui", "--format", "json")


@pytest.fixture
def place(tmp_path: Path) -> Place:
    made = make_place(tmp_path)
    made.doors()
    made.suite(6)
    return made


def test_attach_without_a_terminal_follows_the_running_run_and_prints_its_result(
    place: Place,
) -> None:
    with place.started(*RUN, DOOR="4") as process:
        place.someone_at_the_door()
        # A newer run that has ended is not the one that is meant.
        assert place.run(*RUN).returncode == 0
        with place.started("attach", "--no-ui", "--format", "json") as watching:
            line_with(watching.stderr, "1 execution")
            place.open_the_door()
            document = json.load(watching.stdout)
            assert watching.wait() == 0
        own = json.load(process.stdout)
    assert document["run_id"] == own["run_id"]
    assert document["executions"][0]["cases"]["observed"] == 6


def test_attach_to_a_killed_run_says_how_to_continue_it(place: Place) -> None:
    with place.started(*RUN, DOOR="4") as process:
        place.someone_at_the_door()
        until(lambda: place.rows("SELECT COUNT(*) FROM answers") == [(4,)])
        with place.started("attach", "--no-ui") as watching:
            line_with(watching.stderr, "1 execution")
            kill(process)
            assert watching.wait() == 130
            assert "continue the run with `agentbench resume" in watching.stderr.read()


def test_leaving_the_view_leaves_the_run(place: Place) -> None:
    with place.started(*RUN, DOOR="4") as process:
        place.someone_at_the_door()
        with place.started("attach", "--no-ui") as watching:
            line_with(watching.stderr, "1 execution")
            watching.send_signal(INTERRUPT)
            line_with(watching.stderr, "the run continues; reopen it with `agentbench attach")
            assert watching.wait() == 0
        place.open_the_door()
        assert json.load(process.stdout)["status"] == "complete"


def test_without_a_running_run_attach_says_what_there_is(place: Place) -> None:
    place.run(*RUN)
    done = place.run("attach", "--no-ui")
    assert done.returncode == 2
    assert "no run is running" in done.stderr
    assert "`agentbench open` shows a finished one" in done.stderr


def test_resume_takes_the_interrupted_run_although_newer_ones_have_ended(place: Place) -> None:
    with place.started(*RUN, DOOR="4") as process:
        place.someone_at_the_door()
        until(lambda: place.rows("SELECT COUNT(*) FROM answers") == [(4,)])
        kill(process)
    (interrupted,) = place.rows("SELECT id FROM runs")[0]
    finished = json.loads(place.run(*RUN).stdout)["run_id"]
    resumed = place.run("resume", "--no-ui", "--format", "json")
    assert resumed.returncode == 0, resumed.stderr
    document = json.loads(resumed.stdout)
    assert (document["run_id"], document["status"]) == (interrupted, "complete")
    again = place.run("resume", "--no-ui")
    assert again.returncode == 2
    assert "no run was interrupted, so there is nothing to resume" in again.stderr
    named = place.run("resume", finished, "--no-ui")
    assert f"run {finished} is complete; there is nothing to resume" in named.stderr


def test_resume_names_a_run_that_lacks_something_and_one_that_is_running(place: Place) -> None:
    with place.started(*RUN, DOOR="4") as process:
        place.someone_at_the_door()
        running = place.run("resume", "--no-ui")
        assert running.returncode == 2
        assert "is still running (`agentbench attach`)" in running.stderr
        place.open_the_door()
        process.wait()
    place.suite(6, retries=0, early_stop={"harness_failures": 1})
    (place.folder / "agents.py").write_text(
        "from agentbench_tui.model.answer import AgentFailure, FailureKind\n"
        "def away(_): raise AgentFailure(FailureKind.CONNECTION, 'no route')\n"
    )
    place.run("run", "suite.json", "--agent", "away=python:agents.py:away", "--no-ui")
    lacking = place.run("resume", "--no-ui")
    assert lacking.returncode == 2
    assert "no run was interrupted; `agentbench resume " in lacking.stderr
