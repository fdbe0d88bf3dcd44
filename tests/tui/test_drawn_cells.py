"""Cells of tables that paint themselves: intervals on a common axis, changes with verdicts."""

from agentbench_tui.tui.drawing.drawn_cells import delta_cell, interval_cell, whisker_cell
from agentbench_tui.tui.drawing.glyphs import ASCII, UNICODE, Glyphs
from agentbench_tui.tui.drawing.grid_data import Cell, Column, GridData, GridRow, GridState
from agentbench_tui.tui.drawing.painting import text_of
from agentbench_tui.tui.theme import DARK, palette
from agentbench_tui.tui.widgets.delta_cell import Delta
from agentbench_tui.tui.widgets.grid import paint_grid
from agentbench_tui.tui.widgets.interval_cell import Interval, interval_column


def painted(*cells: Cell, width: int, glyphs: Glyphs = UNICODE) -> list[str]:
    """What stands in a column of this width."""
    rows = [GridRow(f"{at}", (cell,)) for at, cell in enumerate(cells)]
    data = GridData((Column("one", "one", width),), rows)
    size = (width + 2, len(rows) + 1)
    return [
        row[2:] for row in text_of(paint_grid(data, GridState(), *size, palette(DARK), glyphs))
    ][1:]


def test_intervals_share_the_axis_of_their_column() -> None:
    intervals = [Interval(0.0, 0.0, 5.0), Interval(10.0, 5.0, 10.0)]
    column = interval_column(intervals)
    first, second = painted(*(interval_cell(one, column) for one in intervals), width=30)
    assert first.startswith(" 0 [0, 5]")
    assert second.startswith("10 [5, 10]")
    assert first.index("┤") < second.index("●")


def test_a_whisker_has_no_figures_and_shows_the_reference() -> None:
    column = interval_column([Interval(2.0, 1.5, 3.0)], log=True, reference=1.0)
    (row,) = painted(whisker_cell(Interval(2.0, 1.5, 3.0), column), width=20)
    assert not any(letter.isdigit() for letter in row)
    assert row.index("╎") < row.index("├") < row.index("●") < row.index("┤")


def test_a_change_has_its_verdict_in_a_word_and_is_plain_where_it_must_be() -> None:
    change = delta_cell(Delta(1.42, "worse", 1.1, 1.84))
    assert painted(change, width=35) == ["▲    1.42× [1.10, 1.84]   worse    "]
    (row,) = painted(change, width=35, glyphs=ASCII)
    assert row.isascii()
    assert "worse" in row
