"""Comparisons, `agentbench.compare/1`: of two sides, of more, and of training runs."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from msgspec import UNSET, UnsetType

from agentbench_tui.contracts.document import Document, Json, Part


class ClusterFinding(Part, frozen=True, kw_only=True):
    """Cases that depend on each other, as the data show."""

    cluster: str
    consequence: str
    metric: str
    metrics: tuple[str, ...]
    icc: float
    """Intraclass correlation."""
    low: float | None
    high: float | None
    p_value: float
    cases: int
    groups: int
    design_effect: float
    effective_n: float
    declare: str
    """What to write so that these groups count as clusters."""


class ComparedSide(Part, frozen=True, kw_only=True):
    """What a selector refers to."""

    selector: str
    agent_id: str | None
    """None for a file."""
    versions: tuple[str, ...]
    simulated: bool
    not_shared: tuple[str, ...]
    """Benchmarks that only this side has."""
    notes: tuple[str, ...]


class PairSides(Part, frozen=True, kw_only=True):
    """The two sides of a comparison."""

    a: ComparedSide
    b: ComparedSide


class ComparedExecutions(Part, frozen=True, kw_only=True):
    """What was compared on one benchmark."""

    execution_ids: tuple[str, ...]
    run_ids: tuple[str, ...]
    agent_versions: tuple[str, ...]


class CircumstanceDifference(Part, frozen=True, kw_only=True):
    """One circumstance in which the sides differ."""

    what: str
    words: str
    forbids_times: bool
    """Times and rates get no verdict."""
    forbids_winner: bool
    is_identical: bool
    """Both sides are the same values."""


class CaseAnswer(Part, frozen=True, kw_only=True):
    """What one side answered to a case."""

    right: float
    """Share of its answers that were right."""
    answer: str | None
    failure: str | None


class CaseDisagreement(Part, frozen=True, kw_only=True):
    """A case that only one side gets right more often than not."""

    case_id: str
    expected: str | None
    a: CaseAnswer
    b: CaseAnswer


class CaseDisagreements(Part, frozen=True, kw_only=True):
    """How many cases only one side gets right, and the first of them."""

    only_a: int
    only_b: int
    first: tuple[CaseDisagreement, ...]


class ComparedAttempts(Part, frozen=True, kw_only=True):
    """pass@k or pass^k of two sides with several attempts at each case. It is not tested, so it has
    no verdict and does not affect any other."""

    metric: str
    a: float | None
    b: float | None
    difference: float | None
    low: float | None
    high: float | None
    """Ends of the 95% interval of the difference, of this metric alone."""
    method: str
    paired: bool
    n: int
    of: str
    """What `n` counts."""
    clusters: int | None
    only_a: int | None
    only_b: int | None
    notes: tuple[str, ...]


class ComparedBenchmark(Part, frozen=True, kw_only=True):
    """One benchmark that both sides have."""

    suite_id: str
    benchmark_id: str
    parameters: dict[str, Json]
    category: str
    paired: bool
    n_pairs: int
    a: ComparedExecutions
    b: ComparedExecutions
    differences: tuple[CircumstanceDifference, ...]
    notes: tuple[str, ...]
    clusters: tuple[ClusterFinding, ...]
    attempts: tuple[ComparedAttempts, ...] = ()
    """pass@k and pass^k, where attempts at a case differ and no metric was named."""
    disagreements: CaseDisagreements | None

    @property
    def identical(self) -> str:
        """Why both sides are the same here; empty if they are not."""
        return next((one.words for one in self.differences if one.is_identical), "")


class ComparedMetric(Part, frozen=True, kw_only=True):
    """One metric of two sides; a number that is not known is None."""

    metric: str
    suite_id: str | UnsetType = UNSET
    """Absent, as the next two, in a comparison of one group of cases."""
    benchmark_id: str | UnsetType = UNSET
    parameters: dict[str, Json] | UnsetType = UNSET
    unit: str
    better: str
    """`lower` or `higher`."""
    margin: float
    """Points of a share, else a share of the value."""
    a: float | None
    b: float | None
    difference: float | None
    ratio: float | None
    """B ÷ A."""
    ratio_of: str
    geometric_ratio: float | None
    low: float | None
    high: float | None
    """Ends of the 95% interval of the ratio, or of the difference where there is no ratio."""
    inner_low: float | None
    inner_high: float | None
    """Ends of the 90% interval, which decides on equivalence."""
    p_value: float | None
    p_adjusted: float | None
    p_rank: float | None
    p_serial: float | None
    p_large: float | None
    method: str
    effect_size: float | None
    """Cliff's delta."""
    hedges_g: float | None
    paired: bool
    n: int
    of: str
    """What `n` counts."""
    clusters: int | None
    repeats: int
    draws: int | None
    verdict: str
    """`better`, `worse`, `equivalent` or `inconclusive`, of B."""
    comparable: bool
    unknown: tuple[int, int]
    """Answers of A and of B whose cost or tokens are not known."""
    n_needed: int | None
    n_to_exclude: int | None
    effect_assumed: float | None
    varies_by: str
    only_a: int | None
    only_b: int | None
    notes: tuple[str, ...]


