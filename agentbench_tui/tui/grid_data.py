"""What a table shows, before anybody paints it: columns that give way, rows with a key."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from agentbench_tui.tui.glyphs import Glyphs
    from agentbench_tui.tui.painting import Row
    from agentbench_tui.tui.theme import Palette

Role = Literal["text", "dim", "title", "accent", "good", "warn", "bad"]
"""A style of the palette."""
Align = Literal["left", "right", "centre"]

GAP = 2
"""Cells between two columns."""


@dataclass(frozen=True, slots=True)
class Column:
    """One column of a table."""

    key: str
    title: str
    width: int
    """Cells it needs; it has no more unless it is flexible."""
    align: Align = "left"
    flex: int = 0
    """Its share of the cells that are left over."""
    priority: int = 1
    """When there is too little room, the column with the largest number goes first."""


@dataclass(frozen=True, slots=True)
class Cell:
    """One cell of a table. The text may be anybody's; it is made safe."""

    text: str = ""
    role: Role | None = None
    """The row's where left out."""
    series: int | None = None
    """Its marker and colour stand before the text."""
    bar: float | None = None
    """A share from 0 to 1, drawn as a bar before the text."""
    trend: Sequence[float | None] | None = None
    """Values, oldest first, drawn as blocks before the text."""
    drawn: Callable[[int, Palette, Glyphs], Row] | None = None
    """Paints the whole cell in exactly so many cells, such as an interval on its column's axis; the
    text is then what is copied."""
    change: int | None = None
    """Places gained (+) or lost (-), an arrow behind the text; its cell stays free at 0."""


@dataclass(frozen=True, slots=True)
class GridRow:
    """One row: a key that stays the same while the row's place changes, and a cell a column."""

    key: str
    cells: Sequence[Cell | str]
    role: Role = "text"


@dataclass(frozen=True, slots=True)
class GridData:
    """A table."""

    columns: Sequence[Column] = ()
    rows: Sequence[GridRow] = ()
    sort: tuple[str, bool] | None = None
    """The key of the column by which the rows are sorted, and whether the largest comes first."""
    reason: str = "nothing here yet"
    """Shown while there are no rows."""


@dataclass(frozen=True, slots=True)
class GridState:
    """Where somebody is in a table."""

    cursor: int = 0
    """Number of the row."""
    top: int = 0
    """Number of the first row that is shown."""
    selected: frozenset[str] = frozenset()
    """Keys of rows that were picked."""
    focused: bool = True


def fitting(columns: Sequence[Column], width: int) -> list[tuple[int, int]]:
    """(number, cells) of those columns that have room in `width` cells, in their order.

    Those of low priority go first, of equal ones the last; the one that stays last may be
    narrower than it wants.
    """
    kept = list(range(len(columns)))

    def need() -> int:
        return sum(columns[number].width for number in kept) + GAP * (len(kept) - 1)

    while len(kept) > 1 and need() > width:
        kept.remove(max(kept, key=lambda number: (columns[number].priority, number)))
    if not kept:
        return []
    spare = max(0, width - need())
    shares = sum(columns[number].flex for number in kept)
    cells = []
    for number in kept:
        flex = columns[number].flex
        extra = spare * flex // shares if flex else 0
        spare, shares = spare - extra, shares - flex
        cells.append((number, min(width, columns[number].width + extra)))
    return cells
