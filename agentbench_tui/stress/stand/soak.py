"""Trends over a long load: memory, latency and errors over the time under load.

Pauses between two windows, in which in-flight requests end, are excluded. So is the first tenth,
since a program grows for a while after its start.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from agentbench_tui.analysis.runs.trend import trend_line
from agentbench_tui.stress.report import TrendFacts

if TYPE_CHECKING:
    from collections.abc import Sequence

    from agentbench_tui.analysis.runs.trend import By
    from agentbench_tui.analysis.sample import Floats
    from agentbench_tui.stress.stand.measured import Measured

WARM_UP = 0.1
"""Share of the time under load at its beginning that counts as warm-up."""
LEAST_S = 10.0
"""Minimum time after the warm-up to distinguish a start-up effect from a trend."""
LEAST_GROWTH_MB = 1.0
"""Over the time watched: every program grows by so much now and then, and no leak shows by less."""
LEAST_SLOWER = 0.05
"""Minimum relative slowdown: machines become this much slower at times without a specific cause."""
_HOUR_S = 3600.0
_PAGE_MB = 4096 / 1e6
"""Resident memory is counted in pages: smaller growth is not detectable."""
_IN_WORDS = {"%": "percentage points"}
"""Unit of a figure → of its change."""
_NONE_SEEN = -math.log(0.05)
"""Maximum expected number of events if none was observed, with 95% confidence (Poisson)."""


class _Series(NamedTuple):
    """A figure over time, in order."""

    of: str
    unit: str
    seconds: Floats
    values: Floats
    by: By
    grain: float
    """Least difference that shows."""


class Soak:
    """Windows of one constant load, one after another."""

    def __init__(self, unseen: str) -> None:
        """`unseen`: why there are no memory samples, if there are none."""
        self.windows: list[Measured] = []
        self._unseen = unseen

    @property
    def length_s(self) -> float:
        """Return the time under load so far in seconds."""
        return sum(window.length_s for window in self.windows)

    @property
    def warm_up_s(self) -> float:
        """Return the part of it that is excluded as warm-up."""
        return WARM_UP * self.length_s

    def trends(self) -> tuple[list[TrendFacts], dict[str, str]]:
        """Return the figures that have a trend, with what is ruled out, and why others are
        unknown.
        """
        found, missing = [], {}
        for series in (self._memory(), self._latency(), self._errors()):
            try:
                found.append(self._facts(series))
            except ValueError as error:
                missing[f"{series.of} trend"] = str(error)
        return found, missing

    def _facts(self, series: _Series) -> TrendFacts:
        """Return the facts. Raises ValueError with the reason if they cannot be determined."""
        watched_s = self.length_s - self.warm_up_s
        if not len(series.values):
            raise ValueError({"memory": self._unseen, **_NOTHING}[series.of])
        if watched_s < LEAST_S:
            raise ValueError(
                f"{watched_s:.3g} s after the warm-up are too short to tell a trend from a start:"
                f" {LEAST_S:g} s are needed"
            )
        if series.of == "errors" and not series.values.any():
            return _no_errors(len(series.values), watched_s)
        trend = trend_line(series.seconds, series.values, series.by)
        if trend is None or not math.isfinite(trend.interval.high):
            raise ValueError(f"{len(series.values)} readings are too few for a trend")
        low, high = trend.interval.low * _HOUR_S, trend.interval.high * _HOUR_S
        unit = _IN_WORDS.get(series.unit, series.unit)
        name = "share of errors" if series.of == "errors" else series.of
        words = f"{trend.words(name, unit, per='h')}, over {trend.span_s:,.3g} s"
        if trend.direction == "no trend seen":
            least = series.grain / trend.span_s * _HOUR_S
            low, high = min(low, -least), max(high, least)
            words += f"; a rise of more than {high:,.3g} {unit}/h is ruled out"
        direction = trend.direction
        least_growth = {"memory": LEAST_GROWTH_MB, "latency": LEAST_SLOWER * trend.start}
        grown = trend.end - trend.start
        if direction == "rises" and grown < least_growth.get(series.of, 0.0):
            direction = "no trend seen"
            words += f"; only {grown:.2g} {series.unit} in all, too little to be called a trend"
        return TrendFacts(
            of=series.of,
            unit=series.unit,
            per_hour=trend.slope * _HOUR_S,
            low=low,
            high=high,
            direction=direction,
            words=words,
            first=trend.start,
            last=trend.end,
        )

    def _memory(self) -> _Series:
        times = [np.array([at for at, _ in window.memory_mb]) for window in self.windows]
        values = [np.array([held for _, held in window.memory_mb]) for window in self.windows]
        return self._series("memory", "MB", times, values, "median", _PAGE_MB)

    def _latency(self) -> _Series:
        times = [window.due_s[window.ok] for window in self.windows]
        values = [window.e2e_ms[window.ok] for window in self.windows]
        return self._series("latency", "ms", times, values, "median", 0.001)

    def _errors(self) -> _Series:
        """Return errors in percent of the due requests."""
        times = [window.due_s for window in self.windows]
        values = [np.where(window.ok, 0.0, 100.0) for window in self.windows]
        return self._series("errors", "%", times, values, "mean", 0.0)

    def _series(
        self,
        of: str,
        unit: str,
        times: Sequence[Floats],
        values: Sequence[Floats],
        by: By,
        grain: float,
    ) -> _Series:
        starts = np.cumsum([0.0, *(window.length_s for window in self.windows)])
        seconds = np.concatenate(
            [
                start + np.minimum(part, window.length_s)
                for start, part, window in zip(starts, times, self.windows, strict=False)
            ]
        )
        warm = seconds >= self.warm_up_s
        return _Series(of, unit, seconds[warm], np.concatenate(values)[warm], by, grain)


_NOTHING = {
    "latency": "nothing was answered",
    "errors": "nothing was asked",
}


def _no_errors(requests: int, watched_s: float) -> TrendFacts:
    """Return the steepest line from 0 that would have shown an error with 95% probability: over n
    requests and T hours, a rise of b per hour brings n b T / 2 errors.
    """
    high = 100 * 2 * _NONE_SEEN / requests / (watched_s / _HOUR_S)
    return TrendFacts(
        of="errors",
        unit="%",
        per_hour=0.0,
        low=0.0,
        high=high,
        direction="no trend seen",
        words=f"errors: none in {requests:,} requests over {watched_s:,.3g} s; a rise of more than"
        f" {high:,.3g} percentage points/h is ruled out",
    )
