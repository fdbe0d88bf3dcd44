"""An episode of a market world as it was played, out of the store.

An episode is an answer whose `data` is a document with `"schema": "agentbench.episode/1"`. It has:

- `title`: of the world; `ticks`: how many; `tick_s`: seconds of the world's time that one takes;
- `instruments`: a list of `id`, `name`, `kind` (`market` or `perpetual`), `prices` (a number a
  tick, as it was at that tick's end; of a market from 0 to 1, of a perpetual in $), and of a market
  that was resolved `resolved_tick` and `outcome` (words);
- `equity`: in $, a number a tick;
- `holdings`: changes of positions in order of their ticks: `tick`, `instrument` (its id), `side`
  (`yes`, `no`, `long`, `short`), `amount` after the change (0: closed), `entry` (mean price);
- `said`: posts and messages in order: `tick`, `where` (`feed` or a chat's name), `who`, `text`;
  the newest of `heard`;
- `acts`: what the agent did in order, refused calls too: `tick`, `world_tick`, `method`,
  `arguments` (an object), `ok`, `result` (words): every `acts_every`-th of `calls`.

What is long lies in the answer as `market.packing` packs it, and is given here as it was; but
`trajectory`, where there is one, stays packed.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from agentbench_tui.market.packing import whole
from agentbench_tui.store.queries.runs import find_run

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterator

SCHEMA = "agentbench.episode/1"
NO_EPISODE = (
    "has no episode of a market world: only answers of benchmarks with `game: market` are episodes"
)
_MOST_RUNS = 300
_MOST = 10_000
"""Answers of a run that are looked through."""
Document = dict[str, Any]


@dataclass(frozen=True, slots=True)
class FoundEpisode:
    """One episode of a run, or the reason why there is none."""

    document: Document | None
    reason: str = ""
    number: int = 0
    """Of this one among them, from 0."""
    episodes: int = 0
    run_id: str = ""
    agent: str = ""
    case_id: str = ""
    simulated: bool = False


def episode_of(
    connection: sqlite3.Connection, run_id: str | None = None, number: int = 0
) -> FoundEpisode:
    """An episode of a run (the latest where none is given), counted in order of commit and round
    and round. Raises UsageError for a run that is not there, StoreError for a damaged record."""
    run = find_run(connection, run_id or "latest")
    found = connection.execute(
        "SELECT seq FROM (SELECT seq, answer FROM answers WHERE run_key=? ORDER BY seq LIMIT ?)"
        " WHERE json_extract(answer, '$.data.schema')=? ORDER BY seq",
        (run["key"], _MOST, SCHEMA),
    ).fetchall()
    if not found:
        return FoundEpisode(None, f"run {run['id']} {NO_EPISODE}")
    place = number % len(found)
    row = connection.execute(
        "SELECT json_extract(a.answer, '$.data') AS data, e.agent_id, e.simulated, c.case_id"
        " FROM answers a JOIN benchmark_executions e ON e.key=a.execution_key"
        " JOIN cases c ON c.key=a.case_key WHERE a.seq=?",
        (found[place]["seq"],),
    ).fetchone()
    return FoundEpisode(
        whole(json.loads(row["data"])),
        "",
        place,
        len(found),
        run["id"],
        row["agent_id"],
        row["case_id"],
        bool(row["simulated"]),
    )


def newest_with_episodes(connection: sqlite3.Connection) -> str | None:
    """The newest run whose plan has a market world; None when none of the last hundreds has."""
    found = connection.execute(
        "SELECT id FROM (SELECT key, id, plan FROM runs ORDER BY started_at DESC, key DESC LIMIT ?)"
        " WHERE EXISTS (SELECT 1 FROM json_each(plan, '$.groups') g"
        "  WHERE json_extract(g.value, '$.benchmark.game')='market') LIMIT 1",
        (_MOST_RUNS,),
    ).fetchone()
    return None if found is None else str(found[0])


@dataclass(frozen=True, slots=True)
class Episode:
    """One episode of a run, whole."""

    agent_id: str
    case_id: str
    repeat: int
    """Of the case and agent among the run's, from 0."""
    simulated: bool
    document: Document


def episodes_of(connection: sqlite3.Connection, run_id: str) -> Iterator[Episode]:
    """Every episode of a run, by agent, case, repeat and pass."""
    run = find_run(connection, run_id)
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
        (run["key"], SCHEMA),
    )
    for row in rows:
        yield Episode(
            row["agent_id"],
            row["case_id"],
            row["nth"],
            bool(row["simulated"]),
            whole(json.loads(row["data"])),
        )
