"""One window with a failure in its middle: its losses, and the recovery time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import msgspec
import numpy as np

from agentbench_tui.analysis.load.resilience import IN_A_ROW
from agentbench_tui.stress.score import recovered, score_of_pieces

if TYPE_CHECKING:
    from collections.abc import Sequence

    from agentbench_tui.analysis.load.level_verdict import Flags
    from agentbench_tui.analysis.sample import Floats
    from agentbench_tui.stress.report import RecoveryFacts, ScoreFacts
    from agentbench_tui.stress.stand.measured import Measured
    from agentbench_tui.stress.stand.normal import Normal

LEAD_PIECES = 3
LEAST_AFTER_PIECES = IN_A_ROW + 3
"""Minimum number of pieces afterwards to decide whether it recovers."""


@dataclass(frozen=True, slots=True)
class Timeline:
    """A window in pieces of equal length: before, during and after a failure."""

    piece_s: float
    during: int
    after: int

    @classmethod
    def of(cls, failure_s: float, watched_s: float, piece_s: float) -> Timeline:
        """Return the window in whole pieces.

        The time afterwards is long enough to observe a recovery within the allowed time, or within
        the length of the failure: with half of its capacity free, the target needs about that long
        to work off its queue.
        """
        during = max(1, round(failure_s / piece_s))
        after = max(during, round(watched_s / piece_s)) + IN_A_ROW
        return cls(piece_s, during, max(LEAST_AFTER_PIECES, after))

    @property
    def begins_s(self) -> float:
        return LEAD_PIECES * self.piece_s

    @property
    def ends_s(self) -> float:
        return (LEAD_PIECES + self.during) * self.piece_s

    @property
    def length_s(self) -> float:
        return (LEAD_PIECES + self.during + self.after) * self.piece_s


class Counted(NamedTuple):
    """Requests of a part of the window, and how many of them were unanswered."""

    requests: int
    failed: int


@dataclass(frozen=True)
class Outage:
    """A window with its failure."""

    name: str
    measured: Measured
    timeline: Timeline
    normal: Normal
    passes: bool
    """Whether requests could reach the target during the fault."""

    def pieces(self) -> tuple[Floats, Floats]:
        """Return good answers and requests per second for every piece that describes the target:
        from the start of the fault, or from its end if requests could not reach the target.
        """
        seconds = self.measured.seconds(self.normal.limit_p95_ms, self.timeline.piece_s)
        first = LEAD_PIECES + (0 if self.passes else self.timeline.during)
        return seconds.good[first:], seconds.offered[first:]

    def recovery(self) -> RecoveryFacts:
        """Return the recovery from the end of the fault, with the losses."""
        found = recovered(self.name, self.measured, self.normal, from_s=self.timeline.ends_s)
        return msgspec.structs.replace(found, words=f"{found.words}; {self._lost_words()}")

    @property
    def in_flight(self) -> Counted:
        """Return the requests sent before the failure and unanswered when it began."""
        due, end, begins_s = self.measured.due_s, self.measured.end_s, self.timeline.begins_s
        return self._count((due < begins_s) & ~(end <= begins_s))

    @property
    def during(self) -> Counted:
        """Return the requests due during the fault."""
        due = self.measured.due_s
        return self._count((due >= self.timeline.begins_s) & (due < self.timeline.ends_s))

    @property
    def afterwards(self) -> Counted:
        """Return the requests due after it."""
        return self._count(self.measured.due_s >= self.timeline.ends_s)

    @property
    def scored(self) -> Counted:
        """Return the requests of the pieces that describe the target."""
        if not self.passes:
            return self.afterwards
        return self._count(self.measured.due_s >= self.timeline.begins_s)

    def observations(self) -> dict[str, float | str | bool]:
        """Return the observations for the report, each under the name of the failure."""
        parts = {"in_flight": self.in_flight, "during": self.during, "after": self.afterwards}
        return {
            f"{self.name}_{part}_{figure}": value
            for part, counted in parts.items()
            for figure, value in counted._asdict().items()
        }

    def _count(self, chosen: Flags) -> Counted:
        return Counted(
            int(np.count_nonzero(chosen)), int(np.count_nonzero(chosen & ~self.measured.ok))
        )

    def _lost_words(self) -> str:
        parts = {
            "in flight at its beginning": self.in_flight,
            "during it": self.during,
            "after it": self.afterwards,
        }
        return "failed: " + ", ".join(
            f"{counted.failed:,} of {counted.requests:,} {where}"
            for where, counted in parts.items()
        )


def score_of_outages(outages: Sequence[Outage]) -> ScoreFacts | None:
    """Return the score over the pieces of all outages of one target; None if nothing could reach
    it.
    """
    return score_of_pieces([outage.pieces() for outage in outages], outages[0].normal)
