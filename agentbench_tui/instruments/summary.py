"""Lowest, mean and highest of each numeric field over many readings, in constant memory."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

import msgspec

if TYPE_CHECKING:
    from agentbench_tui.instruments.gauges import Reading

_NAMES = frozenset({"index", "slice"})
"""Numbers that name a thing rather than measure it."""


class FieldSummary(msgspec.Struct, frozen=True):
    """Statistics of one field over the readings in which it was known."""

    low: float
    mean: float
    """Mean over samples, which are evenly spaced."""
    high: float
    n: int


Summary = dict[str, dict[str, FieldSummary]]
"""By scope (`host`, `agent:ID`, `gpu:INDEX`) and field."""


class GaugeSummary:
    """Accepts readings from the sampler's thread and gives summaries to any other."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._fields: dict[str, dict[str, _Running]] = {}

    def add(self, scope: str, reading: Reading) -> None:
        """Count one reading; only numeric fields have a summary."""
        with self._lock:
            fields = self._fields.setdefault(scope, {})
            for name, value in reading.items():
                if isinstance(value, bool) or name in _NAMES:
                    continue
                if isinstance(value, int | float):
                    fields.setdefault(name, _Running()).add(value)

    def summary(self) -> Summary:
        """Return the summary so far; a scope without a numeric field is empty."""
        with self._lock:
            return {
                scope: {name: running.summary() for name, running in fields.items()}
                for scope, fields in self._fields.items()
            }


class _Running:
    __slots__ = ("_high", "_low", "_n", "_total")

    def __init__(self) -> None:
        self._low, self._high = float("inf"), float("-inf")
        self._total, self._n = 0.0, 0

    def add(self, value: float) -> None:
        self._low = min(self._low, value)
        self._high = max(self._high, value)
        self._total += value
        self._n += 1

    def summary(self) -> FieldSummary:
        # Rounding must not put the mean outside what was seen.
        mean = min(max(self._total / self._n, self._low), self._high)
        return FieldSummary(low=self._low, mean=mean, high=self._high, n=self._n)
