"""One window of load on the target, as columns in the order in which requests were due."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from agentbench_tui.analysis.intervals.interval import quantile_interval
from agentbench_tui.analysis.intervals.serial_dependence import worth_of_mean

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from agentbench_tui.analysis.load.level_verdict import Flags
    from agentbench_tui.analysis.sample import Floats


class Seconds(NamedTuple):
    """The window cut into pieces of equal length; float64[pieces] each."""

    offered: Floats
    """Requests due, a second."""
    good: Floats
    """Good answers per second: without error and within the limit."""


@dataclass(frozen=True)
class Measured:
    """Result of one window. All times count from when requests were due."""

    phase: str
    """Purpose: `normal`, `probe`, `stress`, `recovery`, …"""
    repeat: int
    """Its number among the windows of the execution, as the store keeps them."""
    asked_per_s: float | None
    """Mean rate of the schedule; None for a closed loop."""
    users: int | None
    """Users of a closed loop; None for an open one."""
    length_s: float
    due_s: Floats
    """float64[n], rising, since the window's start."""
    ok: Flags
    """bool[n], answered without error."""
    e2e_ms: Floats
    """float64[n], from due to the last byte; NaN if not ok."""
    end_s: Floats
    """float64[n], end time, with any result; NaN if it never ended."""
    failures: Mapping[str, int] = field(default_factory=dict)
    """By kind."""
    sender_limit: str | None = None
    """Why the sender, not the target, may have been the limit."""
    memory_mb: tuple[tuple[float, float], ...] = ()
    """Seconds since the start, and resident memory of the target's processes here."""
    cpu_share: float | None = None
    """CPU time of those processes over the window, in cores; None when they are not here."""
    kinds: NDArray[np.str_] | None = None
    """str[n], failure kind of each, empty if ok; None if only the total is known."""
    applied: Mapping[str, int] = field(default_factory=dict)
    """Fault → how often it hit a connection or request."""

    def __len__(self) -> int:
        return len(self.due_s)

    @property
    def completed(self) -> int:
        """Return the number of answers, right or wrong, that arrived within the window."""
        return int(np.count_nonzero(self.end_s <= self.length_s))

    @property
    def error_share(self) -> float | None:
        """Return the share of errors among due requests; None without any."""
        return float(1 - self.ok.mean()) if len(self) else None

    @property
    def answered_per_s(self) -> float:
        """Return the good answers per second that arrived within the window."""
        within = self.ok & (self.end_s <= self.length_s)
        return float(np.count_nonzero(within)) / self.length_s if self.length_s > 0 else 0.0

    def quantile_ms(self, q: float) -> float | None:
        """Return the quantile of the latencies of answered requests; None without any."""
        times = self.e2e_ms[self.ok]
        return float(np.quantile(times, q)) if times.size else None

    def median_interval_ms(self) -> tuple[float | None, float | None]:
        """Return the 95% interval of the median, adjusted for correlation between neighbors.

        Both ends are None with too few answers.
        """
        times = self.e2e_ms[self.ok]
        found = quantile_interval(times, 0.5, worth=worth_of_mean(times)) if times.size else None
        return (None, None) if found is None else (found.low, found.high)

    def part(self, from_s: float, to_s: float, *, phase: str) -> Measured:
        """Return the requests that were due in that part of the window, with its own clock.

        CPU is counted for the whole window and unknown for a part; faults are those of the whole.
        """
        own = (self.due_s >= from_s) & (self.due_s < to_s)
        length_s = to_s - from_s
        return replace(
            self,
            phase=phase,
            asked_per_s=None
            if self.asked_per_s is None or length_s <= 0
            else float(np.count_nonzero(own)) / length_s,
            length_s=length_s,
            due_s=self.due_s[own] - from_s,
            ok=self.ok[own],
            e2e_ms=self.e2e_ms[own],
            end_s=self.end_s[own] - from_s,
            failures=_counts(self.kinds, own),
            kinds=None if self.kinds is None else self.kinds[own],
            cpu_share=None,
            memory_mb=tuple((at - from_s, mb) for at, mb in self.memory_mb if from_s <= at <= to_s),
        )

    def seconds(self, limit_ms: float | None, piece_s: float = 1.0) -> Seconds:
        """Divide the window into whole pieces, by when requests were due; the remainder is
        dropped.
        """
        pieces = max(0, math.floor(self.length_s / piece_s + 1e-9))
        place = np.floor(self.due_s / piece_s).astype(np.int64)
        good = self.ok & (self.e2e_ms <= (math.inf if limit_ms is None else limit_ms))

        def rate(chosen: Flags) -> Floats:
            counted = np.bincount(place[chosen], minlength=pieces)[:pieces]
            return np.asarray(counted / piece_s, dtype=np.float64)

        return Seconds(rate(np.ones(len(self), dtype=np.bool_)), rate(good))


def _counts(kinds: NDArray[np.str_] | None, own: Flags) -> dict[str, int]:
    if kinds is None:
        return {}
    names, counts = np.unique(kinds[own], return_counts=True)
    return {str(name): int(n) for name, n in zip(names, counts, strict=True) if name}
