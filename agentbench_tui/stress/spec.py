"""The `stress:` block of a benchmark of kind stress, as written in a suite."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from agentbench_tui.load.spec import MOST_USERS, RequestSpec, Seconds
from agentbench_tui.model.bounds import LARGEST_INTEGER
from agentbench_tui.model.suite import Part, Positive
from agentbench_tui.stress.catalog import DEFAULTS, Scenario

MOST_SCALE = 100.0
LEAST_SCALE = 0.001
UPSTREAM_ENV = "OPENAI_BASE_URL"
"""Environment variable that most programs with a model read."""
LONGEST_RECOVERY_S = 30.0
"""Default observation time after the stress, and never longer than the stress."""

Count = Annotated[int, Field(ge=1, le=1_000_000_000)]
OpenShare = Annotated[float, Field(gt=0, lt=1)]


class StressLimits(Part):
    """Limits that a load level must keep to pass."""

    error_share: OpenShare = 0.01
    """Share of the due requests."""
    p95_ms: Positive | None = None
    """p95 of answered requests, from when they were due.

    By default three times that at normal load, which the report states.
    """
    completed_share: OpenShare = 0.95
    """Answers within the window over requests that became due in it."""


class StressSpec(Part):
    """One scenario, its load, its limits, and its budget."""

    scenario: Scenario
    time_scale: Annotated[float, Field(ge=LEAST_SCALE, le=MOST_SCALE)] = 1.0
    """Multiplies every duration, never a limit; the report says it."""
    workload: Annotated[list[RequestSpec], Field(min_length=1)] = Field(
        default_factory=lambda: [RequestSpec()]
    )
    """As of a load."""
    stream: bool | None = None
    """Overrides the agent's own setting."""
    limits: StressLimits = Field(default_factory=StressLimits)
    normal_rate: Positive | None = None
    """Requests a second at ease; measured when neither it nor `normal_concurrency` is given."""
    normal_concurrency: Annotated[int, Field(ge=1, le=MOST_USERS)] | None = None
    """Users at ease."""
    most_rate: Positive = 1000.0
    """Requests per second that no scenario exceeds."""
    most_concurrency: Annotated[int, Field(ge=1, le=MOST_USERS)] = 100
    """Users that are never exceeded."""
    most_input_tokens: Count = 131_072
    """Input tokens of one request that no scenario exceeds."""
    multiple: Annotated[float, Field(ge=1, le=1000)] = 10.0
    """Multiple of normal load at which the target is held under stress."""
    duration_s: Seconds | None = None
    """Length of the stress, or of each spike or fault; the default depends on the scenario."""
    recovery_s: Seconds | None = None
    """How long it is watched afterwards; as long as the stress, and 30 s at most, when not
    given."""
    spikes: Annotated[int, Field(ge=1, le=100)] = 3
    """Number of spikes in the scenario spike_load."""
    faults: Annotated[list[str], Field(min_length=1)] | None = None
    """Faults of the scenario failure_recovery, by name; by default all that the target supports."""
    retry_after_s: Annotated[int, Field(ge=1, le=3600)] = 2
    """Retry-After of the 429 that rate_limiting returns in place of an upstream, and the length
    of each block.
    """
    upstream: str | None = None
    """URL of the service that the agent depends on: faults are injected there instead."""
    upstream_env: str | None = None
    """Environment variable by which the agent finds its upstream; OPENAI_BASE_URL when not
    given."""
    serve: str | None = None
    """Command that starts the target's server, so that it can be killed and restarted."""
    memory_limit_mb: Positive | None = None
    """Memory limit of the target's processes in the scenario memory_pressure."""
    ballast_mb: Positive | None = None
    """Memory taken from the target's machine, of the scenario memory_pressure."""
    allowed_hosts: list[str] = Field(default_factory=list)
    """Hosts other than this machine that may be put under stress: your own, or with permission."""
    max_requests: Count = 1_000_000
    """Budget of one execution; the scenario ends when it is used up."""
    max_bytes: Annotated[int, Field(ge=1, le=LARGEST_INTEGER)] | None = None
    """Bytes sent and received by one execution, as far as known."""
    max_s: Positive | None = None
    """Time of one execution, from its first request; not scaled."""

    def scaled(self, seconds: float) -> float:
        """Apply the time scale to a duration."""
        return seconds * self.time_scale

    @property
    def upstream_variable(self) -> str:
        """Return the environment variable by which the agent finds its upstream."""
        return self.upstream_env or UPSTREAM_ENV

    @property
    def length_s(self) -> float:
        """Return the scaled length of the stress in seconds."""
        given = self.duration_s
        return self.scaled(DEFAULTS[self.scenario].duration_s if given is None else given)

    @property
    def watched_s(self) -> float:
        """Return the scaled recovery time in seconds."""
        if self.recovery_s is not None:
            return self.scaled(self.recovery_s)
        return min(self.scaled(LONGEST_RECOVERY_S), self.length_s)
