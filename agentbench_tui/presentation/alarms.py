"""Words of the alarms of a run in progress."""

from __future__ import annotations

from typing import TYPE_CHECKING

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
    waited = f"the harness waited {percent(alarm.value)} of the time for a core"
    pressure = percent(alarm.threshold / 100)
    return f"noisy machine: {waited} (limit {percent(alarm.limit)}), CPU pressure {pressure}"
