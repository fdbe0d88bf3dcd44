"""Turns the `load:` block into the plan of each worker."""

from __future__ import annotations

import ipaddress
import math
import os
from pathlib import Path
from typing import TYPE_CHECKING, Literal
from urllib.parse import urlsplit

from agentbench_tui.agents.schemes import INSIDE
from agentbench_tui.agents.target import parse_target
from agentbench_tui.load.schedule.arrivals import (
    Arrivals,
    Constant,
    Profile,
    Ramp,
    Sine,
    Spike,
    Steps,
    Trace,
    expected_count,
    highest_rate,
)
from agentbench_tui.load.sending.protocol import ClosedLoop, HttpTarget, OpenLoop, WorkerPlan
from agentbench_tui.load.spec import DEFAULT_DURATION_S, MAX_USERS, MOST_WORKERS, LoadSpec
from agentbench_tui.load.workload.trace import read_trace
from agentbench_tui.model.identity import derive_seed

if TYPE_CHECKING:
    from agentbench_tui.load.sending.protocol import AgentTarget, RequestType

REQUESTS_A_WORKER = 2_000.0
"""Requests a second that one worker gets at most before another is started: a tenth of what it
can do, so that its own share in the figures stays small."""
USERS_A_WORKER = 64
"""Users of a closed loop that one worker gets at most before another is started."""


def schedule_of(spec: LoadSpec, base_dir: str) -> Arrivals | Trace | None:
    """Return the arrivals of an open loop; None for a closed loop. Reads the trace's file.

    Raises UsageError when it cannot be read.
    """
    if spec.trace is not None:
        trace = read_trace(Path(base_dir) / spec.trace.file, unit=spec.trace.unit)
        return Trace(trace.offsets_s, spec.trace.speed)
    profile = _profile(spec)
    if profile is None:
        return None
    return Arrivals(process=spec.arrivals, profile=profile, burstiness=spec.burstiness)


def trace_words(spec: LoadSpec, base_dir: str) -> str:
    """Describe the duration and content of a load's recorded trace; empty without a trace.

    Raises UsageError if it cannot be read.
    """
    if spec.trace is None:
        return ""
    trace = read_trace(Path(base_dir) / spec.trace.file, unit=spec.trace.unit)
    return f"trace {spec.trace.file}: {trace.words(spec.trace.speed, spec.requests)}"


def _profile(spec: LoadSpec) -> Profile | None:
    if spec.rate is not None:
        return Constant(spec.rate)
    if spec.ramp is not None:
        return Ramp(spec.ramp.start, spec.ramp.end, spec.ramp.over_s)
    if spec.steps is not None:
        return Steps(tuple((step.rate, step.for_s) for step in spec.steps))
    if spec.spike is not None:
        return Spike(spec.spike.rate, spec.spike.peak, spec.spike.at_s, spec.spike.for_s)
    if spec.sine is not None:
        return Sine(spec.sine.mean, spec.sine.amplitude, spec.sine.period_s)
    return None


def duration_of(spec: LoadSpec, arrivals: Arrivals | Trace | None) -> float | None:
    """Return the seconds of the window; None if it ends with its requests, or its trace."""
    if spec.duration_s is not None:
        return spec.duration_s
    if spec.requests is not None or isinstance(arrivals, Trace):
        return None
    if spec.steps is not None:
        return sum(step.for_s for step in spec.steps)
    return DEFAULT_DURATION_S


def requests_of(spec: LoadSpec, arrivals: Arrivals | Trace | None) -> int | None:
    """Return the number of requests that ends the window, unless its time ends it before; None
    if there is none, and for sessions with more than one request.
    """
    if any(one.turns > 1 or one.tools for one in spec.workload):
        return None
    recorded = len(arrivals.offsets_s) if isinstance(arrivals, Trace) else None
    return min((count for count in (spec.requests, recorded) if count is not None), default=None)


def asked_of(
    arrivals: Arrivals | Trace, duration_s: float | None, requests: int | None
) -> tuple[float, float]:
    """Return the expected number of requests of the schedule, and their duration in seconds."""
    if duration_s is not None:
        count = expected_count(arrivals, duration_s)
        if requests is None or count <= requests:
            return count, duration_s
        # The count ends it: when it is reached on average, by halving.
        low, high = 0.0, duration_s
        for _ in range(60):
            middle = (low + high) / 2
            low, high = (
                (middle, high) if expected_count(arrivals, middle) < requests else (low, middle)
            )
        return float(requests), high
    if isinstance(arrivals, Trace):
        count = len(arrivals.offsets_s)
        last_s = arrivals.offsets_s[-1] / arrivals.speed if count else 0.0
        if requests is not None and requests < count:
            last_s, count = arrivals.offsets_s[requests - 1] / arrivals.speed, requests
        return float(count), last_s * count / (count - 1) if count > 1 else last_s
    assert requests is not None, "duration_of gives a duration where nothing else ends it"
    high = 1.0
    while expected_count(arrivals, high) < requests and high < 1e9:
        high *= 2
    return asked_of(arrivals, high, requests)


