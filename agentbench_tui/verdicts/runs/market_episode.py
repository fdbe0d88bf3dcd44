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
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

from agentbench_tui.market.packing import whole
from agentbench_tui.store.queries.episodes import (
    episode_at,
    episode_numbers,
    episode_of_answer,
    newest_market_run,
    stored_episodes,
)
from agentbench_tui.store.queries.runs import find_run

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterator

    from agentbench_tui.store.queries.episodes import StoredEpisode

SCHEMA = "agentbench.episode/1"
NO_EPISODE = (
    "has no episode of a market world: only answers of benchmarks with `game: market` are episodes"
)
_MOST_RUNS = 300
_MOST = 10_000
"""Answers of a run that are looked through."""
_OF_BRIEF = ("title", "world", "metrics", "missing", "notices", "knows_outcomes")
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


class Instrument(NamedTuple):
    """One market or perpetual of an episode."""

    name: str
    kind: str
    """`market` or `perpetual`."""
    prices: Sequence[float]
    """One per kept tick."""


class Call(NamedTuple):
    """One call of the agent."""

    tick: int
    """Of the world."""
    method: str
    arguments: Mapping[str, object]
    is_accepted: bool
    result: str
    is_change: bool
    """Whether it may have changed the state of the market."""


class Post(NamedTuple):
    """A post of the feed, or a message of a chat."""

    tick: int
    """Of the world."""
    where: str
    who: str
    text: str


@dataclass(frozen=True, slots=True)
class PlayedEpisode:
    """One complete episode of a run."""

    agent_id: str
    world: str
    """Id of the case."""
    repeat: int
    """Repeat number of this case and agent in the run, from 0; passes of one repeat continue it."""
    simulated: bool
    record: Mapping[str, Any]
    """The document that this module describes, and its `metrics`."""

    @property
    def title(self) -> str:
        """Name of the world."""
        return str(self.record.get("title", self.world))

    @property
    def world_id(self) -> str:
        """Id of the world, which its configuration determines."""
        return str(self.record["world"].get("id", ""))

    @property
    def metrics(self) -> dict[str, object]:
        """All metrics by name; those that have parts have names with dots: `response_ms.p50`."""
        return flat(self.record["metrics"])

    def metric(self, name: str) -> float | None:
        """Return the value of a metric; None if it has none or is no number."""
        value = self.metrics.get(name)
        return float(value) if isinstance(value, int | float) else None

    @property
    def missing(self) -> Mapping[str, str]:
        """Why metrics have no value, by name."""
        return self.record.get("missing") or {}

    @property
    def notices(self) -> Sequence[str]:
        """What its reader has to know."""
        return tuple(self.record.get("notices", ()))

    @property
    def knows_outcomes(self) -> bool:
        """Whether the agent was given the truth, so that nothing should be trained on it."""
        return bool(self.record.get("knows_outcomes", self.simulated))

    @property
    def equity(self) -> Sequence[float]:
        """In USD, one per kept tick."""
        found: Sequence[float] = self.record.get("equity", ())
        return found

    @property
    def instruments(self) -> list[Instrument]:
        """What was traded in the world."""
        return [
            Instrument(str(one["name"]), str(one["kind"]), one["prices"])
            for one in self.record.get("instruments", ())
        ]

    @property
    def calls(self) -> list[Call]:
        """The kept calls in order, including refused ones."""
        return [
            Call(
                tick_of(act),
                str(act["method"]),
                act["arguments"],
                bool(act["ok"]),
                str(act["result"]),
                bool(act.get("changes", True)),
            )
            for act in self.record.get("acts", ())
        ]

    @property
    def calls_made(self) -> int:
        """All calls, of which every so many-th is kept."""
        return max(int(self.record.get("calls", 0)), len(self.record.get("acts", ())))

    @property
    def posts(self) -> list[Post]:
        """The kept posts and messages in order: the newest of those the agent could see."""
        return [
            Post(tick_of(one), str(one["where"]), str(one["who"]), str(one["text"]))
            for one in self.record.get("said", ())
        ]

    @property
    def posts_heard(self) -> int:
        """All posts and messages."""
        return max(int(self.record.get("heard", 0)), len(self.record.get("said", ())))

    def world_ticks(self, count: int) -> list[float]:
        """Return the world's tick of each of `count` kept ticks."""
        config = self.record.get("world", {})
        if "interval_ms" not in config:
            return [*map(float, range(count))]
        step = max(1, round(self.record["tick_s"] * 1000 / config["interval_ms"]))
        end = config["duration_s"] * 1000 // config["interval_ms"]
        return [float(min(place * step, end)) for place in range(count)]

    @property
    def brief(self) -> PlayedEpisode:
        """The episode without what happened tick by tick: what all episodes together need."""
        return self._only(_OF_BRIEF)

    @property
    def drawing(self) -> PlayedEpisode:
        """The episode with what charts of it need, and without calls and posts."""
        return self._only((*_OF_BRIEF, "tick_s", "equity", "instruments"))

    def _only(self, names: Sequence[str]) -> PlayedEpisode:
        kept = {name: self.record[name] for name in names if name in self.record}
        return replace(self, record=kept)


def flat(metrics: Mapping[str, object]) -> dict[str, object]:
    """Flatten tables to names with dots."""
    found: dict[str, object] = {}
    for name, value in metrics.items():
        if isinstance(value, Mapping):
            found |= {f"{name}.{part}": inner for part, inner in value.items()}
        else:
            found[name] = value
    return found


def tick_of(event: Mapping[str, Any]) -> int:
    """Return the world's tick of an action or post, at least the mark at which it is listed."""
    return int(event.get("world_tick", event["tick"]))


def episode_behind(
    connection: sqlite3.Connection, place: tuple[int, int, int, int]
) -> PlayedEpisode | None:
    """Return the episode of one answer; None if the answer is none.

    `place`: keys of execution and case, repeat, iteration.
    """
    row = episode_of_answer(connection, place, SCHEMA)
    return None if row is None else _episode(row)


def episodes_of(connection: sqlite3.Connection, run_id: str) -> Iterator[PlayedEpisode]:
    """Yield every episode of a run, by agent, case, repeat and pass."""
    run = find_run(connection, run_id)
    for row in stored_episodes(connection, run["key"], SCHEMA):
        yield _episode(row)


def _episode(row: StoredEpisode) -> PlayedEpisode:
    record = whole(json.loads(row.data))
    return PlayedEpisode(row.agent_id, row.case_id, row.nth, bool(row.simulated), record)
