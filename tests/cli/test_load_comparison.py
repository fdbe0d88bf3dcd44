"""`agentbench load A B`: the same load for both, in turns, and which is faster."""

import json
from pathlib import Path

import pytest
from processes import Place, make_place

SLOW = "slow=mock?tokens=2&ttft=60ms&itl=1ms"
FAST = "fast=mock?tokens=2&ttft=20ms&itl=1ms"
LOAD = ("--rate", "20", "--duration", "1s", "--warmup", "1", "--no-ui", "-q")


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return make_place(tmp_path)


def test_the_faster_of_two_targets_is_named(place: Place) -> None:
    done = place.run("load", SLOW, FAST, *LOAD, "--format", "json")
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    assert document["schema"] == "agentbench.load-sweep/1"
    assert [(one["agent_id"], one["repeats"]) for one in document["points"]] == [
        ("slow", 5), ("fast", 5),
    ]  # fmt: skip
    comparison = document["comparison"]
    assert (comparison["a"], comparison["b"]) == ("slow", "fast")
    by_metric = {one["metric"]: one for one in comparison["metrics"]}
    # A first token after 20 ms instead of 60 ms.
    assert by_metric["ttft_ms.p50"]["verdict"] == "better"
    assert by_metric["ttft_ms.p50"]["ratio"] < 0.6
    assert by_metric["request_throughput_per_s"]["verdict"] == "equivalent"

    # Each repeat sends the same arrivals to both, one after the other, in alternating order.
    windows = place.rows(
        "SELECT e.agent_id, w.repeat FROM load_windows w"
        " JOIN benchmark_executions e ON e.key=w.execution_key"
        " ORDER BY json_extract(w.document, '$.started_at')"
    )
    firsts = [agent for agent, _ in windows[::2]]
    assert {repeat for _, repeat in windows} == {0, 1, 2, 3, 4}
    assert {*firsts} == {"slow", "fast"}

    printed = place.run("runs", "show", "latest").stdout
    assert "slow" in printed


def test_the_output_begins_with_a_verdict_about_named_targets(place: Place) -> None:
    done = place.run("load", SLOW, FAST, *LOAD, "--runs", "3")
    assert done.returncode == 0, done.stderr
    assert "A slow, B fast" in done.stdout
    first, *_ = done.stdout.splitlines()
    assert first.startswith("fast is better than slow: better in ")
    assert "ttft_ms.p50" in first


def test_two_targets_of_one_id_and_too_few_repeats_are_reported(place: Place) -> None:
    twice = place.run("load", "mock?tokens=2", "mock?tokens=4", *LOAD)
    assert twice.returncode == 2
    assert "two targets have the id 'mock'; give each one of its own: a=mock b=mock" in twice.stderr
    few = place.run("load", SLOW, FAST, *LOAD, "--runs", "1", "--dry-run")
    assert "note: --runs 1 compares nothing surely" in few.stderr
