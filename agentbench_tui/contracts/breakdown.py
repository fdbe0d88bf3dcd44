"""Results by groups of cases: `agentbench.breakdown/1`, inside a run document."""

from __future__ import annotations

from msgspec import UNSET, UnsetType

from agentbench_tui.contracts.document import Document, Json, Part


class EstimateValue(Part, frozen=True, kw_only=True):
    """A figure with the ends of its 95% interval."""

    value: float | None
    low: float | None
    high: float | None
    n: int | None
    reason: str | None
    """Why there is no value or no interval."""


class GroupResult(Part, frozen=True, kw_only=True):
    """One agent on the cases of one group, or on all cases.

    The fields that compare a group with the rest are absent from the whole.
    """

    group: str | UnsetType = UNSET
    cases: int
    answers: int
    """Observations, including failed ones."""
    answered: int
    correct: int | None
    e2e_ms: EstimateValue
    tokens: float | None
    """Mean per observation, input and output together."""
    cost_usd: float | None
    cost_usd_per_task: EstimateValue
    failures: dict[str, int]
    """Failure kind → observations."""
    pooled: float | UnsetType | None = UNSET
    """The value shrunk toward those of the other groups (partial pooling)."""
    pooled_low: float | UnsetType | None = UNSET
    pooled_high: float | UnsetType | None = UNSET
    p_value: float | UnsetType | None = UNSET
    """p of the group against all other cases."""
    p_adjusted: float | UnsetType | None = UNSET
    differs: str | UnsetType | None = UNSET
    """`higher` or `lower` than the rest, where the adjusted p is below 5%."""
    value: float | None
    """Of the agent's main metric."""
    low: float | None
    high: float | None
    reason: str | None


class GroupedAgent(Part, frozen=True, kw_only=True):
    """One agent at one parameter point."""

    agent_id: str
    agent_version: str
    simulated: bool
    parameters: dict[str, Json]
    metric: str
    p_varies: float | None
    """p of the hypothesis that the metric is the same in all groups; None if not testable."""
    method: str
    whole: GroupResult
    groups: tuple[GroupResult, ...]
    more: int
    """Groups that were left out."""


class BreakdownDocument(Document, frozen=True, kw_only=True, tag="agentbench.breakdown/1"):
    """The agents of a run by the groups of one field of the cases."""

    field: str
    notes: tuple[str, ...]
    agents: tuple[GroupedAgent, ...]
