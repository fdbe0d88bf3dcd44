"""Characters: a set for terminals that can show everything and one for those that cannot."""

from dataclasses import fields

import pytest
from rich.cells import cell_len

from agentbench_tui.tui.drawing.glyphs import ASCII, UNICODE, Glyphs, glyphs

_LENGTHS = {"rising": 9, "growing": 9, "shades": 3, "markers": 8}
_UP_TO_TWO_CELLS = {"bad", "arrow"}


@pytest.mark.parametrize("chosen", [ASCII, UNICODE], ids=["ascii", "unicode"])
def test_each_glyph_takes_the_cells_it_promises(chosen: Glyphs) -> None:
    for field in fields(Glyphs):
        value = getattr(chosen, field.name)
        if field.name == "braille":
            continue
        cells = cell_len(value)
        assert len(value) == cells
        assert cells == _LENGTHS.get(field.name, 1) or (
            field.name in _UP_TO_TWO_CELLS and cells <= 2
        )


def test_the_ascii_set_is_ascii() -> None:
    assert all(getattr(ASCII, field.name).isascii() for field in fields(Glyphs)[1:])


@pytest.mark.parametrize("chosen", [ASCII, UNICODE], ids=["ascii", "unicode"])
def test_markers_differ_from_each_other(chosen: Glyphs) -> None:
    assert len(set(chosen.markers)) == 8
    assert not set(chosen.markers) & {chosen.full, chosen.no, chosen.cross}  # lines and bars


@pytest.mark.parametrize(
    ("environment", "encoding", "expected"),
    [
        ({"TERM": "xterm-256color"}, "utf-8", UNICODE),
        ({"TERM": "tmux-256color"}, "UTF-8", UNICODE),
        ({"TERM": "xterm"}, "iso8859-1", ASCII),
        ({"TERM": "linux"}, "utf-8", ASCII),
        ({"TERM": "xterm", "AGENTBENCH_ASCII": "1"}, "utf-8", ASCII),
        ({"TERM": "linux", "AGENTBENCH_ASCII": "0"}, "utf-8", UNICODE),
        ({}, "utf-8", UNICODE),
        ({"LANG": "C"}, "utf-8", ASCII),
        ({"LANG": "C", "LC_CTYPE": "C.UTF-8"}, "utf-8", ASCII),  # set by Python itself
        ({"LANG": "POSIX", "LC_ALL": "C.UTF-8"}, "utf-8", UNICODE),
        ({"LANG": "en_US.UTF-8", "LC_ALL": "C"}, "utf-8", ASCII),
        ({"LANG": "C", "LC_CTYPE": "en_US.UTF-8"}, "utf-8", UNICODE),
        ({"LANG": "C.UTF-8"}, "utf-8", UNICODE),
    ],
)
def test_the_set_follows_terminal_encoding_and_variable(
    environment: dict[str, str], encoding: str, expected: Glyphs
) -> None:
    assert glyphs(environment=environment, encoding=encoding) is expected


def test_an_option_wins_over_everything() -> None:
    poor = {"TERM": "dumb", "AGENTBENCH_ASCII": "1"}
    assert glyphs(False, environment=poor, encoding="ascii") is UNICODE
    assert glyphs(True, environment={}, encoding="utf-8") is ASCII


def test_text_is_written_out_in_ascii_and_left_alone_otherwise() -> None:
    assert ASCII.plain("p95 ≤ 200 µs … 日") == "p95 <= 200 us ~ ?"
    assert ASCII.plain("▼ worse ▲ better") == "v worse ^ better"
    assert UNICODE.plain("p95 ≤ 200 µs … 日") == "p95 ≤ 200 µs … 日"
