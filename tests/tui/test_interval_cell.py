"""A value and its interval in a cell, drawn on the axis of its column."""

import math

from hypothesis import given, settings
from hypothesis import strategies as st
from whole_rows import assert_whole

from agentbench_tui.tui.drawing.axis import Axis
from agentbench_tui.tui.drawing.glyphs import ASCII, UNICODE, Glyphs
from agentbench_tui.tui.drawing.painting import text_of
from agentbench_tui.tui.theme import DARK, palette
from agentbench_tui.tui.widgets.interval_cell import (
    Interval,
    IntervalColumn,
    interval_column,
    paint_interval,
    whisker,
)

LOOK = palette(DARK), UNICODE
HOSTILE = "ab 日\x1b\n\u202e"
TENTH = IntervalColumn(Axis(0.0, 10.0), "", 1, 0)
"""Drawn in 11 cells, each whole number has its own."""


def drawn(interval: Interval, column: IntervalColumn = TENTH, glyphs=UNICODE) -> str:
    row = whisker(interval, column, 11, palette(DARK), glyphs, palette(DARK).text)
    return text_of([row])[0].rstrip()


def test_the_ends_and_the_value_stand_where_they_lie_on_the_axis() -> None:
    assert drawn(Interval(5, 2, 7)) == "  ├──●─┤"
    assert drawn(Interval(0, 0, 10)) == "●─────────┤"
    assert drawn(Interval(5, 2, 7), glyphs=ASCII) == "  [--o-]"


def test_without_an_interval_there_is_no_whisker() -> None:
    assert drawn(Interval(3)) == "   ●"
    assert drawn(Interval(None)) == ""


def test_an_end_beyond_the_axis_has_no_bar() -> None:
    assert drawn(Interval(5, -math.inf, 7)) == "─────●─┤"
    assert drawn(Interval(5, 2, 12)) == "  ├──●─────"


def test_the_reference_shows_where_nothing_is_drawn() -> None:
    column = IntervalColumn(Axis(0.0, 10.0), "", 1, 0, reference=5.0)
    assert drawn(Interval(8, 7, 9), column) == "     ╎ ├●┤"
    assert drawn(Interval(4, 3, 6), column) == "   ├●─┤"


def test_columns_of_two_units_have_no_change_in_the_same_cell() -> None:
    ratio = Interval(0.8, 0.5, 1.2)
    ratios = interval_column([ratio], log=True, reference=1.0, centered=True)
    points = interval_column([Interval(-0.1, -0.2, -0.05)], reference=0.0, centered=True)
    assert drawn(Interval(1.0), ratios) == drawn(Interval(0.0), points) == "     ●"
    assert drawn(ratio, ratios) == "├──●──┤"
    assert drawn(Interval(-0.1, -0.2, -0.05), points) == "├─●─┤╎"


def test_figures_stand_below_each_other_and_the_unit_is_said_once() -> None:
    rows = [Interval(212, 198, 231), Interval(1240, 900, 1500)]
    column = interval_column(rows, "ms")
    first, second = (text_of([paint_interval(one, column, 27, *LOOK)])[0] for one in rows)
    assert first == "212 ms [198, 231]          "
    assert second == "1.24 s [900 ms, 1.50 s]    "


def test_the_drawing_goes_first_then_the_ends() -> None:
    one = Interval(0.912, 0.88, 0.941)
    column = interval_column([one], "share")

    def cell(width: int) -> str:
        return text_of([paint_interval(one, column, width, *LOOK)])[0].rstrip()

    assert cell(31) == "91.2% [88.0, 94.1] ├─────●────┤"
    assert cell(27) == "91.2% [88.0, 94.1]"
    assert cell(16) == "91.2% ├────●───┤"
    assert cell(10) == "91.2%"


def test_what_is_unknown_is_told_with_the_reason() -> None:
    column = interval_column([Interval(1.0)])
    cell = paint_interval(Interval(None, reason="needs 5 runs"), column, 20, *LOOK)
    assert text_of([cell]) == ["– needs 5 runs      "]


def test_a_column_without_values_has_no_axis() -> None:
    column = interval_column([Interval(None), Interval(math.nan)])
    assert column.axis is None
    assert text_of([paint_interval(Interval(None), column, 4, *LOOK)]) == ["–   "]


NUMBERS = st.none() | st.floats()


@settings(max_examples=60)
@given(
    st.lists(
        st.builds(Interval, NUMBERS, NUMBERS, NUMBERS, st.text(HOSTILE, max_size=9)), max_size=4
    ),
    st.sampled_from(["", "ms", "share", "$"]),
    st.booleans(),
    st.integers(1, 60),
    st.sampled_from([UNICODE, ASCII]),
)
def test_any_intervals_fit_any_room(
    found: list[Interval], unit: str, log: bool, width: int, glyphs: Glyphs
) -> None:
    column = interval_column(found, unit, log=log, reference=1.0)
    rows = [paint_interval(one, column, width, palette(DARK), glyphs) for one in found]
    assert_whole(rows, width, len(found))
    assert glyphs is UNICODE or "".join(text_of(rows)).isascii()
