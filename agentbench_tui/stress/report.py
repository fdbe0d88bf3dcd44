"""Stored result of a scenario: one document per execution."""

from __future__ import annotations

from typing import Literal, TypeAlias

import msgspec

from agentbench_tui.analysis.load.resilience import IN_A_ROW
from agentbench_tui.stress import catalog
from agentbench_tui.stress.search.breaking_point import BreakingPoint

Scenario: TypeAlias = catalog.Scenario
Status = Literal["complete", "target lost", "stopped", "not applicable", "failed"]


class WindowFacts(msgspec.Struct, frozen=True, kw_only=True):
    """One window, in figures."""

    phase: str
    repeat: int
    length_s: float
    asked_per_s: float | None = None
    users: int | None = None
    input_tokens: int | None = None
    requests: int = 0
    answered_per_s: float = 0.0
    error_share: float | None = None
    p50_ms: float | None = None
    p50_low_ms: float | None = None
    p50_high_ms: float | None = None
    """95% interval of the median."""
    p95_ms: float | None = None
    failures: dict[str, int] = {}
    memory_mb: float | None = None
    """Memory of the target's local processes, at the end."""
    cpu_cores: float | None = None
    applied: dict[str, int] = {}
    """Fault → how often it hit."""
    verdict: str | None = None
    """Verdict of a level: `pass`, `fail`, `unclear`."""
    reason: str = ""
    sender_limit: str | None = None


class NormalLoad(msgspec.Struct, frozen=True, kw_only=True):
    """Behavior of the target at normal load."""

    rate_per_s: float
    users: int
    p50_ms: float
    p95_ms: float
    capacity_per_s: float
    """The most that a window of the ladder answered in a second."""
    measured: bool = True
    """False if the suite specifies normal load."""
    words: str = ""


class LimitsUsed(msgspec.Struct, frozen=True, kw_only=True):
    """The limits that a load level had to keep."""

    error_share: float
    p95_ms: float
    completed_share: float
    derived: bool
    """Whether the latency limit is the default multiple of that at normal load."""


class ScoreFacts(msgspec.Struct, frozen=True, kw_only=True):
    """The resilience score of the scenario, 0–100."""

    value: float
    low: float | None = None
    high: float | None = None
    no_interval: str = ""
    """Reason for a missing interval."""
    worst_second: float | None = None
    """Lowest share of requests served in one piece."""
    piece_s: float = 1.0
    """Length of a piece: one second, or less if time is scaled."""
    windows: int = 0
    watched: float | None = None
    """Score while it was observed, if a leak reduces it."""
    words: str = ""
    """Effect of a leak, in words."""


class RecoveryFacts(msgspec.Struct, frozen=True, kw_only=True):
    """Recovery time after one fault or overload."""

    after: str
    """Name of what it recovered from."""
    seconds: float | None = None
    """None: not within the time it was watched."""
    known: bool | None = None
    """False if the target was watched too briefly to tell; None in reports stored before this field
    existed (`ScenarioReport.knows` answers for both)."""
    watched_s: float = 0.0
    words: str = ""


class TrendFacts(msgspec.Struct, frozen=True, kw_only=True):
    """Trend of a figure over a soak test."""

    of: str
    """`memory`, `latency`, `errors`."""
    unit: str
    per_hour: float
    low: float
    high: float
    direction: str
    words: str
    first: float | None = None
    """At the beginning of the line, in `unit`."""
    last: float | None = None
    """At its end."""


class ScalingFacts(msgspec.Struct, frozen=True, kw_only=True):
    """The scalability law over concurrency."""

    model: str
    """`linear`, `amdahl`, `usl`: the simplest that explains it."""
    lambda_per_s: float
    sigma: float
    kappa: float
    sigma_interval: tuple[float, float] | None = None
    kappa_interval: tuple[float, float] | None = None
    n_star: float | None = None
    n_star_interval: tuple[float, float] | None = None
    peak_per_s: float | None = None
    largest: float = 0.0
    """Largest measured load; nothing is extrapolated beyond twice this value."""
    r2: float | None = None
    words: str = ""
    points: tuple[tuple[float, float], ...] = ()
    """Users, requests a second: every window."""


class Advice(msgspec.Struct, frozen=True, kw_only=True):
    """One recommendation, with the numbers behind it."""

    rule: str
    """Name of the rule, such as `memory-leak`."""
    severity: Literal["info", "warning", "critical"]
    words: str
    evidence: dict[str, float | str] = {}


class ScenarioReport(msgspec.Struct, kw_only=True):
    """Result of one scenario; stored again after each window."""

    scenario: Scenario
    status: Status = "complete"
    reason: str = ""
    """Why it is not complete."""
    time_scale: float = 1.0
    simulated: bool = False
    normal: NormalLoad | None = None
    limits: LimitsUsed | None = None
    windows: list[WindowFacts] = []
    score: ScoreFacts | None = None
    breaking_points: list[BreakingPoint] = []
    recoveries: list[RecoveryFacts] = []
    trends: list[TrendFacts] = []
    scaling: ScalingFacts | None = None
    observations: dict[str, float | str | bool] = {}
    """Further facts of the scenario, by name, for the rules of advice."""
    advice: list[Advice] = []
    missing: dict[str, str] = {}
    """What could not be measured → reason."""

    @property
    def broke(self) -> bool:
        """Return whether any level failed its limit."""
        return any(point.fails is not None for point in self.breaking_points) or (
            self.status == "target lost"
        )

    def knows(self, recovery: RecoveryFacts) -> bool:
        """Return whether the target was watched long enough to tell whether it recovered.

        In a report stored without `known`, the lengths decide: the target was watched long enough
        if there were as many windows as a recovery needs in a row.
        """
        if recovery.known is not None:
            return recovery.known
        if recovery.seconds is not None:
            return True
        piece_s = 1.0 if self.score is None else self.score.piece_s
        return recovery.watched_s > (IN_A_ROW - 0.5) * piece_s
