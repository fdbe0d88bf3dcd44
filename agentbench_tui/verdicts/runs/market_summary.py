"""Results of the agents of a run of market worlds, over their episodes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, stdev

from agentbench_tui.contracts.market import ForesightFacts, MarketAgentSummary, MetricMean
from agentbench_tui.model.outcome_foresight import Foresight, foresight
from agentbench_tui.verdicts.runs.market_episode import PlayedEpisode

_MOST_DRAWN = 4
"""Worlds whose episodes are kept to be drawn."""


@dataclass(frozen=True, slots=True)
class MarketResults:
    """The episodes of a run, and what they say about its agents."""

    agents: Sequence[MarketAgentSummary]
    episodes: Sequence[PlayedEpisode]
    """All of them, brief."""
    drawn: Mapping[str, Sequence[PlayedEpisode]]
    """First episode of each agent in the first worlds, by world, with equity and prices."""
    notes: Sequence[str]
    """Agents whose forecasts are right beyond chance, and notices of episodes."""


def market_results(episodes: Iterable[PlayedEpisode]) -> MarketResults:
    """Summarize the episodes of a run, one of which is in memory as a whole at a time."""
    briefs: list[PlayedEpisode] = []
    drawn: dict[str, dict[str, PlayedEpisode]] = {}
    for one in episodes:
        briefs.append(one.brief)
        if one.world in drawn or len(drawn) < _MOST_DRAWN:
            drawn.setdefault(one.world, {}).setdefault(one.agent_id, one.drawing)
    notices = dict.fromkeys(notice for one in briefs for notice in one.notices)
    return MarketResults(
        agent_summaries(briefs),
        briefs,
        {world: [*of_agents.values()] for world, of_agents in drawn.items()},
        [*called_out(briefs), *notices],
    )


def agent_summaries(episodes: Sequence[PlayedEpisode]) -> list[MarketAgentSummary]:
    """Return mean, standard deviation and number of each metric's values, by agent."""
    by_agent: dict[tuple[str, bool], list[PlayedEpisode]] = {}
    for one in episodes:
        by_agent.setdefault((one.agent_id, one.simulated), []).append(one)
    return [
        MarketAgentSummary(
            agent_id=agent_id,
            simulated=simulated,
            episodes=len(those),
            foresight=_foresight_facts(foresight_of(those)),
            metrics=_means(one.metrics for one in those),
        )
        for (agent_id, simulated), those in sorted(by_agent.items())
    ]


def _foresight_facts(found: Foresight) -> ForesightFacts:
    return ForesightFacts(
        forecast_markets=found.markets,
        log10_evidence=found.log10_evidence,
        is_beyond_chance=found.is_beyond_chance,
    )


def foresight_of(episodes: Sequence[PlayedEpisode]) -> Foresight:
    """Judge the forecasts of one agent."""
    ordered = sorted(episodes, key=lambda one: one.repeat)
    return foresight((one.record["world"], one.record["metrics"]) for one in ordered)


def called_out(episodes: Sequence[PlayedEpisode]) -> list[str]:
    """Return a sentence for each agent whose forecasts are right beyond chance; none for agents
    that are marked as simulated, such as the oracle.
    """
    by_agent: dict[str, list[PlayedEpisode]] = {}
    for one in episodes:
        if not one.simulated:
            by_agent.setdefault(one.agent_id, []).append(one)
    verdicts = ((agent, foresight_of(those)) for agent, those in sorted(by_agent.items()))
    return [verdict.sentence(agent) for agent, verdict in verdicts if verdict.is_beyond_chance]


def _means(of_episodes: Iterable[Mapping[str, object]]) -> dict[str, MetricMean]:
    values: dict[str, list[float]] = {}
    for metrics in of_episodes:
        for name, value in metrics.items():
            if isinstance(value, int | float) and not isinstance(value, bool):
                values.setdefault(name, []).append(float(value))
    return {
        name: MetricMean(
            mean=fmean(known), sd=stdev(known) if len(known) > 1 else None, n=len(known)
        )
        for name, known in values.items()
    }
