"""An example of `event_log`; its data are made up."""

from __future__ import annotations

from agentbench_tui.tui.widgets.event_log import EventLog, LogData, LogLine


def demo() -> EventLog:
    """Of a run that does not exist."""
    return EventLog(
        LogData(
            (
                LogLine(3.2, "mark example: before the deploy", "accent"),
                LogLine(12.0, "answer: timeout: no answer within 10 s", "bad", count=3),
                LogLine(14.5, "pause: paused", "dim"),
                LogLine(90.0, "concurrency 64: refused: the agent has 8 places", "warn"),
            )
        )
    )
