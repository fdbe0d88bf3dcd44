"""The last thing that sees a line lets nothing through that a terminal could obey."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style
from textual.color import Color

from agentbench_tui.tui.terminal_sanitizer import TerminalSanitizer

BACKGROUND = Color.parse("black")
HOSTILE = "a\x1b[2J\x9b31mb\x1b]52;c;aGk=\x07\u202ec\x00\r\nd"


def passed(text: str, *, only_ascii: bool = False) -> str:
    segments = TerminalSanitizer(only_ascii).apply([Segment(text, Style(bold=True))], BACKGROUND)
    assert all(segment.style == Style(bold=True) for segment in segments)
    return "".join(segment.text for segment in segments)


def test_what_a_terminal_would_obey_is_gone() -> None:
    assert passed(HOSTILE) == "a[2J31mb]52;c;aGk=cd"
    assert passed("╭─ 漢字 ─╮") == "╭─ 漢字 ─╮"


def test_ascii_alone_keeps_every_cell() -> None:
    assert passed("╭─ p95 ≤ 3 µs ● 漢字 █▌─╮", only_ascii=True) == "+- p95 < 3 us o ???? ##-+"
    assert passed("┏━┓┃", only_ascii=True) == "+-+|"


@pytest.mark.parametrize(
    ("text", "shown"),
    [("👩\u200d👩\u200d👧 a", "👩 a"), ("☠\ufe0f a", "☠  a"), ("🇩🇪 a", "DE a"),
     ("👍🏽 a", "👍 a"), ("1\ufe0f\u20e3 a", "1  a"), ("🏳\ufe0f\u200d🌈 a", "🏳  a")],
)  # fmt: skip
def test_signs_of_several_characters_take_the_cells_that_every_terminal_gives_them(
    text: str, shown: str
) -> None:
    assert passed(text) == shown
    assert sum(map(cell_len, shown)) == cell_len(text)


@given(st.text(), st.booleans())
def test_the_cells_stay_as_many(text: str, only_ascii: bool) -> None:
    line = passed(text, only_ascii=only_ascii)
    assert all(unicodedata.category(one) not in {"Cc", "Cs"} for one in line)
    harmless = "".join(one for one in text if unicodedata.category(one) not in {"Cc", "Cs"})
    if only_ascii:
        assert line.isascii()
        assert cell_len(line) == sum(map(cell_len, passed(harmless)))
