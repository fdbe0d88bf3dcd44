"""The result of a run: `agentbench.run/1`."""

from __future__ import annotations

from typing import Literal

from msgspec import UNSET, UnsetType

from agentbench_tui.contracts.breakdown import BreakdownDocument
from agentbench_tui.contracts.document import Document, Json, Part
from agentbench_tui.contracts.load import LoadDocument
from agentbench_tui.contracts.stress import ScenarioResult


class CaseCounts(Part, frozen=True, kw_only=True):
    """Observations of one execution: each case counts once for every measured iteration."""

    total: int | None
    """Planned; None where it depends on how much a load or stress sends."""
    observed: int
    answered: int
    correct: int


class MetricValue(Part, frozen=True, kw_only=True):
    """One metric with the ends of its 95% interval."""

    value: float | None
    unit: str
    low: float | None
    high: float | None
    n: int | None
    """Observations behind the value."""
    reason: str | None
    """Why there is no value, or no interval."""
    direction: str | None = None
    """Which way is better: `higher`, `lower` or `none`; None where nothing says."""


class ScoreValues(Part, frozen=True, kw_only=True):
    """Scores of 0..1, by dimension; None where the dimension was not measured."""

    accuracy: float | None
    speed: float | None
    efficiency: float | None
    cost: float | None
    reliability: float | None
    overall: float | None
    """None unless every dimension with a weight above 0 has a score."""


class JudgeAgreement(Part, frozen=True, kw_only=True):
    """How well the judges of a model-graded benchmark agree."""

    judges: int
    answers: int
    agreement: float | None
    """Share of equal verdicts."""
    kappa: float | None
    """Agreement beyond chance."""


class GaugeSummary(Part, frozen=True, kw_only=True):
    """Readings of one gauge during an execution."""

    low: float | None
    mean: float | None
    high: float | None
    n: int


class RerunPart(Part, frozen=True, kw_only=True):
    """What an execution of a rerun asked again of an execution of an earlier run."""

    execution_id: str
    """The execution of the earlier run."""
    attempt: int
    """1: it holds the other answers of the earlier execution, and new ones in place of failures of
    the infrastructure. From 2 on: it only has further attempts at answers that were not right."""
    asked: int
    """Observations to ask again."""
    observed: int
    answered: int
    correct: int


class ExecutionResult(Part, frozen=True, kw_only=True):
    """One agent on one benchmark at one parameter point."""

    execution_id: str
    suite_id: str
    benchmark_id: str
    agent_id: str
    agent_version: str
    parameters: dict[str, Json]
    seed: int
    simulated: bool
    status: str
    stop_reason: str | None
    cases: CaseCounts
    metrics: dict[str, MetricValue]
    scores: ScoreValues
    weights: dict[str, float]
    """Dimension → weight in the overall score."""
    percentile_rank: float | None
    deviation_from_baseline: float | None
    failures: dict[str, int]
    """Failure kind → observations."""
    judges: JudgeAgreement | None
    unmeasured: dict[str, str | None]
    """Metric that the suite promises and that has no value → reason."""
    own_metrics: tuple[str, ...] = ()
    """Metrics that the benchmark defines: one for each of several scorers, and its own."""
    contain_expected: int | None = None
    """Wrong answers that contain the expected text as whole words, where the only scorer compares
    whole texts (`exact`, `normalized`); None elsewhere."""
    metadata_fields: tuple[str, ...] = ()
    """Fields of the cases by which `--by` can break the result down, as the suite maps them."""
    load: LoadDocument | UnsetType = UNSET
    kind: str | None
    """Kind of the benchmark; None in a run whose plan no longer has it."""
    stress: ScenarioResult | UnsetType = UNSET
    rerun: RerunPart | UnsetType | None = UNSET
    """In a rerun: what was asked again."""
    gauges: dict[str, dict[str, GaugeSummary]] | UnsetType = UNSET
    """Scope, such as `host` or `agent:ID` → field → readings; in run details only."""

    @property
    def load_result(self) -> LoadDocument | None:
        """What was measured of a load; None of anything else, and where nothing was measured."""
        return None if self.load is UNSET else self.load

    @property
    def scenario(self) -> ScenarioResult | None:
        """What a stress scenario found; None of anything else."""
        return None if self.stress is UNSET else self.stress

    def value(self, metric: str) -> float | None:
        """Return the value of a metric; None where it was not measured."""
        found = self.metrics.get(metric)
        return None if found is None else found.value

    def reason(self, metric: str) -> str | None:
        """Return why a metric has no value, or no interval; None where no reason is given."""
        found = self.metrics.get(metric)
        return None if found is None else found.reason


class GateOutcome(Part, frozen=True, kw_only=True):
    """One gate on one execution."""

    gate: str
    agent_id: str
    benchmark_id: str
    value: float | str | None
    holds: bool | None
    """None where the gate cannot be judged."""
    reason: str | None
    point: str | None
    """The parameters, in a sweep."""


class GatesDocument(Document, frozen=True, kw_only=True, tag="agentbench.gates/1"):
    """What `agentbench gate` prints."""

    run_id: str
    status: str
    """Of the run."""
    verdict: Literal["passed", "failed", "undecided"]
    """`undecided` if a gate, or part of the run, could not be judged and no gate failed."""
    is_whole: bool
    """Whether the run came to its end and all of it could be measured."""
    gates: tuple[GateOutcome, ...]


class RunLeaderboardEntry(Part, frozen=True, kw_only=True):
    """One agent of a run, with means over its executions."""

    rank: int | None
    """By overall score; equal scores share a rank."""
    agent_id: str
    agent_version: str
    simulated: bool
    overall: float | None
    low: float | None
    high: float | None
    """Ends of the 95% interval of `overall`."""
    reason: str
    """Why there is no interval; empty where there is one."""
    accuracy: float | None
    speed: float | None
    efficiency: float | None
    cost: float | None
    reliability: float | None
    benchmarks: int
    cost_usd: float | None
    observed: int
    answered: int
    correct: int
    failures: int
    rank_metric: str | None
    """What `rank` and the following are by: `overall`, or `accuracy` if no agent has an overall
    score; None without a rank."""
    rank_shown: str
    """1 + the number of agents clearly ahead; `1=` where several share it, – without a rank."""
    rank_low: int | None
    rank_high: int | None
    """Ends of the 95% interval of the rank."""
    ranked_by: str | None
    """How the ranks were found; None where there was no other agent to compare with."""


class UncheckedLimit(Part, frozen=True, kw_only=True):
    """A limit that some answers could not be checked against."""

    limit: str
    of: str
    """`case` or `run`."""
    agent_id: str
    benchmark_id: str
    reason: str


class RunDocument(Document, frozen=True, kw_only=True, tag="agentbench.run/1"):
    """What `agentbench run` prints."""

    run_id: str
    status: str
    stop_reason: str | None = None
    harness: str | None = None
    """Verdict on the measurement itself: `clean`, `noisy` or `generator-limited`."""
    remarks: tuple[str, ...] = ()
    rerun_of: str | UnsetType | None = UNSET
    """The run that this one continues by asking part of it again."""
    unchecked_limits: tuple[UncheckedLimit, ...] = ()
    executions: tuple[ExecutionResult, ...]
    leaderboard: tuple[RunLeaderboardEntry, ...]
    gates: tuple[GateOutcome, ...] | UnsetType = UNSET
    breakdown: BreakdownDocument | UnsetType = UNSET
    """Results by groups of cases, with `--by`."""
