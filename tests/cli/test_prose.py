"""Sentences on a terminal are broken between words, and in a pipe not at all."""

import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from agentbench_tui.cli.console import output
from agentbench_tui.cli.console.output import print_prose


def printed(text: str, width: int, *, terminal: bool) -> list[str]:
    with pytest.MonkeyPatch.context() as patch:
        said: list[str] = []
        patch.setattr(output, "console", lambda *, stderr: Console(width=width, stderr=stderr))
        patch.setattr(sys.stdout, "isatty", lambda: terminal, raising=False)
        patch.setattr(output.click, "echo", lambda line, err: said.append(line))
        print_prose(text)
    return said[0].split("\n")


def test_lines_go_on_below_their_first_word() -> None:
    assert printed("  one two three", 9, terminal=True) == ["  one two", "  three"]
    assert printed("one two\nthree four", 9, terminal=True) == ["one two", "three", "four"]


def test_a_pipe_gets_the_line_whole() -> None:
    assert printed("one two three", 7, terminal=False) == ["one two three"]


@given(
    words=st.lists(st.text("ab-", min_size=1, max_size=12), min_size=1, max_size=20),
    width=st.integers(12, 40),
)
def test_no_word_is_cut_and_no_line_too_long(words: list[str], width: int) -> None:
    lines = printed(" ".join(words), width, terminal=True)
    assert [word for line in lines for word in line.split()] == words
    assert max(map(len, lines)) <= width
