"""Statistics: `agentbench.stats-summary/1`, `-variance/1`, `-power/1` and `-check/1`."""

from __future__ import annotations

from msgspec import UNSET, UnsetType

from agentbench_tui.contracts.compare import ClusterFinding
from agentbench_tui.contracts.document import Document, Json, Part


class SummaryFigure(Part, frozen=True, kw_only=True):
    """One figure of a metric; None, with the reason, where the values do not allow it."""

    figure: str
    value: float | None
    low: float | None
    high: float | None
    n: int
    method: str
    reason: str


class RepeatDrift(Part, frozen=True, kw_only=True):
    """First against last third of a repeat."""

    repeat: int
    first: float | UnsetType = UNSET
    """Median of the first third."""
    last: float | UnsetType = UNSET
    p: float | None
    """None where there are too few values."""


class MetricSummary(Part, frozen=True, kw_only=True):
    """The figures of one metric on one benchmark."""

    suite_id: str
    benchmark_id: str
    parameters: dict[str, Json]
    metric: str
    unit: str
    n: int
    repeats: int
    figures: tuple[SummaryFigure, ...]
    drifts: tuple[RepeatDrift, ...]
    drifted: tuple[int, ...]
    """Repeats that drifted."""
    cluster: ClusterFinding | None


class StatsSummaryDocument(Document, frozen=True, kw_only=True, tag="agentbench.stats-summary/1"):
    """What `agentbench stats summary` prints."""

    selector: str
    seed: int
    metrics: tuple[MetricSummary, ...]


class PrecisionPoint(Part, frozen=True, kw_only=True):
    """What N runs give; shares of the mean."""

    n: int
    half_width: float
    half_width_low: float
    half_width_high: float
    cv_low: float
    cv_high: float


class SeedShare(Part, frozen=True, kw_only=True):
    """The variance of runs that seeds explain."""

    runs: int
    seeds: int
    same_seed: float | None
    between_seeds: float | None
    seed_share: float | None
    low: float | None
    high: float | None
    level: float
    f: float | None
    p: float | None


class MeanInterval(Part, frozen=True, kw_only=True):
    """A confidence interval."""

    low: float
    high: float
    level: float
    method: str


class TwoLevelVariance(Part, frozen=True, kw_only=True):
    """Variance within and between runs, or cases."""

    runs: int
    iterations: float | None
    mean: float | None
    within: float | None
    run_means: float | None
    between: float | None
    icc: float | None
    design_effect: float | None
    best_iterations: float | None
    by_runs: MeanInterval | None
    naive: MeanInterval | None


class MetricSpread(Part, frozen=True, kw_only=True):
    """How one metric varies between runs."""

    name: str
    unit: str
    n: int
    runs_are: str
    values: tuple[float, ...]
    mean: float | None
    sd: float | None
    cv: float | None
    """Coefficient of variation, a share."""
    cv_low: float | None
    cv_high: float | None
    threshold: float
    cv_below_threshold: str
    """`yes`, `no` or `open`."""
    half_width: float | None
    half_width_wanted: float
    n_needed: int | None
    n_needed_low: int | None
    n_needed_high: int | None
    more: int | None
    reason: str | None
    curve: tuple[PrecisionPoint, ...]
    seeds: SeedShare | None
    two_level: TwoLevelVariance | None
    two_level_of: str | None


class StatsVarianceDocument(Document, frozen=True, kw_only=True, tag="agentbench.stats-variance/1"):
    """What `agentbench stats variance` prints."""

    selectors: tuple[str, ...]
    metrics: tuple[MetricSpread, ...]


class PowerAnswer(Part, frozen=True, kw_only=True):
    """A number of values and the effect that they detect."""

    name: str
    design: str
    """`paired` or `unpaired`."""
    n: int | None
    effect: float | None
    unit: str
    """Of the effect: `sd`, `ratio` or `points`."""
    asked: str
    """Which figure is the answer: `effect`, `n` or `power`."""
    power: float
    sd: float | None
    what: str
    reason: str


class PairingGainResult(Part, frozen=True, kw_only=True):
    """What comparing by pairs saves."""

    name: str | UnsetType = UNSET
    pairs: int
    variance_a: float | None
    variance_b: float | None
    variance_difference: float | None
    correlation: float | None
    gain: float | None
    """1 - var(B - A) ÷ (var A + var B)."""
    saved: float | None


class StatsPowerDocument(Document, frozen=True, kw_only=True, tag="agentbench.stats-power/1"):
    """What `agentbench stats power` prints."""

    alpha: float
    power: float
    selectors: tuple[str, ...]
    pairing: tuple[PairingGainResult, ...]
    answers: tuple[PowerAnswer, ...]


class CheckedEntry(Part, frozen=True, kw_only=True):
    """One figure of a reference sheet beside ours."""

    entry: str
    theirs: float | None
    ours: float | None
    relative_difference: float | None
    rule: str
    tolerance: float
    tolerance_is: str
    ok: bool
    note: str


class SkippedEntry(Part, frozen=True, kw_only=True):
    """A figure that cannot be checked."""

    entry: str
    reason: str


class StatsCheckDocument(Document, frozen=True, kw_only=True, tag="agentbench.stats-check/1"):
    """What `agentbench stats check` prints."""

    file: str
    ok: bool
    n_ok: int
    n_failed: int
    entries: tuple[CheckedEntry, ...]
    skipped: tuple[SkippedEntry, ...]
    unknown: tuple[str, ...]
