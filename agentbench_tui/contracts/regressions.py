"""Verdicts on regressions: `agentbench.regressions/1`."""

from __future__ import annotations

from agentbench_tui.contracts.document import Document, Json, Part


class ValueCounts(Part, frozen=True, kw_only=True):
    """Values on both sides of a judgment."""

    baseline: int
    current: int
    of: str
    """What is counted: `runs`, `repeats` or `cases`."""


class RunPoint(Part, frozen=True, kw_only=True):
    """One run of a history."""

    run_id: str
    at: str
    version: str


class ChangeRange(Part, frozen=True, kw_only=True):
    """Runs between which the level changed."""

    before: RunPoint | None
    first: RunPoint
    last: RunPoint


class ImpactAnalysis(Part, frozen=True, kw_only=True):
    """What a regression means for the whole; None where it is not known, with `reasons`."""

    dimension: str
    weight: float
    """0..1 of the overall score."""
    cases: int | None
    cases_worse: int | None
    cases_better: int | None
    share_of_cases: float | None
    share_worse: float | None
    share_better: float | None
    share_of: str
    per_day: float | None
    per_day_unit: str | None
    reasons: tuple[str, ...]


class RegressionFinding(Part, frozen=True, kw_only=True):
    """The judgment on one metric of one benchmark."""

    suite_id: str
    benchmark_id: str
    parameters: dict[str, Json]
    metric: str
    unit: str
    better: str
    """`lower` or `higher`."""
    verdict: str
    severity: str | None
    gate: str | None
    """How it was judged: by `versions` or by `history`."""
    against: str | None
    baseline_value: float | None
    current_value: float | None
    change: float | None
    change_is: str
    """`ratio` or `difference`."""
    low: float | None
    high: float | None
    """Ends of the interval of the change."""
    regression_percentage: float | None
    at_least_percentage: float | None
    """At the confidence bound."""
    p_value: float | None
    margin: float
    """Smallest change that matters."""
    smallest_seen: float | None
    """Smallest change that would have been detected."""
    values: ValueCounts
    baseline_versions: tuple[str, ...]
    current_versions: tuple[str, ...]
    change_point: ChangeRange | None
    impact_analysis: ImpactAnalysis | None
    reason: str | None
    """Why there is no verdict."""
    notes: tuple[str, ...]


class SizeRange(Part, frozen=True, kw_only=True):
    """Smallest and largest of several sizes."""

    least: float
    most: float


class SmallestDetected(Part, frozen=True, kw_only=True):
    """Changes that would have been detected, by scale."""

    ratio: SizeRange | None
    points: SizeRange | None


class RegressionPattern(Part, frozen=True, kw_only=True):
    """What several findings have in common."""

    pattern: str
    benchmarks: tuple[str, ...]
    text: str
    numbers: dict[str, float | str | None]


class RegressionFormulas(Part, frozen=True, kw_only=True):
    """How derived figures are computed."""

    overall_health: str
    impact_weight: str
    share_of_cases: str
    per_day: str


class RegressionsDocument(Document, frozen=True, kw_only=True, tag="agentbench.regressions/1"):
    """What `agentbench regressions` prints."""

    agent: str
    version: str
    verdict: str
    """`regression`, `suspect`, `not comparable`, `not enough data` or `no regression`."""
    interrupted_run: str | None
    """A later run that did not finish."""
    has_regressions: bool
    regressions: tuple[RegressionFinding, ...]
    findings: tuple[RegressionFinding, ...]
    smallest_seen: SmallestDetected
    unmeasured: tuple[str, ...]
    undeclared: tuple[str, ...]
    """Metrics without a declared better direction."""
    unfinished: int
    """Executions of this version that did not finish."""
    patterns: tuple[RegressionPattern, ...]
    overall_health: float | None
    """0..100."""
    recommended_action: str
    reason: str
    formulas: RegressionFormulas
