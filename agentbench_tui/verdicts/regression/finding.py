"""Finding on one metric at one place: the verdict with its data."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from agentbench_tui.analysis.runs.severity import least_worsening, severity
from agentbench_tui.analysis.scale import Scale
from agentbench_tui.model.figures.metric import find_metric
from agentbench_tui.verdicts.regression.history import is_share

if TYPE_CHECKING:
    from agentbench_tui.analysis.runs.severity import Severity
    from agentbench_tui.analysis.runs.version_gate import VersionTest
    from agentbench_tui.verdicts.comparison.comparison import Comparison
    from agentbench_tui.verdicts.evidence.place import Place
    from agentbench_tui.verdicts.regression.history import Point
    from agentbench_tui.verdicts.regression.succession import Doubt

Verdict = Literal[
    "regression", "suspect", "improvement", "no change seen", "not enough data", "not comparable"
]
NO_RATIO = "a value of 0 has no ratio"
"""Why what changes by factors cannot be judged."""
UNDECIDED = ("not enough data", "not comparable")


def scale_of(metric: str) -> Scale:
    """Return the scale of the metric's changes: points for shares, factors for all others."""
    known = find_metric(metric)
    assert known is not None
    assert known.direction != "none"
    return Scale(known.direction, "points" if is_share(metric) else "ratio")


@dataclass(frozen=True, slots=True)
class Location:
    """Location of a change between the run before `first` and `last`; both ends included."""

    first: Point
    last: Point
    before: Point | None
    """The run before `first`."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One metric at one place; unknown numbers are None."""

    place: Place
    metric: str
    verdict: Verdict
    new: tuple[Point, ...]
    """The judged runs; for a history the newest one with those that it confirms, or the last 5."""
    old: tuple[Point, ...] = ()
    gate: Literal["versions", "history"] | None = None
    against: str = ""
    """What the new side was compared with, in words."""
    before: float | None = None
    now: float | None = None
    """Levels of both sides, in the metric's unit."""
    change: float | None = None
    """now / before, or now - before of shares."""
    low: float | None = None
    high: float | None = None
    """95% interval of the change."""
    p: float | None = None
    """Adjusted over the check if it is a test of versions."""
    margin: float = 0.0
    """The smallest change that matters: 0.05 is a factor of 1.05, or 5 points."""
    smallest: float | None = None
    """The worsening that would be detected with 80% power; on the scale of `margin`."""
    values: tuple[int, int] = (0, 0)
    """Values on the old and the new side: runs, repeats, or cases."""
    unit_of_values: Literal["runs", "repeats", "cases"] = "runs"
    location: Location | None = None
    reason: str = ""
    """Why there is no verdict, or a remark."""
    notes: tuple[str, ...] = ()
    doubt: Doubt = ""
    """What the newest run alone implies for the verdict on all runs of its version."""
    is_total: bool = False
    """All is lost, or won: one side is 0, and what changes by factors has no interval."""
    test: VersionTest | None = None
    """Test of the versions, to be decided together with the rest of the check."""
    compared: Comparison | None = None
    """The comparison case by case behind the verdict, if the metric is a share of the answers; for
    versions it is decided together with the rest of the check.
    """

    @property
    def scale(self) -> Scale:
        return scale_of(self.metric)

    @property
    def tested_p(self) -> float | None:
        """Return the unadjusted p of the test of two versions; None without such a test."""
        if self.gate != "versions" or self.verdict in UNDECIDED:
            return None
        if self.compared is not None:
            return None if self.p is None else self.compared.p_tested
        return None if self.test is None else self.test.p

    @property
    def excludes_no_change(self) -> bool:
        """Return whether the 95% interval lies on one side of no change."""
        none = 1.0 if self.scale.kind == "ratio" else 0.0
        known = self.low is not None and self.high is not None
        return known and not (self.low or 0.0) <= none <= (self.high or 0.0)

    def bounded(self) -> Finding:
        """Return it with the interval clipped to possible values: a share changes by at most 100
        points.
        """
        if self.scale.kind == "ratio" or self.low is None or self.high is None:
            return self
        return replace(self, low=max(-1.0, self.low), high=min(1.0, self.high))

    @property
    def is_decided_by_another_run(self) -> bool:
        """Return whether it is the newest run of a history, which further runs confirm or
        clear.
        """
        return self.verdict == "suspect" and self.gate == "history"

    @property
    def least_worsening(self) -> float:
        """Return the least worsening: 0.10 is a factor of 1.10 or 10 points; 0 unless it is a
        regression, infinite for a total loss.
        """
        if self.verdict == "regression" and self.is_total:
            return math.inf
        if self.verdict != "regression" or self.low is None or self.high is None:
            return 0.0
        return least_worsening(self.low, self.high, self.scale)

    @property
    def severity(self) -> Severity | None:
        """Return the severity; None unless it is a regression."""
        if self.verdict == "regression" and self.is_total:
            return "critical"
        if self.verdict != "regression" or self.low is None or self.high is None:
            return None
        return severity(self.low, self.high, self.scale)

    @property
    def worsening(self) -> float | None:
        """Return the estimated worsening, like `least_worsening`; negative if it is better."""
        if self.change is None or self.is_total:
            return None
        shift = self.scale.positions([self.change])[0]
        return self.scale.size(float(shift))
