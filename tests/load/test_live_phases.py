"""What a viewer is told of where a window stands."""

from time import perf_counter_ns
from types import SimpleNamespace
from typing import Any

import pytest

from agentbench_tui.analysis.histogram import Histogram
from agentbench_tui.load.live import Live
from agentbench_tui.load.protocol import Chunk, Spent

LONG_S = 1e6


@pytest.fixture
def live() -> Live:
    writer = SimpleNamespace(add=lambda *_: None)
    context: Any = SimpleNamespace(writer=writer, run_key=1)
    return Live(
        context,
        1,
        0,
        pids=lambda: (7,),
        asked_per_s=None,
        recorder=SimpleNamespace(),  # type: ignore[arg-type]
        clean=str,
        price=None,
    )


def chunk(sent: int, in_flight: int) -> Chunk:
    nothing = Histogram().to_bytes()
    return Chunk(0, b"", b"", nothing, nothing, sent, in_flight, 0, 0, 0, 0, Spent(0, 0, 0, 0), 2.0)


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
