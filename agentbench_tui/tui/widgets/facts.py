"""Facts in lines: a label and its text, in as many columns as fit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rich.cells import cell_len

from agentbench_tui.model.text.untrusted import one_line
from agentbench_tui.tui.drawing.glyphs import Glyphs
from agentbench_tui.tui.drawing.grid_data import Role
from agentbench_tui.tui.drawing.painting import Row, fit, join, notice, page, shorten, span, wraps
from agentbench_tui.tui.theme import Palette
from agentbench_tui.tui.widgets.painted import Painted

_LEAST_COLUMN = 34
_GAP = 2


@dataclass(frozen=True, slots=True)
class Fact:
    """One line. Label and words may be untrusted; they are sanitized."""

    label: str
    words: str
    role: Role = "text"
    """`warn` and `bad` have a sign before the words."""


@dataclass(frozen=True, slots=True)
class FactsData:
    """Facts, the most important first."""

    facts: Sequence[Fact] = ()
    reason: str = "nothing here yet"
    """Shown while there are no facts."""


def paint_facts(
    data: FactsData, width: int, height: int, palette: Palette, glyphs: Glyphs
) -> list[Row]:
    """Paint the facts from the top, in columns if they do not fit below each other; in one
    column, a long one continues in the next row.
    """
    if not data.facts or width < 1 or height < 1:
        return notice(data.reason, max(0, width), max(0, height), palette, glyphs)
    most = max(1, (width + _GAP) // (_LEAST_COLUMN + _GAP))
    columns = min(most, -(-len(data.facts) // height))
    each = (width - _GAP * (columns - 1)) // columns
    label = _label_cells(data, each, glyphs)
    if columns == 1:
        lines = [row for one in data.facts for row in _wrapped(one, label, each, palette, glyphs)]
        if len(lines) <= height:
            return page(lines, width, height, palette.text)
    rows: list[Row] = [[] for _ in range(height)]
    for place, fact in enumerate(data.facts[: columns * height]):
        gap = [span(" " * _GAP, palette.text)] if place >= height else []
        row = fit(_line(fact, label, each, palette, glyphs), each, palette.text)
        rows[place % height] = join(*rows[place % height], *gap, *row)
    return page(rows, width, height, palette.text)


def fact_lines(data: FactsData, width: int, glyphs: Glyphs) -> int:
    """Return the rows in which nothing is cut, below each other."""
    if not data.facts:
        return 0
    room = _room(width, _label_cells(data, width, glyphs))
    return sum(len(wraps(_words(one, glyphs), room)) for one in data.facts)


def _label_cells(data: FactsData, width: int, glyphs: Glyphs) -> int:
    return min(max(cell_len(_plain(one.label, glyphs)) for one in data.facts), width // 2)


def _room(width: int, label: int) -> int:
    return max(1, width - (label + _GAP if label else 0))


def _words(fact: Fact, glyphs: Glyphs) -> str:
    sign = {"warn": f"{glyphs.warn} ", "bad": f"{glyphs.bad} "}.get(fact.role, "")
    return sign + _plain(fact.words, glyphs)


def _wrapped(fact: Fact, label: int, width: int, palette: Palette, glyphs: Glyphs) -> list[Row]:
    words = _words(fact, glyphs)
    name = shorten(_plain(fact.label, glyphs), label, glyphs)
    lead = f"{name}{' ' * (label - cell_len(name) + _GAP)}" if label else ""
    rows = []
    for start, end in wraps(words, _room(width, label)):
        text = span(words[start:end].strip(), getattr(palette, fact.role))
        rows.append([span(lead, palette.dim), text])
        lead = " " * cell_len(lead)
    return rows


def _plain(text: str, glyphs: Glyphs) -> str:
    return glyphs.plain(one_line(text, 200))


def _line(fact: Fact, label: int, width: int, palette: Palette, glyphs: Glyphs) -> Row:
    name = shorten(_plain(fact.label, glyphs), label, glyphs)
    lead = f"{name}{' ' * (label - cell_len(name) + _GAP)}" if label else ""
    words = shorten(_words(fact, glyphs), max(0, width - cell_len(lead)), glyphs)
    return [span(lead, palette.dim), span(words, getattr(palette, fact.role))]


class Facts(Painted):
    """Shows a `FactsData`."""

    def __init__(self, data: FactsData | None = None, *, id: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id)
        self._data = data or FactsData()

    def show(self, data: FactsData) -> None:
        """Show this from now on."""
        self._data = data
        self.redraw()

    def paint(self, width: int, height: int) -> list[Row]:
        return paint_facts(self._data, width, height, self.palette, self.glyphs)
