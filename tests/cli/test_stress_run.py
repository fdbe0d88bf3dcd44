"""`agentbench stress` from beginning to end, on the practice server."""

import json
import subprocess
from pathlib import Path
from typing import Any

import psutil
import pytest
from processes import INTERRUPT, Place, line_with, make_place, until

QUICK = ("--most-concurrency", "2", "--output-tokens", "1", "--time-scale", "0.01")
SERVER = "mock?ttft=5ms&itl=0ms&slots=8"


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Place:
    return make_place(tmp_path_factory.mktemp("stress"))


@pytest.fixture(scope="module")
def finished(place: Place) -> subprocess.CompletedProcess[str]:
    """A soak of half a second."""
    return place.run(
        *("stress", "--agent", SERVER, "--scenario", "sustained_load", *QUICK),
        *("--duration", "50s", "--format", "json", "--db", str(place.database)),
        *("--fail-on", "resilience>=1", "--fail-on", "broke==false"),
    )


def shown(place: Place, *arguments: str) -> Any:
    return place.run("runs", "show", "latest", *arguments, "--db", str(place.database)).stdout


def test_it_prints_the_document_of_the_contract(
    finished: subprocess.CompletedProcess[str],
) -> None:
    assert finished.returncode == 0, finished.stderr
    document = json.loads(finished.stdout)
    assert document["schema"] == "agentbench.stress/1"
    assert (document["agent"], document["simulated"]) == ("mock", True)
    assert document["time_scale"] == 0.01
    (scenario,) = document["scenarios"]
    assert (scenario["name"], scenario["status"]) == ("sustained_load", "complete")
    assert scenario["broke"] is False
    assert 0 <= scenario["resilience"] <= 100
    assert document["resilience_score"] == pytest.approx(scenario["resilience"])
    assert document["worst"] == "sustained_load"
    assert len(document["missing"]) == 7
    assert [one["phase"] for one in scenario["windows"]][-2:] == ["normal", "stress"]
    assert scenario["normal"]["capacity_per_s"] >= scenario["normal"]["rate_per_s"]
    assert document["scaling"] is None


def test_each_window_is_told_as_it_ends(finished: subprocess.CompletedProcess[str]) -> None:
    for words in ("ladder 1 user", "normal", "stress"):
        assert f"sustained_load: {words}" in finished.stderr


def test_a_stored_run_tells_the_same(
    place: Place, finished: subprocess.CompletedProcess[str]
) -> None:
    told = json.loads(finished.stdout)["scenarios"][0]
    stored = json.loads(shown(place, "--format", "json"))["executions"][0]
    assert stored["stress"] == told
    assert stored["metrics"]["resilience"]["value"] == told["resilience"]
    text = shown(place)
    assert "sustained_load: resilience" in text
    assert "every duration × 0.01" in text


def test_its_answers_are_not_called_wrong(
    place: Place, finished: subprocess.CompletedProcess[str]
) -> None:
    listed = place.run("runs", "list", "--format", "json", "--db", str(place.database))
    (run,) = json.loads(listed.stdout)["runs"]
    assert (run["id"], run["judged"]) == (json.loads(finished.stdout)["run_id"], False)


def test_what_was_sent_can_be_looked_at(
    place: Place, finished: subprocess.CompletedProcess[str]
) -> None:
    windows = json.loads(finished.stdout)["scenarios"][0]["windows"]
    samples = place.run(
        "runs", "samples", "latest", "--format", "jsonl", "--db", str(place.database)
    )
    rows = [json.loads(line) for line in samples.stdout.splitlines()]
    assert len(rows) == sum(one["requests"] for one in windows)


def test_an_interrupt_ends_it_at_once_and_leaves_nothing(tmp_path: Path) -> None:
    place = make_place(tmp_path)
    # Alone it would take a minute.
    options = ("--scenario", "spike_load", "--time-scale", "2", "--output-tokens", "1")
    with place.started("stress", SERVER, *options, "--format", "json") as process:
        line_with(process.stderr, "spike_load: ladder 1 user")
        started = psutil.Process(process.pid).children(recursive=True)
        process.send_signal(INTERRUPT)
        out, err = process.communicate()
    assert process.returncode == 130, err
    assert started
    until(lambda: not any(one.is_running() for one in started))
    (scenario,) = json.loads(out)["scenarios"]
    assert (scenario["status"], scenario["broke"]) == ("stopped", None)
    assert scenario["windows"][0]["phase"] == "ladder"
    assert "agentbench resume" in err


def test_the_requests_of_a_scenario_are_listed_with_unfinished_ones_too(
    place: Place, finished: subprocess.CompletedProcess[str]
) -> None:
    database = ("--db", str(place.database))

    whole = place.run("runs", "samples", "latest", *database)
    unfinished = place.run("runs", "samples", "latest", "--unfinished", *database)

    assert (whole.returncode, unfinished.returncode) == (0, 0), unfinished.stderr
    assert unfinished.stdout == whole.stdout
