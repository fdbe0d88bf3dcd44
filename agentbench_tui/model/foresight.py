"""From the evidence of each episode to the verdict that an agent knew outcomes beforehand."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

SURE = 0.99
"""A forecast at least this far to one side is sure."""
LEAST_EVIDENCE = 6.0
"""log10 of the e-value from which an agent is called out: without foreknowledge it is so with a
probability of at most 1e-6."""


@dataclass(frozen=True, slots=True)
class Foresight:
    """What the sure forecasts of one agent say, over worlds that it played for the first time."""

    sure: int
    """Markets with a sure forecast."""
    right: int
    """Those of them where the forecast came true."""
    log10_evidence: float
    """log10 of the e-value; without foreknowledge it reaches x with probability 10**-x at most."""

    @property
    def is_beyond_chance(self) -> bool:
        """Whether the agent is called out."""
        return self.log10_evidence >= LEAST_EVIDENCE

    def document(self) -> dict[str, Any]:
        """For scripts."""
        return {
            "sure_forecasts": self.sure,
            "sure_forecasts_right": self.right,
            "log10_evidence": self.log10_evidence,
            "is_beyond_chance": self.is_beyond_chance,
        }

    def sentence(self, agent_id: str) -> str:
        """Why the agent is called out."""
        return (
            f"{agent_id}: {self.right} of {self.sure} sure forecasts"
            f" (at least {100 * SURE:.0f} %) came true. Without knowing outcomes the probability of"
            f" that is at most 10^-{int(self.log10_evidence)}; check how the agent learned them."
        )


def foresight(episodes: Iterable[tuple[str, Mapping[str, Any]]]) -> Foresight:
    """The verdict from (id of the world, metrics) of an agent's episodes in order of play.

    Only the first episode of each world counts: in a repeat an agent may remember outcomes.
    """
    first: dict[str, Mapping[str, Any]] = {}
    for world, metrics in episodes:
        if "foresight_log10" in metrics:
            first.setdefault(world, metrics)
    return Foresight(
        sum(metrics["sure_forecasts"] for metrics in first.values()),
        sum(metrics["sure_forecasts_right"] for metrics in first.values()),
        sum(metrics["foresight_log10"] for metrics in first.values()),
    )
