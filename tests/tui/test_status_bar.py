"""How a run stands, on one line that gives way where it is narrow."""

import math
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.cells import cell_len
from whole_rows import assert_whole
from widget_examples.status_bar import demo

from agentbench_tui.tui.drawing.glyphs import ASCII, UNICODE, Glyphs
from agentbench_tui.tui.drawing.painting import text_of
from agentbench_tui.tui.theme import DARK, palette
from agentbench_tui.tui.widgets.status_bar import Status, clock, paint_status

LOOK = palette(DARK), UNICODE
HOSTILE = "ab 日\x1b\n\u202e"
RUN = Status("core", "running", 41, 200, 192, 680, 64, "clean", 1.2, 0.41, 5.0)


def shown(status: Status | None, width: int = 200) -> str:
    (row,) = text_of(paint_status(status, width, 1, *LOOK))
    assert cell_len(row) == width
    return row.rstrip()


def test_everything_is_said_where_there_is_room() -> None:
    assert shown(RUN) == (
        "core  running  41/200 20%  3:12 elapsed  11:20 left  64 in flight  harness clean"
        "  lag 1.2 ms  $0.41 of $5.00"
    )


def test_what_matters_least_gives_way_first() -> None:
    assert shown(RUN, 84) == (
        "core  running  41/200 20%  3:12 elapsed  11:20 left  64 in flight  $0.41 of $5.00"
    )
    assert shown(RUN, 40) == "core  running  41/200 20%  11:20 left"
    assert shown(RUN, 12) == "41/200 20%"


def test_a_harness_that_is_not_clean_stays_when_all_is_well_goes() -> None:
    assert "harness" not in shown(RUN, 50)
    assert "! harness noisy" in shown(replace(RUN, harness="noisy"), 50)


def test_a_slow_loop_and_a_cost_near_its_cap_are_pointed_at() -> None:
    assert "! lag 80 ms" in shown(replace(RUN, lag_ms=80.0), 60)
    assert "! $4.50 of $5.00" in shown(replace(RUN, cost_usd=4.5), 60)
    assert "! $" not in shown(replace(RUN, cost_usd=4.49))


def test_all_is_done_only_when_all_is_done() -> None:
    assert "1,999/2,000 99%" in shown(replace(RUN, done=1999, planned=2000))
    assert "2,000/2,000 100%" in shown(replace(RUN, done=2000, planned=2000))


def test_what_is_simulated_and_what_is_unknown_are_said_so() -> None:
    assert "simulated" in shown(replace(RUN, simulated=True))
    assert "41/–" in shown(replace(RUN, planned=None))
    assert shown(None, 20) == "no run"


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(0, "0:00"), (192.9, "3:12"), (3731, "1:02:11"), (187_800, "2 d 04:10"), (math.nan, "–")],
)
def test_times_are_written_as_on_a_clock(seconds: float, words: str) -> None:
    assert clock(seconds) == words


@settings(max_examples=60)
@given(
    st.builds(
        Status,
        suite=st.text(HOSTILE, max_size=40),
        state=st.sampled_from(["running", "paused", "\x1b]0;x\x07"]),
        done=st.integers(0, 10**9),
        planned=st.none() | st.integers(0, 10**9),
        elapsed_s=st.none() | st.floats(),
        left_s=st.none() | st.floats(),
        in_flight=st.none() | st.integers(0, 10**6),
        harness=st.none() | st.sampled_from(["clean", "noisy"]),
        lag_ms=st.none() | st.floats(),
        cost_usd=st.none() | st.floats(0, 1e9),
        cap_usd=st.none() | st.floats(0, 1e9),
    ),
    st.integers(1, 140),
    st.sampled_from([UNICODE, ASCII]),
)
def test_any_status_fits_any_width(status: Status, width: int, glyphs: Glyphs) -> None:
    rows = paint_status(status, width, 1, palette(DARK), glyphs)
    assert_whole(rows, width, 1)
    assert glyphs is UNICODE or text_of(rows)[0].isascii()


def test_the_example_says_that_it_is_one() -> None:
    status = demo().status
    assert status is not None
    assert "example" in status.suite
