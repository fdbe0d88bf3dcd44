"""Content of a histogram: counts, percentiles and a baseline, and the heights of its bars."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

from agentbench_tui.tui.drawing.axis import Axis, axis_of

if TYPE_CHECKING:
    from agentbench_tui.analysis.histogram import Histogram

Buckets = Sequence[tuple[float, float, int]]
"""(from, to, count), in order, as `Histogram.buckets` gives them; zeros are (0, 0, count)."""

_PERCENTILES = ((0.5, "p50", 1), (0.95, "p95", 59), (0.99, "p99", 299))
"""Share, name, and how many values a percentile needs: fewer seldom reach beyond it (0.95 of
the time, 1 - 0.95 ** 59, and so on)."""
_BARS_PER_CUBE_ROOT = 5
"""Few values get few, wide bars; the cube root is how the best number of bars grows (Scott)."""
_LEAST_BARS = 12
_WIDE = 1.5
"""A bucket that covers this many bars counts as wide."""
_STEPS_PER_DECADE = 8
"""Ends of a logarithmic axis lie on these."""
_TAIL, _BEYOND = 0.99, 1.5
"""A linear axis ends at this multiple of this percentile, once it is known: a single outlier
would leave no room for the others. Values beyond the end are described in words.
"""


@dataclass(frozen=True, slots=True)
class Percentile:
    """A percentile mark on the axis."""

    share: float
    name: str
    value: float


@dataclass(frozen=True, slots=True)
class HistogramData:
    """Content of a histogram. The title may be untrusted; it is sanitized."""

    buckets: Buckets = ()
    percentiles: Sequence[Percentile] = ()
    baseline: Buckets = ()
    """Shown as an outline, scaled to as many values."""
    baseline_name: str = "baseline"
    unit: str = "ms"
    log: bool = True
    title: str = ""
    reason: str = "no data yet"
    """Shown while there is nothing to draw."""
    series: tuple[int, int] | None = None
    """Numbers of whose the bars are and whose the outline: in their colors. None: bars in those
    of the percentiles that they lie beyond."""

    @classmethod
    def of(
        cls,
        histogram: Histogram,
        *,
        baseline: Histogram | None = None,
        baseline_name: str = "baseline",
        unit: str = "ms",
        log: bool = True,
        title: str = "",
        reason: str = "no data yet",
        series: tuple[int, int] | None = None,
    ) -> Self:
        """Return the content from a tick histogram, with the percentiles that have enough
        values.
        """
        wanted = [each for each in _PERCENTILES if len(histogram) >= each[2]]
        values = histogram.percentiles(share for share, _, _ in wanted)
        marks = [
            Percentile(share, name, value)
            for (share, name, _), value in zip(wanted, values, strict=True)
            if value is not None
        ]
        return cls(
            histogram.buckets(),
            marks,
            [] if baseline is None else baseline.buckets(),
            baseline_name,
            unit,
            log,
            title,
            reason,
            series,
        )


def total_of(buckets: Buckets) -> int:
    """Return the number of counted values."""
    return sum(count for _, _, count in buckets)


def axis_for(data: HistogramData) -> Axis | None:
    """Return the axis of a histogram; None if no value has a position on it."""
    shown = _placed(data.buckets, data.log)
    if shown:
        shown += _placed(data.baseline, data.log)
    ends = [min(low for low, _, _ in shown), max(high for _, high, _ in shown)] if shown else []
    axis = axis_of(ends, log=data.log)
    if axis is None:
        return None
    if data.log:
        return Axis(_stepped(axis.low, math.floor), _stepped(axis.high, math.ceil), True)
    tail = [mark.value for mark in data.percentiles if mark.share >= _TAIL]
    high = min(axis.high, _BEYOND * min(tail)) if tail and min(tail) > axis.low else axis.high
    low = 0.0 if 0 <= axis.low < 0.3 * high else axis.low
    return Axis(low, high) if high > low else axis


def _stepped(value: float, rounded: Callable[[float], int]) -> float:
    """Return the next step, so that the axis does not move with every new extreme."""
    return float(10.0 ** (rounded(math.log10(value) * _STEPS_PER_DECADE) / _STEPS_PER_DECADE))


def _placed(buckets: Buckets, log: bool) -> list[tuple[float, float, int]]:
    """Return the nonempty buckets that have a position on the axis."""
    least, most = 0.0 if log else -math.inf, math.inf
    return [
        (low, high, count)
        for low, high, count in buckets
        if count > 0 and least < low < most and -most < high < most
    ]


def heights_of(buckets: Buckets, axis: Axis, columns: int) -> list[float]:
    """Return how many values fall on each column; bars of several columns have one height.

    A bucket is spread evenly over the columns that it covers (else columns of four buckets would
    alternate with columns of five), but a narrow one that holds one value is not. One that lies
    outside the axis is left out, as are zeros on a logarithmic one.
    """
    total = total_of(buckets)
    wanted = max(_LEAST_BARS, math.ceil(_BARS_PER_CUBE_ROOT * math.cbrt(max(total, 1))))
    across = max(1, columns // wanted)
    bars = [0.0] * math.ceil(columns / across)
    last, place = len(bars) - 1, _placing(axis, columns / across)
    before, end = math.nan, 0.0
    for low, high, count in _placed(buckets, axis.log):
        if low > axis.high or high < axis.low:
            continue
        start, end = end if low == before else place(low), place(high)
        before = high  # where the next one begins, as a rule
        first, final = int(start) if start > 0 else 0, int(end) if end < last else last
        if first >= final or (count == 1 and end - start < _WIDE):
            bars[min(last, max(0, int((start + end) / 2)))] += count
            continue
        each = count / (end - start)
        bars[first] += each * (first + 1 - max(start, 0.0))
        for number in range(first + 1, final):
            bars[number] += each
        bars[final] += each * (min(end, final + 1) - final)
    return [bars[column // across] for column in range(columns)]


def _placing(axis: Axis, bars: float) -> Callable[[float], float]:
    """Return the position of values, counted in bars from the axis' low end; a vectorized
    `Axis.share`.
    """
    if axis.log:
        base, factor = math.log(axis.low), bars / (math.log(axis.high) - math.log(axis.low))
        return lambda value: (math.log(value) - base) * factor
    low, scale = axis.low, bars / (axis.high - axis.low)
    return lambda value: (value - low) * scale


def baseline_heights(data: HistogramData, axis: Axis, columns: int) -> list[float]:
    """Return the baseline's heights, scaled to as many values; empty without one."""
    total = total_of(data.baseline)
    if not total:
        return []
    factor = total_of(data.buckets) / total
    return [height * factor for height in heights_of(data.baseline, axis, columns)]
