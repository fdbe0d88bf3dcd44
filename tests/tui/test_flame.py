"""The icicle of nested weights: widths, zoom, keys and what is told of a frame."""

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.cells import cell_len
from textual.app import App, ComposeResult
from whole_rows import assert_whole
from widget_examples.flame import demo

from agentbench_tui.tui.drawing.glyphs import ASCII, UNICODE, Glyphs
from agentbench_tui.tui.drawing.painting import text_of
from agentbench_tui.tui.theme import DARK, palette
from agentbench_tui.tui.widgets.flame import (
    Flame,
    FlameView,
    Frame,
    Gaze,
    boxes,
    moved,
    paint_flame,
)

LOOK = palette(DARK), UNICODE
HOSTILE = "ab 日\x1b\n\u202e"
SEARCH = Frame("search", 300, (Frame("rank", 100), Frame("embed", 200)))
ROOT = Frame("answer", 1000, (Frame("queue", 100), SEARCH, Frame("model", 500)))
START = Gaze()


def shown(gaze: Gaze = START, width: int = 40, height: int = 5) -> list[str]:
    rows = text_of(paint_flame(Flame(ROOT), gaze, width, height, *LOOK))
    assert [cell_len(row) for row in rows] == [width] * height
    return [row.rstrip() for row in rows]


def spans(width: int, focus: tuple[int, ...] = ()) -> list[list[tuple[str, int, int]]]:
    return [
        [(box.frame.name, box.start, box.end) for box in row]
        for row in boxes(ROOT, focus, width, 9)
    ]


def test_a_frame_is_as_wide_as_its_weight_and_lies_inside_its_parent() -> None:
    assert spans(40) == [
        [("answer", 0, 40)],
        [("queue", 0, 4), ("search", 4, 16), ("model", 16, 36)],
        [("rank", 4, 8), ("embed", 8, 16)],
    ]


def test_the_focused_frame_fills_the_width() -> None:
    assert spans(30, (1,)) == [[("search", 0, 30)], [("rank", 0, 10), ("embed", 10, 30)]]


def test_children_that_took_more_than_their_parent_share_its_width() -> None:
    parallel = Frame("both", 10, (Frame("a", 10), Frame("b", 30)))
    found = [(box.start, box.end) for box in boxes(parallel, (), 40, 2)[1]]
    assert found == [(0, 10), (10, 40)]


def test_names_stand_in_their_frames_and_the_last_row_tells_of_the_one_under_the_cursor() -> None:
    assert shown(Gaze((), (1,)), 70) == [
        "▏answer  1 s",
        "▏queue ▸search  300 ms      ▏model  500 ms",
        "       ▏rank  ▏embed  200 ms",
        "",
        "search  300 ms · 30.0% of all",
    ]
    assert shown(Gaze((), (1, 1)), 70)[-1] == ("embed  200 ms · 20.0% of all · 66.7% of search")
    assert shown()[-1] == "answer  1 s · itself 100 ms"


def test_the_way_to_the_focused_frame_stands_above_it() -> None:
    assert shown(Gaze((1, 1), (1, 1)))[0] == "answer ▸ search"
    assert shown(Gaze((1, 1), (1, 1)))[1].startswith("▸embed")


def test_keys_walk_to_the_largest_child_to_siblings_and_back() -> None:
    start = Gaze()
    down = moved(ROOT, start, "down")
    assert down == Gaze((), (2,))
    left = moved(ROOT, down, "left")
    assert left == Gaze((), (1,))
    assert moved(ROOT, moved(ROOT, left, "left"), "left") == Gaze((), (0,))
    assert moved(ROOT, down, "right") == down
    inside = moved(ROOT, left, "in")
    assert inside == Gaze((1,), (1,))
    assert moved(ROOT, inside, "down") == Gaze((1,), (1, 1))
    assert moved(ROOT, Gaze((1,), (1, 1)), "up") == inside
    assert moved(ROOT, inside, "up") == Gaze()
    assert moved(ROOT, inside, "out") == Gaze((), (1,))


def test_a_frame_below_the_rows_scrolls_into_view() -> None:
    deep = Frame("0", 1, (Frame("1", 1, (Frame("2", 1, (Frame("3", 1),)),)),))
    rows = text_of(paint_flame(Flame(deep), Gaze((), (0, 0, 0)), 20, 3, *LOOK))
    assert [row.split("  ")[0].strip() for row in rows[:2]] == ["▏2", "▸3"]


def test_children_too_thin_for_a_cell_are_counted() -> None:
    many = Frame("many", 1000, (Frame("big", 999), *(Frame(f"s{i}", 0.1) for i in range(10))))
    last = text_of(paint_flame(Flame(many), Gaze(), 60, 4, *LOOK))[-1]
    assert "10 in it too thin to show" in last


def test_nothing_taken_is_said_with_the_reason() -> None:
    flame = Flame(None, reason="no profiler")
    assert "no profiler" in "".join(text_of(paint_flame(flame, Gaze(), 20, 3, *LOOK)))
    empty = Flame(Frame("x", math.nan))
    assert "no profile" in "".join(text_of(paint_flame(empty, Gaze(), 30, 3, *LOOK)))


def test_without_color_frames_are_told_apart_by_their_edges() -> None:
    rows = paint_flame(Flame(ROOT), Gaze(), 40, 4, palette(DARK, no_color=True), ASCII)
    assert text_of(rows)[1].count("|") == 3
    assert all(piece.style is not None for row in rows for piece in row)


FRAMES = st.recursive(
    st.builds(Frame, st.text(HOSTILE, max_size=8), st.floats()),
    lambda inner: st.builds(
        Frame, st.text(HOSTILE, max_size=8), st.floats(), st.lists(inner, max_size=4).map(tuple)
    ),
    max_leaves=12,
)


@settings(max_examples=60)
@given(
    FRAMES,
    st.lists(st.sampled_from(["up", "down", "left", "right", "in", "out"]), max_size=8),
    st.integers(1, 60),
    st.integers(1, 8),
    st.sampled_from([UNICODE, ASCII]),
)
def test_any_tree_fits_any_room_wherever_the_keys_lead(
    root: Frame, keys: list[str], width: int, height: int, glyphs: Glyphs
) -> None:
    gaze = Gaze()
    for key in keys:
        gaze = moved(root, gaze, key)
        assert gaze.at[: len(gaze.focus)] == gaze.focus
    rows = paint_flame(Flame(root), gaze, width, height, palette(DARK), glyphs)
    assert_whole(rows, width, height)
    assert glyphs is UNICODE or "".join(text_of(rows)).isascii()


class OneWidget(App[None]):
    def compose(self) -> ComposeResult:
        yield demo()


async def test_enter_zooms_in_and_backspace_out(monkeypatch: pytest.MonkeyPatch) -> None:
    # Without colors Textual filters what is painted, and fails on a piece without a style.
    monkeypatch.setenv("NO_COLOR", "1")
    app = OneWidget()
    async with app.run_test(size=(60, 10)) as pilot:
        view = app.query_one(FlameView)
        view.focus()
        await pilot.press("down", "enter")
        assert view.gaze == Gaze((1,), (1,))
        assert "example answer" in view.render_line(0).text
        await pilot.press("backspace")
        assert view.gaze == Gaze((), (1,))
