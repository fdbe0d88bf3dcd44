"""What every line passes on its way to the terminal, whoever painted it: nothing that a terminal
could obey, and ASCII alone where that was asked for.

Pages clean what comes from agents themselves and draw with `Glyphs`. This is behind them, for
borders and scroll bars of the toolkit, and for what somebody forgot.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

from rich.cells import cell_len
from rich.segment import Segment
from textual.filter import LineFilter

from agentbench_tui.tui.glyphs import ASCII

if TYPE_CHECKING:
    from textual.color import Color

_OBEYED = re.compile(
    "[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]"
)
"""Control characters, and those that turn the direction of text. None takes a cell."""
_FRAMES = {
    **dict.fromkeys("─━╌┄┈═▔", "-"),
    **dict.fromkeys("│┃╎┆┊║▏▕", "|"),
    **dict.fromkeys("╭╮╰╯┌┐└┘├┤┬┴┼╔╗╚╝", "+"),
    **dict.fromkeys("█▉▊▋▌▍▎▐▓▒░▆▇▅", "#"),
    **dict.fromkeys("▁▂▃▄", "_"),
    **dict.fromkeys("▀", "'"),
    **dict.fromkeys("▶▸►", ">"),
    **dict.fromkeys("▼▾", "v"),
    **dict.fromkeys("▲▴", "^"),
    **dict.fromkeys("●•", "o"),
}


class LastFilter(LineFilter):
    """The last that sees a line."""

    def __init__(self, only_ascii: bool) -> None:
        super().__init__()
        self._only_ascii = only_ascii

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:  # noqa: ARG002  # Textual's signature
        """The same cells, without what a terminal could obey or cannot show."""
        if not any(self._is_to_change(segment.text) for segment in segments):
            return segments
        return [Segment(self._changed(text), style, control) for text, style, control in segments]

    def _is_to_change(self, text: str) -> bool:
        if text.isascii():
            return not text.isprintable()
        return self._only_ascii or _OBEYED.search(text) is not None

    def _changed(self, text: str) -> str:
        text = _OBEYED.sub("", text)
        if self._only_ascii and not text.isascii():
            text = "".join(map(_ascii, text))
        return text


@lru_cache(maxsize=1024)
def _ascii(character: str) -> str:
    """As many cells as it takes."""
    if character.isascii():
        return character
    cells = cell_len(character)
    shown = _FRAMES.get(character) or ASCII.plain(character)
    return shown[:cells].ljust(cells, "?" if "?" in shown else " ")
