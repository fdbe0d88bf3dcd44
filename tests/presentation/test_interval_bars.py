"""Intervals are drawn on one scale, so that overlap is seen without reading a number."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from agentbench_tui.presentation.interval_bars import interval_bars
from agentbench_tui.presentation.numbers import score


def test_ends_and_value_are_drawn_at_their_places() -> None:
    # 11 places from 0 to 1: a tenth each.
    title, bars = interval_bars([(0.5, 0.3, 0.8), (1.0, None, None), (0.0, 0.0, 0.1)], score, 11)
    assert title == "0.000 1.000"
    assert bars == ["   ├─●──┤  ", "          ●", "●┤         "]


def test_what_has_no_value_has_no_bar() -> None:
    assert interval_bars([(None, None, None), (0.0, None, None), (1.0, None, None)], score, 11) == (
        "0.000 1.000",
        ["–", "●          ", "          ●"],
    )
    assert interval_bars([(None, None, None)], score) == ("", [""])
    assert interval_bars([(0.5, 0.5, 0.5), (0.5, None, None)], score) == ("", ["", ""])


INTERVALS = st.lists(
    st.lists(st.floats(0, 1), min_size=3, max_size=3).map(sorted), min_size=2, max_size=6
)


@given(INTERVALS)
def test_a_bar_that_ends_before_another_begins_is_drawn_to_its_left(
    found: list[list[float]],
) -> None:
    _, bars = interval_bars([(value, low, high) for low, value, high in found], score, 20)
    if not all(bars):
        return
    for (_, _, high), bar in zip(found, bars, strict=True):
        for (low, _, _), other in zip(found, bars, strict=True):
            if high < low:
                begin = len(other) - len(other.lstrip())
                assert len(bar.rstrip()) <= begin + 1
