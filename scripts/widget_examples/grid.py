"""An example of `grid`; its data are made up."""

from __future__ import annotations

import math

from agentbench_tui.tui.drawing.grid_data import Cell, Column, GridData, GridRow
from agentbench_tui.tui.widgets.grid import Grid


def demo() -> Grid:
    """A leaderboard of agents that do not exist."""
    names = "atlas-70b swift-8b oracle-r1 mosaic-moe tern-mini heron-32b local-vllm plover-1b"
    rows = [
        GridRow(
            name,
            (
                Cell(str(place + 1), change=(0, 1, -1, 0, 2, -2, 0, 0)[place]),
                Cell(name, series=place),
                f"{94.2 - 3.1 * place:.1f}",
                f"{0.93 - 0.021 * place:.3f}",
                f"{210 + 37 * place} ms",
                Cell(f"{540 + 88 * place} ms", role="warn" if place > 5 else None),
                f"${2.4 - 0.17 * place:.2f}",
                Cell(f"{0.3 * place:.1f}%", role="bad" if place > 6 else None),
                Cell(f"{100 - 9 * place}%", bar=1 - 0.09 * place),
                Cell(trend=[math.sin(place + number / 2) for number in range(12)]),
            ),
            role="title" if place < 3 else "text",
        )
        for place, name in enumerate(names.split())
    ]
    columns = (
        Column("rank", "#", 3, "right"),
        Column("agent", "agent (example)", 16, flex=1),
        Column("score", "score", 7, "right"),
        Column("accuracy", "accuracy", 8, "right", priority=3),
        Column("p50", "p50", 7, "right", priority=2),
        Column("p95", "p95", 8, "right", priority=2),
        Column("cost", "a case", 6, "right", priority=4),
        Column("failed", "failed", 6, "right", priority=2),
        Column("progress", "progress", 14, priority=5),
        Column("trend", "trend", 10, priority=6),
    )
    return Grid(GridData(columns, rows, sort=("score", True)), selectable=True)
