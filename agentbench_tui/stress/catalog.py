"""The scenarios: their names and default settings."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

Scenario = Literal[
    "high_load",
    "sustained_load",
    "spike_load",
    "memory_pressure",
    "concurrent_requests",
    "large_inputs",
    "rate_limiting",
    "failure_recovery",
]
SCENARIOS: tuple[str, ...] = get_args(Scenario)


@dataclass(frozen=True, slots=True)
class Defaults:
    """Defaults of one scenario, before `time_scale`."""

    words: str
    """What it measures."""
    duration_s: float
    """Length of the stress, or of each spike or fault."""
    faults: bool = False
    """Whether it injects faults between the senders and the target."""


DEFAULTS: dict[str, Defaults] = {
    "high_load": Defaults("at which rate it breaks, and ten times its normal load", 300.0),
    "sustained_load": Defaults("what moves over a long time at normal load", 3600.0),
    "spike_load": Defaults("short spikes far above normal, and how it comes back", 10.0),
    "memory_pressure": Defaults("little memory, for it or for its machine", 60.0),
    "concurrent_requests": Defaults("how it scales with users, and at how many it breaks", 60.0),
    "large_inputs": Defaults("how long an input may be", 60.0),
    "rate_limiting": Defaults("what it does with 429 and Retry-After", 30.0, faults=True),
    "failure_recovery": Defaults("connections, replies and processes that fail", 10.0, faults=True),
}
