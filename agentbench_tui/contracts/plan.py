"""What a run would do, with `--dry-run`: `agentbench.plan/1`."""

from __future__ import annotations

from agentbench_tui.contracts.document import Document, Json, Part


class PlannedExecution(Part, frozen=True, kw_only=True):
    """One agent on one benchmark at one parameter point."""

    suite_id: str
    benchmark_id: str
    agent_id: str
    agent_version: str
    target: str
    parameters: dict[str, Json]
    seed: int
    cases: int | None
    repeats: int
    warmup: int | None
    iterations: int | None
    observations: int | None
    concurrency: int | None
    schedule: str | None
    """Of a load, in words."""


class PlanDocument(Document, frozen=True, kw_only=True, tag="agentbench.plan/1"):
    """What `agentbench run --dry-run` prints."""

    executions: tuple[PlannedExecution, ...]


class PlannedLoad(Part, frozen=True, kw_only=True):
    """One load level."""

    agent_id: str
    target: str
    parameters: str
    schedule: str
    repeats: int
    seed: int


class LoadPlanDocument(Document, frozen=True, kw_only=True, tag="agentbench.plan/1"):
    """What `agentbench load --dry-run` prints."""

    executions: tuple[PlannedLoad, ...]


class PlannedScenario(Part, frozen=True, kw_only=True):
    """One stress scenario."""

    scenario: str
    agent_id: str
    target: str
    time_scale: float
    windows: tuple[str, ...]
    usual_s: float
    longest_s: float
    most_rate: float
    most_concurrency: int
    most_input_tokens: int
    max_requests: int
    max_bytes: int | None
    seed: int


class StressPlanDocument(Document, frozen=True, kw_only=True, tag="agentbench.plan/1"):
    """What `agentbench stress --dry-run` prints."""

    executions: tuple[PlannedScenario, ...]


class RepeatedRequest(Part, frozen=True, kw_only=True):
    """One request that a rerun would repeat."""

    case_id: str
    repeat: int
    iteration: int
    outcome: str
    """Its earlier outcome: `right`, `wrong`, or the kind of its failure, such as `connection`."""


class RerunExecution(Part, frozen=True, kw_only=True):
    """What a rerun would repeat of one execution of the earlier run."""

    execution_id: str
    """The execution of the earlier run."""
    suite_id: str
    benchmark_id: str
    agent_id: str
    agent_version: str
    parameters: dict[str, Json]
    seed: int
    attempt: int
    """1: new answers take the place of infrastructure failures. From 2 on: further attempts, which
    replace nothing."""
    requests: int
    """Repeated requests, and those that were never sent."""
    never_asked: int
    """Requests that the earlier run never sent and the rerun would send."""
    kept: int
    """Answers and failures of the earlier execution that the new one would hold too."""
    cost_usd: float | None
    """Expected cost of the requests: what the earlier answer to each cost, or the mean of the
    execution's answers where it has none. None if no answer of the execution has a cost."""
    asked: tuple[RepeatedRequest, ...]


class RerunPlanDocument(Document, frozen=True, kw_only=True, tag="agentbench.rerun-plan/1"):
    """What `agentbench rerun --dry-run` prints."""

    run_id: str
    """The run that would be repeated in part."""
    requests: int
    cost_usd: float | None
    """Sum over the executions; None if it is unknown for one of them that has requests."""
    cost_limit_usd: float | None
    """Cost at which the rerun would stop."""
    executions: tuple[RerunExecution, ...]
