"""Formats amounts of money in a column: tiny amounts are given per million."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from agentbench_tui.presentation.numbers import MISSING, money
from agentbench_tui.tui.drawing.grid_data import Align, Column

_LEAST_USD = 1e-4
"""Smaller amounts have too many zeros to be comparable."""
_MANY = 1e6


class Money(NamedTuple):
    """Format of the amounts in one column."""

    of: float
    """Number of items that an amount is for."""

    def column(
        self,
        key: str,
        what: str,
        width: int,
        align: Align = "left",
        *,
        flex: int = 0,
        priority: int = 1,
    ) -> Column:
        """Return the column of amounts for one `what`, with at least this many cells."""
        title = f"USD/{what}" if self.of == 1 else f"$/1M {what}"
        return Column(key, title, max(width, len(title)), align, flex, priority)

    def shown(self, value: float | None) -> str:
        """Format an amount in USD for one item."""
        return MISSING if value is None else money(self.of * value)


def money_of(amounts: Iterable[float | None]) -> Money:
    """Return one format for all of them, in USD per item."""
    known = [amount for amount in amounts if amount is not None and amount > 0]
    return Money(_MANY if known and min(known) < _LEAST_USD else 1.0)
