"""Tasks per second of each contender, for the value of its cost.

If calls of any contender overlap, the measured throughput counts for all. Otherwise the time of an
answer counts, which does not include the harness's work between two calls.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import msgspec
import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from agentbench_tui.verdicts.cost.ledger import Ledger
    from agentbench_tui.verdicts.evidence.evidence import Evidence

OVERLAPPING_FROM = 1.05
"""Calls under way on average (Little's law: throughput × mean time), from which on they overlap."""

Basis = Literal["throughput", "answer times"]


class Speeds(msgspec.Struct, frozen=True):
    """Speeds of some contenders, in their order."""

    seconds: tuple[float | None, ...]
    """Seconds per task; None if unknown."""
    basis: Basis
    """Source of the times."""
    overlapped: bool
    """Whether calls of any contender overlapped."""

    @property
    def words(self) -> str:
        """Say which speed was used, and why."""
        if self.basis == "throughput":
            return "tasks per second: the measured throughput, since calls overlapped"
        why = "calls came one after another"
        if self.overlapped:
            why = "although calls overlapped: not everybody's throughput is known"
        return f"tasks per second: 1 / mean time of an answer; {why}"


def speeds(parts: Sequence[Ledger]) -> Speeds:
    """Return the seconds per task of each contender."""
    answer_times = tuple(_answer_time(part) for part in parts)
    measured = tuple(_by_throughput(part) for part in parts)
    overlapped = any(
        one is not None and whole is not None and one > OVERLAPPING_FROM * whole
        for one, whole in zip(answer_times, measured, strict=True)
    )
    if overlapped and None not in measured and None not in answer_times:
        return Speeds(measured, "throughput", overlapped)
    return Speeds(answer_times, "answer times", overlapped)


def _answer_time(ledger: Ledger) -> float | None:
    known = ledger.seconds[~np.isnan(ledger.seconds)]
    return float(known.mean()) if len(known) and known.mean() > 0 else None


def _by_throughput(ledger: Ledger) -> float | None:
    """Return the seconds of measurement per task, over its places, each weighted by how often it
    was asked.
    """
    places, counts = np.unique(ledger.place, return_counts=True)
    found = [_seconds_at(ledger.card.evidence[int(place)]) for place in places]
    known = [one for one in found if one is not None]
    return float(np.average(known, weights=counts)) if known and len(known) == len(found) else None


def _seconds_at(evidence: Evidence) -> float | None:
    """Return the answers per second, and the share of tasks that were answered."""
    rates, answered = (evidence.per_repeat(name) for name in ("throughput_per_s", "reliability"))
    if not len(rates) or len(rates) != len(answered) or not (rates > 0).all():
        return None
    return float(np.mean(answered / rates))
