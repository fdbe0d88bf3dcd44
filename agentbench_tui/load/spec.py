"""The `load:` block of a benchmark of kind load, as written in a suite."""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self

from pydantic import Field, field_validator, model_validator

from agentbench_tui.load.slo import is_percentile_limit
from agentbench_tui.model.bounds import LARGEST_INTEGER
from agentbench_tui.model.suite import Name, NotNegative, Part, Positive

MOST_USERS = 100_000
MOST_WORKERS = 256
MOST_REQUESTS = 100_000_000
LONGEST_S = 7 * 86400.0
DEFAULT_DURATION_S = 30.0
MAX_USERS = 256
"""Users of `throughput: true` when `max_in_flight` says no other number."""

Count = Annotated[int, Field(ge=1, le=MOST_REQUESTS)]
Tokens = Annotated[int, Field(ge=1, le=LARGEST_INTEGER)]
Share = Annotated[float, Field(ge=0, le=1)]
Seconds = Annotated[float, Field(gt=0, le=LONGEST_S)]


class RampSpec(Part):
    """A linear change from one rate to another, which then stays constant."""

    start: NotNegative
    end: Positive
    over_s: Seconds


class StepSpec(Part):
    """A rate and its duration."""

    rate: Positive
    for_s: Seconds


class SpikeSpec(Part):
    """A rate, and a higher rate for a while."""

    rate: Positive
    peak: Positive
    at_s: NotNegative
    for_s: Seconds


class SineSpec(Part):
    """A rate that oscillates around its mean."""

    mean: Positive
    amplitude: NotNegative
    period_s: Seconds

    @model_validator(mode="after")
    def _never_below_zero(self) -> Self:
        if self.amplitude > self.mean:
            raise ValueError("`amplitude` must not exceed `mean`: a rate is never below 0")
        return self


class TraceSpec(Part):
    """Recorded arrivals."""

    file: str
    """Relative to the suite's file."""
    speed: Positive = 1.0
    """2 replays it in half the time."""
    unit: Literal["s", "ms", "us", "ns"] | None = None
    """Unit of numeric timestamps: by default seconds, or milliseconds if rows have `hash_ids`."""


class LengthSpec(Part):
    """Length of synthetic prompts or answers, in tokens."""

    mean: Tokens
    spread: NotNegative = 0.0
    """Standard deviation."""
    distribution: Literal["normal", "lognormal", "uniform"] = "normal"
    """`uniform` runs from mean - spread to mean + spread."""
    low: Tokens = 1
    high: Tokens | None = None


class SyntheticSpec(Part):
    """Generated prompts of a given length."""

    input_tokens: Tokens | LengthSpec = 128
    prefix_share: Share = 0.0
    """Share of each prompt that is the same in all of them, for prefix caches."""
    prefixes: Annotated[int, Field(ge=1, le=10_000)] = 1
    """Number of different shared beginnings."""
    distinct: Annotated[int, Field(ge=1, le=100_000)] = 256
    """Number of different prompts; they are used in turn."""


class RequestSpec(Part):
    """One kind of request in the mix. Give at most one of `prompts`, `data_source` and `synthetic`;
    a short built-in text is the default.
    """

    name: Name = "request"
    weight: Positive = 1.0
    prompts: Annotated[list[str], Field(min_length=1)] | None = None
    data_source: str | None = None
    """Cases of a dataset, as in `dataset.data_source`."""
    fields: dict[str, str] = Field(default_factory=dict)
    limit: Count | None = None
    synthetic: SyntheticSpec | None = None
    system_prompt: str | None = None
    output_tokens: Tokens | LengthSpec | None = None
    """Sent to the server as `max_tokens`; by default not sent."""
    turns: Annotated[int, Field(ge=1, le=1000)] = 1
    """Prompts of one session; each turn sends the answers before it along."""
    think_time_ms: NotNegative = 0.0
    """Between an answer and the next turn of its session."""
    tools: list[dict[str, Any]] = Field(default_factory=list)
    """Function definitions that the model may call."""
    tool_results: dict[str, str] = Field(default_factory=dict)
    """Result of each tool; a tool that is not named returns `{}`."""
    tool_rounds: Annotated[int, Field(ge=1, le=100)] = 5
    """Most rounds of tool calls that are answered in one turn."""
    cancel_after_tokens: Tokens | None = None

    @model_validator(mode="after")
    def _one_source(self) -> Self:
        given = [self.prompts, self.data_source, self.synthetic]
        if sum(source is not None for source in given) > 1:
            raise ValueError("give only one of `prompts`, `data_source` and `synthetic`")
        return self


