"""Lists of what there is: agents, suites, baselines, explanations, and checks of the machine."""

from __future__ import annotations

from msgspec import UNSET, UnsetType

from agentbench_tui.contracts.document import Document, Json, Part


class ListedAgent(Part, frozen=True, kw_only=True):
    """One measured agent."""

    id: str
    name: str
    versions: int
    """Number of versions."""
    runs: int
    last_run_at: str | None
    last_complete_at: str | None
    target: str
    version: str
    """Newest version."""
    simulated: bool


class AgentsDocument(Document, frozen=True, kw_only=True, tag="agentbench.agents/1"):
    """What `agentbench agents list` prints."""

    agents: tuple[ListedAgent, ...]


class MachineCheck(Part, frozen=True, kw_only=True):
    """One check of the machine."""

    status: str
    """`ok`, `info`, `warn` or `fail`."""
    name: str
    finding: str
    advice: str | None


class DoctorDocument(Document, frozen=True, kw_only=True, tag="agentbench.doctor/1"):
    """What `agentbench doctor` prints."""

    checks: tuple[MachineCheck, ...]


class Explanation(Part, frozen=True, kw_only=True):
    """One metric, score or term."""

    name: str
    type: str
    unit: str
    direction: str
    """`lower` or `higher` is better, or `none`."""
    formula: str
    metric: str | None
    parts: tuple[str, ...]
    """Of a distribution, such as `p95`."""


class ExplanationDocument(Document, frozen=True, kw_only=True, tag="agentbench.explanation/1"):
    """What `agentbench explain` prints of one term."""

    name: str
    type: str
    unit: str
    direction: str
    formula: str
    metric: str | None
    parts: tuple[str, ...]


class ExplanationsDocument(Document, frozen=True, kw_only=True, tag="agentbench.explanation/1"):
    """What `agentbench explain` prints of several terms, or of all."""

    metrics: tuple[Explanation, ...]


class BaselineEntry(Part, frozen=True, kw_only=True):
    """A version, run or tag that an agent is compared with."""

    agent_id: str
    name: str
    suite_id: str
    """Empty for every suite."""
    benchmark_id: str
    """Empty for every benchmark."""
    kind: str
    """`version`, `run` or `tag`."""
    target: str
    created_at: str


class AcceptedLevel(Part, frozen=True, kw_only=True):
    """A change that was accepted as the new level."""

    agent_id: str
    suite_id: str
    benchmark_id: str
    parameters: str
    """JSON."""
    metric: str
    since: str
    run_id: str
    before: float
    after: float
    created_at: str


class BaselinesDocument(Document, frozen=True, kw_only=True, tag="agentbench.baselines/1"):
    """What `agentbench baseline` prints."""

    baselines: tuple[BaselineEntry, ...]
    accepted_changes: tuple[AcceptedLevel, ...]
    no_longer_accepted: tuple[AcceptedLevel, ...] | UnsetType = UNSET
    """With `baseline accept --undo`."""


class ListedSuite(Part, frozen=True, kw_only=True):
    """One suite that can be run by name."""

    name: str
    origin: str
    path: str | None
    category: str | None
    version: str | None
    benchmarks: int | None
    description: str | None
    """Or why it cannot be read."""


class SuitesDocument(Document, frozen=True, kw_only=True, tag="agentbench.suites/1"):
    """What `agentbench suites list` prints."""

    suites: tuple[ListedSuite, ...]


class SuiteDocument(Document, frozen=True, kw_only=True, tag="agentbench.suite/1"):
    """What `agentbench suites show` prints."""

    path: str
    hash: str
    suite: dict[str, Json]
    """As `agentbench suites schema` describes it."""


class ListedSchema(Part, frozen=True, kw_only=True):
    """One document that commands print."""

    name: str
    description: str


class SchemasDocument(Document, frozen=True, kw_only=True, tag="agentbench.schemas/1"):
    """What `agentbench schema` prints without a name."""

    schemas: tuple[ListedSchema, ...]
