"""The path from the first screen to the current one, with the keys of the pages at the right."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import accumulate
from typing import TYPE_CHECKING, ClassVar

from agentbench_tui.model.text.untrusted import one_line
from agentbench_tui.tui.drawing.glyphs import Glyphs
from agentbench_tui.tui.drawing.painting import Row, join, page, row_width, shorten, span
from agentbench_tui.tui.page_keys import PageKey, page_keys
from agentbench_tui.tui.page_list import PAGES
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
    """Paint `agentbench ▸ Runs ▸ quickstart ▸ case 12`. If that is too wide, names between the
    page's and the last are replaced by an ellipsis, then the page's, then the first; the last one
    is cut only if it is too wide alone.

    `here`: name of the page in front; the keys of all pages stand in what room is left, and the way
    gives way to the shortest of them.
    """
    way, keys = _way_and_keys(crumbs, here, width, palette, glyphs)
    if not keys:
        return page([way], width, height, palette.text)
    gap = width - row_width(way) - sum(key.width for key in keys)
    row = join(way, span(" " * gap, palette.text), *(_key_row(key, palette) for key in keys))
    return page([row], width, height, palette.text)


def _way_and_keys(
    crumbs: Crumbs, here: str, width: int, palette: Palette, glyphs: Glyphs
) -> tuple[Row, tuple[PageKey, ...]]:
    """Return the longest path that leaves room for keys; without any keys, the longest one."""
    names = [glyphs.plain(one_line(name)) for name in crumbs] or [glyphs.nothing]
    ways = [row for row in _ways(names, palette, glyphs) if row_width(row) <= width]
    for way in ways if here else ():
        if way[0].text.startswith(glyphs.ellipsis):
            break  # not worth the first name
        keys = page_keys(here, width - row_width(way) - _GAP)
        if keys:
            return way, keys
    return (ways or [[span(shorten(names[-1], width, glyphs), palette.title)]])[0], ()


def _key_row(key: PageKey, palette: Palette) -> Row:
    style = palette.title if key.here else palette.dim
    shown = palette.title if key.here else palette.accent
    gap = span(" " * key.before, palette.text)
    return join(gap, span(key.shown, shown), span(key.text.removeprefix(key.shown), style))


def _ways(names: Sequence[str], palette: Palette, glyphs: Glyphs) -> Iterator[Row]:
    """Yield all names, then ever fewer: the last one always, the first two as long as possible."""
    *before, last = names
    yield _joined(before, last, palette, glyphs)
    for kept in (2, 1, 0):
        for behind in range(kept + 1, len(before) + 1):
            left = [*before[:kept], glyphs.ellipsis, *before[behind:]]
            yield _joined(left, last, palette, glyphs)


def _joined(before: Sequence[str], last: str, palette: Palette, glyphs: Glyphs) -> Row:
    step = span(f" {glyphs.pointer} ", palette.frame)
    parts = [piece for name in before for piece in (span(name, palette.dim), step)]
    return join(*parts, span(last, palette.title))


class CrumbBar(Painted):
    """One row at the top of a screen; a click on a page's key presses it."""

    SHOWS_DATA: ClassVar[bool] = False
    DEFAULT_CSS: ClassVar[str] = "CrumbBar { height: 1; width: 1fr; }"
    ALLOW_SELECT = False

    crumbs: Crumbs = ()

    def show(self, crumbs: Crumbs) -> None:
        """Show the path of the current screen."""
        self.crumbs = crumbs
        self.redraw()

    def paint(self, width: int, height: int) -> list[Row]:
        return paint_crumbs(self.crumbs, width, height, self.palette, self.glyphs, self._here())

    def on_mouse_down(self, event: MouseDown) -> None:
        width = self.size.width
        _, keys = _way_and_keys(self.crumbs, self._here(), width, self.palette, self.glyphs)
        ends = list(accumulate((key.width for key in keys), initial=0))
        x = event.x - width + ends[-1]
        for key, start, end in zip(keys, ends, ends[1:], strict=False):
            if start + key.before <= x < end and key.key:
                self.app.simulate_key(key.key)

    def _here(self) -> str:
        """Return the current page; empty in an app without pages."""
        name = self.app.current_mode
        return name if name in {page.name for page in PAGES} else ""
