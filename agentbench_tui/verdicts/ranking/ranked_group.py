"""Result of a ranking: groups that were ranked together, and contenders that could not be
ranked.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import msgspec

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
    """The metric that decided: `accuracy` also for `overall`, if nothing else counts toward it."""
    shared: Integers
    """Cases that all were measured on, or places if cases were not ranked."""
    measured: int
    """Number of units that any of them was measured on, shared or not."""
    places: Integers
    """Places of the cases."""
    table: Floats | None = None
    """Mean of each case, float64[members, cases], if means of cases were ranked."""
    clusters: Integers | None = None
    """Independent units of these cases."""
    cases: Integers | None = None
    """Cases that all answered, if repeats were ranked by values of single answers."""
    cases_measured: int = 0
    """Number of them that any contender answered."""
    several_runs: bool = False
    """Whether the machine has a say in the metric and they were not all measured in the same runs:
    then the between-run variance is assumed."""


class NotRanked(msgspec.Struct, frozen=True):
    """A contender without a rank."""

    card: Scorecard
    reason: str = ""
    """Reason for a missing value of the metric; otherwise empty."""


Rankings = tuple[list[Ranked], list[NotRanked]]
"""The groups, the largest first, and the contenders that cannot be ranked."""
