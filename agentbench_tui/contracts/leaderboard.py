"""Leaderboards: `agentbench.leaderboard/1`."""

from __future__ import annotations

from msgspec import UNSET, UnsetType

from agentbench_tui.contracts.document import Document, Part
from agentbench_tui.contracts.run import RunLeaderboardEntry


class FigureWithReason(Part, frozen=True, kw_only=True):
    """A figure with the ends of its 95% interval; None where it is not known, with the reason."""

    value: float | None
    low: float | None
    high: float | None
    reason: str


class ImprovementChance(Part, frozen=True, kw_only=True):
    """The probability that a run is better than one of the next agent's."""

    over: str
    """The next agent."""
    value: float | None
    low: float | None
    high: float | None
    reason: str


class PerformanceProfile(Part, frozen=True, kw_only=True):
    """Share of runs at or above each threshold, with a 95% band."""

    taus: tuple[float, ...]
    share: tuple[float, ...]
    low: tuple[float, ...] | None
    high: tuple[float, ...] | None


class DimensionScores(Part, frozen=True, kw_only=True):
    """Mean scores of 0..1; None unless all benchmarks have one."""

    accuracy: float | None
    speed: float | None
    efficiency: float | None
    cost: float | None
    reliability: float | None


class StandingLine(Part, frozen=True, kw_only=True):
    """One contender of a board."""

    name: str
    rank: int
    """Position by score."""
    rank_low: int | None
    rank_high: int | None
    """Ends of the 95% interval of the rank."""
    shared_rank: int
    """1 + the number of contenders clearly ahead."""
    rank_shown: str
    score: float | None
    low: float | None
    high: float | None
    ahead_of: tuple[str, ...]
    """Contenders that are clearly behind."""
    behind: tuple[str, ...]
    not_told_apart_from: tuple[str, ...]
    """Contenders that are statistically tied with it."""
    reason: str
    """Why its place is not known better."""
    agent_id: str
    agent_version: str
    simulated: bool
    overall: float | None
    score_reason: str
    """Why the score has no interval."""
    scores: DimensionScores
    cost_usd_per_task: FigureWithReason
    cost_usd_per_success: FigureWithReason
    successes_per_usd: FigureWithReason
    harness: str | None
    """Worst verdict on the measurement behind it."""
    last_benchmark_date: str
    iqm: FigureWithReason | None
    """Interquartile mean over benchmarks and runs."""
    improvement: ImprovementChance | None
    profile: PerformanceProfile | None
    rating: FigureWithReason | UnsetType = UNSET
    """Bradley-Terry rating, with `--rating`."""


class UnrankedContender(Part, frozen=True, kw_only=True):
    """A contender that cannot be ranked."""

    name: str
    reason: str


class Board(Part, frozen=True, kw_only=True):
    """Contenders that can be ranked together."""

    category: str | None
    """Of suites; None for a board over all categories."""
    simulated: bool
    metric: str
    field: str | None
    """Of cases, with `--by-field`; the board is of one of its groups."""
    group: str | None
    unit: str | UnsetType = UNSET
    """Absent, as `better`, from a board on which no agent is ranked."""
    better: str | UnsetType = UNSET
    ranked_by: str | None
    """`cases` or `scores`."""
    method: str | None
    benchmarks: tuple[str, ...]
    shared: int
    """Cases that everyone was asked."""
    left_out: int
    """Cases that only some were asked."""
    standings: tuple[StandingLine, ...]
    more: int
    """Contenders that were left out of `standings`."""
    unranked: tuple[UnrankedContender, ...]
    notes: tuple[str, ...]
    apart: bool
    """Whether it was separated from the board before because the cases differ."""


class CategoryEntry(Part, frozen=True, kw_only=True):
    """One agent in one category, by the mean of its scores."""

    rank: int | None
    agent_id: str
    agent_name: str
    simulated: bool
    overall: float | None
    best_ranking: int | None
    benchmarks_completed: int
    last_benchmark_date: str
    harness: str | None
    accuracy: float | None
    accuracy_rank: int | None
    speed: float | None
    speed_rank: int | None
    efficiency: float | None
    efficiency_rank: int | None
    cost: float | None
    cost_rank: int | None
    reliability: float | None
    reliability_rank: int | None


class AgentEntry(Part, frozen=True, kw_only=True):
    """One agent over all categories, by the mean of its scores."""

    rank: int | None
    agent_id: str
    simulated: bool
    overall: float | None
    benchmarks_completed: int
    accuracy: float | None
    accuracy_rank: int | None
    speed: float | None
    speed_rank: int | None
    efficiency: float | None
    efficiency_rank: int | None
    cost: float | None
    cost_rank: int | None
    reliability: float | None
    reliability_rank: int | None


class LeaderboardDocument(Document, frozen=True, kw_only=True, tag="agentbench.leaderboard/1"):
    """What `agentbench leaderboard` prints."""

    window_days: int | None
    """None for all time."""
    categories: dict[str, tuple[CategoryEntry, ...]]
    agents: tuple[AgentEntry, ...]
    metric: str | None
    """That was asked for."""
    by: str
    """What a contender is: `agent` or `version`."""
    boards: tuple[Board, ...]
    reason: str | None
    """Why there is no board."""
    run_id: str | UnsetType = UNSET
    """With `--run`, as `leaderboard`."""
    leaderboard: tuple[RunLeaderboardEntry, ...] | UnsetType = UNSET


class AgentMatrixDocument(Document, frozen=True, kw_only=True, tag="agentbench.agent-matrix/1"):
    """Mean scores of agents over a suite, ranked among themselves."""

    suite_id: str | None
    agents: tuple[AgentEntry, ...]
