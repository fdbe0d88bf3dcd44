"""Content of a table before painting: columns with priorities, rows with keys."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from rich.cells import cell_len

if TYPE_CHECKING:
    from agentbench_tui.tui.drawing.glyphs import Glyphs
    from agentbench_tui.tui.drawing.painting import Row
    from agentbench_tui.tui.theme import Palette

Role = Literal["text", "dim", "title", "accent", "good", "warn", "bad"]
"""A style of the palette."""
Align = Literal["left", "right", "center"]

GAP = 2
"""Cells between two columns."""
_LOOKED_AT = 200
"""Number of rows that determine the desired width of columns."""
_ALL = 10_000
"""More cells than any terminal has."""


@dataclass(frozen=True, slots=True)
class Column:
    """One column of a table."""

    key: str
    title: str
    width: int
    """Cells it needs; it gets more only if it is flexible."""
    align: Align = "left"
    flex: int = 0
    """Its share of the cells that are left over."""
    priority: int = 1
    """If there is too little room, the column with the largest number is dropped first."""
    has_names: bool = False
    """Whether its texts are names, which are cut where they agree and not at their end."""


@dataclass(frozen=True, slots=True)
class Cell:
    """One table cell. Its text may be untrusted; it is sanitized."""

    text: str = ""
    role: Role | None = None
    """Role of the cell; by default that of the row."""
    series: int | None = None
    """Series whose marker and color precede the text."""
    bar: float | None = None
    """A share from 0 to 1, drawn as a bar before the text."""
    trend: Sequence[float | None] | None = None
    """Values, oldest first, drawn as blocks before the text."""
    drawn: Callable[[int, Palette, Glyphs], Row] | None = None
    """Paints the whole cell in this number of cells, such as an interval on its column's axis;
    the text is then what is copied.
    """
    change: int | None = None
    """Places gained (+) or lost (-), an arrow behind the text; its cell stays free at 0."""


@dataclass(frozen=True, slots=True)
class GridRow:
    """One row: a key that stays the same while the row moves, and one cell per column."""

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
    """Cursor and scroll position in a table."""

    cursor: int = 0
    """Number of the row."""
    top: int = 0
    """Number of the first row that is shown."""
    selected: frozenset[str] = frozenset()
    """Keys of rows that were picked."""
    focused: bool = True


def wanted(data: GridData) -> list[int]:
    """Return, for `fitting`, the width at which no text of a flexible column is cut, judged by its
    first rows; a painted column takes all that is left.
    """
    rows = data.rows[:_LOOKED_AT]
    found = []
    for number, column in enumerate(data.columns):
        shown = [row.cells[number] for row in rows if number < len(row.cells)]
        wide = [_cells_of(cell) for cell in shown] if column.flex else []
        found.append(max([column.width, cell_len(column.title), *wide]))
    return found


def _cells_of(cell: Cell | str) -> int:
    if isinstance(cell, str):
        return cell_len(cell)
    if cell.drawn is not None or cell.bar is not None or cell.trend is not None:
        return _ALL
    before = 0 if cell.series is None else 2
    return before + cell_len(cell.text) + (0 if cell.change is None else 1)


def fitting(
    columns: Sequence[Column], width: int, wants: Sequence[int] = ()
) -> list[tuple[int, int]]:
    """Return (number, cells) of the columns that fit in `width` cells, in order.

    Columns of low priority are dropped first, of equal ones the last; the last remaining one may be
    narrower than it wants. Remaining cells are given to flexible columns by their shares: until
    each has what it `wants`, if given, those that want everything last, and then to all of them.
    """
    kept = list(range(len(columns)))

    def need() -> int:
        return sum(columns[number].width for number in kept) + GAP * (len(kept) - 1)

    while len(kept) > 1 and need() > width:
        kept.remove(max(kept, key=lambda number: (columns[number].priority, number)))
    cells = {number: min(width, columns[number].width) for number in kept}
    spare = max(0, width - need()) if kept else 0
    flexible = [number for number in kept if columns[number].flex]
    for wants_all in (False, True):
        those = [one for one in flexible if wants and (wants[one] >= _ALL) is wants_all]
        while spare and (hungry := [one for one in those if wants[one] > cells[one]]):
            spare = _share_out(spare, hungry, columns, cells, wants)
    if spare:
        _share_out(spare, flexible, columns, cells, [width] * len(columns))
    return list(cells.items())


def _share_out(
    spare: int,
    among: Sequence[int],
    columns: Sequence[Column],
    cells: dict[int, int],
    most: Sequence[int],
) -> int:
    """Add to `cells` up to `most` of each; return what is left."""
    shares, left = sum(columns[number].flex for number in among), spare
    for number in among:
        flex = columns[number].flex
        extra = min(left * flex // shares, most[number] - cells[number])
        # Of what one leaves the next have a part at once; a rest too small to share goes on.
        left, shares = left - extra, shares - flex
        cells[number] += extra
    if left == spare and among:
        cells[among[0]] += 1
        left -= 1
    return left
