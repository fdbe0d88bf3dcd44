"""TimeSeries, facts and the log: whole rows of anything, right ones of what is known by hand."""

from __future__ import annotations

import math

from hypothesis import given
from hypothesis import strategies as st
from whole_rows import assert_whole

from agentbench_tui.tui.drawing.glyphs import ASCII, UNICODE
from agentbench_tui.tui.drawing.painting import text_of
from agentbench_tui.tui.theme import DARK, palette
from agentbench_tui.tui.widgets.event_log import LogData, LogLine, paint_log
from agentbench_tui.tui.widgets.facts import Fact, FactsData, fact_lines, paint_facts
from agentbench_tui.tui.widgets.sparkline import SparklineData
from agentbench_tui.tui.widgets.time_series import TimeSeriesData, paint_time_series

COLORS = palette(DARK)
words = st.text("ab é漢字[]\x1b\n\t{}", max_size=30)
numbers = st.one_of(st.none(), st.floats(), st.just(math.nan))
sizes = st.tuples(st.integers(1, 90), st.integers(1, 12))


@given(
    st.lists(st.lists(numbers, max_size=40), max_size=4),
    st.lists(st.tuples(st.integers(0, 60), words), max_size=4),
    sizes,
)
def test_any_courses_are_whole_rows(
    lines: list[list[float | None]], marks: list[tuple[int, str]], size: tuple[int, int]
) -> None:
    data = TimeSeriesData([SparklineData("x", line, "/s") for line in lines], marks)
    for glyphs in (UNICODE, ASCII):
        assert_whole(paint_time_series(data, *size, COLORS, glyphs), *size)


def test_marks_stand_below_the_places_they_are_of() -> None:
    line = SparklineData("answered", [1.0, 2.0, 4.0, 8.0], "/s")
    data = TimeSeriesData((line,), ((2, ""), (0, "")))
    rows = text_of(paint_time_series(data, 40, 2, COLORS, UNICODE))
    assert rows[0].startswith("answered ")
    places = [at for at, character in enumerate(rows[1]) if character == "▲"]
    newest = rows[0].rindex("█")
    assert places == [newest - 2, newest]


@given(st.lists(st.tuples(words, words), max_size=9), sizes)
def test_any_facts_are_whole_rows(facts: list[tuple[str, str]], size: tuple[int, int]) -> None:
    data = FactsData([Fact(*one, role="warn") for one in facts])
    for glyphs in (UNICODE, ASCII):
        assert_whole(paint_facts(data, *size, COLORS, glyphs), *size)


def test_facts_go_in_two_columns_where_they_do_not_fit_below_each_other() -> None:
    data = FactsData([Fact("a", "one"), Fact("b", "two", "bad"), Fact("c", "three")])
    assert [row.split() for row in text_of(paint_facts(data, 80, 2, COLORS, UNICODE))] == [
        ["a", "one", "c", "three"],
        ["b", "‼", "two"],
    ]
    assert [row.split() for row in text_of(paint_facts(data, 40, 2, COLORS, UNICODE))] == [
        ["a", "one"],
        ["b", "‼", "two"],
    ]


@given(st.lists(st.tuples(st.floats(), words, st.integers(0, 10**9)), max_size=9), sizes)
def test_any_log_is_whole_rows(events: list[tuple[float, str, int]], size: tuple[int, int]) -> None:
    data = LogData([LogLine(at, text, "bad", count) for at, text, count in events])
    for glyphs in (UNICODE, ASCII):
        assert_whole(paint_log(data, *size, COLORS, glyphs), *size)


def test_the_newest_events_are_shown_and_what_an_agent_says_is_made_safe() -> None:
    hostile = "\x1b]52;c;aGk=\x07 [bold]x\n"
    data = LogData([LogLine(1, "old"), LogLine(62, hostile, "bad"), LogLine(63, "x", "warn", 3)])
    rows = text_of(paint_log(data, 50, 2, COLORS, UNICODE))
    assert rows[0].startswith("   1:02 ✗ ")
    assert "\x1b" not in rows[0]
    assert "[bold]x" in rows[0]
    assert rows[1].rstrip() == "   1:03 ! x (×3)"


def test_a_long_event_and_a_long_fact_go_on_in_the_next_row() -> None:
    data = LogData([LogLine(1, "old"), LogLine(62, "used 94 MB of 80 MB", "bad", 2)])
    assert [row.rstrip() for row in text_of(paint_log(data, 26, 3, COLORS, UNICODE))] == [
        "   0:01   old",
        "   1:02 ✗ used 94 MB",
        "          of 80 MB (×2)",
    ]
    assert text_of(paint_log(data, 26, 1, COLORS, UNICODE)) == ["   1:02 ✗ used 94 MB… (×2)"]
    facts = FactsData([Fact("sent", "421 of 500, less than asked", "warn"), Fact("users", "8")])
    assert fact_lines(facts, 24, UNICODE) == 3
    assert [row.rstrip() for row in text_of(paint_facts(facts, 24, 3, COLORS, UNICODE))] == [
        "sent   ! 421 of 500,",
        "       less than asked",
        "users  8",
    ]
