"""The keys of the pages on part of a line, with as many names as fit."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

from rich.cells import cell_len

from agentbench_tui.tui.page_list import PAGES

_LEAST_NAMED = 4
"""Minimum number of names next to bare keys; fewer do not show that the keys open pages."""


class PageKey(NamedTuple):
    """A part of the line."""

    shown: str
    """The key as displayed."""
    name: str
    """Name of the page; empty if there is no room."""
    key: str
    """Key that a click presses; empty for several keys at once."""
    before: int = 0
    """Blanks before it."""
    here: bool = False
    """Whether it opens the current page."""

    @property
    def text(self) -> str:
        return f"{self.shown} {self.name}" if self.name else self.shown

    @property
    def width(self) -> int:
        """Return the width in cells, including the blanks before it."""
        return self.before + cell_len(self.text)


def page_keys(here: str, room: int) -> tuple[PageKey, ...]:
    """Return the pages' keys in at most `room` cells: `1 Home  2 New  3 Live …`. `here` is the name
    of the current page. Names are dropped from the last on, except that of `here`; then all but the
    range of keys, and finally everything.
    """
    for named in range(len(PAGES), _LEAST_NAMED - 1, -1):
        keys = _spaced(
            [
                PageKey(
                    page.key,
                    page.name.capitalize() if number < named or page.name == here else "",
                    page.key,
                    here=page.name == here,
                )
                for number, page in enumerate(PAGES)
            ]
        )
        if _width(keys) <= room:
            return keys
    short = PageKey(" ".join(_ranges([page.key for page in PAGES])), "pages", "")
    both = _spaced([short, PageKey("?", "help", "question_mark")])
    return next((keys for keys in (both, (short,)) if _width(keys) <= room), ())


def _spaced(keys: Sequence[PageKey]) -> tuple[PageKey, ...]:
    """Return two blanks around a name, one between bare keys."""
    apart = [2 if one.name or other.name else 1 for one, other in pairwise(keys)]
    return tuple(key._replace(before=gap) for key, gap in zip(keys, [0, *apart], strict=True))


def _width(keys: Sequence[PageKey]) -> int:
    return sum(key.width for key in keys)


def _ranges(keys: Sequence[str]) -> list[str]:
    """Join consecutive digits: `1-9`."""
    found: list[tuple[str, str]] = []
    for key in keys:
        if found and key.isdecimal() and ord(key) == ord(found[-1][1]) + 1:
            found[-1] = (found[-1][0], key)
        else:
            found.append((key, key))
    return [first if first == last else f"{first}-{last}" for first, last in found]
