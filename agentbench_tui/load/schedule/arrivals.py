"""Due times of an open loop: seeded schedules, the same on every machine.

An arrival process (constant, Poisson, gamma) of rate 1 is stretched by a rate profile: its n-th
arrival, at u, is due when the integral Λ of the profile's rate reaches u (time rescaling; Çinlar,
Introduction to Stochastic Processes, 1975, §4.7). So each process follows each profile exactly.

Runs in load workers between requests, so it is plain Python and imports nothing heavy. Only
`Random.random` is drawn from, the one method whose sequence Python promises not to change.
"""

from __future__ import annotations

import math
import random
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import count as count_up
from itertools import islice
from typing import Literal

import msgspec

from agentbench_tui.load.schedule.rate_profile import Constant, Profile, Ramp, Sine, Spike, Steps
from agentbench_tui.model.text.plain_number import plain

__all__ = [
    "Arrivals",
    "Constant",
    "Profile",
    "Ramp",
    "Schedule",
    "Sine",
    "Spike",
    "Steps",
    "Trace",
    "expected_count",
    "expected_rate",
    "highest_rate",
    "offsets_ns",
    "problems",
    "slice_of",
]

_NS_PER_S = 1_000_000_000
_HALF_NS = 0.5
"""Added before the fraction is dropped, so that times are rounded to the nearest nanosecond."""
_LEAST_BURSTINESS, _MOST_BURSTINESS = 0.01, 10_000.0
"""Coefficients of variation of 10 and 0.01 for the gaps; beyond them there is nothing to
measure.
"""


class Arrivals(msgspec.Struct, frozen=True, kw_only=True, tag="arrivals"):
    """An arrival process whose rate follows a profile."""

    process: Literal["constant", "poisson", "gamma"]
    profile: Profile
    burstiness: float = 1.0
    """Shape of the gamma-distributed gaps: 1 is Poisson, below 1 burstier, above 1 more even.
    Their coefficient of variation is 1/√burstiness. Of no effect on the other processes."""


class Trace(msgspec.Struct, frozen=True, tag="trace"):
    """Recorded arrivals, replayed."""

    offsets_s: tuple[float, ...]
    """Seconds from the start of the window, ascending."""
    speed: float = 1.0
    """2 replays twice as fast."""


Schedule = Arrivals | Trace


def offsets_ns(
    schedule: Schedule, seed: int, *, duration_ns: int | None = None, count: int | None = None
) -> Iterator[int]:
    """Yield due times in ns after the start of the window, ascending.

    Ends before `duration_ns` or after `count` arrivals, whichever comes first; where the rate
    falls to 0 for good, or a trace ends, then; else never. The constant process begins at once;
    the others are seen from a random moment on (see `_gamma`), so their first gap is random too.
    """
    if isinstance(schedule, Trace):
        speed = schedule.speed
        due = _stretched(iter(schedule.offsets_s), lambda offset: offset / speed, duration_ns)
    else:
        due = _stretched(_units(schedule, seed), schedule.profile.inverse(), duration_ns)
    return due if count is None else islice(due, count)


def slice_of(offsets: Iterator[int], worker: int, workers: int) -> Iterator[int]:
    """Yield one worker's share (0-based): every `workers`-th arrival, so that all workers together
    have all.
    """
    return islice(offsets, worker, None, workers)


def expected_rate(schedule: Schedule, t_s: float) -> float:
    """Return the rate at `t_s`; for a trace, the number of arrivals in the second of t_s."""
    if isinstance(schedule, Arrivals):
        return schedule.profile.rate_at(t_s)
    second = math.floor(t_s)
    return expected_count(schedule, second + 1) - expected_count(schedule, second)


def highest_rate(schedule: Schedule, duration_s: float) -> float:
    """Return the highest rate until `duration_s`; for a trace, in any one second."""
    if isinstance(schedule, Arrivals):
        rate_at = schedule.profile.rate_at
        turns = [time for time in schedule.profile.turns() if time < duration_s]
        return max(map(rate_at, [0.0, *turns, math.nextafter(duration_s, 0.0)]))
    times = (offset / schedule.speed for offset in schedule.offsets_s)
    return max(Counter(int(time) for time in times if time <= duration_s).values(), default=0)


