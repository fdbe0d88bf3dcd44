"""The chapter of a run's report on its market worlds."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agentbench_tui.model.text.plain_number import counted
from agentbench_tui.presentation.full_report.parts import Chapter
from agentbench_tui.presentation.market.charts import equity_chart, price_charts
from agentbench_tui.presentation.market.tables import (
    agents_notes,
    agents_table,
    best_first,
    episodes_notes,
    episodes_table,
    metrics_of_agents,
    worlds_table,
)
from agentbench_tui.presentation.report import Section

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from agentbench_tui.presentation.charts import Chart
    from agentbench_tui.verdicts.runs.market_episode import PlayedEpisode
    from agentbench_tui.verdicts.runs.market_summary import MarketResults

ANCHOR = "market"


def market_chapter(
    found: MarketResults, place: Callable[[PlayedEpisode], str] | None = None
) -> Chapter:
    """Show the agents by their means, each drawn world, and every episode.

    `place`: folder of the pages of an episode, with a slash at the end; None if there are none.
    """
    if not found.episodes:
        return Chapter(ANCHOR, "Market", ())
    order = [one.agent_id for one in best_first(found.agents)]
    sections = [
        Section(
            "Agents", [agents_table(found.agents)], [*found.notes, *agents_notes(found.agents)]
        ),
        *_worlds(found, order),
        Section("Worlds", [worlds_table(found.episodes)]),
        Section(
            "Episodes", [episodes_table(found.episodes, place)], episodes_notes(found.episodes)
        ),
        Section("All metrics, means over episodes", [metrics_of_agents(found.agents)]),
    ]
    return Chapter(ANCHOR, "Market", sections)


def _worlds(found: MarketResults, order: Sequence[str]) -> list[Section]:
    """Draw the first repeat of each agent in the first worlds."""
    sections = []
    for world, episodes in found.drawn.items():
        ordered = sorted(episodes, key=lambda one: order.index(one.agent_id))
        charts: list[Chart] = [*price_charts(ordered[0])]
        equity = equity_chart(ordered)
        if equity is not None:
            charts.insert(0, equity)
        prices = f"Prices are those that {ordered[0].agent_id} met; orders of an agent move them."
        first = "Equity is that of the first episode of each agent in this world."
        sections.append(Section(f"{world}: {ordered[0].title}", (), [first, prices], charts))
    worlds = len({one.world for one in found.episodes})
    if worlds > len(found.drawn):
        drawn, all_worlds = len(found.drawn), counted(worlds, "world")
        sections.append(Section(sentences=[f"The first {drawn} of {all_worlds} are drawn."]))
    return sections
