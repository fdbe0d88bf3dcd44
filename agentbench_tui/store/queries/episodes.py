"""Queries on runs of games: whether there is nothing else, profits of episodes, secret salts."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import sqlite3


def plays_games_only(connection: sqlite3.Connection, run_key: int) -> bool:
    """Whether every benchmark of the run's plan is a game."""
    games, others = connection.execute(
        "SELECT COALESCE(SUM(json_extract(g.value, '$.benchmark.game') IS NOT NULL), 0),"
        " COALESCE(SUM(json_extract(g.value, '$.benchmark.game') IS NULL), 0)"
        " FROM runs r, json_each(r.plan, '$.groups') g WHERE r.key=?",
        (run_key,),
    ).fetchone()
    return bool(games) and not others


def episode_profits(connection: sqlite3.Connection, run_key: int, after: int) -> list[sqlite3.Row]:
    """`seq`, `execution_key`, `case_key` and `pnl` in dollars (NULL for an answer that is no
    episode) of each answer without a failure that was committed after number `after`."""
    return connection.execute(
        "SELECT seq, execution_key, case_key,"
        " json_extract(answer, '$.data.metrics.total_pnl') AS pnl"
        " FROM answers WHERE run_key=? AND seq>? AND failure_kind IS NULL ORDER BY seq",
        (run_key, after),
    ).fetchall()


def has_salt(connection: sqlite3.Connection, run_id: str) -> bool:
    """Whether cases of the run hold a secret salt, which agents must not get."""
    row = connection.execute(
        "SELECT EXISTS (SELECT 1 FROM runs r JOIN benchmark_executions e ON e.run_key=r.key"
        " JOIN cases c ON c.dataset_key=e.dataset_key"
        " WHERE r.id=? AND json_type(c.body, '$.input.salt')='text'"
        " AND json_extract(c.body, '$.input.salt')!='' LIMIT 1)",
        (run_id,),
    ).fetchone()
    return bool(row[0])
