"""An agent's versions in order: `agentbench.history/1`."""

from __future__ import annotations

from agentbench_tui.contracts.document import Document, Json, Part


class VersionComparison(Part, frozen=True, kw_only=True):
    """A version against the first one of the level before it."""

    version: str
    """The version that it is compared with."""
    verdict: str
    """better, worse, equivalent or inconclusive."""
    change: float | None
    change_is: str
    """`ratio` or `difference`."""
    low: float | None
    high: float | None
    p_value: float | None
    p_adjusted: float | None
    """Multiplied by the number of comparisons of the metric."""
    reason: str | None
    """Why there is no verdict."""
    disturbed: bool = False
    """Whether the machine or the harness disturbed the times that are compared."""


class MeasuredVersion(Part, frozen=True, kw_only=True):
    """One version of the agent."""

    version: str
    first_at: str
    last_at: str
    run_ids: tuple[str, ...]
    tags: tuple[str, ...]
    value: float | None
    low: float | None
    high: float | None
    """Ends of the 95% interval."""
    against: VersionComparison | None


class MetricVersions(Part, frozen=True, kw_only=True):
    """One metric at one place, the oldest version first."""

    suite_id: str
    benchmark_id: str
    parameters: dict[str, Json]
    metric: str
    unit: str
    better: str
    """`higher` or `lower`."""
    versions: tuple[MeasuredVersion, ...]
    changes: tuple[str, ...]
    """Versions with which the metric became better or worse."""


class HistoryDocument(Document, frozen=True, kw_only=True, tag="agentbench.history/1"):
    """What `agentbench history` prints."""

    agent: str
    histories: tuple[MetricVersions, ...]
