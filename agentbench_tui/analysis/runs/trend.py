"""Trend of a figure over a long run: its slope over time.

Samples of a process over time hang together: memory is what it was, give or take. Least squares
with independent errors then holds the true slope in 16 to 84% instead of 95%, and calls almost
anything a trend. So: medians of 30 equal stretches of time, which no outlier and no noise of single
samples moves, and a line with AR(1) errors through them, by generalized least squares.

Measured coverage of the nominal 95% interval (benchmarks/trend_coverage.py, 100 series each of 60,
300 and 1,800 samples): 93-98% for errors that are independent, skewed, have outliers, or correlate
by 0.5 to 0.97 from sample to sample; 100% for saw teeth, as of garbage collection; 87-93% where
the figure wanders for good (a random walk, steps at random). Noise on top of slow wandering needs
samples: 56-63% with 60, 75-94% with 300, 94-97% with 1,800.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from agentbench_tui.analysis.distribution import student_quantile
from agentbench_tui.analysis.intervals.interval import Interval
from agentbench_tui.analysis.sample import Floats, column
from agentbench_tui.model.text.plain_number import plain

SAMPLES = 20
"""Minimum number of samples for a slope."""
STRETCHES = 30
"""Number of time stretches, each with its median."""
STRETCHES_NEEDED = 10
"""With samples in them; fewer give no interval."""
_CLOSEST = 0.1
"""Of a stretch: two points all but on one spot would decide the line alone."""
_MOST_CORRELATION = 0.9999
"""Of neighbors; at 1 a line through them would have no level."""
_LEAST_FREEDOM = 3.0
"""Degrees of freedom that are granted however strong the correlation is."""
_ROUNDS = 3
"""Of fitting the line and estimating the correlation of what it leaves, in turn."""

Direction: TypeAlias = Literal["rises", "falls", "no trend seen"]
By: TypeAlias = Literal["median", "mean"]
Per: TypeAlias = Literal["s", "min", "h"]
_SECONDS: dict[Per, float] = {"s": 1.0, "min": 60.0, "h": 3600.0}


@dataclass(frozen=True, slots=True)
class Trend:
    """A straight line through a figure over time."""

    slope: float
    """In the figure's unit a second."""
    interval: Interval
    """Of the slope."""
    start: float
    """Of the line, at the first sample."""
    end: float
    """Of the line, at the last sample."""
    span_s: float
    """From the first to the last sample."""
    correlation: float
    """Between residuals of neighboring stretches, 0 … 0.9999."""
    samples: int
    late: Interval | None
    """Of the slope of the second half by itself, which sees what began late; None below 20 samples
    there."""

    @property
    def direction(self) -> Direction:
        """Return the direction if the interval excludes 0."""
        if self.interval.low > 0:
            return "rises"
        return "falls" if self.interval.high < 0 else "no trend seen"

    def words(self, name: str, unit: str, *, scale: float = 1.0, per: Per = "min") -> str:
        """Format such as `memory rises by 1.2 MB/min [0.9, 1.5]`; figures times `scale` are in
        `unit`.
        """
        factor = scale * _SECONDS[per]
        if self.direction != "no trend seen":
            return f"{name} {_moves(self.slope * factor, self.interval, factor, f'{unit}/{per}')}"
        ends = f"{self.interval.low * factor:+.3g} to {self.interval.high * factor:+.3g}"
        text = f"{name}: no trend seen ({ends} {unit}/{per})"
        if self.late is None or self.late.low <= 0 <= self.late.high:
            return text
        middle = (self.late.low + self.late.high) / 2 * factor
        return f"{text}; its second half {_moves(middle, self.late, factor, f'{unit}/{per}')}"


def _moves(slope: float, interval: Interval, factor: float, unit: str) -> str:
    low, high = sorted(abs(end * factor) for end in (interval.low, interval.high))
    ends = f"[{plain(low, 3)}, {plain(high, 3)}]"
    return f"{'rises' if slope > 0 else 'falls'} by {plain(abs(slope), 3)} {unit} {ends}"


