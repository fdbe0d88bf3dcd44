"""Where time and tokens went: `agentbench.profiles/1` of `agentbench.profile/1` documents."""

from __future__ import annotations

from msgspec import UNSET, UnsetType

from agentbench_tui.contracts.document import Document, Part
from agentbench_tui.contracts.run import GaugeSummary


class ResourceUsage(Part, frozen=True, kw_only=True):
    """Mean use of resources in a phase."""

    cpu_percent: float | None
    memory_mb: float | None
    io_operations: float | None


class ProfilePhase(Part, frozen=True, kw_only=True):
    """One phase of the answers, or spans of one name."""

    name: str
    source: str
    """`harness`, `spans` or `agent`."""
    total_ms: float | None
    share: float | None
    """Of all time."""
    n: int
    """Answers that have it."""
    mean_ms: float | None
    p50_ms: float | None
    p95_ms: float | None
    tail: float | None
    """p95 ÷ p50."""
    reason: str | None
    resource_usage: ResourceUsage | None


class Bottleneck(Part, frozen=True, kw_only=True):
    """A phase with a large share of the time or a long tail, or a function with much of it."""

    kind: str
    """`share`, `tail` or `function`."""
    phase: str | UnsetType = UNSET
    """Absent, as the next two, from a function."""
    value: float | UnsetType = UNSET
    n: int | UnsetType = UNSET
    location: str
    impact_ms: float
    cause: str
    optimization_suggestion: str


class FlameFrame(Part, frozen=True, kw_only=True):
    """Mean milliseconds per answer in a span, with the spans inside it."""

    name: str
    value: float
    children: tuple[FlameFrame, ...]


class TokenFigure(Part, frozen=True, kw_only=True):
    """One figure of tokens."""

    name: str
    value: float | None
    n: int
    """Observations that report it."""
    reason: str | None


class ProfiledAnswer(Part, frozen=True, kw_only=True):
    """One answer."""

    seq: int
    case_id: str
    total_ms: float


class UsageShare(Part, frozen=True, kw_only=True):
    """A share, or why it is not known."""

    value: float | None
    n: int
    reason: str | None


class ParallelizationScore(Part, frozen=True, kw_only=True):
    """How busy the slots for cases were."""

    value: float | None
    n: int
    concurrency: int
    mean_in_flight: float | None
    reason: str | None


class ResourceUtilization(Part, frozen=True, kw_only=True):
    """How much of its peak the agent's processes use on average, and how busy the slots were."""

    cpu_efficiency: UsageShare
    memory_efficiency: UsageShare
    io_efficiency: UsageShare
    parallelization_score: ParallelizationScore | None
    """None of a load."""
    span_overlap: UsageShare


class TokenAnalysis(Part, frozen=True, kw_only=True):
    """Tokens in total, and what was wasted on failures and wrong answers."""

    input_tokens: int | None
    output_tokens: int | None
    cache_hits: int | None
    wasted_tokens: int | None
    token_efficiency: float | None
    n: int
    reason: str | None


class OptimizationOpportunity(Part, frozen=True, kw_only=True):
    """A change that would save at least 1% of the time or the tokens."""

    category: str
    potential_improvement: str
    estimated_impact: float
    """Share that would be saved at most."""
    of: str
    implementation_effort: str


class ProfiledFunction(Part, frozen=True, kw_only=True):
    """One function of a profiled call."""

    location: str
    calls: int
    own_ms: float
    share: float
    cumulative_ms: float


class ProfileDocument(Document, frozen=True, kw_only=True, tag="agentbench.profile/1"):
    """The profile of one execution, inside `agentbench.profiles/1`."""

    run_id: str
    id: str
    suite_id: str
    benchmark_id: str
    agent_id: str
    agent_version: str
    simulated: bool
    is_load: bool
    answers: int
    looked_at: int
    total_ms: float
    phases: tuple[ProfilePhase, ...]
    bottlenecks: tuple[Bottleneck, ...]
    flame: FlameFrame | None
    tokens: tuple[TokenFigure, ...]
    typical: ProfiledAnswer | None
    slowest: ProfiledAnswer | None
    resources: dict[str, dict[str, GaugeSummary]]
    resource_utilization: ResourceUtilization
    token_analysis: TokenAnalysis
    optimization_opportunities: tuple[OptimizationOpportunity, ...]
    cprofile: str | None
    """File of cProfile data of an experiment."""
    functions: tuple[ProfiledFunction, ...]
    """Of that file, by their own time."""


class ProfilesDocument(Document, frozen=True, kw_only=True, tag="agentbench.profiles/1"):
    """What `agentbench profile` prints."""

    profiles: tuple[ProfileDocument, ...]
