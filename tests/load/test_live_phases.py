"""What a viewer is told of where a window stands."""

from time import perf_counter_ns
from types import SimpleNamespace
from typing import Any

import pytest

from agentbench_tui.analysis.histogram import Histogram
from agentbench_tui.load.results.live import Live
from agentbench_tui.load.schedule.arrivals import Arrivals, Constant
from agentbench_tui.load.sending.protocol import Chunk, Spent

LONG_S = 1e6


@pytest.fixture
def live() -> Live:
    writer = SimpleNamespace(add=lambda *_: None)
    budget = SimpleNamespace(spend=lambda *_: None)
    context: Any = SimpleNamespace(
        writer=writer, run_key=1, budget=budget, check_budget=lambda: None
    )
    return Live(
        context,
        1,
        0,
        pids=lambda: (7,),
        arrivals=Arrivals(process="constant", profile=Constant(20.0)),
        recorder=SimpleNamespace(),  # type: ignore[arg-type]
        clean=str,
        price=None,
    )


def chunk(sent: int, in_flight: int, at_s: float = 0.0, answered: int = 0) -> Chunk:
    nothing, spent = Histogram().to_bytes(), Spent(0, 0, 0, 0, 0, 0)
    return Chunk(
        answered, b"", b"", nothing, nothing, sent, in_flight, 0, 0, answered, 32 * answered,
        spent, 2.0, at_s,
    )  # fmt: skip


def test_a_window_drains_when_its_time_is_over(live: Live) -> None:
    assert live.state()["phase"] == "starting"
    live.begin(perf_counter_ns(), LONG_S, None)
    assert live.state()["phase"] == "window"
    state = live.state()
    assert state["ends_at"] - state["began_at"] == pytest.approx(LONG_S)
    live.begin(perf_counter_ns(), 0.0, None)
    assert live.state()["phase"] == "draining"


def test_a_window_of_so_many_requests_drains_when_all_are_sent(live: Live) -> None:
    live.begin(perf_counter_ns(), None, 10)
    live.hear(0, chunk(5, 2))
    live.hear(1, chunk(4, 2))
    assert live.state()["phase"] == "window"
    live.hear(1, chunk(5, 2))
    assert (live.state()["phase"], live.state()["in_flight"]) == ("draining", 4)


def test_a_window_that_is_cut_drains(live: Live) -> None:
    live.begin(perf_counter_ns(), LONG_S, None)
    live.cut()
    assert live.state()["phase"] == "draining"


def test_how_long_the_most_silent_sender_told_nothing(
    live: Live, monkeypatch: pytest.MonkeyPatch
) -> None:
    now_s = 100.0
    monkeypatch.setattr("agentbench_tui.load.results.live.monotonic", lambda: now_s)
    assert live.state()["silent_s"] is None
    live.hear(0, chunk(9, 3))
    live.hear(1, chunk(9, 3))
    now_s = 103.0
    live.hear(1, chunk(9, 3))
    now_s = 104.0
    assert live.state()["silent_s"] == 4.0
    live.hear(0, chunk(12, 0))  # all that it had to send is answered: its last word
    now_s = 110.0
    assert live.state()["silent_s"] == 7.0
    live.end()
    assert live.state()["silent_s"] is None


def test_nothing_is_in_flight_after_the_end(live: Live) -> None:
    live.begin(perf_counter_ns(), LONG_S, None)
    live.hear(0, chunk(9, 3))
    assert live.pids == (7,)
    live.end()
    assert (live.state()["phase"], live.state()["sent"]) == ("waiting", 9)
    assert (live.state()["in_flight"], live.state()["oldest_s"]) == (0, None)
    assert len(live.pids) == 0  # they may be another program's by now
    live.end("calibrating")
    assert live.state()["phase"] == "calibrating"


def test_what_comes_after_the_window_is_no_part_of_its_rates(live: Live) -> None:
    live.begin(perf_counter_ns(), 3.0, None)
    for number in range(24):  # two workers at 10 a second each, the second half a step later
        at_s = number / 8
        live.hear(number % 2, chunk(int(at_s * 10 + 1), 1, at_s, answered=number > 1))
    before = live.state()
    assert before["asked_per_s"] == pytest.approx(20)
    assert before["sent_per_s"] == pytest.approx(20, rel=0.05)
    assert before["tokens_per_s"] == pytest.approx(256, rel=0.05)
    live.hear(0, chunk(30, 0, 3.1, answered=90))
    live.hear(1, chunk(30, 0, 3.2, answered=90))
    after = live.state()
    assert [after[name] for name in before if "per_s" in name] == [
        before[name] for name in before if "per_s" in name
    ]


def test_what_is_sent_last_of_so_many_requests_is_no_part_of_them_either(live: Live) -> None:
    live.begin(perf_counter_ns(), None, 51)
    for number in range(11):
        live.hear(0, chunk(number * 5, 1, number / 4))
    rate = live.state()["sent_per_s"]
    live.hear(0, chunk(51, 0, 20.0))
    assert rate == live.state()["sent_per_s"] is not None
