"""An example of `scrubber`; its data are made up."""

from __future__ import annotations

from agentbench_tui.tui.widgets.scrubber import Scrubber, ScrubberData


def demo() -> Scrubber:
    """Of a run that does not exist."""
    return Scrubber(ScrubberData(72.0, 190.0, 4.0, failures_s=(20.0, 88.0, 89.0), marks_s=(60.0,)))