def worker_count(
    spec: LoadSpec, arrivals: Arrivals | Trace | None, target: HttpTarget | AgentTarget
) -> int:
    """Return the number of workers: as many as the plan needs, at most one per core.

    If the target runs on this machine, one core is left for it. An agent that is opened in the
    worker itself is opened once, unless the plan specifies otherwise. Every worker has at least one
    request, user or in-flight slot.
    """
    shared = [spec.requests, spec.max_in_flight, users_of(spec) if arrivals is None else None]
    most = min(count for count in (MOST_WORKERS, *shared) if count is not None)
    if spec.workers is not None:
        return min(spec.workers, most)
    if not isinstance(target, HttpTarget):
        return 1
    most = min(most, max(1, usable_cores() - is_local(target.url)))
    if arrivals is None:
        need = users_of(spec) / USERS_A_WORKER
    else:
        _, length_s = asked_of(arrivals, duration_of(spec, arrivals), spec.requests)
        need = highest_rate(arrivals, length_s) / REQUESTS_A_WORKER
    return min(most, max(1, math.ceil(need)))


def usable_cores() -> int:
    """Return the number of cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def is_local(url: str) -> bool:
    """Return whether a URL leads to this machine's loopback."""
    host = urlsplit(url).hostname or ""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")


def runs_inside(target: HttpTarget | AgentTarget) -> bool:
    """Return whether the agent runs in the worker's own process."""
    if isinstance(target, HttpTarget):
        return False
    return parse_target(target.spec.target).scheme in INSIDE


def users_of(spec: LoadSpec) -> int:
    """Return the number of users of a closed loop."""
    if spec.concurrency is not None:
        return spec.concurrency
    return spec.max_in_flight or MAX_USERS


def worker_plans(
    spec: LoadSpec,
    target: HttpTarget | AgentTarget,
    workload: tuple[RequestType, ...],
    arrivals: Arrivals | Trace | None,
    *,
    seed: int,
    repeat: int,
    time_limit_s: float | None,
) -> list[WorkerPlan]:
    """Return the plan of each worker for one repeat.

    The same seed and repeat give the same arrivals.
    """
    count = worker_count(spec, arrivals, target)
    own_seed = seed if repeat == 0 else derive_seed(seed, "repeat", repeat)
    return [
        WorkerPlan(
            target=target,
            schedule=OpenLoop(arrivals)
            if arrivals is not None
            else ClosedLoop(
                users=share(users_of(spec), nth, count),
                think_time_ms=spec.think_time_ms,
                think_time=spec.think_time,
                ramp_s=spec.ramp_s or 0.0,
            ),
            workload=workload,
            seed=own_seed,
            worker=nth,
            workers=count,
            duration_s=duration_of(spec, arrivals),
            requests=spec.requests,
            warmup_requests=spec.warmup_requests,
            max_in_flight=None
            if spec.max_in_flight is None
            else share(spec.max_in_flight, nth, count),
            time_limit_s=time_limit_s,
            drain_s=spec.drain_s,
            realtime=_realtime(spec, arrivals, target),
        )
        for nth in range(count)
    ]


def _realtime(
    spec: LoadSpec, arrivals: Arrivals | Trace | None, target: HttpTarget | AgentTarget
) -> Literal["no", "may", "must"]:
    """Return whether senders request real-time priority.

    Without it, a sender waits for the server that it measures, because the kernel tends to put a
    waking and a woken thread on the same core. A closed loop may use a whole core, so it does not
    take priority unless requested; nor does an agent inside the sender.
    """
    if spec.realtime is not None:
        return "must" if spec.realtime else "no"
    is_short = arrivals is not None and isinstance(target, HttpTarget) and usable_cores() > 1
    return "may" if is_short else "no"


def share(whole: int, nth: int, count: int) -> int:
    """Return the nth of `count` even shares of a whole number."""
    each, rest = divmod(whole, count)
    return each + (nth < rest)
