"""The truth's metrics, from times given by hand."""

import json
from array import array

import pytest

from agentbench_tui.agents.mock.truth import Truth

MS = 1_000_000


def stamps(*ms: float) -> "array[int]":
    return array("q", [round(one * MS) for one in ms])


@pytest.fixture
def truth() -> Truth:
    """Two streams, one of them with reasoning and chunks of two, one whole answer, three failures.

    First:  arrives at 100, tokens at 150, 160, 175; ends at 180.
    Second: arrives at 200, two of reasoning at 220, two more at 240, one that is none at 250.
    """
    truth = Truth()
    truth.received = 7
    truth.connections = 2
    truth.record(
        0, "ok", 100 * MS, 180 * MS, 3, 150 * MS, stamps(150, 160, 175), array("q", [1, 1, 1])
    )
    truth.record(3, "cancelled", 110 * MS, 500 * MS, 2, 0, stamps(1, 2), array("q", [1, 1]))
    truth.record(
        1, "ok", 200 * MS, 250 * MS, 5, 250 * MS, stamps(220, 240, 250), array("q", [2, 2, 1])
    )
    truth.record(2, "ok", 300 * MS, 400 * MS, 12)
    truth.record(4, "server", 310 * MS, 311 * MS)
    truth.record(5, "server", 320 * MS, 321 * MS)
    return truth


def test_requests_add_up(truth: Truth) -> None:
    requests = truth.document()["requests"]
    assert requests == {
        "received": 7, "ok": 3, "failed": {"server": 2}, "cancelled": 1, "unfinished": 1,
        "invalid": 0, "connections": 2,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("ttft_ms", [50, 20]),
        ("ttfo_ms", [50, 50]),
        ("e2e_ms", [80, 50, 100]),
        ("tpot_ms", [(180 - 150) / 2, (250 - 220) / 4]),
        ("icl_ms", [10, 15, 20, 10]),
        # Each token of a chunk has its share of the gap before the chunk.
        ("itl_ms", [10, 15, 10, 10, 10]),
    ],
)
def test_a_metric_is_of_the_answered_requests(truth: Truth, name: str, values: list[float]) -> None:
    metric = truth.document()["metrics"][name]
    assert metric["n"] == len(values)
    assert metric["mean"] == pytest.approx(sum(values) / len(values))
    assert metric["max"] == pytest.approx(max(values))


def test_percentiles_lie_between_the_two_nearest(truth: Truth) -> None:
    """Type 7 of Hyndman and Fan: at (n - 1) p of 50, 80, 100."""
    e2e = truth.document()["metrics"]["e2e_ms"]
    assert e2e["p50"] == pytest.approx(80)
    assert e2e["p90"] == pytest.approx(80 + 0.8 * 20)
    assert e2e["p99"] == pytest.approx(80 + 0.98 * 20)
    assert e2e["p999"] == pytest.approx(80 + 0.998 * 20)


def test_throughput_is_from_the_first_arrival_to_the_last_end(truth: Truth) -> None:
    metrics = truth.document()["metrics"]
    assert metrics["output_tokens_per_s"] == pytest.approx(20 / 0.3)
    assert metrics["requests_per_s"] == pytest.approx(3 / 0.3)


def test_one_token_has_no_gap() -> None:
    truth = Truth()
    truth.record(0, "ok", 0, 7 * MS, 1, 5 * MS, stamps(5), array("q", [1]))
    metrics = truth.document()["metrics"]
    assert {name for name in metrics if name.endswith("_ms")} == {"ttft_ms", "ttfo_ms", "e2e_ms"}


def test_nothing_answered_has_no_metrics() -> None:
    document = Truth().document()
    assert document["metrics"] == {}
    assert document["requests"]["ok"] == 0


def test_a_line_tells_of_a_request(truth: Truth) -> None:
    lines = [json.loads(line) for line in truth.lines()]
    assert [line["number"] for line in lines] == [0, 3, 1, 2, 4, 5]
    assert lines[0] == {
        "number": 0, "arrived_ns": 100 * MS, "first_token_ns": 150 * MS, "end_ns": 180 * MS,
        "tokens": 3, "status": "ok",
    }  # fmt: skip
    assert (lines[3]["first_token_ns"], lines[4]["status"]) == (None, "server")
