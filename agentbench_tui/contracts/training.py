"""Comparisons of training runs: `agentbench.compare/1` with what only they have."""

from __future__ import annotations

from agentbench_tui.contracts.compare import OverallWinner
from agentbench_tui.contracts.document import Document, Json, Part
from agentbench_tui.contracts.stats import PairingGainResult


class FinishedRuns(Part, frozen=True, kw_only=True):
    """Runs of one side that came to their end."""

    finished: int
    of: int


class FinishedSides(Part, frozen=True, kw_only=True):
    """Finished runs of both sides."""

    control: FinishedRuns
    candidate: FinishedRuns


class TrainingRunValue(Part, frozen=True, kw_only=True):
    """One run and the value that sums it up."""

    run: str
    seed: int | None
    value: float | None
    reason: str | None


class TrainingRunSides(Part, frozen=True, kw_only=True):
    """Runs of both sides; of pairs in the same order."""

    control: tuple[TrainingRunValue, ...]
    candidate: tuple[TrainingRunValue, ...]


class WorstCaseResult(Part, frozen=True, kw_only=True):
    """The comparison if the runs that did not finish had gone against its result."""

    control: float | None
    candidate: float | None
    effect: float
    low: float | None
    high: float | None
    p: float | None
    reach: float | None
    holds: bool


class TTestResult(Part, frozen=True, kw_only=True):
    """A t test."""

    t: float | None
    df: float | None
    p_value: float | None
    low: float | None
    high: float | None
    method: str


class GoodnessResult(Part, frozen=True, kw_only=True):
    """A test of an assumption."""

    statistic: float
    p_value: float


class PowerResult(Part, frozen=True, kw_only=True):
    """Runs that a difference takes to be detected."""

    target: float
    power: float
    n: int
    reached: float


class ComparedTraining(Part, frozen=True, kw_only=True):
    """One metric of candidate and control."""

    metric: str
    benchmark_id: None
    unit: str
    better: str
    margin: float
    a: float | None
    b: float | None
    difference: float | None
    ratio: None
    low: float | None
    high: float | None
    p_value: float | None
    p_adjusted: float | None
    p_rank: float | None
    method: str
    effect_size: float | None
    hedges_g: float | None
    paired: bool
    n: int
    of: str
    verdict: str
    n_needed: int | None
    only_a: None
    only_b: None
    notes: tuple[str, ...]
    summary: str
    """What the value of a run is."""
    pairing: str
    finished: FinishedSides
    runs: TrainingRunSides
    worst_case: WorstCaseResult | None
    t_test: TTestResult | None
    sizes: dict[str, float | None]
    normality: dict[str, GoodnessResult | None]
    pairing_gain: PairingGainResult | None
    power: PowerResult | None


class CompareTrainingDocument(Document, frozen=True, kw_only=True, tag="agentbench.compare/1"):
    """What `agentbench compare` prints of training runs."""

    a: str
    b: str
    alpha: float
    seed: int
    benchmarks: tuple[Json, ...]
    """Always empty."""
    paired: bool
    n_pairs: int
    metrics: tuple[ComparedTraining, ...]
    overall: OverallWinner
    categories: dict[str, str | None]
    recommendations: tuple[str, ...]
