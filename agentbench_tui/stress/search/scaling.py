"""Throughput by number of users: the levels to measure, the figures of a window, and the law.

On simulated targets with a known law (benchmarks/stress_scaling.py: four laws, 25 runs of each,
noise of 20%), the nominal 95% intervals contained σ and κ in all runs and N* in 96-100%, and no
maximum was reported if there was none. Time in transit is outside the law: 1 ms of it in addition
to 50 ms of service moved σ from 0.040 to 0.039, so the intervals allow for that.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from agentbench_tui.analysis.load.scalability import LOADS, fit_usl
from agentbench_tui.stress.advice.window_bounds import level_figure
from agentbench_tui.stress.report import ScalingFacts

if TYPE_CHECKING:
    from collections.abc import Sequence

    from agentbench_tui.analysis.intervals.interval import Interval
    from agentbench_tui.analysis.load.level_verdict import Flags
    from agentbench_tui.analysis.load.scalability import Scaling
    from agentbench_tui.analysis.sample import Floats
    from agentbench_tui.stress.stand.measured import Measured

LEVELS = 8
"""Numbers of users that are measured, evenly in the logarithm; the law needs 6."""
DESCRIBES = 0.1
"""The law is accepted if its relative deviation from the measurements is nowhere larger than
this.
"""
WAY_S = 0.002
"""Time that a request may spend outside the target: in transit, and in a busy sender.

It is unknown, so intervals include both extremes.
"""
WAY_SHARE = 0.1
"""Maximum share of the shortest latency."""
_LEAST_ANSWERS = 5
_WARM_UP = 2.0
"""Median latencies at the beginning of a window that are left out: all users begin at once."""
_LAST = 1.5
"""Median latencies at its end that are left out."""


def user_levels(most: int) -> list[int]:
    """Return levels from 1 to `most`, evenly spaced on a logarithmic scale; all whole numbers if
    there are few.
    """
    if most <= LEVELS:
        return list(range(1, most + 1))
    spread = np.geomspace(1, most, LEVELS)
    levels: list[int] = []
    for level in spread:
        levels.append(max(round(float(level)), levels[-1] + 1 if levels else 1))
    levels[-1] = most
    return levels


def closed_rate(measured: Measured) -> float | None:
    """Return the throughput of a closed loop without think time: users divided by mean latency.

    The interactive response time law (Denning & Buzen 1978), which does not care where a window
    begins and ends; counts of a short window would, since users that begin together stay so. None
    with fewer than 5 answers after the warm-up, and where anything failed.
    """
    if measured.users is None or not measured.ok.all() or not len(measured):
        return None
    counted = steady(measured)
    if np.count_nonzero(counted) < _LEAST_ANSWERS:
        return None
    return measured.users / (float(measured.e2e_ms[counted].mean()) / 1e3)


def steady(measured: Measured) -> Flags:
    """Return bool[n]: due after all users had started, and early enough that nearly all requests
    end within the window. Excluding only unfinished ones would exclude the slowest.
    """
    took_s = measured.end_s - measured.due_s
    over = np.isfinite(took_s)
    median_s = float(np.median(took_s[over])) if over.any() else 0.0
    last_s = measured.length_s - _LAST * median_s
    counted: Flags = over & (measured.due_s >= _WARM_UP * median_s) & (measured.due_s <= last_s)
    return counted


def scaling_facts(points: Sequence[tuple[float, float]], *, seed: int = 0) -> ScalingFacts:
    """Fit the scalability law to pairs of users and answers per second, with several pairs per
    number of users.

    ValueError, in words for a reader, when there are too few different ones.
    """
    users, rates = np.array(points, dtype=np.float64).reshape(-1, 2).T
    different = np.unique(users).size
    if different < LOADS:
        raise ValueError(
            f"{different} different numbers of users were served without errors, and the law"
            f" needs {LOADS}"
        )
    fit = fit_usl(users, rates, rates**-2.0, seed=seed)
    served = _without_way(users, rates)
    nearer = fit_usl(users, served, served**-2.0, seed=seed)
    beside = _beside(users, rates, fit)
    if beside > DESCRIBES:
        return _undescribed(points, fit, beside)
    return ScalingFacts(
        model=fit.chosen.model,
        lambda_per_s=fit.usl.rate,
        sigma=fit.usl.contention,
        kappa=fit.usl.coherency,
        sigma_interval=_ends(fit.contention_interval, nearer.contention_interval),
        kappa_interval=_ends(fit.coherency_interval, nearer.coherency_interval),
        n_star=fit.peak_load,
        n_star_interval=_ends(fit.peak_load_interval, nearer.peak_load_interval),
        peak_per_s=fit.peak_throughput,
        largest=fit.largest_load,
        r2=fit.r2,
        words=fit.verdict,
        points=tuple((float(n), float(x)) for n, x in points),
    )


def _beside(users: Floats, rates: Floats, fit: Scaling) -> float:
    """Return the largest relative deviation of the mean at one number of users from the law."""
    levels = np.unique(users)
    means = np.array([rates[users == level].mean() for level in levels])
    law = np.array([fit.usl.throughput(float(level)) for level in levels])
    return float(np.abs(means / law - 1).max())


def _undescribed(
    points: Sequence[tuple[float, float]], fit: Scaling, beside: float
) -> ScalingFacts:
    """Return facts without intervals and a peak, since the parameters of a law that does not hold
    mean nothing.

    A target with a fixed number of places looks so: answers a second grow in a straight line, and
    from one number of users to the next no more.
    """
    most, rate = max(points, key=lambda point: point[1])
    return ScalingFacts(
        model=fit.chosen.model,
        lambda_per_s=fit.usl.rate,
        sigma=fit.usl.contention,
        kappa=fit.usl.coherency,
        largest=fit.largest_load,
        r2=fit.r2,
        words=f"not by the scalability law, which is up to {100 * beside:.0f}% off: at most"
        f" {level_figure(rate)} requests/s were answered, with {most:,.0f} users",
        points=tuple(points),
    )


def _without_way(users: Floats, rates: Floats) -> Floats:
    """Return the fit if a request spends `WAY_S` outside the target, so that the law applies to
    the rest.
    """
    took_s = users / rates
    way_s = min(WAY_S, WAY_SHARE * float(took_s.min()))
    return np.asarray(users / (took_s - way_s))


def _ends(*intervals: Interval | None) -> tuple[float, float] | None:
    """Return the lowest and the highest end; None if one is infinite, since JSON has no such
    number.
    """
    known = [one for one in intervals if one is not None]
    ends = [end for one in known for end in (one.low, one.high)]
    if intervals[0] is None or not all(map(math.isfinite, ends)):
        return None
    return min(ends), max(ends)
