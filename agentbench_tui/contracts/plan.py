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
