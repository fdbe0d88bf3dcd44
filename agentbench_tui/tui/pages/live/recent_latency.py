"""Latency of a load over time: median and p95 as of each second, by the ticks of the last ones."""

from __future__ import annotations

import math
from collections import deque
from typing import TYPE_CHECKING, NamedTuple

from agentbench_tui.analysis.histogram import Histogram

if TYPE_CHECKING:
    from agentbench_tui.store.viewer import Row

WINDOW_S = 10.0
"""Seconds whose answers count: few loads answer as much in one as a p95 needs."""
_NEEDED = {0.5: 1, 0.95: 59}
"""Answers that a percentile needs: fewer seldom reach beyond it."""


class _Tick(NamedTuple):
    at: float
    e2e: Histogram
    ttft: Histogram


class SecondLatency(NamedTuple):
    """Latencies as of one second, in ms; None: too few answers, or nothing was streamed."""

    e2e_p50: float | None = None
    e2e_p95: float | None = None
    ttft_p50: float | None = None
    ttft_p95: float | None = None


class RecentLatency:
    """Latencies of the load that is running, or that ran last."""

    def __init__(self, kept_s: int) -> None:
        """`kept_s`: seconds of which the course is kept."""
        self._kept_s = kept_s
        self._of: tuple[int, int | None] | None = None
        self._recent: deque[_Tick] = deque()
        self._seconds: dict[int, SecondLatency] = {}

    def take(self, tick: Row) -> None:
        """Add a tick; another execution or repeat begins without the answers before it."""
        at, of = tick["at"], (tick["execution_key"], tick.get("repeat"))
        if of != self._of:
            self._of = of
            self._recent.clear()
        e2e = Histogram.from_bytes(tick["e2e_histogram"])
        packed = tick.get("ttft_histogram")
        ttft = Histogram.from_bytes(packed) if packed else Histogram()
        self._recent.append(_Tick(at, e2e, ttft))
        while self._recent[0].at <= at - WINDOW_S:
            self._recent.popleft()
        # A tick that ends with a second describes the one before.
        second = math.floor(math.nextafter(at, -math.inf))
        self._seconds[second] = self._newest()
        if len(self._seconds) > self._kept_s:
            del self._seconds[min(self._seconds)]

    def course(self, last: int, count: int) -> list[SecondLatency]:
        """Return the latencies of `count` seconds up to the second `last` since 1970."""
        nothing = SecondLatency()
        return [self._seconds.get(second, nothing) for second in range(last - count + 1, last + 1)]

    def _newest(self) -> SecondLatency:
        found: list[float | None] = []
        for parts in ([one.e2e for one in self._recent], [one.ttft for one in self._recent]):
            times = Histogram()
            for part in parts:
                times.merge(part)
            shares = [share for share, needed in _NEEDED.items() if len(times) >= needed]
            known = dict(zip(shares, times.percentiles(shares), strict=True))
            found += [known.get(share) for share in _NEEDED]
        return SecondLatency(*found)
