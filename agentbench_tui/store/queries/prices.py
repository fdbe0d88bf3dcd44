"""Applied prices."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import sqlite3


class TokenPrice(NamedTuple):
    """The last applied price of a model, in dollars per million tokens."""

    model: str
    input_usd_per_mtok: float | None
    output_usd_per_mtok: float | None
    cached_input_usd_per_mtok: float | None
    cache_write_usd_per_mtok: float | None
    cache_write_1h_usd_per_mtok: float | None
    source: str
    price_date: str | None
    run_id: str
    applied_at: str


class HourPrice(NamedTuple):
    """The last applied hourly price of an agent."""

    agent_id: str
    usd_per_hour: float
    applied_at: str


def token_prices(connection: sqlite3.Connection, limit: int) -> list[TokenPrice]:
    """Return the last applied price of each model, by name."""
    rows = connection.execute(
        "SELECT p.model, p.input_usd_per_mtok, p.output_usd_per_mtok, p.cached_input_usd_per_mtok,"
        " p.cache_write_usd_per_mtok, p.cache_write_1h_usd_per_mtok,"
        " p.source, p.price_date, r.id AS run_id, r.started_at AS applied_at, MAX(p.run_key)"
        " FROM prices p JOIN runs r ON r.key=p.run_key GROUP BY p.model ORDER BY p.model LIMIT ?",
        (limit,),
    )
    return [TokenPrice(*tuple(row)[:-1]) for row in rows.fetchall()]


def hour_prices(connection: sqlite3.Connection, limit: int) -> list[HourPrice]:
    """Return the hourly price of each agent that has one, by name."""
    rows = connection.execute(
        "SELECT agent_id, json_extract(model_configuration, '$.hourly_price_usd') AS usd_per_hour,"
        " created_at AS applied_at, MAX(key) FROM benchmark_executions"
        " WHERE status='complete' GROUP BY agent_id HAVING usd_per_hour IS NOT NULL"
        " ORDER BY agent_id LIMIT ?",
        (limit,),
    )
    return [HourPrice(*tuple(row)[:-1]) for row in rows.fetchall()]
