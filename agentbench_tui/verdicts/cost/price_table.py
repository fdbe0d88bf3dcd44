"""Which prices costs were computed with: of each model the one that was applied last."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agentbench_tui.store.queries.prices import hour_prices, token_prices

if TYPE_CHECKING:
    import sqlite3

Document = dict[str, Any]

MOST = 200


def price_table(connection: sqlite3.Connection, most: int = MOST) -> Document:
    """Prices of tokens by model, in USD for a million of them, and of hours by agent."""
    return {
        "tokens": [price._asdict() for price in token_prices(connection, most)],
        "hours": [price._asdict() for price in hour_prices(connection, most)],
    }
