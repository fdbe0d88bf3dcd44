"""Judges one level of load by confidence bounds: pass, fail, measure longer, or unclear.

A figure breaks a limit when its better bound lies beyond it, and keeps it when its worse bound
lies inside; in between more is measured, up to three times the length, and then nobody knows.

Requests of one window are not independent: near saturation a queue makes neighbors slow together.
Bounds are therefore widened by the design effect, measured between batches of consecutive requests
(batch means). In an M/M/8 queue whose true p95 is the limit, windows of 3,000 requests are told
apart from it in 3% (half of the capacity used) and 58% (90% used); without, in 3% and 91%. The
rest is the queue's own slow wandering, which only repeated windows settle.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from agentbench_tui.analysis.distribution import binomial_cdf, normal_quantile
from agentbench_tui.analysis.intervals.interval import t_mean, wilson, zero_event_upper
from agentbench_tui.analysis.sample import Floats, column
from agentbench_tui.model.text.plain_number import plain, with_unit

LEVEL = 0.95
"""Level of each interval whose ends are the bounds."""
LONGEST = 3
"""Times the usual length that a level is measured before it is called unclear."""
BATCHES = 20
"""Batches of consecutive requests, between which the design effect is measured."""
_LEAST_BATCH = 10
_WINDOW_BATCHES = 10

Outcome: TypeAlias = Literal["pass", "fail", "extend", "unclear"]
Side: TypeAlias = Literal["above", "below"]
Flags: TypeAlias = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits of a load level."""

    error_share: float = 0.01
    """Share of the due requests."""
    latency: tuple[tuple[float, float], ...] = ()
    """Quantile → limit, such as ((0.95, 500.0),); for successful requests."""
    latency_unit: str = "ms"
    completed_share: float = 0.95
    """Answers within the window over requests that became due in it."""

    def __post_init__(self) -> None:
        for name in ("error_share", "completed_share"):
            if not 0 < getattr(self, name) < 1:
                raise ValueError(f"{name} lies between 0 and 1, got {getattr(self, name)}")
        for q, limit in self.latency:
            if not 0 < q < 1 or not limit > 0:
                raise ValueError(f"a quantile between 0 and 1 and a limit are needed: {q}, {limit}")


@dataclass(frozen=True, slots=True)
class Check:
    """One figure against its limit."""

    name: str
    """Such as `errors`, `p95 of latency`, `throughput`, `memory`."""
    value: float | None
    """None when nothing was measured."""
    low: float
    high: float
    """Upper bound of the figure; infinite if unbounded."""
    limit: float
    worse: Side
    """Which side of the limit is broken."""
    unit: str = ""
    """`%` prints a share as percent."""

    @property
    def broken(self) -> bool:
        """Return whether the limit is exceeded with confidence."""
        return self.low > self.limit if self.worse == "above" else self.high < self.limit

    @property
    def kept(self) -> bool:
        """Return whether the limit is kept with confidence."""
        return self.high <= self.limit if self.worse == "above" else self.low >= self.limit

    @property
    def words(self) -> str:
        """Format such as `p95 of latency 812 ms [790, 850], limit 500 ms`."""
        if self.value is None:
            return f"{self.name} not known, limit {self._number(self.limit)}"
        ends = f"[{self._number(self.low, '')}, {self._number(self.high, '')}]"
        return f"{self.name} {self._number(self.value)} {ends}, limit {self._number(self.limit)}"

    def _number(self, value: float, unit: str | None = None) -> str:
        if not math.isfinite(value):
            return "?"
        shown = 100 * value if self.unit == "%" else value
        return with_unit(plain(shown, 4), self.unit if unit is None else unit)


@dataclass(frozen=True, slots=True)
class LevelVerdict:
    """Verdict on a level."""

    outcome: Outcome
    """`extend`: measure on and judge everything again."""
    checks: tuple[Check, ...]
    requests: int = 0
    """That were due in the window."""

    @property
    def broke(self) -> tuple[Check, ...]:
        """Return the figures that exceed their limits, with confidence."""
        return tuple(check for check in self.checks if check.broken)

    @property
    def open(self) -> tuple[Check, ...]:
        """Return the figures that may be on either side of their limits."""
        return tuple(check for check in self.checks if not check.broken and not check.kept)

    @property
    def reason(self) -> str:
        """Return the figures that determine the outcome, in words."""
        decisive = self.broke or self.open or self.checks
        return "; ".join(check.words for check in decisive)