def expected_count(schedule: Schedule, duration_s: float) -> float:
    """Return the mean number of arrivals before `duration_s`: the integral of the rate; exact for a
    trace.
    """
    if isinstance(schedule, Arrivals):
        return schedule.profile.count_until(duration_s)
    speed = schedule.speed
    return bisect_left(
        schedule.offsets_s,
        float(round(duration_s * _NS_PER_S)),
        key=lambda offset: offset / speed * _NS_PER_S + _HALF_NS,
    )


def problems(schedule: Schedule) -> list[str]:
    """Return one line for each invalid value; the other functions require none."""
    if isinstance(schedule, Trace):
        return _trace_problems(schedule)
    lines = [f"profile.{line}" for line in schedule.profile.problems()]
    if not _LEAST_BURSTINESS <= schedule.burstiness <= _MOST_BURSTINESS:
        lines.append(
            f"burstiness: {plain(schedule.burstiness)} is not between"
            f" {plain(_LEAST_BURSTINESS)} and {plain(_MOST_BURSTINESS)}"
        )
    return lines


def _trace_problems(trace: Trace) -> list[str]:
    lines = []
    if not 0 < trace.speed < math.inf:
        lines.append(f"speed: {plain(trace.speed)} is not a finite number above 0")
    if not trace.offsets_s:
        lines.append("offsets_s: there are none")
    before = 0.0
    for number, offset_s in enumerate(trace.offsets_s):
        if not before <= offset_s < math.inf:
            lines.append(
                f"offsets_s.{number}: {plain(offset_s)} is not a finite number of"
                f" {plain(before)} or more; offsets count from the start and ascend"
            )
            break
        before = offset_s
    return lines


def _stretched(
    units: Iterator[float], time_of: Callable[[float], float], duration_ns: int | None
) -> Iterator[int]:
    """Map arrivals on another clock (at rate 1; recorded) to due times. This is the hot loop."""
    end_ns = math.inf if duration_ns is None else duration_ns
    last_ns = 0
    for unit in units:
        exact_ns = time_of(unit) * _NS_PER_S + _HALF_NS
        if not exact_ns < end_ns:
            return
        due_ns = int(exact_ns)
        # The inverse of a sine is found to within rounding only, which could turn two around.
        last_ns = max(due_ns, last_ns)
        yield last_ns


def _units(arrivals: Arrivals, seed: int) -> Iterator[float]:
    """Yield arrivals at rate 1."""
    if arrivals.process == "constant":
        return count_up()
    # A name of its own keeps the gaps independent of what else is drawn with the same seed.
    uniform = random.Random(f"arrivals {seed}").random  # noqa: S311 - no secret
    if arrivals.process == "poisson":
        return _poisson(uniform)
    return _gamma(uniform, arrivals.burstiness)


def _poisson(uniform: Callable[[], float]) -> Iterator[float]:
    log = math.log
    at = 0.0
    while True:
        at -= log(1.0 - uniform())
        yield at


def _gamma(uniform: Callable[[], float], shape: float) -> Iterator[float]:
    """Draw gamma-distributed gaps of mean 1, as observed from a random time rather than from an
    arrival.

    So Λ is the mean count at every time, for any burstiness (equilibrium renewal process; Cox,
    Renewal Theory, 1962, ch. 2). The gap around a random time is drawn in proportion to its length,
    which gives a gamma of shape + 1, and the time is uniform within it.
    """
    at = uniform() * next(_gamma_draws(uniform, shape + 1)) / shape
    for draw in _gamma_draws(uniform, shape):
        yield at
        at += draw / shape


def _gamma_draws(uniform: Callable[[], float], shape: float) -> Iterator[float]:
    """Draw Gamma(shape, scale 1) by rejection from a log-logistic (algorithm GB; Cheng, The
    generation of gamma variables with non-integral shape parameter, Applied Statistics 26, 1977).
    It needs a shape of 1 or more: a smaller one is Gamma(shape + 1) · U^(1/shape).
    """
    log, exp = math.log, math.exp
    small = shape < 1
    power = 1.0 / shape
    if small:
        shape += 1
    slope = 1.0 / math.sqrt(2 * shape - 1)
    offset = shape - math.log(4)
    weight = shape + 1.0 / slope
    quick = 1.0 + math.log(4.5)
    while True:
        first = uniform()
        if not first:
            continue
        logit = slope * log(first / (1.0 - first))
        draw = shape * exp(logit)
        volume = first * first * (1.0 - uniform())
        margin = offset + weight * logit - draw
        if margin + quick >= 4.5 * volume or margin >= log(volume):
            yield draw * uniform() ** power if small else draw
