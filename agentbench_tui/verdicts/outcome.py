"""What several verdicts together say about B: a winner needs one metric better and none worse."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from agentbench_tui.verdicts.comparison import Comparison

Overall = Literal["better", "worse", "trade-off", "tie"]


@dataclass(frozen=True, slots=True)
class Outcome:
    """How many metrics say what, without those that could not be compared."""

    better: int
    worse: int
    equivalent: int
    inconclusive: int

    @property
    def verdict(self) -> Overall:
        """About B. A tie may still be open, see `is_settled`."""
        if self.better and self.worse:
            return "trade-off"
        if self.better:
            return "better"
        return "worse" if self.worse else "tie"

    @property
    def is_settled(self) -> bool:
        """Whether something was compared, and no metric is inconclusive."""
        return not self.inconclusive and bool(self.better + self.worse + self.equivalent)

    @property
    def is_no_worse(self) -> bool:
        """Whether B is shown to be at least as good in everything."""
        return self.is_settled and not self.worse

    @property
    def words(self) -> str:
        """The counts: `3 better, 1 inconclusive`."""
        counts = (
            (self.better, "better"),
            (self.worse, "worse"),
            (self.equivalent, "equivalent"),
            (self.inconclusive, "inconclusive"),
        )
        return ", ".join(f"{n} {name}" for n, name in counts if n) or "nothing could be compared"

    def swapped(self) -> Outcome:
        """The same about A."""
        return Outcome(self.worse, self.better, self.equivalent, self.inconclusive)


def outcome(comparisons: Iterable[Comparison]) -> Outcome:
    """Of judged comparisons."""
    said = Counter(one.verdict for one in comparisons if one.comparable)
    return Outcome(said["better"], said["worse"], said["equivalent"], said["inconclusive"])
