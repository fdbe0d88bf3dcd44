"""Applied prices."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Sequence


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


class PriceTable(NamedTuple):
    """The last applied price of each model and of each agent paid by the hour."""

    tokens: list[TokenPrice]
    hours: list[HourPrice]


def price_table(connection: sqlite3.Connection, most: int = 200) -> PriceTable:
    """Return at most `most` prices of models, and of agents, by name."""
    return PriceTable(_token_prices(connection, most), _hour_prices(connection, most))


def _token_prices(connection: sqlite3.Connection, limit: int) -> list[TokenPrice]:
    rows = connection.execute(
        "SELECT p.model, p.input_usd_per_mtok, p.output_usd_per_mtok, p.cached_input_usd_per_mtok,"
        " p.cache_write_usd_per_mtok, p.cache_write_1h_usd_per_mtok,"
        " p.source, p.price_date, r.id AS run_id, r.started_at AS applied_at, MAX(p.run_key)"
        " FROM prices p JOIN runs r ON r.key=p.run_key GROUP BY p.model ORDER BY p.model LIMIT ?",
        (limit,),
    )
    return [TokenPrice(*tuple(row)[:-1]) for row in rows.fetchall()]


class BilledTokens(NamedTuple):
    """Tokens of the answers of some executions; None where no answer says it."""

    answers: int
    input_tokens: int | None
    cached_tokens: int | None
    """Part of `input_tokens`."""
    output_tokens: int | None
    reasoning_tokens: int | None
    """Part of `output_tokens`."""


class AppliedPrice(NamedTuple):
    """A price that was applied to answers, in dollars per million tokens."""

    model: str
    input_usd_per_mtok: float | None
    output_usd_per_mtok: float | None
    cached_input_usd_per_mtok: float | None
    source: str


def billed_tokens(connection: sqlite3.Connection, keys: Sequence[int]) -> BilledTokens:
    """The tokens of all answers of executions, failed ones included."""
    row = connection.execute(
        "SELECT COUNT(*), SUM(input_tokens), SUM(cached_tokens), SUM(output_tokens),"
        " SUM(reasoning_tokens) FROM answers"
        " WHERE execution_key IN (SELECT value FROM json_each(?))",
        (json.dumps([*keys]),),
    ).fetchone()
    return BilledTokens(*row)


def prices_applied(connection: sqlite3.Connection, keys: Sequence[int]) -> list[AppliedPrice]:
    """The prices that were applied to the answers of executions, by model: those of the models that
    the answers name, or that the agent names after the `#` of its target or by its option `model`;
    without any name the price of every model, `*`."""
    rows = connection.execute(
        "WITH wanted AS (SELECT value AS key FROM json_each(?)),"
        " named AS (SELECT e.run_key, COALESCE(json_extract(a.answer, '$.model'),"
        "   json_extract(e.model_configuration, '$.options.model'),"
        "   NULLIF(substr(t.target, instr(t.target, '#') + 1), t.target), '*') AS model"
        "  FROM wanted w JOIN benchmark_executions e ON e.key=w.key"
        "  JOIN (SELECT key, json_extract(model_configuration, '$.target') AS target"
        "   FROM benchmark_executions) t ON t.key=e.key"
        "  JOIN answers a ON a.execution_key=e.key WHERE a.answer IS NOT NULL GROUP BY 1, 2)"
        " SELECT DISTINCT p.model, p.input_usd_per_mtok, p.output_usd_per_mtok,"
        " p.cached_input_usd_per_mtok, p.source FROM named n"
        " JOIN prices p ON p.run_key=n.run_key AND p.model=n.model ORDER BY p.model, p.source",
        (json.dumps([*keys]),),
    )
    return [*map(AppliedPrice._make, rows.fetchall())]


def hour_prices_of_run(connection: sqlite3.Connection, run_key: int) -> dict[str, float]:
    """Return USD per hour of each agent of a run that is paid by the hour."""
    rows = connection.execute(
        "SELECT DISTINCT agent_id, json_extract(model_configuration, '$.hourly_price_usd') AS usd"
        " FROM benchmark_executions WHERE run_key=? AND usd IS NOT NULL ORDER BY agent_id",
        (run_key,),
    )
    return dict(rows.fetchall())


def _hour_prices(connection: sqlite3.Connection, limit: int) -> list[HourPrice]:
    rows = connection.execute(
        "SELECT agent_id, json_extract(model_configuration, '$.hourly_price_usd') AS usd_per_hour,"
        " created_at AS applied_at, MAX(key) FROM benchmark_executions"
        " WHERE status='complete' GROUP BY agent_id HAVING usd_per_hour IS NOT NULL"
        " ORDER BY agent_id LIMIT ?",
        (limit,),
    )
    return [HourPrice(*tuple(row)[:-1]) for row in rows.fetchall()]
