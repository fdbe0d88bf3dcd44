"""Where one is: the way from the first screen to this one, on one line."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from agentbench_tui.model.untrusted import one_line
from agentbench_tui.tui.glyphs import Glyphs
from agentbench_tui.tui.painting import Row, join, page, row_width, shorten, span
from agentbench_tui.tui.theme import Palette
from agentbench_tui.tui.widgets.painted import Painted

Crumbs = tuple[str, ...]
"""Names of the screens from the first to the one that is shown."""


def paint_crumbs(
    crumbs: Crumbs, width: int, height: int, palette: Palette, glyphs: Glyphs
) -> list[Row]:
    """`agentbench ▸ runs ▸ quickstart`. Where that is too wide, names in the middle give way to an
    ellipsis, then the first; the last, where one is, is cut only when it alone is too wide."""
    names = [glyphs.plain(one_line(name)) for name in crumbs] or [glyphs.nothing]
    return page([_row(names, width, palette, glyphs)], width, height, palette.text)


def _row(names: Sequence[str], width: int, palette: Palette, glyphs: Glyphs) -> Row:
    for left_out in range(len(names)):
        row = _joined(names, left_out, palette, glyphs)
        if row_width(row) <= width:
            return row
    return [span(shorten(names[-1], width, glyphs), palette.title)]


def _joined(names: Sequence[str], left_out: int, palette: Palette, glyphs: Glyphs) -> Row:
    """The way without so many names after the first; without all but the last, where asked."""
    *before, here = names
    if left_out and left_out < len(before):
        before = [before[0], glyphs.ellipsis, *before[1 + left_out :]]
    elif left_out:
        before = [glyphs.ellipsis]
    step = span(f" {glyphs.pointer} ", palette.frame)
    parts = [piece for name in before for piece in (span(name, palette.dim), step)]
    return join(*parts, span(here, palette.title))


class CrumbBar(Painted):
    """One row at the top of a screen."""

    DEFAULT_CSS: ClassVar[str] = "CrumbBar { height: 1; width: 1fr; }"

    crumbs: Crumbs = ()

    def show(self, crumbs: Crumbs) -> None:
        """The way to what is shown now."""
        self.crumbs = crumbs
        self.redraw()

    def paint(self, width: int, height: int) -> list[Row]:
        return paint_crumbs(self.crumbs, width, height, self.palette, self.glyphs)


def demo() -> CrumbBar:
    """An example."""
    bar = CrumbBar()
    bar.show(("agentbench", "runs", "example suite", "example-agent@2", "case 12"))
    return bar
