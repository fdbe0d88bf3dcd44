"""An example of `status_bar`; its data are made up."""

from __future__ import annotations

from agentbench_tui.tui.widgets.status_bar import Status, StatusBar


def demo() -> StatusBar:
    """An example."""
    bar = StatusBar()
    bar.show(
        Status(
            "example suite",
            done=41,
            planned=200,
            elapsed_s=192,
            left_s=680,
            in_flight=64,
            harness="noisy",
            lag_ms=1.2,
            cost_usd=0.41,
            cap_usd=5.0,
            simulated=True,
        )
    )
    return bar
