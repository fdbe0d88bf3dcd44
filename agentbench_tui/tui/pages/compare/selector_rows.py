"""Tables for choosing what to compare."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from agentbench_tui.tui.drawing.grid_data import Cell, Column, GridData, GridRow
from agentbench_tui.tui.shared import MOST_MARKED
from agentbench_tui.tui.widgets.filter_line import holds

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from agentbench_tui.verdicts.selection.selectable import Offer

_RUN = re.compile(r"\brun:([0-9a-f]{8}-[0-9a-f]{4})-[0-9a-f-]+")
_LETTERS = "ABCDEFGH"[:MOST_MARKED]


def short(label: str) -> str:
    """Format a selector: a run's id is cut to a unique prefix."""
    return _RUN.sub(r"run:\1…", label)


def offers_table(offers: Iterable[Offer], marked: Sequence[str], words: str = "") -> GridData:
    """Return the table of selectors, marked ones with their letters."""
    columns = (
        Column("side", "side", 4),
        Column("selector", "agent, version, run or tag", 24, flex=4, has_names=True),
        Column("kind", "kind", 7, priority=3),
        Column("runs", "runs", 5, align="right", priority=4),
        Column("last", "last (UTC)", 16, priority=2),
    )
    rows = []
    for one in offers:
        selector = one.selector
        if not holds(words, selector, one.kind):
            continue
        at = marked.index(selector) if selector in marked else None
        rows.append(
            GridRow(
                selector,
                (
                    Cell("" if at is None else _LETTERS[at], series=at),
                    short(selector) + (" (simulated)" if one.simulated else ""),
                    Cell(one.kind, role="dim"),
                    f"{one.runs:,}",
                    one.last[:16].replace("T", " "),
                ),
                role="title" if at is not None else "text",
            )
        )
    reason = f"nothing with “{words}”" if words else "nothing was measured yet: press 2 to run some"
    return GridData(columns, rows, reason=reason)


def chosen_table(marked: Sequence[str]) -> GridData:
    """Return the chosen selectors, the control first."""
    columns = (Column("selector", "side", 16, flex=1),)
    rows = [
        GridRow(one, (Cell(f"{_LETTERS[at]} {short(one)}{'' if at else ' (control)'}", series=at),))
        for at, one in enumerate(marked)
    ]
    return GridData(columns, rows, reason="a adds the one at the cursor; two are needed")
