"""Results of load: `agentbench.load/1`, and of several load levels `agentbench.load-sweep/1`."""

from __future__ import annotations

from msgspec import UNSET, UnsetType

from agentbench_tui.contracts.document import Document, Json, Part


class LoadDistribution(Part, frozen=True, kw_only=True):
    """A latency or another figure of single requests; what was not measured is absent or null."""

    mean: float | UnsetType | None = UNSET
    p50: float | UnsetType | None = UNSET
    p90: float | UnsetType | None = UNSET
    p95: float | UnsetType | None = UNSET
    p99: float | UnsetType | None = UNSET
    p999: float | UnsetType | None = UNSET
    max: float | UnsetType | None = UNSET
    n: int
    """Samples."""
    needs: dict[str, int] | UnsetType = UNSET
    """Percentile that has too few samples → samples that it needs."""
    reason: str | UnsetType = UNSET
    """Why nothing was measured."""
    estimated: bool | UnsetType = UNSET
    """Whether values rest on an assumption."""

    def part(self, name: str) -> float | None:
        """Return the mean, the maximum or a percentile by its name, such as `p95`."""
        value = getattr(self, name)
        return None if value is UNSET else value


class RequestTotals(Part, frozen=True, kw_only=True):
    """Requests of all repeats; rates are means of the repeats."""

    asked_per_s: float | None
    """Offered rate; None in a closed loop."""
    sent_per_s: float | None
    offered: int | None
    """Requests that became due."""
    sent: int | None
    ok: int | None
    failed: dict[str, int]
    """Failure kind → requests."""
    cancelled: int | None
    """Stopped by the plan after a number of tokens."""
    unfinished: int | None
    """In flight when the grace period ended."""
    unsent: int | None
    """Became due and were never sent."""
    connections: int | None
    resent: int | None
    """Sent twice, because the server closed the connection."""
    sent_bytes: int | None
    received_bytes: int | None
    unanswered: int | None
    """Sent, neither answered nor canceled."""


class HarnessFigures(Part, frozen=True, kw_only=True):
    """What the load generator itself cost; None where it is not known."""

    overhead_p50_ms: float | None
    overhead_p99_ms: float | None
    ceiling_per_s: float | None
    ceiling_low_per_s: float | None
    calibrated_at: str | None
    calibrated_rate_per_s: float | None
    cpu_us_per_request: float | None
    cpu_share: float | None
    workers: int | None
    realtime: bool | None
    window_s: float | None
    drained_s: float | None
    lateness_p50_ms: float | None
    lateness_p99_ms: float | None
    lateness_max_ms: float | None
    late: int | None
    blocked: int | None
    most_in_flight: int | None
    run_queue_wait_ms: float | None
    psi_cpu_percent: float | None
    gc_pause_ms: float | None
    gc_pause_max_ms: float | None
    peak_rss_mb: float | None


class RepeatSpread(Part, frozen=True, kw_only=True):
    """One figure in each repeat."""

    values: tuple[float, ...]
    low: float | None
    high: float | None
    method: str | None
    """Of the interval; `range` for the extremes of two repeats."""


class MetricRepeats(Part, frozen=True, kw_only=True):
    """The repeats of a single number, or of each part of a distribution."""

    values: tuple[float, ...] | UnsetType = UNSET
    low: float | UnsetType | None = UNSET
    high: float | UnsetType | None = UNSET
    method: str | UnsetType | None = UNSET
    mean: RepeatSpread | UnsetType = UNSET
    p50: RepeatSpread | UnsetType = UNSET
    p90: RepeatSpread | UnsetType = UNSET
    p95: RepeatSpread | UnsetType = UNSET
    p99: RepeatSpread | UnsetType = UNSET
    p999: RepeatSpread | UnsetType = UNSET

    @property
    def whole(self) -> RepeatSpread | None:
        """The repeats of a single number; None of a distribution."""
        if self.values is UNSET or self.low is UNSET or self.high is UNSET or self.method is UNSET:
            return None
        return RepeatSpread(values=self.values, low=self.low, high=self.high, method=self.method)

    def part(self, name: str) -> RepeatSpread | None:
        """Return the repeats of a part of a distribution, such as `p95`; None without it."""
        found = getattr(self, name, UNSET)
        return found if isinstance(found, RepeatSpread) else None


