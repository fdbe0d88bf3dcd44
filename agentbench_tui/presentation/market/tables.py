"""Tables on market worlds: agents by their means, worlds, episodes, and metrics of one episode."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from agentbench_tui.model.figures.market_metrics import MARKET_METRICS
from agentbench_tui.model.text.plain_number import counted
from agentbench_tui.presentation.numbers import (
    MISSING,
    count,
    decimals,
    from_one,
    money,
    percent,
    precise,
)
from agentbench_tui.presentation.report import Column, Row, Table
from agentbench_tui.presentation.run import filled

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from agentbench_tui.contracts.market import MarketAgentSummary
    from agentbench_tui.verdicts.runs.market_episode import PlayedEpisode

MOST_EPISODES = 500
"""Rows of a table of episodes; `comparison.csv` and JSON have all."""
EXPLANATION = (
    "P&L: profit or loss in USD. of fair: the share of what was attainable with fair values, in "
    "which luck counts neither way; the agents are listed by it. of oracle: the share of the "
    "profit of the oracle, which knows everything that will happen. Means over episodes. The score "
    "of an episode is its share of fair cut to 0 and 1, so that the leaderboard can differ."
)
SIMULATED = "* simulated: the oracle knows the truth and is listed last."

_RATIO = decimals(3)
_ALL = (
    Column("total_pnl", "P&L", money, right=True),
    Column("optimality_fair", "of fair", _RATIO, right=True),
    Column("optimality", "of oracle", _RATIO, right=True),
    Column("prediction_accuracy", "prediction accuracy", percent, right=True),
    Column("perp_win_rate", "perp wins", percent, right=True),
    Column("brier", "Brier", _RATIO, right=True),
    Column("max_drawdown", "drawdown", percent, right=True),
)
_OF_AGENTS = (
    Column("agent", "agent", names_row=True),
    Column("episodes", "episodes", count, right=True),
    *_ALL,
    Column("timeouts", "late turns", decimals(1), right=True),
    Column("invalid_calls", "refused calls", decimals(1), right=True),
)
_OF_EPISODES = (
    Column("agent", "agent", names_row=True),
    Column("world", "world", names_row=True),
    Column("repeat", "repeat", right=True),
    *_ALL[:-2],
)
_OF_WORLDS = (
    Column("world", "world", names_row=True),
    Column("title", "made of"),
    Column("id", "id"),
)
_OF_METRICS = (
    Column("metric", "metric", names_row=True),
    Column("value", "value", right=True),
    Column("unit", "unit"),
    Column("reason", "why it is missing"),
)
PAGES = {"summary.html": "summary", "detailed.html": "calls", "timeline.html": "timeline"}
"""Files of the pages of an episode, and how links name them."""


def best_first(summaries: Sequence[MarketAgentSummary]) -> list[MarketAgentSummary]:
    """Return the agents by their share of what was attainable, simulated ones last."""
    return sorted(summaries, key=_rank)


def agents_table(summaries: Sequence[MarketAgentSummary]) -> Table:
    """Return one row per agent with its means, in the order of `best_first`."""
    rows: list[Row] = [
        {
            "agent": _starred(one),
            "episodes": one.episodes,
            **{column.key: one.mean(column.key) for column in _OF_AGENTS[2:]},
        }
        for one in best_first(summaries)
    ]
    return Table(_OF_AGENTS, rows)


def agents_notes(summaries: Sequence[MarketAgentSummary]) -> list[str]:
    """Say what the columns of `agents_table` mean."""
    return [EXPLANATION, *([SIMULATED] if any(one.simulated for one in summaries) else ())]


def _rank(one: MarketAgentSummary) -> tuple[bool, float]:
    fair = one.mean("optimality_fair")
    return one.simulated, math.inf if fair is None else -fair


def _starred(one: MarketAgentSummary | PlayedEpisode) -> str:
    return f"{one.agent_id}{' *' if one.simulated else ''}"


def worlds_table(episodes: Sequence[PlayedEpisode]) -> Table:
    """Return one row per world that was played."""
    worlds = {one.world: one for one in episodes}
    rows: list[Row] = [
        {"world": name, "title": one.title, "id": one.world_id} for name, one in worlds.items()
    ]
    return Table(_OF_WORLDS, rows)


def episodes_table(
    episodes: Sequence[PlayedEpisode], place: Callable[[PlayedEpisode], str] | None = None
) -> Table:
    """Return one row per episode; `place` is the folder of its pages, with a slash at the end."""
    rows: list[Row] = []
    for one in episodes[:MOST_EPISODES]:
        figures = {column.key: one.metric(column.key) for column in _OF_EPISODES[3:]}
        names = {"agent": _starred(one), "world": one.world, "repeat": from_one(one.repeat)}
        links = {} if place is None else {
            words: words for words in PAGES.values()
        } | {f"to {words}": f"{place(one)}{file}" for file, words in PAGES.items()}  # fmt: skip
        rows.append(names | figures | links)
    linked = [Column(words, words, link=f"to {words}") for words in PAGES.values()]
    return Table([*_OF_EPISODES, *(linked if place is not None else ())], rows)


def episodes_notes(episodes: Sequence[PlayedEpisode]) -> list[str]:
    """Say which episodes a table leaves out; nothing if it has all."""
    if len(episodes) <= MOST_EPISODES:
        return []
    return [f"The first {MOST_EPISODES:,} of {counted(len(episodes), 'episode')}."]


def metrics_of_agents(summaries: Sequence[MarketAgentSummary]) -> Table:
    """Return one row per metric, with the mean of each agent."""
    names = [name for name in MARKET_METRICS if any(name in one.metrics for one in summaries)]
    columns = [
        Column("metric", "metric", names_row=True),
        Column("unit", "unit"),
        *(Column(str(place), _starred(one), precise, right=True)
          for place, one in enumerate(summaries)),
    ]  # fmt: skip
    rows: list[Row] = [
        {"metric": name, "unit": unit_of(name)}
        | {str(place): one.mean(name) for place, one in enumerate(summaries)}
        for name in names
    ]
    return Table(columns, rows)


def metrics_table(episode: PlayedEpisode) -> Table:
    """Return every metric of an episode, and why one is missing."""
    rows: list[Row] = [
        {
            "metric": name,
            "value": _value(value),
            "unit": unit_of(name),
            "reason": episode.missing.get(name, ""),
        }
        for name, value in episode.metrics.items()
    ]
    return Table(filled(_OF_METRICS, rows), rows)


def _value(value: object) -> str:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return MISSING if value is None else str(value)
    return f"{value:,}" if isinstance(value, int) else precise(value)


def unit_of(name: str) -> str:
    """Return the unit of a metric, or of a part of one; empty without a unit."""
    base, _, _ = name.partition(".")
    if base in MARKET_METRICS:
        return MARKET_METRICS[base].unit
    if base.endswith(("_pnl", "_usd")) or base == "funding":
        return "USD"
    if base.endswith("_tokens"):
        return "tokens"
    return "ms" if base.endswith("_ms") else ""
