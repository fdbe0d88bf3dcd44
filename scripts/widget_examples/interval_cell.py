"""An example of `interval_cell`; its data are made up."""

from __future__ import annotations

from agentbench_tui.tui.widgets.interval_cell import Interval, IntervalCells, Intervals


def demo() -> IntervalCells:
    """An example."""
    cells = IntervalCells()
    cells.show(
        Intervals(
            (
                ("example atlas", Interval(212, 198, 231)),
                ("example swift", Interval(247, 230, 262)),
                ("example oracle", Interval(284, 205, 366)),
                ("example mosaic", Interval(321, 318, 325)),
                ("example tern", Interval(358)),
                ("example heron", Interval(None, reason="needs 5 runs (have 2)")),
            ),
            "ms",
            reference=212,
        )
    )
    return cells
