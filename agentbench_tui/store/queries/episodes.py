"""Queries on runs of games: whether there is nothing else, profits of episodes, secret salts."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterator


class StoredEpisode(NamedTuple):
    """The record of one episode."""

    agent_id: str
    simulated: int
    case_id: str
    nth: int
    """Which of the episodes of its execution and case: 0 is the first."""
    data: str
    """JSON."""


def plays_games_only(connection: sqlite3.Connection, run_key: int) -> bool:
    """Return whether every benchmark of the run's plan is a game."""
    games, others = connection.execute(
        "SELECT COALESCE(SUM(json_extract(g.value, '$.benchmark.game') IS NOT NULL), 0),"
        " COALESCE(SUM(json_extract(g.value, '$.benchmark.game') IS NULL), 0)"
        " FROM runs r, json_each(r.plan, '$.groups') g WHERE r.key=?",
        (run_key,),
    ).fetchone()
    return bool(games) and not others


def plays_market(connection: sqlite3.Connection, run_key: int) -> bool:
    """Return whether a benchmark of the run's plan is played in market worlds."""
    row = connection.execute(
        "SELECT EXISTS (SELECT 1 FROM runs r, json_each(r.plan, '$.groups') g"
        " WHERE r.key=? AND json_extract(g.value, '$.benchmark.game')='market')",
        (run_key,),
    ).fetchone()
    return bool(row[0])


def episode_profits(
    connection: sqlite3.Connection, run_key: int, after: int, until: int
) -> list[sqlite3.Row]:
    """Return `execution_key`, `case_key` and `pnl` in dollars (NULL if not an episode) of each
    answer without a failure numbered above `after` and up to `until`.
    """
    return connection.execute(
        "SELECT execution_key, case_key, json_extract(answer, '$.data.metrics.total_pnl') AS pnl"
        " FROM answers WHERE run_key=? AND seq>? AND seq<=? AND failure_kind IS NULL ORDER BY seq",
        (run_key, after, until),
    ).fetchall()


def has_salt(connection: sqlite3.Connection, run_id: str) -> bool:
    """Return whether cases of the run hold a secret salt, which agents must not get."""
    row = connection.execute(
        "SELECT EXISTS (SELECT 1 FROM runs r JOIN benchmark_executions e ON e.run_key=r.key"
        " JOIN cases c ON c.dataset_key=e.dataset_key"
        " WHERE r.id=? AND json_type(c.body, '$.input.salt')='text'"
        " AND json_extract(c.body, '$.input.salt')!='' LIMIT 1)",
        (run_id,),
    ).fetchone()
    return bool(row[0])


def episode_numbers(
    connection: sqlite3.Connection, run_key: int, schema: str, limit: int
) -> list[int]:
    """Return numbers of the first answers of a run that are episodes of a schema, in commit
    order.
    """
    rows = connection.execute(
        "SELECT seq FROM (SELECT seq, answer FROM answers WHERE run_key=? ORDER BY seq LIMIT ?)"
        " WHERE json_extract(answer, '$.data.schema')=? ORDER BY seq",
        (run_key, limit, schema),
    )
    return [row[0] for row in rows.fetchall()]


def episode_at(connection: sqlite3.Connection, number: int) -> StoredEpisode:
    """Return the episode of an answer by its number; `nth` is unknown and 0."""
    row = connection.execute(
        "SELECT e.agent_id, e.simulated, c.case_id, 0, json_extract(a.answer, '$.data')"
        " FROM answers a JOIN benchmark_executions e ON e.key=a.execution_key"
        " JOIN cases c ON c.key=a.case_key WHERE a.seq=?",
        (number,),
    ).fetchone()
    return StoredEpisode(*row)


def episode_of_answer(
    connection: sqlite3.Connection, place: tuple[int, int, int, int], schema: str
) -> StoredEpisode | None:
    """Return the episode of one answer; None if the answer is none.

    `place`: keys of execution and case, repeat, iteration.
    """
    row = connection.execute(
        "SELECT e.agent_id, e.simulated, c.case_id, a.repeat, json_extract(a.answer, '$.data')"
        " FROM answers a JOIN benchmark_executions e ON e.key=a.execution_key"
        " JOIN cases c ON c.key=a.case_key WHERE a.execution_key=? AND a.case_key=?"
        " AND a.repeat=? AND a.iteration=? AND a.failure_kind IS NULL"
        " AND json_extract(a.answer, '$.data.schema')=?",
        (*place, schema),
    ).fetchone()
    return None if row is None else StoredEpisode(*row)


def stored_episodes(
    connection: sqlite3.Connection, run_key: int, schema: str
) -> Iterator[StoredEpisode]:
    """Yield every successful episode of a run, by agent, case, repeat and pass."""
    rows = connection.execute(
        "SELECT e.agent_id, e.simulated, c.case_id,"
        " ROW_NUMBER() OVER (PARTITION BY a.execution_key, a.case_key"
        "  ORDER BY a.repeat, a.iteration) - 1 AS nth,"
        " json_extract(a.answer, '$.data') AS data"
        " FROM answers a JOIN benchmark_executions e ON e.key=a.execution_key"
        " JOIN cases c ON c.key=a.case_key"
        " WHERE a.run_key=? AND a.failure_kind IS NULL"
        " AND json_extract(a.answer, '$.data.schema')=?"
        " ORDER BY e.agent_id, e.key, c.key, nth",
        (run_key, schema),
    )
    return map(StoredEpisode._make, rows)


def newest_market_run(connection: sqlite3.Connection, most_runs: int) -> str | None:
    """Return the id of the newest run whose plan has a market world; None if none of the newest
    `most_runs` has.
    """
    row = connection.execute(
        "SELECT id FROM (SELECT key, id, plan FROM runs ORDER BY started_at DESC, key DESC LIMIT ?)"
        " WHERE EXISTS (SELECT 1 FROM json_each(plan, '$.groups') g"
        "  WHERE json_extract(g.value, '$.benchmark.game')='market') LIMIT 1",
        (most_runs,),
    ).fetchone()
    return None if row is None else str(row[0])


class EpisodeMetrics(NamedTuple):
    """Metrics of a finished episode."""

    case_key: int
    metrics: str
    """JSON."""
    world: str
    """JSON."""
    repeat: int
    iteration: int


def episode_metrics(connection: sqlite3.Connection, execution_key: int) -> list[EpisodeMetrics]:
    """Return the metrics of the episodes of an execution, in commit order."""
    rows = connection.execute(
        "SELECT case_key, json_extract(answer, '$.data.metrics') AS metrics,"
        " json_extract(answer, '$.data.world') AS world, repeat, iteration FROM answers"
        " WHERE execution_key=? AND failure_kind IS NULL AND json_type(answer, '$.data.metrics')"
        " IS 'object' ORDER BY seq",
        (execution_key,),
    )
    return [*map(EpisodeMetrics._make, rows.fetchall())]


def metrics_of_counted(connection: sqlite3.Connection, execution_key: int) -> list[str | None]:
    """Return the metrics as JSON of each counted answer of an execution, in commit order; None if
    it is no episode. Failures of the grader and the harness do not count.
    """
    rows = connection.execute(
        "SELECT json_extract(answer, '$.data.metrics') FROM answers WHERE execution_key=?"
        " AND (failure_kind IS NULL OR failure_kind NOT IN ('grader', 'harness')) ORDER BY seq",
        (execution_key,),
    )
    return [row[0] for row in rows.fetchall()]
