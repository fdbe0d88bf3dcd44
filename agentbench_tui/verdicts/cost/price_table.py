"""Which prices costs were computed with: of each model the one that was applied last."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import sqlite3

Document = dict[str, Any]

MOST = 200
_TOKENS = (
    "SELECT p.model, p.input_usd_per_mtok, p.output_usd_per_mtok, p.cached_input_usd_per_mtok,"
    " p.cache_write_usd_per_mtok, p.cache_write_1h_usd_per_mtok,"
    " p.source, p.price_date, r.id AS run_id, r.started_at AS applied_at, MAX(p.run_key)"
    " FROM prices p JOIN runs r ON r.key=p.run_key GROUP BY p.model ORDER BY p.model LIMIT ?"
)
_HOURS = (
    "SELECT agent_id, json_extract(model_configuration, '$.hourly_price_usd') AS usd_per_hour,"
    " created_at AS applied_at, MAX(key) FROM benchmark_executions"
    " WHERE status='complete' GROUP BY agent_id HAVING usd_per_hour IS NOT NULL"
    " ORDER BY agent_id LIMIT ?"
)


def price_table(connection: sqlite3.Connection, most: int = MOST) -> Document:
    """Prices of tokens by model, in USD for a million of them, and of hours by agent."""
    return {
        "tokens": _rows(connection, _TOKENS, most),
        "hours": _rows(connection, _HOURS, most),
    }


def _rows(connection: sqlite3.Connection, query: str, most: int) -> list[Document]:
    cursor = connection.execute(query, (most,))
    names = [column[0] for column in cursor.description][:-1]
    return [dict(zip(names, tuple(row), strict=False)) for row in cursor.fetchall()]
