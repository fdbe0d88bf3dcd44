"""The share of the service that remained under stress, and the recovery time.

Quality Q(t) of a window of a second is the share of what could be asked of the target then that it
served within its limits. A scenario's score is 100 times the mean of Q from the beginning of the
stress to the end of the time given to recover: the complement of the resilience triangle (Bruneau
et al. 2003). Over scenarios the geometric mean, because an arithmetic one hides a collapse; the
worst is always named, and what was not run is missing, not 100.

A leak takes service away later than anybody watches. Where memory rises beyond doubt, Q is taken to
be 0 from when it is full on, and the mean is that over a week: score × min(1, room ÷ slope ÷ 168 h)
(`share_of_week`), by the ends of the slope's interval for the interval. Without such a rise the
mean is that of what was watched, and nothing else.

Windows that follow each other are alike. The interval counts them as the number of independent ones
that they are worth, and is missing where those are fewer than 4.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from agentbench_tui.analysis.distribution import student_quantile
from agentbench_tui.analysis.intervals.interval import Interval
from agentbench_tui.analysis.intervals.serial_dependence import worth_of_mean
from agentbench_tui.analysis.sample import Floats, column
from agentbench_tui.model.text.plain_number import plain

WINDOWS_NEEDED = 15
"""Fewer give no interval."""
_LEAST_WORTH = 4.0
"""Independent windows that the windows have to be worth for an interval."""
_CAUTION = 0.5
"""Standard errors added to the correlation of neighboring windows."""
IN_A_ROW = 5
"""Windows as good as the baseline's, from the first of which the target has recovered."""
WEEK_H = 168.0
"""Period over which unbounded growth is compared with the available room."""
BASELINE_FROM = 5
"""Windows without which a baseline predicts nothing."""


@dataclass(frozen=True, slots=True)
class Resilience:
    """The score of one scenario."""

    score: float
    """0 … 100."""
    interval: Interval | None
    """Interval of the score, over windows of this run; None below 15 of them, or with fewer than
    4 independent ones.
    """
    worst: float
    """Lowest Q of a window, 0 … 1."""
    windows: int
    """Number of windows with requests."""
    idle: int
    """Number of windows without requests, which are not informative."""
    reason: str = ""
    """Reason for a missing interval."""


@dataclass(frozen=True, slots=True)
class Recovery:
    """When the target returned to its baseline."""

    after_s: float | None
    """From the end of the stress to the beginning of the first of 5 windows in a row that are as
    good as the baseline's; None if there are none."""
    known: bool
    """False with fewer than 5 windows, which are too few to decide."""
    limit: float
    """The worse end of the baseline's prediction interval."""
    watched_s: float
    """Observation time after the stress."""

    @property
    def words(self) -> str:
        """Format such as `recovered after 4 s`."""
        if not self.known:
            return f"not known: only {plain(self.watched_s, 3)} s were watched"
        if self.after_s is None:
            return f"not recovered within {plain(self.watched_s, 3)} s"
        return (
            "recovered at once"
            if self.after_s == 0
            else f"recovered after {plain(self.after_s, 3)} s"
        )


@dataclass(frozen=True, slots=True)
class Overall:
    """All scenarios together."""

    score: float | None
    """Geometric mean of the existing scores; None without any."""
    worst: str | None
    """Name of the scenario with the lowest score."""
    missing: tuple[str, ...]
    """Scenarios that were not run."""


def quality(successes: ArrayLike, offered: ArrayLike, capacity: float) -> Floats:
    """Return Q of each window: successes / min(offered, capacity), at most 1; NaN without
    requests.

    `successes` and `offered`, float64[windows], are requests a second: of those due in a window,
    those served within every limit, and all. `capacity` is what the target served at its best
    before the stress, so that it is not blamed for what it never could. ValueError on negative
    numbers and on a capacity of 0.
    """
    served, asked = column(successes), column(offered)
    if served.size != asked.size:
        raise ValueError(f"{served.size} windows of successes but {asked.size} of offered load")
    if (served < 0).any() or (asked < 0).any() or not 0 < capacity < math.inf:
        raise ValueError("successes and offered load must be 0 or more, and the capacity above 0")
    possible = np.minimum(asked, capacity)
    shares = np.divide(served, possible, out=np.full(served.size, np.nan), where=possible > 0)
    capped: Floats = np.minimum(shares, 1.0)
    return capped


