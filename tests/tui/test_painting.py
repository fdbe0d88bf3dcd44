"""Rows: joined, fitted and drawn in dots, always as wide as asked for."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style
from whole_rows import assert_whole

from agentbench_tui.tui.drawing.glyphs import ASCII, UNICODE
from agentbench_tui.tui.drawing.painting import (
    Dots,
    aligned,
    bar,
    changed_cells,
    fit,
    join,
    notice,
    page,
    row_width,
    runs,
    shorten,
    span,
    text_of,
)
from agentbench_tui.tui.theme import DARK, palette

_PALETTE = palette(DARK)
_TEXT, _DIM = _PALETTE.text, _PALETTE.dim
_texts = st.text(st.sampled_from("ab é日…"), max_size=8)
_rows = st.lists(st.builds(Segment, _texts, st.sampled_from([_TEXT, _DIM])), max_size=6)


def test_neighbors_of_one_style_become_one_piece() -> None:
    row = join(span("a", _TEXT), [span("b", _TEXT), span("c", _DIM)], span("d", _DIM))
    assert [(piece.text, piece.style) for piece in row] == [("ab", _TEXT), ("cd", _DIM)]


@given(_rows, st.integers(0, 30))
def test_a_fitted_row_is_as_wide_as_asked_for(row: list[Segment], width: int) -> None:
    assert row_width(fit(row, width, _TEXT)) == width


def test_a_wide_character_that_is_cut_leaves_a_blank() -> None:
    assert text_of([fit([span("a日", _TEXT)], 2, _TEXT)]) == ["a "]


@given(_rows, _rows, st.integers(1, 12))
def test_rows_are_the_same_after_the_last_cell_that_changed(
    one: list[Segment], other: list[Segment], width: int
) -> None:
    before, after = fit(one, width, _TEXT), fit(other, width, _TEXT)
    end = changed_cells(before, after)
    assert 0 <= end <= width
    if end == 0:
        assert text_of([before]) == text_of([after])
    mended = join(fit(after, end, _TEXT), _right_of(before, end))
    if not _cuts_a_character(before, end) and not _cuts_a_character(after, end):
        assert _cells(mended) == _cells(after)


def _cells(row: list[Segment]) -> list[tuple[str, Style | None]]:
    return [(character, piece.style) for piece in row for character in piece.text]


def _cuts_a_character(row: list[Segment], cell: int) -> bool:
    return any(start < cell < start + cell_len(character) for start, character, _ in _placed(row))


def _placed(row: list[Segment]) -> list[tuple[int, str, Style | None]]:
    placed, start = [], 0
    for character, style in _cells(row):
        placed.append((start, character, style))
        start += cell_len(character)
    return placed


def _right_of(row: list[Segment], cell: int) -> list[Segment]:
    return [Segment(text, style) for start, text, style in _placed(row) if start >= cell]


def test_what_changed_at_the_left_leaves_the_right_alone() -> None:
    before = [span("p95 200 ms", _TEXT), span("  fine", _DIM)]
    after = [span("p95 201 ms", _TEXT), span("  fine", _DIM)]
    assert changed_cells(before, after) == 7
    assert changed_cells(after, after) == 0


@given(st.lists(_rows, max_size=5), st.integers(0, 12), st.integers(0, 6))
def test_a_page_is_whole(rows: list[list[Segment]], width: int, height: int) -> None:
    assert_whole(page(rows, width, height, _TEXT), width, height)


@pytest.mark.parametrize(
    ("text", "width", "expected"),
    [("latency", 7, "latency"), ("latency", 4, "lat…"), ("a b", 3, "a b"), ("ab", 0, "")],
)
def test_what_is_cut_ends_in_an_ellipsis(text: str, width: int, expected: str) -> None:
    assert shorten(text, width, UNICODE) == expected


@given(_texts, st.integers(0, 12), st.sampled_from(["left", "right", "center"]))
def test_aligned_text_fills_its_cells(text: str, width: int, align: str) -> None:
    assert row_width([span(aligned(text, width, align, UNICODE), _TEXT)]) == width


def test_alignment() -> None:
    assert aligned("ab", 5, "left", UNICODE) == "ab   "
    assert aligned("ab", 5, "right", UNICODE) == "   ab"
    assert aligned("ab", 5, "center", UNICODE) == " ab  "


def test_runs_take_blanks_along() -> None:
    row = runs([("a", _TEXT), (" ", _DIM), ("b", _TEXT), ("c", _DIM)])
    assert [piece.text for piece in row] == ["a b", "c"]


def test_a_blank_with_a_background_is_kept_apart() -> None:
    marked = Style(bgcolor="red")
    row = runs([("a", _TEXT), (" ", marked), (" ", _TEXT)])
    assert [piece.style for piece in row] == [_TEXT, marked, _TEXT]


@pytest.mark.parametrize(
    ("share", "expected"), [(0.0, "────"), (0.001, "━───"), (0.5, "━━──"), (2.0, "━━━━")]
)
def test_a_bar_shows_its_share(share: float, expected: str) -> None:
    assert text_of([bar(share, 4, _TEXT, _PALETTE, UNICODE)]) == [expected]


def test_a_notice_says_why_there_is_nothing() -> None:
    rows = notice("no data yet", 15, 3, _PALETTE, UNICODE, "latency")
    assert text_of(rows) == ["latency        ", "  no data yet  ", "               "]
    rows = notice("press a to add one", 8, 4, _PALETTE, UNICODE)
    assert text_of(rows) == ["press a ", " to add ", "  one   ", "        "]
    rows = notice("press a to add one", 8, 2, _PALETTE, UNICODE)
    assert text_of(rows) == ["press a ", "to add… "]


def test_a_dot_is_the_one_of_its_cell() -> None:
    """Codes of single dots: Unicode, Braille Patterns, 2801 (top left) to 2880 (bottom right)."""
    corners = {(0, 0): "\u2801", (1, 0): "\u2808", (0, 3): "\u2840", (1, 3): "\u2880"}
    for (x, y), expected in corners.items():
        dots = Dots(1, 1)
        dots.dot(x, y, _TEXT)
        assert text_of(dots.painted(UNICODE, _TEXT)) == [expected]


def test_dots_in_ascii_say_where_in_the_cell_they_are() -> None:
    dots = Dots(4, 1)
    dots.dot(0, 0, _TEXT)
    dots.dot(2, 3, _TEXT)
    dots.line((4, 0), (4, 3), _TEXT)
    for x in (6, 7):
        dots.line((x, 0), (x, 3), _TEXT)
    assert text_of(dots.painted(ASCII, _TEXT)) == ["'.:#"]


def test_what_leaves_the_picture_is_left_out() -> None:
    dots = Dots(2, 1)
    dots.line((-5, -5), (9, 9), _TEXT)
    dots.text(1, 0, "xyz", _TEXT)
    dots.text(0, 7, "below", _TEXT)
    assert text_of(dots.painted(UNICODE, _TEXT)) == ["\u2811x"]


def test_an_underlay_shows_in_free_cells_only() -> None:
    front, back = Dots(2, 1), Dots(2, 1)
    front.text(0, 0, "x", _TEXT)
    back.text(0, 0, "yz", _DIM)
    front.underlay(back)
    row = front.painted(UNICODE, _TEXT)[0]
    assert [(piece.text, piece.style) for piece in row] == [("x", _TEXT), ("z", _DIM)]


def test_free_cells() -> None:
    dots = Dots(4, 1)
    dots.text(1, 0, "x", _TEXT)
    assert dots.is_free(2, 0, 2)
    assert not dots.is_free(0, 0, 2)
    assert not dots.is_free(3, 0, 2)
