"""What the HTTP API takes and answers beside the documents that commands print."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec
from msgspec import UNSET, Meta, UnsetType

from agentbench_tui.contracts.document import Document, Json, Part
from agentbench_tui.contracts.run import ExecutionResult

Count = Annotated[int, Meta(ge=1, le=1_000_000)]
Name = Annotated[str, Meta(min_length=1, max_length=200)]
Names = Annotated[tuple[Name, ...], Meta(max_length=100)]


class RunConfiguration(Part, frozen=True, kw_only=True):
    """How `POST /benchmarks/run` measures; what is absent is as the suite says.

    Each field is the option of `agentbench run` with that name.
    """

    benchmarks: Names = ()
    """Only these benchmarks."""
    cases: Annotated[tuple[Name, ...], Meta(max_length=1000)] = ()
    """Only these cases."""
    runs: Annotated[int, Meta(ge=1, le=1000)] = 1
    """Repeats, each with new sessions and connections."""
    iterations: Annotated[int, Meta(ge=1, le=1000)] | None = None
    warmup: Annotated[int, Meta(ge=0, le=1000)] | None = None
    limit: Count | None = None
    """Cases of each benchmark at most."""
    seed: Annotated[int, Meta(ge=-(2**31), le=2**31)] | None = None
    seeds: Annotated[int, Meta(ge=1, le=1000)] = 1
    concurrency: Annotated[int, Meta(ge=1, le=1000)] | None = None
    parameters: dict[str, bool | int | float | str] = msgspec.field(default_factory=dict)
    """Declared parameters of the suite. A text has to be one of the declared choices."""
    max_cost_usd: Annotated[float, Meta(gt=0, le=1e9)] | None = None
    max_tokens: Annotated[int, Meta(ge=1, le=10**15)] | None = None
    gates: Names = ()
    """Such as `accuracy>=0.8`; a synchronous answer has their outcomes."""
    tags: Names = ()
    notes: Annotated[str, Meta(max_length=10_000)] = ""


class StartedRunDocument(Document, frozen=True, kw_only=True, tag="agentbench.started-run/1"):
    """A run that was started and continues in its own process."""

    run_id: str
    status: Literal["running"] = "running"
    run_url: str
    """Path of the run."""
    events_url: str
    """Path of its live events."""


class AgentResult(Part, frozen=True, kw_only=True):
    """One complete execution of an agent."""

    run_id: str
    created_at: str
    """UTC, ISO 8601."""
    execution: ExecutionResult


class ResultsDocument(Document, frozen=True, kw_only=True, tag="agentbench.results/1"):
    """Complete executions of an agent, the newest first."""

    agent_id: str
    suite_id: str | None
    """None for all suites."""
    timeframe: str
    results: tuple[AgentResult, ...]
    more: int
    """Executions that were left out because of the limit."""


class ImportedDocument(Document, frozen=True, kw_only=True, tag="agentbench.imported/1"):
    """What became of the runs of an imported file."""

    new: tuple[str, ...]
    """Ids of the runs that were added."""
    known: tuple[str, ...]
    """Ids of runs that were in the database already and did not change."""
    refused: tuple[str, ...]
    """One line for each run that was not added, with the reason."""


class StopDocument(Document, frozen=True, kw_only=True, tag="agentbench.stop/1"):
    """The answer to a request to stop a run."""

    run_id: str
    status: str
    """Of the run, when the request was made."""
    requested: bool
    """Whether the run was asked to stop; it ends after its in-flight requests."""


class HealthDocument(Document, frozen=True, kw_only=True, tag="agentbench.health/1"):
    """Whether the service answers."""

    status: Literal["ok"] = "ok"


class VersionDocument(Document, frozen=True, kw_only=True, tag="agentbench.version/1"):
    """Versions of the service."""

    version: str
    """Of agentbench."""
    database_schema: int
    """Of the tables."""
    documents: tuple[str, ...]
    """Names of the documents that it can send."""


class ProblemDetails(Part, frozen=True, kw_only=True):
    """An error, by RFC 9457."""

    type: str = "about:blank"
    title: str
    status: int
    detail: str
    """What happened, where, and what to do."""
    problems: tuple[str, ...] | UnsetType = UNSET
    """Every single problem, of an error that has several."""


class ExecutionState(Part, frozen=True, kw_only=True):
    """How far one execution of a running run is."""

    execution_id: str
    agent_id: str
    benchmark_id: str
    status: str
    planned: int | None
    observed: int
    answered: int
    correct: int


class RunState(Part, frozen=True, kw_only=True):
    """Data of the event `state`: how far a run is. The last event has its final status."""

    run_id: str
    status: str
    stop_reason: str | None
    executions: tuple[ExecutionState, ...]


class FailureEvent(Part, frozen=True, kw_only=True):
    """Data of the event `failure`."""

    execution_id: str | None
    stage: str
    kind: str
    detail: str
    at: str


class IterationEvent(Part, frozen=True, kw_only=True):
    """Data of the event `iteration`: a pass over the cases that has ended."""

    execution_id: str
    repeat: int
    iteration: int
    warmup: bool
    status: str
    observed: int
    answered: int
    correct: int
    asking_s: float


class TickEvent(Part, frozen=True, kw_only=True):
    """Data of the event `tick`: what was answered since the last tick, about one second."""

    execution_id: str
    at: float
    """Seconds since 1970."""
    observed: int
    answered: int
    correct: int
    tokens: int
    cost_usd: float


class GaugeEvent(Part, frozen=True, kw_only=True):
    """Data of the event `gauge`: one reading of the machine or of an agent's processes."""

    at: float
    """Seconds since 1970."""
    scope: str
    """`host`, `agent:ID` or `gpu:INDEX`."""
    reading: dict[str, Json]