def resilience_score(
    successes: ArrayLike,
    offered: ArrayLike,
    capacity: float,
    *,
    level: float = 0.95,
) -> Resilience | None:
    """Return the score from the first window of the stress to the last of the recovery; arguments
    as in `quality`.

    Interval: t with the number of independent windows that these are worth
    (`serial_dependence.worth_of_mean`). It holds for this run: what another run would give, only
    other runs tell. None when nothing was asked at all.
    """
    shares = quality(successes, offered, capacity)
    seen = shares[~np.isnan(shares)]
    if seen.size == 0:
        return None
    score = 100 * min(1.0, float(seen.mean()))
    idle = shares.size - seen.size
    known = Resilience(score, None, float(seen.min()), int(seen.size), idle)
    if seen.size < WINDOWS_NEEDED:
        return replace(known, reason=f"needs {WINDOWS_NEEDED} windows (has {seen.size})")
    if seen.min() == seen.max():
        return replace(known, interval=Interval(score, score, level, "all windows are equal"))
    worth = worth_of_mean(seen, _CAUTION)
    if worth < _LEAST_WORTH:
        alike = f"{seen.size:,} are worth {worth:.0f} independent ones"
        return replace(known, reason=f"no interval: neighboring windows are alike, {alike}")
    return replace(known, interval=_interval(seen, score, worth, level))


def recovery(
    baseline: ArrayLike,
    after: ArrayLike,
    *,
    window_s: float = 1.0,
    higher_is_better: bool = True,
    resolution: float = 0.0,
    level: float = 0.95,
) -> Recovery:
    """Return when 5 consecutive windows after the stress were as good as the baseline's.

    `baseline`, float64[windows] from before the stress, and `after`, from its end on, hold one
    figure of a window, such as successes a second or the median latency. As good is: not beyond
    the worse end of what the baseline predicts for one more window, mean ± t(n-1) s √(1 + 1/n).
    Better than predicted is as good: a cache that the stress has warmed is no damage. `resolution`
    is the least difference that counts, such as one request: the end lies that far out at least,
    which a baseline without any spread needs. ValueError below 5 baseline windows.
    """
    before, seen = column(baseline), column(after)
    if before.size < BASELINE_FROM:
        raise ValueError(f"a baseline needs {BASELINE_FROM} windows, got {before.size}")
    if not window_s > 0 or resolution < 0:
        raise ValueError(f"window_s > 0 and resolution >= 0 are needed: {window_s}, {resolution}")
    spread = 0.0 if before.min() == before.max() else float(before.std(ddof=1))
    t = student_quantile(0.5 + level / 2, before.size - 1)
    reach = max(t * spread * math.sqrt(1 + 1 / before.size), resolution)
    mean = float(before.mean()) if spread else float(before[0])
    limit = mean - reach if higher_is_better else mean + reach
    good = seen >= limit if higher_is_better else seen <= limit
    watched = seen.size * window_s
    if seen.size < IN_A_ROW:
        return Recovery(None, False, limit, watched)
    rows = np.lib.stride_tricks.sliding_window_view(good, IN_A_ROW).all(axis=1)
    first = int(rows.argmax()) if rows.any() else None
    return Recovery(None if first is None else first * window_s, True, limit, watched)


def share_of_week(room: float, growth_per_h: float) -> float:
    """Return the share of a week until hourly growth has used up the room.

    Both in one unit, such as MB; 1 without growth. ValueError on a negative room.
    """
    if not room >= 0:
        raise ValueError(f"a room of 0 or more is needed, got {room}")
    if growth_per_h <= 0:
        return 1.0
    return min(1.0, room / growth_per_h / WEEK_H)


def overall(scores: Mapping[str, float | None]) -> Overall:
    """Combine scores, 0 … 100 by scenario, None if not run: geometric mean, worst, missing.

    A score of 0 makes 0 of the whole. ValueError on a score out of range.
    """
    known = {name: score for name, score in scores.items() if score is not None}
    for name, score in known.items():
        if not 0 <= score <= 100:
            raise ValueError(f"scores lie between 0 and 100, got {score} for {name}")
    missing = tuple(name for name, score in scores.items() if score is None)
    if not known:
        return Overall(None, None, missing)
    worst = min(known, key=lambda name: known[name])
    if known[worst] == 0:
        return Overall(0.0, worst, missing)
    logs = math.fsum(math.log(score) for score in known.values()) / len(known)
    mean = min(max(math.exp(logs), known[worst]), max(known.values()))  # rounding
    return Overall(mean, worst, missing)


def _interval(seen: Floats, score: float, worth: float, level: float) -> Interval:
    error = 100 * float(seen.std(ddof=1)) / math.sqrt(worth)
    reach = student_quantile(0.5 + level / 2, worth - 1) * error
    method = f"t, {seen.size:,} windows worth {worth:.0f} independent ones"
    return Interval(max(0.0, score - reach), min(100.0, score + reach), level, method)
