"""Payments of one contender for each answer with known cost and correctness."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from agentbench_tui.analysis.sample import mean_by
from agentbench_tui.verdicts.cost.cost import Spending, spending

if TYPE_CHECKING:
    from agentbench_tui.analysis.sample import Floats, Integers
    from agentbench_tui.verdicts.ranking.scorecard import Scorecard


@dataclass(frozen=True, slots=True)
class Ledger:
    """Columns over answers to cases whose cost and correctness are known."""

    card: Scorecard
    case: Integers
    cluster: Integers
    place: Integers
    usd: Floats
    right: Floats
    seconds: Floats
    """End-to-end seconds; NaN for unanswered cases and recorded answers."""
    hourly: frozenset[int]
    """Places paid for by the hour."""
    unknown: dict[int, str]
    """Places left out, and why."""

    def only(self, cases: Integers) -> Ledger:
        """Return the payments for these cases."""
        return self._where(np.isin(self.case, cases))

    def by_place(self) -> dict[int, Ledger]:
        """Return the payments at each place."""
        return {int(one): self._where(self.place == one) for one in np.unique(self.place)}

    def _where(self, kept: NDArray[np.bool_]) -> Ledger:
        return replace(
            self,
            case=self.case[kept],
            cluster=self.cluster[kept],
            place=self.place[kept],
            usd=self.usd[kept],
            right=self.right[kept],
            seconds=self.seconds[kept],
        )

    def by_case(self, values: Floats) -> tuple[Integers, Floats]:
        """Return cases in order, with the mean over their answers."""
        return mean_by(self.case, values)

    def clusters_of(self, cases: Integers) -> Integers:
        """Return the independent units of cases, all of which are included."""
        known, first = np.unique(self.case, return_index=True)
        return self.cluster[first[np.searchsorted(known, cases)]]

    @property
    def is_hourly(self) -> bool:
        """Return whether part of it is paid by the hour."""
        return any(int(place) in self.hourly for place in np.unique(self.place))

    def spending(self) -> Spending:
        return Spending(self.usd, self.right, self.cluster, self.case, self.is_hourly)

    def spent_on_wrong(self) -> float | None:
        """Return the share of the cost of answers that were not right; None if nothing was paid."""
        total = float(self.usd.sum())
        return float((self.usd * (1 - self.right)).sum()) / total if total > 0 else None


def ledger_of(card: Scorecard) -> Ledger:
    """Return everything known about a contender's costs."""
    unknown: dict[int, str] = {}
    hourly = set()
    kept = np.zeros(len(card.case), bool)
    usd, right = np.full(len(card.case), np.nan), np.full(len(card.case), np.nan)
    for place in sorted(card.evidence):
        here = card.place == place
        found = spending(card, np.unique(card.case[here]))
        if isinstance(found, str):
            unknown[place] = found
            continue
        usd[here], right[here] = found.usd, found.right
        kept |= here
        if found.by_the_hour:
            hourly.add(place)
    return Ledger(
        card,
        card.case[kept],
        card.cluster[kept],
        card.place[kept],
        usd[kept],
        right[kept],
        card.column("e2e_ms")[kept] / 1000,
        frozenset(hourly),
        unknown,
    )
