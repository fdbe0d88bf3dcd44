"""Transcripts: what is shown of them, what is paired and marked, and how one moves through them."""

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.cells import cell_len
from textual.app import App, ComposeResult
from whole_rows import assert_whole
from widget_examples.transcript import demo

from agentbench_tui.model.answer import Message, ToolCall
from agentbench_tui.tui.drawing.glyphs import ASCII, UNICODE, Glyphs
from agentbench_tui.tui.drawing.painting import text_of, wraps
from agentbench_tui.tui.pages.cases import reading as reading_module
from agentbench_tui.tui.pages.cases.reading import Line, Pair, Reading, Transcript, alone, beside
from agentbench_tui.tui.theme import DARK, palette
from agentbench_tui.tui.widgets.transcript import (
    Spot,
    TranscriptView,
    apart,
    moved,
    next_difference,
    paint_transcript,
)

LOOK = palette(DARK), UNICODE
HOSTILE = "ab 日\x1b\n\u202e"


def said(*texts: str, name: str = "a") -> Transcript:
    return Transcript(name, tuple(Message("user", text) for text in texts))


def shown(reading: Reading, width: int, height: int, top: Spot = Spot(), glyphs=UNICODE):  # noqa: B008
    rows = text_of(paint_transcript(reading, top, width, height, palette(DARK), glyphs))
    assert [cell_len(row) for row in rows] == [width] * height
    return [row.rstrip() for row in rows]


def test_one_transcript_is_shown_with_its_roles_calls_and_results() -> None:
    call = ToolCall("add", {"a": 1, "b": "x\ny"}, result={"sum": 3})
    one = Transcript("atlas", (Message("user", "1+2?\n\nNow."), Message("assistant", "", (call,))))
    assert shown(alone(one), 30, 9) == [
        "atlas",
        "user ─────────────────────────",
        "  1+2?",
        "",
        "  Now.",
        "assistant ────────────────────",
        '  → add(a=1, b="x\\ny")',
        '  │ {"sum": 3}',
        "lines 1–7 of 7",
    ]


def test_two_transcripts_stand_beside_each_other_with_marks_between_them() -> None:
    left = said("same\nleft only\nsame again\n85 minutes", name="atlas")
    right = said("same\nsame again\n95 minutes\nright only", name="swift")
    assert shown(beside(left, right), 43, 9) == [
        "A atlas                B swift",
        "user ─────────────── │ user ───────────────",
        "  same               │   same",
        "  left only          A",
        "  same again         │   same again",
        "  85 minutes         !   95 minutes",
        "                     B   right only",
        "",
        "lines 1–6 of 6 · 2 places differ",
    ]


def test_in_a_narrow_room_they_stand_below_each_other() -> None:
    both = beside(said("same\n85", name="atlas"), said("same\n95", name="swift"))
    assert shown(both, 24, 7) == [
        "A atlas  B swift",
        "  user ─────────────────",
        "    same",
        "A   85",
        "B   95",
        "",
        "lines 1–3 of 3 · 1 place",
    ]


def test_equal_transcripts_do_not_differ() -> None:
    both = beside(said("a", "b"), said("a", "b"))
    assert both.differences == ()
    assert shown(both, 50, 6)[-1] == "lines 1–4 of 4 · no differences"


def test_control_characters_are_seen_and_do_nothing() -> None:
    hostile = said("\x1b[2J\x1b]52;c;aGk=\x07\x9b31m\u202etxt\r\nnext\ttab")
    rows = shown(alone(hostile), 60, 5)
    assert rows[2] == "  \\x1b[2J\\x1b]52;c;aGk=\\x07\\x9b31m\\u202etxt"
    assert rows[3] == "  next    tab"


def test_long_texts_are_bounded_and_it_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading_module, "MOST_LINES", 10)
    long = alone(said("\n".join(map(str, range(20))), "more"))
    assert len(long.pairs) == 10
    assert long.notes == ("13 lines of a left out",)  # 21 and 2 lines in all
    assert shown(long, 60, 5)[-1] == "lines 1–3 of 10 · 13 lines of a left out"
    (line,) = [pair.left for pair in alone(said("y" * 20_000)).pairs[1:]]
    assert line is not None
    assert line.text.endswith("… (+10000 characters)")


def test_long_transcripts_are_matched_message_by_message() -> None:
    body = "\n".join(map(str, range(1500)))
    both = beside(said(body, "a", "end"), said(body, "b", "b too", "end"))
    assert both.pairs[-1] == Pair(Line("text", "end"), Line("text", "end"))
    assert both.pairs[1502] == Pair(Line("text", "a"), Line("text", "b"))
    # Where nearly everything differs, by position, and nothing is lost.
    other = "\n".join(f"x{number}" for number in range(1400))
    apart_ = beside(said(body), said(other))
    assert [pair.left.text for pair in apart_.pairs if pair.left][1:] == body.split("\n")
    assert [pair.right.text for pair in apart_.pairs if pair.right][1:] == other.split("\n")


@given(st.lists(st.sampled_from("abc"), max_size=12), st.lists(st.sampled_from("abc"), max_size=12))
@settings(max_examples=60)
def test_pairing_keeps_every_line_of_both_in_order(left: list[str], right: list[str]) -> None:
    both = beside(said("\n".join(left)), said("\n".join(right)))
    a = [pair.left.text for pair in both.pairs if pair.left]
    b = [pair.right.text for pair in both.pairs if pair.right]
    assert a == ["user", *left]
    assert b == ["user", *right]
    assert bool(both.differences) == (left != right)


