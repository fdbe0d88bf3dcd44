"""What happened in an episode, tick by tick: calls of the agent, and posts that it could see."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from agentbench_tui.presentation.numbers import count
from agentbench_tui.presentation.report import Column, Row, Section, Table

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from agentbench_tui.verdicts.runs.market_episode import PlayedEpisode

MOST_ROWS = 2_000
"""Rows of a table of events; the files next to the page have all of them."""
_CALLS = (
    Column("tick", "tick", count, right=True, names_row=True),
    Column("method", "method"),
    Column("arguments", "arguments"),
    Column("accepted", "accepted"),
    Column("result", "result"),
)
_EVENTS = (
    Column("tick", "tick", count, right=True, names_row=True),
    Column("where", "where"),
    Column("who", "who"),
    Column("what", "what"),
)
_Event = TypeVar("_Event")


class _Entry(NamedTuple):
    tick: int
    where: str
    who: str
    what: str


def calls_section(episode: PlayedEpisode) -> Section:
    """List every kept call in order, including refused ones; evenly spaced ones of a long game."""
    shown, note = _spread(episode.calls, "calls", "actions.csv")
    rows: list[Row] = [
        {
            "tick": one.tick,
            "method": one.method,
            "arguments": arguments_words(one.arguments),
            "accepted": "yes" if one.is_accepted else "no",
            "result": one.result,
        }
        for one in shown
    ]
    kept = _kept(len(episode.calls), episode.calls_made, "calls, evenly over the game,")
    return Section("", [Table(_CALLS, rows)] if rows else (), [*note, *kept])


def events_section(episode: PlayedEpisode) -> Section:
    """List posts, and the calls that may have changed something, by tick."""
    shown, note = _spread(_entries(episode), "events", "result.json")
    rows: list[Row] = [one._asdict() for one in shown]
    kept = _kept(len(episode.posts), episode.posts_heard, "posts and messages, the newest,")
    return Section("", [Table(_EVENTS, rows)] if rows else (), [*note, *kept])


def timeline_text(episode: PlayedEpisode) -> str:
    """Return the events of an episode as lines."""
    return "\n".join(
        f"tick {one.tick}  {one.where}  {one.who}: {one.what}" for one in _entries(episode)
    )


def _entries(episode: PlayedEpisode) -> list[_Entry]:
    found = [_Entry(one.tick, one.where, one.who, one.text) for one in episode.posts]
    found += [
        _Entry(
            one.tick,
            "call" if one.is_accepted else "refused call",
            episode.agent_id,
            f"{one.method} {arguments_words(one.arguments)}",
        )
        for one in episode.calls
        if one.is_change
    ]
    return sorted(found, key=lambda one: one.tick)


def _kept(kept: int, of: int, what: str) -> list[str]:
    """Say that the record has not all of them; nothing if it has."""
    return [f"{kept:,} of {of:,} {what} are kept."] if of > kept else []


def _spread(rows: Sequence[_Event], what: str, file: str) -> tuple[Sequence[_Event], list[str]]:
    """Return at most `MOST_ROWS`, evenly over the whole, and a note if some are excluded."""
    every = -(-len(rows) // MOST_ROWS)
    if every <= 1:
        return rows, []
    shown = rows[::every]
    note = f"{len(shown):,} of {len(rows):,} {what}, one in {every}; {file} has all of them."
    return shown, [note]


def arguments_words(arguments: Mapping[str, object]) -> str:
    """Return arguments as JSON with numbers of six digits; files next to the page have all."""
    return json.dumps(_short(arguments), ensure_ascii=False)


def _short(value: object) -> object:
    if isinstance(value, dict):
        return {name: _short(inner) for name, inner in value.items()}
    return float(f"{value:.6g}") if isinstance(value, float) else value