class SloSpec(Part):
    """Limits that a good request meets; all given limits must hold.

    `ttft_ms.p95: 200` limits a percentile: 95% of the due requests must be within it.
    """

    ttft_ms: Positive | None = None
    ttfo_ms: Positive | None = None
    tpot_ms: Positive | None = None
    e2e_ms: Positive | None = None
    """In an open loop from the due time, like the metric."""
    percentiles: dict[str, Positive] = Field(default_factory=dict)
    """Limits on percentiles, by names such as `ttft_ms.p95`, which may also be keys of `slo`."""

    @model_validator(mode="before")
    @classmethod
    def _gather_percentiles(cls, given: Any) -> Any:
        if not isinstance(given, dict):
            return given
        own = {name: limit for name, limit in given.items() if is_percentile_limit(str(name))}
        if not own:
            return given
        rest = {name: limit for name, limit in given.items() if name not in own}
        return rest | {"percentiles": {**rest.get("percentiles", {}), **own}}

    @field_validator("percentiles")
    @classmethod
    def _of_limited_metrics(cls, given: dict[str, float]) -> dict[str, float]:
        for name in given:
            if not is_percentile_limit(name):
                raise ValueError(f"`{name}` is no percentile of a time, as `ttft_ms.p95` is")
        return given

    def limits(self) -> dict[str, float]:
        """Return every limit by its name, in ms."""
        plain = self.model_dump(exclude_none=True, exclude={"percentiles"})
        return {**plain, **self.percentiles}


class LoadSpec(Part):
    """Schedule, shape and workload of a load benchmark."""

    rate: Positive | None = None
    """Open loop: requests a second."""
    arrivals: Literal["constant", "poisson", "gamma"] = "constant"
    burstiness: Positive = 1.0
    """Shape of the gaps of `gamma`: 1 is Poisson, below it burstier, above it more even."""
    ramp: RampSpec | None = None
    steps: Annotated[list[StepSpec], Field(min_length=1)] | None = None
    spike: SpikeSpec | None = None
    sine: SineSpec | None = None
    trace: TraceSpec | None = None
    concurrency: Annotated[int, Field(ge=1, le=MOST_USERS)] | None = None
    """Closed loop: number of users, each sending when its last request has ended."""
    throughput: bool = False
    """Closed loop without think time, with `max_in_flight` users: maximum throughput."""
    think_time_ms: NotNegative = 0.0
    think_time: Literal["constant", "exponential"] = "constant"
    ramp_s: NotNegative | None = None
    """Beginning of the window that rates leave out; in a closed loop the users begin evenly over
    it. Where it is not given, one median latency of a closed loop and nothing of an open one."""
    duration_s: Seconds | None = None
    """Length of the window; 30 s if neither it nor `requests` is given."""
    requests: Count | None = None
    """First requests of sessions to send, which are all requests for sessions with one turn;
    with `duration_s`, whichever ends first.
    """
    warmup_requests: Annotated[int, Field(ge=0, le=100_000)] = 3
    """Requests of each worker before the window, one after another."""
    max_in_flight: Annotated[int, Field(ge=1, le=MOST_USERS)] | None = None
    workers: Annotated[int, Field(ge=1, le=MOST_WORKERS)] | None = None
    """Processes that send; by default as many as the plan needs, at most one a core. Never more
    than there are requests, users or places in flight."""
    realtime: bool | None = None
    """Whether senders have real-time priority (SCHED_RR).

    By default, those of an open loop over HTTP do if it is permitted and another core is free.
    """
    drain_s: NotNegative = 30.0
    """Grace period for in-flight requests after the window."""
    slo: SloSpec = Field(default_factory=SloSpec)
    stream: bool | None = None
    """Overrides the agent's own setting."""
    workload: Annotated[list[RequestSpec], Field(min_length=1)] = Field(
        default_factory=lambda: [RequestSpec()]
    )

    @model_validator(mode="after")
    def _one_schedule(self) -> Self:
        given = [
            name
            for name in ("rate", "ramp", "steps", "spike", "sine", "trace", "concurrency")
            if getattr(self, name) is not None
        ] + ["throughput"] * self.throughput
        if len(given) != 1:
            raise ValueError(
                "give exactly one of `rate`, `ramp`, `steps`, `spike`, `sine`, `trace`, "
                f"`concurrency` and `throughput`{'; given are ' if given else ''}"
                + " and ".join(f"`{name}`" for name in given)
            )
        return self

    @model_validator(mode="after")
    def _spike_in_window(self) -> Self:
        if self.spike and self.duration_s is not None and self.spike.at_s >= self.duration_s:
            raise ValueError(
                f"`spike` begins at {self.spike.at_s:g} s, when the window of"
                f" {self.duration_s:g} s (`duration_s`, --duration) is over"
            )
        return self

    @model_validator(mode="after")
    def _streamed_to_break_off(self) -> Self:
        if self.stream is False and any(one.cancel_after_tokens for one in self.workload):
            raise ValueError(
                "`cancel_after_tokens` (--cancel-after) counts what is streamed: it does not go"
                " with `stream: false` (--no-stream)"
            )
        return self

    @property
    def is_open(self) -> bool:
        """Return whether requests are due by the clock."""
        return self.concurrency is None and not self.throughput
