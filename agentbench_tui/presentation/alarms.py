"""Words of the alarms of a run in progress."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agentbench_tui.instruments.overhead import NOISY_PSI_PERCENT
from agentbench_tui.load.slo import metric_of
from agentbench_tui.presentation.numbers import duration, percent, quantity

if TYPE_CHECKING:
    from agentbench_tui.verdicts.runs.run_alarms import Alarm


def alarm_words(alarm: Alarm) -> str:
    """Return what is wrong, with the figure and its limit."""
    if alarm.kind == "failures":
        return f"{alarm.subject}: {percent(alarm.value)} failed (limit {percent(alarm.limit)})"
    if alarm.kind == "slo":
        limit = f"{metric_of(alarm.name)} {duration(alarm.threshold)}"
        needed = percent(alarm.limit)
        return f"{alarm.subject}: SLO missed: {percent(alarm.value)} within {limit} (need {needed})"
    if alarm.kind == "stalled":
        return f"{alarm.subject}: no answer to a request for {quantity(alarm.value, 's')}"
    if alarm.kind == "gpu":
        return f"GPU {alarm.subject} throttled: {alarm.name}"
    if alarm.kind == "disk":
        return f"{quantity(alarm.value, 'MB')} of disk free"
    return f"noisy machine: {', '.join(_waits(alarm))}"


def _waits(alarm: Alarm) -> list[str]:
    """Return who waited for a core for longer than its limit."""
    limits = (
        ("the harness", alarm.value, alarm.limit),
        ("some task", alarm.threshold / 100, NOISY_PSI_PERCENT / 100),
    )
    return [
        f"{who} waited {percent(share)} of the time for a core (limit {percent(limit)})"
        for who, share, limit in limits
        if share > limit
    ]
