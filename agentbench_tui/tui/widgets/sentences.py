"""Labeled sentences below each other, wrapped, scrolling if they do not fit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rich.cells import cell_len

from agentbench_tui.model.text.untrusted import one_line
from agentbench_tui.tui.drawing.glyphs import Glyphs
from agentbench_tui.tui.drawing.grid_data import Role
from agentbench_tui.tui.drawing.painting import Row, aligned, join, notice, page, span, wraps
from agentbench_tui.tui.theme import Palette
from agentbench_tui.tui.widgets.scrolled import Scrolled

_LONGEST = 2_000
_MOST_LABEL = 0.4
"""Share of the width that labels may take."""


@dataclass(frozen=True, slots=True)
class Sentence:
    """One sentence. Words and label may be untrusted; they are sanitized."""

    words: str
    label: str = ""
    role: Role = "text"


def paint_sentences(
    sentences: Sequence[Sentence],
    top: int,
    width: int,
    height: int,
    palette: Palette,
    glyphs: Glyphs,
    reason: str = "nothing to say yet",
) -> list[Row]:
    """Paint from the line `top` on; the last row counts the lines below it."""
    if not sentences or width < 1 or height < 1:
        return notice(reason, max(0, width), max(0, height), palette, glyphs)
    rows = _rows(sentences, width, palette, glyphs)[top:]
    if len(rows) > height:
        more = f"{glyphs.down} {len(rows) - height + 1} more lines"
        rows = [*rows[: height - 1], [span(aligned(more, width, "right", glyphs), palette.dim)]]
    return page(rows, width, height, palette.text)


def _rows(sentences: Sequence[Sentence], width: int, palette: Palette, glyphs: Glyphs) -> list[Row]:
    labels = [glyphs.plain(one_line(one.label, 80)) for one in sentences]
    edge = min(max(map(cell_len, labels), default=0), int(_MOST_LABEL * width))
    edge += 1 if edge else 0
    rows = []
    for one, label in zip(sentences, labels, strict=True):
        text = glyphs.plain(one_line(one.words, _LONGEST))
        head = f"{aligned(label, edge - 1, 'left', glyphs)} " if edge else ""
        for start, end in wraps(text, max(1, width - edge)):
            before = span(head, palette.dim)
            rows.append(join(before, span(text[start:end].strip(), getattr(palette, one.role))))
            head = " " * edge
    return rows


class Sentences(Scrolled):
    """As many sentences as fit."""

    sentences: Sequence[Sentence] = ()

    def show(self, sentences: Sequence[Sentence]) -> None:
        """Show other sentences, from the first."""
        self.sentences, self.top = sentences, 0
        self.redraw()

    def last_top(self) -> int:
        width, height = self.size
        return max(0, len(_rows(self.sentences, width, self.palette, self.glyphs)) - height)

    def paint(self, width: int, height: int) -> list[Row]:
        return paint_sentences(self.sentences, self.top, width, height, self.palette, self.glyphs)