@given(st.text(HOSTILE, max_size=60), st.integers(1, 20))
def test_rows_are_no_wider_than_asked_and_lose_nothing_but_spaces(text: str, width: int) -> None:
    rows = wraps(text, width)
    for start, end in rows:
        assert end - start <= 1 or sum(map(cell_len, text[start:end])) <= width
    gaps = [text[end:start] for (_, end), (start, _) in pairwise(rows)]
    assert set(gaps) <= {"", " "}
    assert (rows[0][0], rows[-1][1]) == (0, len(text))


def test_text_breaks_at_spaces_and_wide_characters_count_twice() -> None:
    def parts(text: str, width: int) -> list[str]:
        return [text[start:end] for start, end in wraps(text, width)]

    assert parts("one two three", 8) == ["one two", "three"]
    assert parts("abcdefgh", 3) == ["abc", "def", "gh"]
    assert parts("on suite/long-name", 10) == ["on", "suite/", "long-name"]
    assert parts("a-longer", 5) == ["a-lon", "ger"]
    assert parts("of about 95%", 11) == ["of about", "95%"]
    assert parts("日本語", 4) == ["日本", "語"]
    assert parts("日", 1) == ["日"]


def test_the_part_that_differs_is_pointed_at() -> None:
    assert apart("85 minutes", "95 minutes") == (0, 1)
    assert apart("took 85 ms", "took 9 ms") == (5, 7)
    assert apart("quite", "different") == (0, 0)
    rows = paint_transcript(beside(said("85 minutes"), said("95 minutes")), Spot(), 60, 5, *LOOK)
    ground = palette(DARK).text + palette(DARK).selected
    assert [piece.text for row in rows for piece in row if piece.style == ground] == ["8", "9"]


def test_one_moves_by_rows_and_stops_at_both_ends() -> None:
    long = alone(said("\n".join(["w" * 30] * 4)))  # 1 + 4 × 2 rows in 20 cells; 5 shown
    at = Spot()
    for expected in (Spot(1, 0), Spot(1, 1), Spot(2, 0), Spot(2, 1), Spot(2, 1)):
        at = moved(long, at, 1, 20, 7, UNICODE)
        assert at == expected
    assert moved(long, at, -3, 20, 7, UNICODE) == Spot(1, 0)
    assert moved(long, at, -99, 20, 7, UNICODE) == Spot()
    assert moved(alone(said("short")), Spot(), 5, 20, 7, UNICODE) == Spot()
    last = shown(long, 20, 7, at)
    assert last[1:] == ["  " + "w" * 12] + ["  " + "w" * 18, "  " + "w" * 12] * 2 + [
        "lines 3–5 of 5"
    ]


def test_one_goes_from_difference_to_difference() -> None:
    both = beside(said("1\n2\n3\n4\n5\n6"), said("1\nx\ny\n4\nz\n6"))
    assert both.differences == (2, 5)
    assert next_difference(both, Spot(), 1) == Spot(2)
    assert next_difference(both, Spot(2), 1) == Spot(5)
    assert next_difference(both, Spot(5), 1) == Spot(5)
    assert next_difference(both, Spot(5), -1) == Spot(2)
    assert next_difference(both, Spot(1), -1) == Spot(1)


MESSAGES = st.builds(
    Message,
    st.sampled_from(["user", "assistant", "\x1b[1m"]),
    st.text(HOSTILE, max_size=40),
    st.lists(
        st.builds(
            ToolCall,
            st.text(HOSTILE, max_size=5),
            st.dictionaries(st.text(HOSTILE, max_size=3), st.integers(), max_size=2),
            result=st.none() | st.text(HOSTILE, max_size=9),
        ),
        max_size=1,
    ).map(tuple),
)
SIDES = st.builds(
    Transcript, st.text(HOSTILE, max_size=9), st.lists(MESSAGES, max_size=3).map(tuple)
)


@settings(max_examples=60)
@given(
    st.builds(alone, SIDES) | st.builds(beside, SIDES, SIDES),
    st.integers(0, 30),
    st.integers(1, 90),
    st.integers(1, 12),
    st.sampled_from([UNICODE, ASCII]),
)
def test_any_transcripts_fit_any_room(
    reading: Reading, steps: int, width: int, height: int, glyphs: Glyphs
) -> None:
    top = moved(reading, Spot(), steps, width, height, glyphs)
    rows = paint_transcript(reading, top, width, height, palette(DARK), glyphs)
    assert_whole(rows, width, height)
    assert glyphs is UNICODE or "".join(text_of(rows)).isascii()


class OneWidget(App[None]):
    def compose(self) -> ComposeResult:
        yield demo()


async def test_keys_scroll_and_find_differences(monkeypatch: pytest.MonkeyPatch) -> None:
    # Without colors Textual filters what is painted, and fails on a piece without a style.
    monkeypatch.setenv("NO_COLOR", "1")
    app = OneWidget()
    async with app.run_test(size=(80, 7)) as pilot:
        view = app.query_one(TranscriptView)
        view.focus()
        await pilot.press("down")
        assert view.top == Spot(1)
        await pilot.press("n")
        assert view.top == Spot(view.reading.differences[0])
        await pilot.press("N", "end")
        assert "of 11" in view.render_line(6).text
        end = view.top
        await pilot.press("pageup", "pagedown")
        assert view.top == end
        await pilot.press("home")
        assert view.top == Spot()
