"""Sentences are wrapped behind their labels, and counted where there is no room."""

from hypothesis import given
from hypothesis import strategies as st
from textual.app import App, ComposeResult
from whole_rows import assert_whole
from widget_examples.sentences import demo

from agentbench_tui.tui.drawing.glyphs import ASCII, UNICODE, Glyphs
from agentbench_tui.tui.drawing.painting import text_of
from agentbench_tui.tui.theme import DARK, palette
from agentbench_tui.tui.widgets.sentences import Sentence, Sentences, paint_sentences

PALETTE = palette(DARK)
WORDS = st.text(st.sampled_from("ab cä日\x1b\n\u202e"), max_size=90)
TWO = (
    Sentence("good wins over bad", "verdict", "good"),
    Sentence("measure 149 cases instead of 40", "do"),
)


def painted(width: int, height: int, top: int = 0, glyphs: Glyphs = UNICODE) -> list[str]:
    return text_of(paint_sentences(TWO, top, width, height, PALETTE, glyphs))


def test_words_are_wrapped_below_themselves() -> None:
    assert painted(28, 4) == [
        "verdict good wins over bad  ",
        "do      measure 149 cases   ",
        "        instead of 40       ",
        "                            ",
    ]


def test_lines_without_room_are_counted_and_can_be_scrolled_to() -> None:
    assert painted(28, 2) == ["verdict good wins over bad  ", "              ▼ 2 more lines"]
    assert painted(28, 2, top=1) == [
        "do      measure 149 cases   ",
        "        instead of 40       ",
    ]


def test_without_any_it_says_so() -> None:
    assert text_of(paint_sentences((), 0, 24, 1, PALETTE, ASCII)) == ["   nothing to say yet   "]


@given(
    st.lists(st.builds(Sentence, WORDS, WORDS), max_size=4),
    st.integers(0, 5),
    st.integers(1, 60),
    st.integers(1, 8),
    st.sampled_from([ASCII, UNICODE]),
)
def test_any_words_make_whole_rows(
    sentences: list[Sentence], top: int, width: int, height: int, glyphs: Glyphs
) -> None:
    rows = paint_sentences(sentences, top, width, height, PALETTE, glyphs)
    assert_whole(rows, width, height)
    if glyphs is ASCII:
        assert "".join(text_of(rows)).isascii()


def test_the_example_says_that_it_is_one() -> None:
    view = demo()
    assert isinstance(view, Sentences)
    assert "example" in view.sentences[0].words


async def test_where_nothing_is_said_there_is_nothing_to_scroll() -> None:
    class Silent(App[None]):
        def compose(self) -> ComposeResult:
            yield Sentences()

    app = Silent()
    async with app.run_test() as pilot:
        view = app.query_one(Sentences)
        view.focus()
        await pilot.press("down", "up")
        assert view.top == 0