class LoadDocument(Document, frozen=True, kw_only=True, tag="agentbench.load/1"):
    """What `agentbench load` prints of one load level."""

    run_id: str
    execution_id: str
    agent_id: str
    agent_version: str
    suite_id: str
    benchmark_id: str
    parameters: dict[str, Json]
    simulated: bool
    status: str
    stop_reason: str | None
    verdict: str | None
    """Of the measurement: `clean`, `noisy` or `generator-limited`; None without one."""
    reasons: tuple[str, ...]
    limit: str | None
    """What kept the rate down: `client`, `server` or `none`."""
    warnings: tuple[str, ...]
    requests: RequestTotals
    metrics: dict[str, LoadDistribution | float | None]
    unmeasured: dict[str, str | None]
    """Metric without a value → reason."""
    between_repeats: dict[str, MetricRepeats] | None
    """Metric → its repeats; None of a load that was measured once."""
    harness: HarnessFigures
    is_open: bool | None
    """Whether arrivals follow the clock, and latencies count from the due time."""
    on_this_machine: bool | None
    """Whether the target shared the machine with the load generator."""
    slo: dict[str, float] | None
    """Limit, such as `ttft_ms` or `ttft_ms.p95` → ms."""
    slo_kept: dict[str, float] | UnsetType = UNSET
    """Limit → share of the due requests that kept it."""
    repeats: int | None
    steady: tuple[tuple[float, float] | None, ...] | None
    """Steady part of each repeat's window, in seconds since its start."""
    tokens_estimated: bool | None

    def number(self, metric: str) -> float | None:
        """Return a rate, sum or count; None where it was not measured."""
        found = self.metrics.get(metric)
        return None if isinstance(found, LoadDistribution) else found

    def distribution(self, metric: str) -> LoadDistribution | None:
        """Return a figure of single requests; None where there is none of that name."""
        found = self.metrics.get(metric)
        return found if isinstance(found, LoadDistribution) else None

    def varies(self, metric: str, part: str | None = None) -> RepeatSpread | None:
        """Return the repeats of a rate or sum, or of a part of a distribution; None where they are
        not known."""
        found = (self.between_repeats or {}).get(metric)
        if found is None:
            return None
        return found.whole if part is None else found.part(part)


class SweepLimit(Part, frozen=True, kw_only=True):
    """Which values of the swept parameter keep the SLO."""

    benchmark_id: str
    agent_id: str
    parameter: str
    share: float
    """Of the requests that must keep every limit that is not on a percentile."""
    highest: float | None
    held: tuple[float, ...]
    tried: tuple[float, ...]
    reason: str | None
    """Why the levels do not decide it."""
    slo: dict[str, float]


class UnmeasuredLevel(Part, frozen=True, kw_only=True):
    """A load level without a result."""

    agent_id: str
    parameters: dict[str, Json]
    status: str
    stop_reason: str | None


class LoadSweepDocument(Document, frozen=True, kw_only=True, tag="agentbench.load-sweep/1"):
    """What `agentbench load` prints of several load levels."""

    run_id: str
    status: str
    within_slo: SweepLimit | None
    points: tuple[LoadDocument, ...]
    unmeasured: tuple[UnmeasuredLevel, ...]
    comparison: dict[str, Json] | UnsetType = UNSET
    """Of several targets: whether one is faster, as an `agentbench.compare/1`."""


class RateProbe(Part, frozen=True, kw_only=True):
    """One window of a search."""

    rate: float
    run_id: str
    verdict: str
    """pass, fail, extend (measured on) or unclear."""
    reason: str


class LoadRateDocument(Document, frozen=True, kw_only=True, tag="agentbench.load-rate/1"):
    """What `agentbench load --find-rate` prints: the highest rate that keeps an SLO."""

    agent_id: str
    simulated: bool
    slo: dict[str, float]
    status: str
    """`found`, `wide`, `not reached`, `below the least` or `nothing clear`."""
    rate: float | None
    """Highest rate that kept the SLO; None if none did."""
    low: float | None
    high: float | None
    """Lowest rate that missed it."""
    confirmed: bool
    """Whether both ends were repeated, and the repeats agreed."""
    broke: tuple[str, ...]
    """Limits that were missed first, at `high`."""
    reason: str
    stopped: str
    probes: tuple[RateProbe, ...]
