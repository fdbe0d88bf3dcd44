"""Reads a stored episode of a market world.

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
from agentbench_tui.store.queries.episodes import (
    episode_at,
    episode_numbers,
    newest_market_run,
    stored_episodes,
)
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
    """One episode of a run, or the reason for its absence."""

    document: Document | None
    reason: str = ""
    number: int = 0
    """Index of this one among them, from 0."""
    episodes: int = 0
    run_id: str = ""
    agent: str = ""
    case_id: str = ""
    simulated: bool = False


def episode_of(
    connection: sqlite3.Connection, run_id: str | None = None, number: int = 0
) -> FoundEpisode:
    """Return an episode of a run (the latest by default), by index in commit order, modulo the
    number of episodes. Raises UsageError for an unknown run, StoreError for a damaged record.
    """
    run = find_run(connection, run_id or "latest")
    found = episode_numbers(connection, run["key"], SCHEMA, _MOST)
    if not found:
        return FoundEpisode(None, f"run {run['id']} {NO_EPISODE}")
    place = number % len(found)
    row = episode_at(connection, found[place])
    return FoundEpisode(
        whole(json.loads(row.data)),
        "",
        place,
        len(found),
        run["id"],
        row.agent_id,
        row.case_id,
        bool(row.simulated),
    )


def newest_with_episodes(connection: sqlite3.Connection) -> str | None:
    """Return the newest run whose plan has a market world; None if none of the latest
    hundreds has.
    """
    return newest_market_run(connection, _MOST_RUNS)


@dataclass(frozen=True, slots=True)
class Episode:
    """One complete episode of a run."""

    agent_id: str
    case_id: str
    repeat: int
    """Repeat number of this case and agent in the run, from 0."""
    simulated: bool
    document: Document


def episodes_of(connection: sqlite3.Connection, run_id: str) -> Iterator[Episode]:
    """Yield every episode of a run, by agent, case, repeat and pass."""
    run = find_run(connection, run_id)
    for row in stored_episodes(connection, run["key"], SCHEMA):
        yield Episode(
            row.agent_id,
            row.case_id,
            row.nth,
            bool(row.simulated),
            whole(json.loads(row.data)),
        )
