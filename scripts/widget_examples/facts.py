"""An example of `facts`; its data are made up."""

from __future__ import annotations

from agentbench_tui.tui.widgets.facts import Fact, Facts, FactsData


def demo() -> Facts:
    """Of a load that does not exist."""
    return Facts(
        FactsData(
            (
                Fact("phase (example)", "window, 12 s of 30 s"),
                Fact("asked", "500/s"),
                Fact("sent", "421/s: 16% less than asked", "warn"),
                Fact("in flight", "64, 12 more wait for a place"),
                Fact("oldest request", "4.1 s"),
            )
        )
    )
