"""An example of `crumbs`; its data are made up."""

from __future__ import annotations

from agentbench_tui.tui.widgets.crumbs import CrumbBar


def demo() -> CrumbBar:
    """An example."""
    bar = CrumbBar()
    bar.show(("agentbench", "runs", "example suite", "example-agent@2", "case 12"))
    return bar
