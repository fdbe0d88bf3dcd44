"""Lowest, mean and highest of each field over a stretch of readings, in constant memory."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

import msgspec

from agentbench_tui.instruments.gpu.nvidia import THROTTLE_REASONS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from agentbench_tui.instruments.gauges import Reading

_NAMES = frozenset({"index", "slice"})
"""Numbers that name a thing rather than measure it."""


class FieldSummary(msgspec.Struct, frozen=True):
    """One field over the readings in which it was known."""

    low: float
    mean: float
    high: float
    n: int


Summary = dict[str, dict[str, FieldSummary]]
"""By scope (`host`, `agent:ID`, `gpu:INDEX`) and field."""


class SummaryWindow:
    """Takes readings from the sampler's thread, gives summaries to any other.

    The mean is over readings, which come at even intervals. A field that is true or false, and
    `throttle.REASON` of a GPU, has as its mean the share of readings in which it held.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._fields: dict[tuple[str, str], _Running] = {}

    def add(self, scope: str, reading: Reading) -> None:
        with self._lock:
            for field, value in _numbers(reading):
                running = self._fields.get((scope, field))
                if running is None:
                    running = self._fields[scope, field] = _Running(value)
                running.add(value)

    def summary(self) -> Summary:
        """What was seen so far. A throttle reason that never held is left out."""
        found: Summary = {}
        with self._lock:
            for (scope, field), running in self._fields.items():
                if running.high == 0 and field.startswith("throttle."):
                    continue
                found.setdefault(scope, {})[field] = FieldSummary(
                    low=running.low,
                    # Rounding must not put the mean outside what was seen.
                    mean=min(max(running.total / running.n, running.low), running.high),
                    high=running.high,
                    n=running.n,
                )
        return found


class _Running:
    __slots__ = ("high", "low", "n", "total")

    def __init__(self, first: float) -> None:
        self.low = self.high = first
        self.total = 0.0
        self.n = 0

    def add(self, value: float) -> None:
        self.low = min(self.low, value)
        self.high = max(self.high, value)
        self.total += value
        self.n += 1


def _numbers(reading: Reading) -> Iterator[tuple[str, float]]:
    for field, value in reading.items():
        if isinstance(value, int | float) and field not in _NAMES:
            yield field, float(value)
        elif field == "throttle_reasons" and isinstance(value, list | tuple):
            for reason in {*THROTTLE_REASONS.values(), *value}:
                yield f"throttle.{reason.replace(' ', '_')}", float(reason in value)
