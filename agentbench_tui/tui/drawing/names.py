"""Names of models and agents in less room than they need, so that unlike ones still look unlike."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise
from typing import TYPE_CHECKING

from rich.cells import cell_len

from agentbench_tui.tui.drawing.painting import shorten

if TYPE_CHECKING:
    from agentbench_tui.tui.drawing.glyphs import Glyphs

_LEAST = 5
"""Cells of a name that can be cut anywhere but at its end."""
_BEHIND = 4
"""Cells from the character that sets a name apart to the end of its room, if the end is cut."""


def first_differences(names: Iterable[str]) -> dict[str, int]:
    """Return name → index of the first character that sets it apart from the name most like it.

    In sorted order the longest common beginning of a name is with one of its neighbors.
    """
    ordered = sorted(set(names))
    found = dict.fromkeys(ordered, 0)
    for one, other in pairwise(ordered):
        pairs = enumerate(zip(one, other, strict=False))
        least = min(len(one), len(other))
        common = next((place for place, (a, b) in pairs if a != b), least)
        found[one], found[other] = max(found[one], common), max(found[other], common)
    return found


def shorten_name(text: str, width: int, differs_at: int, glyphs: Glyphs) -> str:
    """Return a name in at most `width` cells: its middle is cut out, and where the character at
    `differs_at` would be lost with it, the part from there on is kept instead of the end.
    """
    cells = cell_len(text)
    if cells <= width or width < _LEAST or cells != len(text):  # wide characters: cut the end
        return shorten(text, width, glyphs)
    head = (width - 1) // 2
    tail = width - 1 - head
    if head <= differs_at < len(text) - tail:
        if differs_at < width - _BEHIND:
            return shorten(text, width, glyphs)
        head = max(1, (width - 2) // 3)
        kept = text[max(head, differs_at - 1) :]
        return text[:head] + glyphs.ellipsis + shorten(kept, width - 1 - head, glyphs)
    return text[:head] + glyphs.ellipsis + text[len(text) - tail :]
