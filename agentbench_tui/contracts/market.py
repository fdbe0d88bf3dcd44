"""Market worlds: results, generated worlds, and checks of a world."""

from __future__ import annotations

from msgspec import UNSET, UnsetType

from agentbench_tui.contracts.document import Document, Part


class MarketWorldFacts(Part, frozen=True, kw_only=True):
    """A world that was played and what it was made from."""

    world: str
    """Id of the case."""
    id: str
    sha256: str
    duration_s: int
    interval_ms: int
    markets: int
    perpetuals: int
    agents: int
    seed: int
    conditions: str
    start_ms: int
    salt_sha256: str | UnsetType = UNSET
    """Absent from a public world, which has no salt."""


class MarketEpisodeResult(Part, frozen=True, kw_only=True):
    """One episode: one agent in one world."""

    agent_id: str
    world: str
    repeat: int
    """From 0."""
    simulated: bool
    metrics: dict[str, float | int | str | dict[str, float | None] | None]


class ForesightFacts(Part, frozen=True, kw_only=True):
    """Whether forecasts are right beyond chance."""

    forecast_markets: int
    log10_evidence: float
    is_beyond_chance: bool


class MetricMean(Part, frozen=True, kw_only=True):
    """Mean of a metric over episodes."""

    mean: float
    sd: float | None
    n: int


class MarketAgentSummary(Part, frozen=True, kw_only=True):
    """All episodes of one agent."""

    agent_id: str
    simulated: bool
    episodes: int
    foresight: ForesightFacts
    metrics: dict[str, MetricMean]

    def mean(self, metric: str) -> float | None:
        """Return the mean of a metric; None if no episode has it."""
        found = self.metrics.get(metric)
        return None if found is None else found.mean


class MarketDocument(Document, frozen=True, kw_only=True, tag="agentbench.market/1"):
    """What `agentbench market run` prints."""

    run_id: str
    worlds: tuple[MarketWorldFacts, ...]
    episodes: tuple[MarketEpisodeResult, ...]
    summary: tuple[MarketAgentSummary, ...]
    notices: tuple[str, ...]


class MarketWorldDocument(Document, frozen=True, kw_only=True, tag="agentbench.market-world/1"):
    """What `agentbench market generate` prints."""

    id: str
    seed: int
    private: bool
    ticks: int
    bytes: int
    sha256: str
    file: str
    truth: str


class WorldCheck(Part, frozen=True, kw_only=True):
    """One check of a world."""

    check: str
    holds: bool
    problems: tuple[str, ...]


class VerifiedDocument(Document, frozen=True, kw_only=True, tag="agentbench.market-verified/1"):
    """What `agentbench market verify` prints."""

    file: str
    id: str
    sha256: str
    holds: bool
    checks: tuple[WorldCheck, ...]
