"""Decides from each episode's evidence whether an agent knew outcomes in advance."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

LEAST_EVIDENCE = 6.0
"""log10 of the wealth from which an agent is called out: without foreknowledge it is so with a
probability of at most 1e-6."""
Episodes = Iterable[tuple[Mapping[str, Any], Mapping[str, Any]]]
"""World and metrics of episodes."""


class Foresight(msgspec.Struct, frozen=True):
    """Evaluation of one agent's forecasts, over worlds that it played for the first time."""

    markets: int
    """Markets with a forecast."""
    log10_evidence: float
    """log10 of the wealth of a gambler who believes the forecasts, from 1; see
    `market.judging.foresight`. Without foreknowledge it reaches x with probability 10**-x at
    most."""

    @property
    def is_beyond_chance(self) -> bool:
        """Return whether the agent is flagged."""
        return self.log10_evidence >= LEAST_EVIDENCE

    def sentence(self, agent_id: str) -> str:
        """Return why the agent is flagged, in a sentence."""
        return (
            f"{agent_id}: its forecasts of {self.markets:,} markets are right beyond chance."
            " Without knowing outcomes the probability of that is at most"
            f" 10^-{int(self.log10_evidence)}; check how the agent learned them."
        )


def foresight(episodes: Episodes) -> Foresight:
    """Return the evaluation of an agent's episodes, in order of play.

    Only the first episode of each seed and salt counts. In a repeat an agent may remember outcomes;
    and worlds of one seed that differ in something else, such as their conditions, share them.
    """
    first: dict[tuple[Any, Any], Mapping[str, Any]] = {}
    for world, metrics in episodes:
        if "foresight_log10" in metrics:
            first.setdefault((world["seed"], world.get("salt_sha256", "")), metrics)
    return Foresight(
        sum(metrics["forecast_markets"] for metrics in first.values()),
        sum(metrics["foresight_log10"] for metrics in first.values()),
    )
