"""Results of stress: `agentbench.stress/1`."""

from __future__ import annotations

import msgspec

from agentbench_tui.contracts.document import Document, Json, Part


class StressBreakingPoint(Part, frozen=True, kw_only=True):
    """Where a search found that the target fails."""

    on: str
    """What was raised: `rate`, `concurrency` or `input`."""
    unit: str
    status: str
    """`found`, `wide`, `not reached`, `below the least` or `nothing clear`."""
    passes: float | None = msgspec.field(name="pass")
    """Highest level below every failing one that passed."""
    fails: float | None = msgspec.field(name="fail")
    """Lowest level that failed."""
    unclear: tuple[float, ...]
    confirmed: bool
    """Whether both ends were repeated with the same result."""
    broke: tuple[str, ...]
    """What failed at the lowest failing level, such as `p95 of latency`."""
    reason: str
    hysteresis: bool | None
    """Whether a level that had passed failed after an overload."""
    drift: bool | None
    """Whether a level that had passed failed at the end, at rest."""
    before: float | None
    """Highest level that passed before the first failure, where that is higher."""
    measurements: int
    lengths: int
    stopped: str
    words: str
    """The result in one sentence."""


class StressAdvice(Part, frozen=True, kw_only=True):
    """One recommendation with the numbers it rests on."""

    rule: str
    severity: str
    words: str
    evidence: dict[str, float | str]


class NormalLevel(Part, frozen=True, kw_only=True):
    """The target at normal load."""

    rate_per_s: float
    users: int
    p50_ms: float
    p95_ms: float
    capacity_per_s: float
    measured: bool
    words: str


class StressLimits(Part, frozen=True, kw_only=True):
    """What a load level must keep to pass."""

    error_share: float
    p95_ms: float
    completed_share: float
    derived: bool
    """Whether the latency limit is a multiple of that at normal load."""


class StressRecovery(Part, frozen=True, kw_only=True):
    """How long the target took to recover from one fault or overload."""

    after: str
    seconds: float | None
    """None if it did not recover while it was watched."""
    known: bool
    """False if it was watched too briefly to tell whether it recovered."""
    watched_s: float
    words: str


class StressTrend(Part, frozen=True, kw_only=True):
    """How a figure changed over a soak."""

    of: str
    unit: str
    per_hour: float
    low: float
    high: float
    direction: str
    words: str
    first: float | None
    last: float | None


class StressScaling(Part, frozen=True, kw_only=True):
    """The scalability law fitted to throughput over concurrency."""

    model: str
    """`linear`, `amdahl` or `usl`: the simplest that explains the measurements."""
    lambda_per_s: float
    sigma: float
    """Contention."""
    kappa: float
    """Coherency."""
    sigma_interval: tuple[float, float] | None
    kappa_interval: tuple[float, float] | None
    n_star: float | None
    """Best number of users."""
    n_star_interval: tuple[float, float] | None
    largest: float
    """Largest load that was measured."""
    r2: float | None
    words: str
    points: tuple[tuple[float, float], ...]
    """Users and requests per second of every window."""
    peak: float | None
    """Requests per second at `n_star`."""


class StressWindow(Part, frozen=True, kw_only=True):
    """One measured window."""

    phase: str
    repeat: int
    length_s: float
    asked_per_s: float | None
    users: int | None
    input_tokens: int | None
    requests: int
    answered_per_s: float
    error_share: float | None
    p50_ms: float | None
    p50_low_ms: float | None
    p50_high_ms: float | None
    p95_ms: float | None
    failures: dict[str, int]
    memory_mb: float | None
    cpu_cores: float | None
    applied: dict[str, int]
    """Fault → how often it was injected."""
    verdict: str | None
    reason: str
    sender_limit: str | None


class ScenarioResult(Part, frozen=True, kw_only=True):
    """What one scenario found; None where it could not be measured."""

    name: str | None
    status: str
    reason: str
    """Why it is not complete."""
    resilience: float | None
    """0..100."""
    interval: tuple[float, float] | None
    """95% interval of the resilience."""
    resilience_watched: float | None
    resilience_words: str
    worst_second: float | None
    piece_s: float | None
    broke: bool | None
    breaking_point: StressBreakingPoint | None
    breaking_points: tuple[StressBreakingPoint, ...]
    recovery_s: float | None
    """Longest recovery."""
    recommendations: tuple[StressAdvice, ...]
    time_scale: float | None
    simulated: bool | None
    normal: NormalLevel | None
    limits: StressLimits | None
    recoveries: tuple[StressRecovery, ...]
    trends: tuple[StressTrend, ...]
    scaling: StressScaling | None
    observations: dict[str, float | str | bool]
    windows: tuple[StressWindow, ...]
    missing: dict[str, str]
    """What could not be measured → reason."""
    execution_id: str
    benchmark_id: str
    parameters: dict[str, Json]

    def observed(self, name: str) -> float | None:
        """Return a number among the observations; None where it was not observed."""
        found = self.observations.get(name)
        return found if isinstance(found, int | float) else None


class AgentStress(Part, frozen=True, kw_only=True):
    """All scenarios of one agent."""

    agent: str
    agent_version: str
    simulated: bool
    time_scale: float | None
    """None where scenarios differ in it."""
    scenarios: tuple[ScenarioResult, ...]
    resilience_score: float | None
    """Geometric mean over the scenarios, 0..100."""
    worst: str | None
    missing: tuple[str, ...]
    """Scenarios without a score."""
    scaling: StressScaling | None


class StressDocument(Document, frozen=True, kw_only=True, tag="agentbench.stress/1"):
    """What `agentbench stress` prints of one agent."""

    run_id: str
    run_status: str
    stop_reason: str | None
    agent: str
    agent_version: str
    simulated: bool
    time_scale: float | None
    scenarios: tuple[ScenarioResult, ...]
    resilience_score: float | None
    worst: str | None
    missing: tuple[str, ...]
    scaling: StressScaling | None


class StressAgentsDocument(Document, frozen=True, kw_only=True, tag="agentbench.stress/1"):
    """What `agentbench stress` prints of several agents."""

    run_id: str
    run_status: str
    stop_reason: str | None
    agents: tuple[AgentStress, ...]
