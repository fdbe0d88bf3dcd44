"""Costs of a contender: per task, per success, and successes per dollar."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from agentbench_tui.analysis.boards.cost_efficiency import CostFigures, cost_figures
from agentbench_tui.contracts.cost import CostPerOutcome
from agentbench_tui.contracts.document import finite
from agentbench_tui.contracts.leaderboard import FigureWithReason
from agentbench_tui.verdicts.evidence.task_evidence import COST

if TYPE_CHECKING:
    from agentbench_tui.analysis.intervals.estimate import Estimate
    from agentbench_tui.analysis.sample import Floats, Integers
    from agentbench_tui.verdicts.ranking.scorecard import Scorecard

SUCCESS = "correct_share"
UNKNOWN = "what its answers cost is not known"
NOT_JUDGED = ("nothing of it is called right or wrong", "no answer is called right or wrong")
"""Reasons if no answer, or only some answers, can be judged right or wrong."""
BY_THE_HOUR = "the price of an hour is shared out evenly: luck of whole repeats is not in it"


@dataclass(frozen=True, slots=True)
class Spending:
    """Cost and success of each observation of one contender."""

    usd: Floats
    right: Floats
    unit: Integers
    """Independent unit: the case or its cluster."""
    case: Integers
    by_the_hour: bool
    """Whether costs are known only for whole repeats, and are shared evenly over their cases."""

    def figures(self) -> CostFigures:
        return cost_figures(self.usd, self.right, self.unit)


def spending(card: Scorecard, cases: Integers | None = None) -> Spending | str:
    """Return the cost of the answers to some cases (None for all), or why it is unknown."""
    right = card.column(SUCCESS)
    usd = card.column(COST)
    by_the_hour = False
    kept = np.ones(len(right), bool) if cases is None else np.isin(card.case, cases)
    if not kept.any():
        return NOT_JUDGED[0]
    if np.isnan(usd[kept]).any():
        usd, by_the_hour = _shared_out(card, usd), True
        if np.isnan(usd[kept]).any():
            return _unknown_words(card, kept)
    if np.isnan(right[kept]).any():
        return NOT_JUDGED[1]
    return Spending(usd[kept], right[kept], card.cluster[kept], card.case[kept], by_the_hour)


def _unknown_words(card: Scorecard, kept: NDArray[np.bool_]) -> str:
    """Return how many of these answers have no known cost; `UNKNOWN` if none has one."""
    answered = kept & (card.column("reliability") > 0)
    lacking = int((answered & np.isnan(card.column(COST))).sum())
    asked = int(answered.sum())
    if lacking == asked:
        return UNKNOWN
    return f"the cost of {lacking:,} of {asked:,} answers is not known"


def _shared_out(card: Scorecard, usd: Floats) -> Floats:
    """Share the costs of whole repeats evenly over the questions asked in them."""
    filled = usd.copy()
    for place, samples in card.samples(COST).items():
        here = card.place == place
        repeats = np.unique(card.repeat[here])
        if np.isnan(usd[here]).any() and len(samples) == len(repeats):
            filled[here] = samples[np.searchsorted(repeats, card.repeat[here])]
    return filled


def figure_of(found: Estimate | None, reason: str = "") -> FigureWithReason:
    """Return a figure with its interval; infinite or unknown values are None, with the reason."""
    if found is None:
        return FigureWithReason(value=None, low=None, high=None, reason=reason)
    return FigureWithReason(
        value=finite(found.value),
        low=finite(found.low),
        high=finite(found.high),
        reason=found.reason or reason,
    )


def cost_per_outcome(found: Spending | str) -> CostPerOutcome:
    """Return cost per task and per success, and successes per dollar, of a contender."""
    if isinstance(found, str):
        nothing = figure_of(None, found)
        return CostPerOutcome(
            cost_usd_per_task=nothing, cost_usd_per_success=nothing, successes_per_usd=nothing
        )
    figures = found.figures()

    def shown(one: Estimate) -> FigureWithReason:
        if found.by_the_hour:
            # an interval over cases would leave out what costs differ by from repeat to repeat
            one = replace(one, low=None, high=None, reason=BY_THE_HOUR)
        return figure_of(one)

    return CostPerOutcome(
        cost_usd_per_task=shown(figures.per_task),
        cost_usd_per_success=shown(figures.per_success),
        successes_per_usd=shown(figures.per_dollar),
    )
