"""The way to a screen on one line."""

from hypothesis import given, settings
from hypothesis import strategies as st
from rich.cells import cell_len
from whole_rows import assert_whole
from widget_examples.crumbs import demo

from agentbench_tui.tui.drawing.glyphs import ASCII, UNICODE
from agentbench_tui.tui.drawing.painting import text_of
from agentbench_tui.tui.theme import DARK, palette
from agentbench_tui.tui.widgets.crumbs import CrumbBar, paint_crumbs

LOOK = palette(DARK), UNICODE
HOSTILE = "ab 日\x1b\n\u202e"
WAY = ("agentbench", "runs", "quickstart", "case 12")


def shown(width: int, way: tuple[str, ...] = WAY, here: str = "") -> str:
    (row,) = text_of(paint_crumbs(way, width, 1, *LOOK, here))
    assert cell_len(row) == width
    return row.rstrip()


def test_the_whole_way_is_shown_where_there_is_room() -> None:
    assert shown(40) == "agentbench ▸ runs ▸ quickstart ▸ case 12"


def test_the_middle_gives_way_first_then_the_start_and_never_where_one_is() -> None:
    assert shown(39) == "agentbench ▸ runs ▸ … ▸ case 12"
    assert shown(30) == "agentbench ▸ … ▸ case 12"
    assert shown(20) == "… ▸ case 12"
    assert shown(8) == "case 12"
    assert shown(5) == "case…"


def test_the_way_makes_room_for_the_keys_of_the_pages() -> None:
    cases = ("agentbench", "Cases", "01a22279-b79d-74aa", "quickstart/word-problems, keyword")
    way, _, keys = shown(80, cases, "cases").partition("   ")
    assert way == "agentbench ▸ Cases ▸ … ▸ quickstart/word-problems, keyword"
    assert keys.strip() == "1-9 0 m l pages"
    narrower = shown(68, cases, "cases")
    assert narrower.startswith("agentbench ▸ … ▸ quickstart/word-problems, keyword   ")
    assert narrower.endswith("1-9 0 m l pages")
    assert shown(60, cases, "cases") == "agentbench ▸ Cases ▸ … ▸ quickstart/word-problems, keyword"


def test_a_name_cannot_move_the_cursor() -> None:
    assert shown(30, ("runs", "a\x1b[2Jb")) == "runs ▸ a\\x1b[2Jb"


def test_without_unicode_there_is_none() -> None:
    (row,) = text_of(paint_crumbs(("é", *WAY), 30, 1, palette(DARK), ASCII))
    assert row.isascii()


@settings(max_examples=60)
@given(st.lists(st.text(HOSTILE, max_size=12), max_size=6), st.integers(1, 60), st.integers(1, 3))
def test_any_way_fits_any_room(way: list[str], width: int, height: int) -> None:
    rows = paint_crumbs(tuple(way), width, height, *LOOK)
    assert_whole(rows, width, height)


def test_the_example_says_that_it_is_one() -> None:
    bar = demo()
    assert isinstance(bar, CrumbBar)
    assert "example suite" in bar.crumbs