class PairVerdict(Part, frozen=True, kw_only=True):
    """What the metrics of a pair come to."""

    verdict: str
    winner: str | None
    settled: bool
    better: int
    """Metrics of this verdict, as the next three."""
    worse: int
    equivalent: int
    inconclusive: int


class _BAgainstA:
    """What follows from the fields of a pair."""

    __slots__ = ()

    if TYPE_CHECKING:
        benchmarks: tuple[ComparedBenchmark, ...]

    @property
    def identical(self) -> str:
        """Why both sides are the same on every benchmark; empty if they are not."""
        words = [one.identical for one in self.benchmarks]
        return words[0] if words and all(words) else ""

    @property
    def why_unranked(self) -> str:
        """Why neither side can win; empty if one can."""
        return next(
            (one.words for at in self.benchmarks for one in at.differences if one.forbids_winner),
            "",
        )


class ComparedPair(_BAgainstA, Part, frozen=True, kw_only=True):
    """B against A, of more than two sides."""

    a: str
    b: str
    sides: PairSides
    benchmarks: tuple[ComparedBenchmark, ...]
    paired: bool
    n_pairs: int
    metrics: tuple[ComparedMetric, ...]
    overall: PairVerdict
    categories: dict[str, str | None]
    """Category → winner."""
    recommendations: tuple[str, ...]


class GroupComparisonResult(Part, frozen=True, kw_only=True):
    """The sides on the cases of one group."""

    group: str
    cases_a: int
    cases_b: int
    metrics: tuple[ComparedMetric, ...]


class MetricHeterogeneity(Part, frozen=True, kw_only=True):
    """Whether the difference in one metric varies by group."""

    metric: str
    p_varies: float | None
    reason: str
    whole: float | None
    same_mix: float | None
    """The difference with one mix of groups for both sides."""
    is_reversed: bool
    """Whether every group has the opposite sign of the whole (Simpson's paradox)."""


class PairGroups(Part, frozen=True, kw_only=True):
    """One pair by groups of cases."""

    a: str
    b: str
    parameters: dict[str, Json]
    groups: tuple[GroupComparisonResult, ...]
    more: int
    """Groups that were left out."""
    metrics: tuple[MetricHeterogeneity, ...]


class ComparedGroups(Part, frozen=True, kw_only=True):
    """A comparison by groups of cases, with `--by`."""

    field: str
    adjustment: str
    tests: int
    notes: tuple[str, ...]
    pairs: tuple[PairGroups, ...]


class CompareDocument(_BAgainstA, Document, frozen=True, kw_only=True, tag="agentbench.compare/1"):
    """What `agentbench compare` prints of two sides."""

    alpha: float
    adjustment: str
    """How p-values were adjusted for the number of tests."""
    tests: int
    seed: int
    a: str
    b: str
    sides: PairSides
    benchmarks: tuple[ComparedBenchmark, ...]
    paired: bool
    n_pairs: int
    metrics: tuple[ComparedMetric, ...]
    overall: PairVerdict
    categories: dict[str, str | None]
    recommendations: tuple[str, ...]
    breakdown: ComparedGroups | UnsetType = UNSET

    @property
    def matrix(self) -> tuple[CompareDocument]:
        """The only pair, as every pair of more sides."""
        return (self,)

    @property
    def selectors(self) -> tuple[str, ...]:
        """The compared selectors, the control first."""
        return (self.a, self.b)


class OverallWinner(Part, frozen=True, kw_only=True):
    """Who beats, or equals, every other."""

    verdict: str
    winner: str | None


class CompareMatrixDocument(Document, frozen=True, kw_only=True, tag="agentbench.compare/1"):
    """What `agentbench compare` prints of more than two sides."""

    alpha: float
    adjustment: str
    tests: int
    seed: int
    sides: tuple[ComparedSide, ...]
    matrix: tuple[ComparedPair, ...]
    overall: OverallWinner
    categories: dict[str, str | None]
    recommendations: tuple[str, ...]
    breakdown: ComparedGroups | UnsetType = UNSET

    @property
    def selectors(self) -> tuple[str, ...]:
        """The compared selectors, the control first."""
        return tuple(side.selector for side in self.sides)


Pair: TypeAlias = CompareDocument | ComparedPair
Comparison: TypeAlias = CompareDocument | CompareMatrixDocument
