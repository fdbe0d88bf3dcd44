"""Filter of every line before it is sent to the terminal: removes control sequences and characters
of ambiguous width, and converts to ASCII if requested.

Pages sanitize the text of agents themselves and draw with `Glyphs`. This filter is a second line of
defense, also for borders and scroll bars of the toolkit.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

from rich.cells import cell_len, set_cell_size, split_graphemes
from rich.segment import Segment
from textual.filter import LineFilter

from agentbench_tui.tui.drawing.glyphs import ASCII

if TYPE_CHECKING:
    from textual.color import Color

_OBEYED = re.compile(
    "[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]"
)
"""Control characters, and those that change the direction of text. They occupy no cell."""
_JOINED = re.compile(
    "[\u200d\u20e3\ufe00-\ufe0f\U0001f1e6-\U0001f1ff\U0001f3fb-\U0001f3ff\U000e0020-\U000e007f]"
)
"""Characters that combine several into one: joiners, styles, keycaps, flags, skin tones, tags.

A terminal that does not know that the whole is two cells wide shifts the rest of the row.
"""
_CHANGED = re.compile(_OBEYED.pattern[:-1] + _JOINED.pattern[1:])
_FLAG_A = 0x1F1E6
_FRAMES = {
    **dict.fromkeys("─━╌┄┈═▔", "-"),
    **dict.fromkeys("│┃╎┆┊║▏▕", "|"),
    **dict.fromkeys("╭╮╰╯┌┐└┘├┤┬┴┼╔╗╚╝┏┓┗┛", "+"),
    **dict.fromkeys("█▉▊▋▌▍▎▐▓▒░▆▇▅", "#"),
    **dict.fromkeys("▁▂▃▄", "_"),
    **dict.fromkeys("▀", "'"),
    **dict.fromkeys("▶▸►", ">"),
    **dict.fromkeys("▼▾", "v"),
    **dict.fromkeys("▲▴", "^"),
    **dict.fromkeys("●•", "o"),
}


class TerminalSanitizer(LineFilter):
    """The last filter of a line."""

    def __init__(self, only_ascii: bool) -> None:
        super().__init__()
        self._only_ascii = only_ascii

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:  # noqa: ARG002  # Textual's signature
        """Return the same cells, without control sequences and unsupported characters."""
        if not any(self._is_to_change(segment.text) for segment in segments):
            return segments
        return [Segment(self._changed(text), style, control) for text, style, control in segments]

    def _is_to_change(self, text: str) -> bool:
        if text.isascii():
            return not text.isprintable()
        return self._only_ascii or _CHANGED.search(text) is not None

    def _changed(self, text: str) -> str:
        text = _OBEYED.sub("", text)
        if _JOINED.search(text):
            spans, _ = split_graphemes(text)
            text = "".join(_alone(text[start:end], cells) for start, end, cells in spans)
        if self._only_ascii and not text.isascii():
            text = "".join(map(_ascii, text))
        return text


def _alone(sign: str, cells: int) -> str:
    """Return the first of the combined characters, in as many cells as the whole; a flag by its
    letters.
    """
    if not _JOINED.search(sign):
        return sign
    flag = [ord(one) - _FLAG_A for one in sign]
    if 0 <= flag[0] < 26:
        return set_cell_size("".join(chr(ord("A") + n) for n in flag if 0 <= n < 26), cells)
    return set_cell_size(_JOINED.sub("", sign)[:1], cells)


@lru_cache(maxsize=1024)
def _ascii(character: str) -> str:
    """Return a replacement with as many cells."""
    if character.isascii():
        return character
    cells = cell_len(character)
    shown = _FRAMES.get(character) or ASCII.plain(character)
    return shown[:cells].ljust(cells, "?" if "?" in shown else " ")
