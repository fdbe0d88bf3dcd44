"""The scrubber shows where in a run a viewer is, and leads to another moment."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from textual.app import App, ComposeResult
from whole_rows import assert_whole

from agentbench_tui.tui.drawing.glyphs import ASCII, UNICODE
from agentbench_tui.tui.drawing.painting import text_of
from agentbench_tui.tui.theme import DARK, palette
from agentbench_tui.tui.widgets.scrubber import (
    Scrubber,
    ScrubberData,
    paint_scrubber,
    state_words,
)

COLORS = palette(DARK)


def shown(data: ScrubberData, width: int) -> str:
    return text_of(paint_scrubber(data, width, 1, COLORS, UNICODE))[0]


def test_the_bar_has_the_moment_failures_and_marks_in_their_places() -> None:
    data = ScrubberData(50.0, 100.0, 2.0, failures_s=(12.0,), marks_s=(85.0,))
    # "replay ×2 " and " 0:50/1:40" leave ten cells: 10 s each.
    assert shown(data, 30) == "replay ×2 ━✗━━━●──▲─ 0:50/1:40"
    both = ScrubberData(50.0, 100.0, 2.0, failures_s=(12.0,), marks_s=(11.0, 13.0))
    assert shown(both, 30) == "replay ×2 ━✗━━━●──── 0:50/1:40"


def test_a_bar_without_room_gives_way_to_the_numbers() -> None:
    assert shown(ScrubberData(50.0, 100.0, 2.0), 20).split() == ["replay", "×2", "0:50/1:40"]


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (ScrubberData(5, 5, live=True), "live"),
        (ScrubberData(5, 9, playing=False), "held"),
        (ScrubberData(9, 9), "at the end"),
        (ScrubberData(5, 9, 0.25), "replay ×0.25"),
        (ScrubberData(5, 9, math.inf), "replay, fast"),
    ],
)
def test_the_state_is_told_in_words(data: ScrubberData, words: str) -> None:
    assert state_words(data) == words


times = st.floats(allow_nan=False, min_value=-10, max_value=1e7)


@given(times, times, st.lists(times, max_size=5), st.integers(1, 90), st.integers(1, 3))
def test_any_moment_of_any_run_is_one_whole_row(
    at_s: float, length_s: float, events: list[float], width: int, height: int
) -> None:
    data = ScrubberData(at_s, length_s, 1.0, failures_s=events, marks_s=events)
    for glyphs in (UNICODE, ASCII):
        rows = paint_scrubber(data, width, height, COLORS, glyphs)
        assert_whole(rows, width, height)
    assert "".join(text_of(paint_scrubber(data, width, 1, COLORS, ASCII))).isascii()


class Bar(App[None]):
    def __init__(self) -> None:
        super().__init__()
        self.sought: list[float] = []

    def compose(self) -> ComposeResult:
        yield Scrubber(ScrubberData(0.0, 100.0, 1.0))

    def on_scrubber_sought(self, event: Scrubber.Sought) -> None:
        self.sought.append(event.at_s)


async def test_a_click_asks_for_its_moment_and_a_drag_for_those_on_its_way() -> None:
    app = Bar()
    async with app.run_test(size=(30, 3)) as pilot:
        # "replay ×1 " has ten cells and " 0:00/1:40" as many: the bar has ten, from 10 on.
        await pilot.click(Scrubber, offset=(19, 0))
        assert app.sought == [100.0]
        await pilot.mouse_down(Scrubber, offset=(10, 0))
        await pilot.hover(Scrubber, offset=(28, 0))
        await pilot.mouse_up(Scrubber, offset=(28, 0))
        assert app.sought[1] == 0.0
        assert set(app.sought[2:]) == {100.0}
        await pilot.hover(Scrubber, offset=(12, 0))
        assert set(app.sought[2:]) == {100.0}