def judge_level(
    ok: ArrayLike,
    latency: ArrayLike,
    completed: int,
    limits: Limits,
    *,
    length: int = 1,
    further: Sequence[Check] = (),
) -> LevelVerdict:
    """Judge the window of a level, after warm-up.

    `ok`, bool[n], and `latency`, float64[n], are of the requests that became due in the window, in
    that order: whether each was answered without error, and how long after it was due (ignored, and
    NaN if you like, where not ok). One that is never answered is not ok. `completed` counts the
    answers that came within the window, whenever due and whether right or wrong. `length` is how
    many times the usual length was measured, all of which the columns hold; at 3 `extend` becomes
    `unclear`. `further` are checks of what this does not know, such as memory or `windows_check`.

    The design effect is that of errors, and of being slower than the limit: a latency that swings
    far below its limit makes nothing unclear. Errors: Wilson, and 1 - 0.05^(1/n) where there are
    none. Latency: order statistics with half of the error at each end, of those answered right.
    Completed: Wilson. ValueError on columns of different length and on NaN where ok.
    """
    good = np.asarray(ok, dtype=np.bool_)
    times = np.asarray(latency, dtype=np.float64)
    if good.ndim != 1 or good.shape != times.shape:
        raise ValueError(f"{good.size} outcomes but {times.size} latencies")
    answered = column(times[good])
    if length < 1 or completed < 0:
        raise ValueError(f"length >= 1 and completed >= 0 are needed, got {length}, {completed}")
    checks = (
        _errors(~good, limits.error_share),
        *(_latency(answered, q, limit, limits.latency_unit) for q, limit in limits.latency),
        _completed(completed, good.size, limits.completed_share),
        *further,
    )
    return LevelVerdict(_outcome(checks, length), checks, int(good.size))


def windows_check(name: str, values: ArrayLike, limit: float, worse: Side, unit: str = "") -> Check:
    """Return a check of the mean of float64[windows], such as of answers per second, for
    `further`.

    Bounds: t over the means of 10 batches of consecutive windows, which neighbors that go together
    do not narrow much; no bounds below 20 windows.
    """
    x = column(values)
    if x.size < 2 * _WINDOW_BATCHES:
        value = float(x.mean()) if x.size else None
        return Check(name, value, -math.inf, math.inf, limit, worse, unit)
    size = x.size // _WINDOW_BATCHES
    batches = x[: size * _WINDOW_BATCHES].reshape(_WINDOW_BATCHES, size).mean(axis=1)
    ends = t_mean(batches, LEVEL)
    assert ends is not None
    return Check(name, float(batches.mean()), ends.low, ends.high, limit, worse, unit)


def requests_needed(limits: Limits) -> int:
    """Return the fewest requests with which a level can pass if all are answered, fast and
    independent.
    """
    tail = (1 - LEVEL) / 2
    z = normal_quantile(1 - tail)
    by_errors = math.log(1 - LEVEL) / math.log1p(-limits.error_share)
    by_completed = z * z * limits.completed_share / (1 - limits.completed_share)
    by_latency = (math.log(tail) / math.log(q) for q, _ in limits.latency)
    return math.ceil(max(by_errors, by_completed, *by_latency))


def design_effect(happened: ArrayLike) -> float:
    """Return how many values in order of time, bool[n], equal one independent value; at least 1.

    Variance of the share between batches of consecutive values, over what independent values
    would have: p (1-p) / size. 1 where everything or nothing happened, and below 20 values.
    """
    flags = np.asarray(happened, dtype=np.float64)
    size = max(flags.size // BATCHES, _LEAST_BATCH)
    batches = flags.size // size
    if batches < 2:
        return 1.0
    shares = flags[: batches * size].reshape(batches, size).mean(axis=1)
    share = float(shares.mean())
    independent = share * (1 - share) / size
    return max(1.0, float(shares.var(ddof=1)) / independent) if independent > 0 else 1.0


def _outcome(checks: Sequence[Check], length: int) -> Outcome:
    if any(check.broken for check in checks):
        return "fail"
    if all(check.kept for check in checks):
        return "pass"
    return "extend" if length < LONGEST else "unclear"


def _errors(failed: Flags, limit: float) -> Check:
    n, errors = int(failed.size), int(np.count_nonzero(failed))
    if n == 0:
        return Check("errors", None, 0.0, 1.0, limit, "above", "%")
    if errors == 0:
        return Check("errors", 0.0, 0.0, zero_event_upper(n, LEVEL), limit, "above", "%")
    worth = max(1, round(n / design_effect(failed)))
    ends = wilson(errors / n * worth, worth, LEVEL)
    assert ends is not None
    return Check("errors", errors / n, ends.low, ends.high, limit, "above", "%")


def _latency(times: Floats, q: float, limit: float, unit: str) -> Check:
    name = f"p{plain(100 * q)} of latency"
    n = int(times.size)
    if n == 0:
        return Check(name, None, -math.inf, math.inf, limit, "above", unit)
    value = float(np.quantile(times, q))
    widened = math.sqrt(design_effect(times > limit))
    low, high = (round(n * q + widened * (rank - n * q)) for rank in _ranks(n, q))
    ordered = np.sort(times)
    lowest = float(ordered[low - 1]) if low >= 1 else -math.inf
    highest = float(ordered[high - 1]) if high <= n else math.inf
    return Check(name, value, lowest, highest, limit, "above", unit)


def _ranks(n: int, q: float) -> tuple[int, int]:
    """Return ranks from 1, each with half of the error; 0 or n + 1 if no value bounds the
    quantile.
    """
    tail = (1 - LEVEL) / 2

    def outer(share: float) -> int:
        return bisect_right(range(n), tail, key=lambda k: binomial_cdf(k, n, share))

    return outer(q), n + 1 - outer(1 - q)


def _completed(completed: int, offered: int, limit: float) -> Check:
    name = "completed of offered"
    if offered == 0:
        return Check(name, None, 0.0, 1.0, limit, "below", "%")
    done = min(completed, offered)
    ends = wilson(done, offered, LEVEL)
    assert ends is not None
    return Check(name, done / offered, ends.low, ends.high, limit, "below", "%")
