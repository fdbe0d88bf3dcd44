"""Costs and possible savings: `agentbench.cost/1`."""

from __future__ import annotations

from msgspec import UNSET, UnsetType

from agentbench_tui.contracts.document import Document, Part
from agentbench_tui.contracts.leaderboard import FigureWithReason


class CostPerOutcome(Part, frozen=True, kw_only=True):
    """Cost per task and per success, and successes per dollar."""

    cost_usd_per_task: FigureWithReason
    cost_usd_per_success: FigureWithReason
    successes_per_usd: FigureWithReason


class SwitchSaving(Part, frozen=True, kw_only=True):
    """What is known of a switch from one contender to another."""

    difference: float
    """In the share of right answers."""
    low: float | None
    high: float | None
    verdict: str
    """On the other's quality."""
    not_worse: bool
    """Whether the data exclude that the other is worse by the margin."""
    saving: FigureWithReason | None
    """Share of the current cost; None unless the other is not worse."""
    surely: bool
    """Whether it saves, at the confidence bound."""
    usd_per_1000_tasks: float | None


class CostSwitch(SwitchSaving, frozen=True, kw_only=True):
    """A switch that saves without being worse."""

    current: str
    switch_to: str
    saving: FigureWithReason


class ParetoFront(Part, frozen=True, kw_only=True):
    """Where a contender is on the front of cost and quality."""

    on_front: bool
    standing: str
    share: float | None
    """Of resamples in which it is on the front."""
    dominated_by: tuple[str, ...]
    surely_dominated_by: tuple[str, ...]
    """With 95% confidence."""
    reason: str


class CostLine(CostPerOutcome, frozen=True, kw_only=True):
    """One contender."""

    name: str
    agent_id: str
    agent_version: str
    simulated: bool
    correct_share: FigureWithReason
    cost_usd: float
    by_the_hour: bool
    """Whether the machine is paid by the hour."""
    tasks_per_s: float | None
    value: float | None
    efficiency: float
    """0..1 of the best value."""
    optimal: bool
    front: ParetoFront
    spent_on_wrong: float | None
    """Share of its cost that went into wrong answers; None where it cost nothing."""
    by_benchmark: dict[str, CostPerOutcome]
    against_current: SwitchSaving | UnsetType | None = UNSET
    """Present where a current contender was named; None for itself."""


class OptimalConfiguration(Part, frozen=True, kw_only=True):
    """A contender near the best value; see `trade_offs` before choosing it."""

    configuration: str
    efficiency: float
    estimated_savings: SwitchSaving | None


class CostTradeOff(Part, frozen=True, kw_only=True):
    """A contender near the best value, and one that is clearly right more often."""

    configuration: str
    more_accurate: str
    difference: float
    """Share of right answers of the more accurate one, less that of `configuration`."""
    low: float
    high: float
    """95% interval of the difference."""
    cost_ratio: float | None
    """Cost per task of the more accurate one ÷ that of `configuration`; None if that is free."""


class CostGroup(Part, frozen=True, kw_only=True):
    """Contenders that were asked the same cases."""

    simulated: bool
    benchmarks: tuple[str, ...]
    cases: int
    left_out: int
    current: str | None
    saving_level: float
    """Confidence level of the intervals of savings."""
    formula: str
    speed_from: str | None
    speed_words: str
    agents: tuple[CostLine, ...]
    optimal_configurations: tuple[OptimalConfiguration, ...]
    trade_offs: tuple[CostTradeOff, ...]
    """For contenders near the best value that another one clearly beats in right answers."""
    cost_optimization_opportunities: tuple[CostSwitch, ...]


class UnknownCost(Part, frozen=True, kw_only=True):
    """A contender whose cost on one benchmark is not known."""

    name: str
    benchmark: str
    reason: str


class BilledPrice(Part, frozen=True, kw_only=True):
    """A price that was applied, in USD per million tokens."""

    model: str
    """`*`: answers that name no model."""
    input_usd_per_mtok: float | None
    output_usd_per_mtok: float | None
    cached_input_usd_per_mtok: float | None
    source: str
    """`--price`, the name of a price file, `suite`, or the price library."""


class Bill(Part, frozen=True, kw_only=True):
    """What a contender was billed for, over all answers of its executions."""

    name: str
    agent_id: str
    agent_version: str
    simulated: bool
    executions: int
    answers: int
    input_tokens: int | None
    cached_tokens: int | None
    """Part of `input_tokens` that was read from a cache."""
    output_tokens: int | None
    reasoning_tokens: int | None
    """Part of `output_tokens` that was hidden reasoning."""
    prices: tuple[BilledPrice, ...]
    """Empty if the agent reports its own costs, or is paid by the hour."""
    cost_usd: float | None
    reason: str | None
    """Why the total is unknown."""


class CostDocument(Document, frozen=True, kw_only=True, tag="agentbench.cost/1"):
    """What `agentbench cost` prints."""

    window_days: int | None
    by: str
    margin: float
    """Difference in the share of right answers that counts as equal."""
    optimal_above: float
    groups: tuple[CostGroup, ...]
    unknown: tuple[UnknownCost, ...]
    bills: tuple[Bill, ...] = ()
