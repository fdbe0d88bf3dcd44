"""Where one is, and which keys lead elsewhere: the way from the first screen to this one, and the
keys of the pages at the right."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from typing import TYPE_CHECKING, ClassVar

from agentbench_tui.model.untrusted import one_line
from agentbench_tui.tui.glyphs import Glyphs
from agentbench_tui.tui.page_keys import PageKey, page_keys
from agentbench_tui.tui.pages import PAGES
from agentbench_tui.tui.painting import Row, join, page, row_width, shorten, span
from agentbench_tui.tui.theme import Palette
from agentbench_tui.tui.widgets.painted import Painted

if TYPE_CHECKING:
    from textual.events import MouseDown

_GAP = 3
"""Between the way and the keys, at least."""
Crumbs = tuple[str, ...]
"""Names of the screens from the first to the one that is shown."""


def paint_crumbs(
    crumbs: Crumbs, width: int, height: int, palette: Palette, glyphs: Glyphs, here: str = ""
) -> list[Row]:
    """`agentbench ▸ runs ▸ quickstart`. Where that is too wide, names in the middle give way to an
    ellipsis, then the first; the last, where one is, is cut only when it alone is too wide.

    `here`: name of the page in front; the keys of all pages stand in what room is left."""
    way = _way(crumbs, width, palette, glyphs)
    keys = _keys_beside(way, here, width)
    if not keys:
        return page([way], width, height, palette.text)
    gap = width - row_width(way) - sum(key.width for key in keys)
    row = join(way, span(" " * gap, palette.text), *(_key_row(key, palette) for key in keys))
    return page([row], width, height, palette.text)


def _keys_beside(way: Row, here: str, width: int) -> tuple[PageKey, ...]:
    """Of the pages, as there is room; none where nobody is on one."""
    return page_keys(here, width - row_width(way) - _GAP) if here else ()


def _key_row(key: PageKey, palette: Palette) -> Row:
    style = palette.title if key.here else palette.dim
    shown = palette.title if key.here else palette.accent
    gap = span(" " * key.before, palette.text)
    return join(gap, span(key.shown, shown), span(key.text.removeprefix(key.shown), style))


def _way(crumbs: Crumbs, width: int, palette: Palette, glyphs: Glyphs) -> Row:
    names = [glyphs.plain(one_line(name)) for name in crumbs] or [glyphs.nothing]
    return _row(names, width, palette, glyphs)


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
    """One row at the top of a screen; a click on a page's key presses it."""

    DEFAULT_CSS: ClassVar[str] = "CrumbBar { height: 1; width: 1fr; }"
    ALLOW_SELECT = False

    crumbs: Crumbs = ()

    def show(self, crumbs: Crumbs) -> None:
        """The way to what is shown now."""
        self.crumbs = crumbs
        self.redraw()

    def paint(self, width: int, height: int) -> list[Row]:
        return paint_crumbs(self.crumbs, width, height, self.palette, self.glyphs, self._here())

    def on_mouse_down(self, event: MouseDown) -> None:
        width = self.size.width
        way = _way(self.crumbs, width, self.palette, self.glyphs)
        keys = _keys_beside(way, self._here(), width)
        ends = list(accumulate((key.width for key in keys), initial=0))
        x = event.x - width + ends[-1]
        for key, start, end in zip(keys, ends, ends[1:], strict=False):
            if start + key.before <= x < end and key.key:
                self.app.simulate_key(key.key)

    def _here(self) -> str:
        """The page in front; empty in an app that has none of them."""
        name = self.app.current_mode
        return name if name in {page.name for page in PAGES} else ""


def demo() -> CrumbBar:
    """An example."""
    bar = CrumbBar()
    bar.show(("agentbench", "runs", "example suite", "example-agent@2", "case 12"))
    return bar
