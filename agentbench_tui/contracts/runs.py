"""Stored runs: the list, one run with its circumstances, its answers, and one case."""

from __future__ import annotations

from typing import Literal

from msgspec import UNSET, UnsetType

from agentbench_tui.contracts.document import Document, Json, Part
from agentbench_tui.contracts.run import RunDocument


class RunSummary(Part, frozen=True, kw_only=True):
    """One run of the list."""

    id: str
    status: str
    stop_reason: str | None
    suite_ids: tuple[str, ...]
    tags: tuple[str, ...]
    seed: int
    repeats: int
    verdict: str | None
    """On the measurement: `clean`, `noisy` or `generator-limited`."""
    started_at: str
    ended_at: str | None
    executions: int
    complete: int | None
    planned: int | None
    observed: int | None
    answered: int | None
    correct: int | None
    cost_usd: float | None
    """None while the cost of some execution is not known."""
    unpriced: int
    """Executions whose cost is not known."""
    agents: tuple[str, ...]
    agent_versions: tuple[str, ...] | UnsetType = UNSET
    """The agents with their versions, such as `planner@1.2`."""
    judged: bool
    """Whether its answers are right or wrong."""


class RunsDocument(Document, frozen=True, kw_only=True, tag="agentbench.runs/1"):
    """What `agentbench runs list` prints, newest first."""

    runs: tuple[RunSummary, ...]


class FailureDetail(Part, frozen=True, kw_only=True):
    """A failure of a run, and how often it happened."""

    agent_id: str | None
    benchmark_id: str | None
    stage: str
    kind: str
    detail: str
    n: int
    case_id: str | None


class RunClusterFinding(Part, frozen=True, kw_only=True):
    """Cases of a benchmark that depend on each other, as the answers of one agent show."""

    cluster: str
    consequence: Literal["named"]
    metric: Literal["accuracy"]
    metrics: tuple[str, ...]
    icc: float
    low: float | None
    high: float | None
    p_value: float
    cases: int
    groups: int
    design_effect: float
    effective_n: float
    declare: str
    agent_id: str
    suite_id: str
    benchmark_id: str
    words: str


class RunDetailsDocument(RunDocument, frozen=True, kw_only=True, tag="agentbench.run-details/1"):
    """What `agentbench runs show` prints: the run document and the circumstances of the run."""

    suite_ids: tuple[str, ...]
    seed: int
    repeats: int
    tags: tuple[str, ...]
    notes: str | None
    command: str | None
    error: str | None
    started_at: str
    ended_at: str | None
    tool_version: str
    overhead: dict[str, Json] | None
    """What the harness itself cost."""
    vcs: dict[str, Json] | None
    """Commit of the working folder."""
    environment: dict[str, Json] | None
    """Machine and packages."""
    failure_details: tuple[FailureDetail, ...]
    clusters: tuple[RunClusterFinding, ...]


class AnswerLine(Part, frozen=True, kw_only=True):
    """One observation; long texts are cut."""

    agent_id: str
    benchmark_id: str
    seq: int
    case_id: str
    repeat: int
    iteration: int
    attempt: int
    failure_kind: str | None
    e2e_ms: float | None
    credit: float | None
    correct: int | None
    cost_usd: float | None
    expected: Json
    answer: Json
    scorers: int = 0
    """Scorers that judged it."""
    wrong_by: tuple[str, ...] = ()
    """The scorers that call it wrong."""
    question: Json = None
    """Input of the case."""
    why: str = ""
    """Why it is not right: the reasons of those scorers, or the detail of its failure."""


class AnswersDocument(Document, frozen=True, kw_only=True, tag="agentbench.answers/1"):
    """What `agentbench runs show --answers` prints."""

    run_id: str
    answers: tuple[AnswerLine, ...]
    more: int
    """Answers that were left out."""


class CaseDocument(Document, frozen=True, kw_only=True, tag="agentbench.case/1"):
    """What `agentbench runs show --case` prints: every observation of one case, whole."""

    run_id: str
    observations: tuple[dict[str, Json], ...]