def trend_line(
    seconds: ArrayLike, values: ArrayLike, by: By = "median", level: float = 0.95
) -> Trend | None:
    """Return the slope of `values`, float64[n], over nondecreasing `seconds`, float64[n]; None
    below 20.

    Leave out the warm-up. Generalized least squares of the medians of 30 equal stretches, or of
    their means for counts and shares, where what is rare is what matters; with errors of
    correlation φ^(distance) (an AR(1) process in continuous time, so that gaps may be). φ is that
    of what the line leaves, plus (1 + 4φ) 1.5/k, which takes out the bias of k stretches and of the
    line (Kendall 1954, times 1.5). t with (k-2)(1-φ)/(1+φ) degrees of freedom, at least 3. What
    bends (a cache that fills up) leaves so much beside a line that no trend is seen. ValueError on
    NaN, on times that fall, and on a run of no length.
    """
    x, y = column(seconds), column(values)
    if x.size != y.size:
        raise ValueError(f"{x.size} times but {y.size} values")
    if not 0 < level < 1 or by not in ("median", "mean"):
        raise ValueError(f"a level between 0 and 1 and a median or mean are needed: {level}, {by}")
    if x.size < SAMPLES:
        return None
    if (np.diff(x) < 0).any():
        raise ValueError("times must not fall; samples are needed in order of time")
    span = float(x[-1] - x[0])
    if span == 0:
        raise ValueError("all samples are of one time; a trend needs a run of some length")
    line = _fit(x, y, by, level)
    second = x >= x[0] + span / 2
    late = None
    if np.count_nonzero(second) >= SAMPLES and x[second][0] < x[-1]:
        late = _fit(x[second], y[second], by, level).interval
    return Trend(
        slope=line.slope,
        interval=line.interval,
        start=line.middle + line.slope * float(x[0] - line.at),
        end=line.middle + line.slope * float(x[-1] - line.at),
        span_s=span,
        correlation=line.correlation,
        samples=int(x.size),
        late=late,
    )


@dataclass(frozen=True, slots=True)
class _Line:
    slope: float
    interval: Interval
    at: float
    middle: float
    """Of the line, at `at`."""
    correlation: float


def _fit(x: Floats, y: Floats, by: By, level: float) -> _Line:
    times, points = _stretches(x, y, by)
    k, at, length = times.size, float(times.mean()), float(x[-1] - x[0])
    method = f"{by}s of {k} stretches, AR(1) errors, t"
    middle, unit = float(points.mean()), float(points.max() - points.min())
    if unit == 0:
        return _Line(0.0, Interval(0.0, 0.0, level, method), at, float(points[0]), 0.0)
    u, v = (times - at) / length, (points - middle) / unit  # of order 1
    gaps = (np.diff(times) * STRETCHES / length).clip(min=_CLOSEST)
    design = np.stack([np.ones(k), u], axis=1)
    found = np.linalg.lstsq(design, v, rcond=None)[0]
    if k < STRETCHES_NEEDED:
        unknown = Interval(-math.inf, math.inf, level, method)
        return _Line(float(found[1]) * unit / length, unknown, at, middle, 0.0)
    correlation = 0.0
    for _ in range(_ROUNDS):
        correlation = _correlation(v - design @ found)
        whole = _whitened(design, gaps, correlation)
        parts = _whitened(v[:, None], gaps, correlation)[:, 0]
        found = np.linalg.lstsq(whole, parts, rcond=None)[0]
    left = parts - whole @ found
    error = math.sqrt(float(left @ left) / (k - 2) * float(np.linalg.inv(whole.T @ whole)[1, 1]))
    freedom = max((k - 2) * (1 - correlation) / (1 + correlation), _LEAST_FREEDOM)
    half = student_quantile(0.5 + level / 2, freedom) * error * unit / length
    slope = float(found[1]) * unit / length
    interval = Interval(slope - half, slope + half, level, method)
    return _Line(slope, interval, at, middle + float(found[0]) * unit, correlation)


def _stretches(x: Floats, y: Floats, by: By) -> tuple[Floats, Floats]:
    """Return mean time, and median or mean value, of each stretch of time that has samples."""
    number = ((x - x[0]) / (x[-1] - x[0]) * STRETCHES).astype(np.int64).clip(max=STRETCHES - 1)
    starts = np.flatnonzero(np.diff(number, prepend=-1))[1:]
    middle = np.median if by == "median" else np.mean
    times = np.array([part.mean() for part in np.split(x, starts)])
    return times, np.array([middle(part) for part in np.split(y, starts)])


def _correlation(left: Floats) -> float:
    """Return the lag-1 correlation, corrected, 0 … 0.9999; 0 if the line leaves no residuals."""
    total = float(left @ left)
    if total <= 1e-24 * left.size:  # of a range of 1: rounding
        return 0.0
    raw = float(left[1:] @ left[:-1]) / total
    return min(max(raw + (1 + 4 * raw) / left.size * 1.5, 0.0), _MOST_CORRELATION)


def _whitened(columns: Floats, gaps: Floats, correlation: float) -> Floats:
    """Return rows with independent errors of one size, given the correlation of neighbors."""
    between = correlation ** gaps[:, None]
    rest = (columns[1:] - between * columns[:-1]) / np.sqrt(1 - between**2)
    return np.concatenate([columns[:1], rest])
