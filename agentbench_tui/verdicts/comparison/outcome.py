"""Overall result of several verdicts about B: a winner needs one metric better and none worse.

It also must not look worse by more than the margin in an inconclusive metric: an agent that is
faster, and may be five times as expensive, has not won.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from agentbench_tui.verdicts.comparison.comparison import Comparison

Overall = Literal["better", "worse", "trade-off", "tie"]


@dataclass(frozen=True, slots=True)
class Outcome:
    """Number of metrics by verdict, without those that could not be compared."""

    better: int
    worse: int
    equivalent: int
    inconclusive: int
    seems_worse: int = 0
    """Number of inconclusive metrics whose estimate is worse by the margin or more."""
    seems_better: int = 0

    @property
    def verdict(self) -> Overall:
        """Return the overall verdict about B. A tie may still be open, see `is_settled`."""
        if self.better and self.worse:
            return "trade-off"
        if self.better:
            return "tie" if self.seems_worse else "better"
        return "worse" if self.worse and not self.seems_better else "tie"

    @property
    def is_settled(self) -> bool:
        """Return whether something was compared, and no metric is inconclusive."""
        return not self.inconclusive and bool(self.better + self.worse + self.equivalent)

    @property
    def is_no_worse(self) -> bool:
        """Return whether B is shown to be at least as good in every metric."""
        return self.is_settled and not self.worse

    @property
    def words(self) -> str:
        """Format the counts: `3 better, 1 inconclusive`."""
        counts = (
            (self.better, "better"),
            (self.worse, "worse"),
            (self.equivalent, "equivalent"),
            (self.inconclusive, "inconclusive"),
        )
        return ", ".join(f"{n} {name}" for n, name in counts if n) or "nothing could be compared"

    def swapped(self) -> Outcome:
        """Return the outcome from the viewpoint of A."""
        return Outcome(
            self.worse,
            self.better,
            self.equivalent,
            self.inconclusive,
            self.seems_better,
            self.seems_worse,
        )


def outcome(comparisons: Iterable[Comparison]) -> Outcome:
    """Count the verdicts of judged comparisons."""
    compared = [one for one in comparisons if one.comparable]
    said = Counter(one.verdict for one in compared)
    seems = Counter(leaning(one) for one in compared)
    return Outcome(
        said["better"],
        said["worse"],
        said["equivalent"],
        said["inconclusive"],
        seems["worse"],
        seems["better"],
    )


def leaning(one: Comparison) -> Literal["better", "worse"] | None:
    """Return the direction of an inconclusive metric whose estimate differs by the margin or
    more.
    """
    if one.verdict != "inconclusive" or not one.comparable or one.difference is None:
        return None
    if not _is_beyond_the_margin(one):
        return None
    is_more = one.difference > 0 if one.ratio is None else one.ratio > 1
    return "better" if is_more == (one.better == "higher") else "worse"


def _is_beyond_the_margin(one: Comparison) -> bool:
    if one.ratio is not None:
        return one.ratio <= 0 or abs(math.log(one.ratio)) >= math.log1p(one.margin)
    margin = one.margin
    if one.unit != "share":
        margin *= max(abs(one.a or 0.0), abs(one.b or 0.0))
    return one.difference is not None and one.difference != 0 and abs(one.difference) >= margin
