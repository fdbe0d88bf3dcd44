"""Plan of one window: its load, its faults, and its timed actions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from agentbench_tui.load.schedule.arrivals import Arrivals, Constant, expected_count, highest_rate

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from typing import Literal

    from agentbench_tui.load.schedule.rate_profile import Profile
    from agentbench_tui.stress.faults.fault import Fault


@dataclass(frozen=True)
class TimedAction:
    """An action at a time within a window. An exception in it ends the window."""

    at_s: float
    """After the window's start."""
    name: str
    """For the reason why a window ended: `SIGSTOP of the target`."""
    act: Callable[[], Awaitable[object]]


@dataclass(frozen=True)
class WindowPlan:
    """One window. Give exactly one of `rate`, `profile` and `users`."""

    length_s: float
    rate: float | None = None
    """Open loop: requests a second, evenly."""
    profile: Profile | None = None
    """Open loop: a rate that changes, such as `Steps(((5, 10), (100, 2), (5, 10)))`, of pairs of
    rate and seconds."""
    users: int | None = None
    """Closed loop."""
    requests: int | None = None
    """The window ends after this many requests, if its time has not ended it before."""
    process: Literal["constant", "poisson"] = "constant"
    """Arrival process of an open loop."""
    drain_s: float | None = None
    """Grace period for in-flight requests after the window; a few seconds by default."""
    max_in_flight: int | None = None
    """Maximum in-flight requests of an open loop; by default enough for the time limit, within
    the machine's limit of open files.
    """
    time_limit_s: float | None = None
    """Time limit of one request, from sending; the stand's by default."""
    input_tokens: int | None = None
    """Prompts of this length instead of the suite's workload."""
    faults: tuple[Fault, ...] = ()
    """Faults on the window's clock; requires `stand.proxy`."""
    actions: tuple[TimedAction, ...] = ()
    """On the window's clock."""
    may_die: bool = False
    """Whether the target is ended intentionally: its end does not end the window."""

    def __post_init__(self) -> None:
        given = [one for one in (self.rate, self.profile, self.users) if one is not None]
        if len(given) != 1 or not self.length_s > 0:
            raise ValueError("a course needs a length and one of rate, profile and users")

    @property
    def arrivals(self) -> Arrivals | None:
        """Return the arrivals of an open loop."""
        profile = self.profile if self.rate is None else Constant(self.rate)
        return None if profile is None else Arrivals(process=self.process, profile=profile)

    @property
    def asked(self) -> float | None:
        """Return the expected number of requests of an open loop."""
        arrivals = self.arrivals
        return None if arrivals is None else expected_count(arrivals, self.length_s)

    @property
    def highest_rate(self) -> float | None:
        """Return the highest rate of an open loop, in requests per second."""
        arrivals = self.arrivals
        return None if arrivals is None else highest_rate(arrivals, self.length_s)
