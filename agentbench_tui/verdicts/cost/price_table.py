"""The prices that costs were computed with: the last applied one of each model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agentbench_tui.store.queries.prices import hour_prices, token_prices

if TYPE_CHECKING:
    import sqlite3

Document = dict[str, Any]

MOST = 200


def price_table(connection: sqlite3.Connection, most: int = MOST) -> Document:
    """Return prices of tokens by model, in USD per million, and hourly prices by agent."""
    return {
        "tokens": [price._asdict() for price in token_prices(connection, most)],
        "hours": [price._asdict() for price in hour_prices(connection, most)],
    }
