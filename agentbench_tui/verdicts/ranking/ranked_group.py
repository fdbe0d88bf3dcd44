"""What a ranking gives: groups that were ranked together, and who could not be ranked."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from agentbench_tui.analysis.sample import Floats, Integers
    from agentbench_tui.verdicts.ranking.scorecard import Scorecard
    from agentbench_tui.verdicts.ranking.standing import Standings

Way = Literal["cases", "repeats", "scores"]


@dataclass(frozen=True, slots=True)
class Ranked:
    """Contenders that were ranked together."""

    cards: list[Scorecard]
    standings: Standings
    way: Way
    metric: str
    """What decided: `accuracy` also for `overall`, where nothing else counts for it."""
    shared: Integers
    """Cases that all were measured on, or places where not cases were ranked."""
    measured: int
    """What any of them was measured on, shared or not."""
    places: Integers
    """Where the cases are from."""
    table: Floats | None = None
    """Where means of cases were ranked, float64[members, cases]: the mean of each."""
    clusters: Integers | None = None
    """Of these cases, what is independent."""
    cases: Integers | None = None
    """Where repeats were ranked by what single answers took: the cases that all answered."""
    cases_measured: int = 0
    """Of these, what any of them answered."""
    several_runs: bool = False
    """Whether the machine has a say in the metric and they were not all measured in the same runs:
    then the between-run variance is assumed."""


@dataclass(frozen=True, slots=True)
class NotRanked:
    """A contender without a place."""

    card: Scorecard
    reason: str = ""
    """Empty where it has no value of what ranks."""


Rankings = tuple[list[Ranked], list[NotRanked]]
"""The groups, the largest first, and who cannot be ranked at all."""
