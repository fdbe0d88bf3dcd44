"""Load runs that are killed or interrupted: what is kept, and what `resume` does."""

import json
import sys
from pathlib import Path

import pytest
from loads import is_gone

sys.path.insert(0, str(Path(__file__).parents[1] / "cli"))

from processes import INTERRUPT, Place, kill, line_with, until

AGENT = """
import os
from pathlib import Path
here = Path(__file__).parent
def echo(prompt):
    with (here / "asked").open("a") as log:
        log.write(f"{os.getpid()}\\n")
    if len((here / "asked").read_text().split()) == int(os.environ.get("DOOR", "0")):
        (here / "arrived").write_text("x")
        (here / "go").read_text()
    return prompt
"""
LOAD = ("load", "python:agents.py:echo", "--concurrency", "1", "--warmup", "0", "--no-ui")


@pytest.fixture
def place(tmp_path: Path) -> Place:
    (tmp_path / "agents.py").write_text(AGENT)
    made = Place(tmp_path)
    made.doors()
    return made


def asked(place: Place) -> list[int]:
    """Process of the load worker that asked, once for each request."""
    return [int(line) for line in (place.folder / "asked").read_text().split()]


WINDOWS = "SELECT repeat, document FROM load_windows ORDER BY repeat"
MEASURED = "SELECT repeat, SUM(rows) FROM sample_chunks GROUP BY repeat ORDER BY repeat"


def test_a_killed_repeat_is_measured_anew_and_those_before_it_are_kept(place: Place) -> None:
    run = (*LOAD, "--requests", "10", "--runs", "2", "--format", "json")
    with place.started(*run, DOOR="15") as process:
        place.someone_at_the_door()
        until(lambda: place.rows(MEASURED) == [(0, 10), (1, 4)])
        kill(process)
    (first,) = place.rows(WINDOWS)
    *_, worker = asked(place)
    # Nothing goes on sending for a run that is no more.
    until(lambda: is_gone(worker))
    (listed,) = json.loads(place.run("runs", "list", "--format", "json").stdout)["runs"]
    assert listed["status"] == "interrupted"

    resumed = place.run("resume", "--no-ui", "--format", "json")

    assert resumed.returncode == 0, resumed.stderr
    assert len(asked(place)) == 15 + 10
    assert place.rows(MEASURED) == [(0, 10), (1, 10)]
    windows = place.rows(WINDOWS)
    assert [repeat for repeat, _ in windows] == [0, 1]
    assert windows[0] == first
    document = json.loads(resumed.stdout)
    assert document["schema"] == "agentbench.load/1"
    assert (document["repeats"], document["requests"]["ok"]) == (2, 20)
    assert document["requests"]["offered"] == 20


def test_the_first_signal_ends_the_window_and_keeps_what_was_measured(place: Place) -> None:
    run = (*LOAD, "--requests", "40", "--think-time", "20ms", "--format", "json")
    with place.started(*run, DOOR="5") as process:
        place.someone_at_the_door()
        process.send_signal(INTERRUPT)
        line_with(process.stderr, "waiting for in-flight requests")
        place.open_the_door()
        out, _ = process.communicate()
    assert process.returncode == 130
    document = json.loads(out)
    sent = len(asked(place))
    assert 5 <= sent < 40
    requests = document["requests"]
    assert (requests["sent"], requests["ok"], requests["unfinished"]) == (sent, sent, 0)
    assert document["metrics"]["e2e_ms"]["n"] == sent
    assert place.rows("SELECT status FROM runs") == [("interrupted",)]
    ((repeat, stopped),) = place.rows(
        "SELECT repeat, json_extract(document, '$.stopped') FROM load_windows"
    )
    assert (repeat, stopped) == (0, 1)

    # A window that was cut short is none of the plan's: it is measured anew.
    resumed = json.loads(place.run("resume", "--no-ui", "--format", "json").stdout)

    assert resumed["status"] == "complete"
    assert resumed["requests"]["sent"] == 40
    assert place.rows("SELECT planned FROM benchmark_executions") == [(40,)]
    assert place.rows(MEASURED) == [(0, 40)]
    assert place.rows("SELECT status, observed FROM iterations") == [("ok", 40)]
    assert place.rows("SELECT SUM(observed) FROM ticks") == [(40,)]
