"""An example of `key_bar`; its data are made up."""

from __future__ import annotations

from agentbench_tui.tui.widgets.key_bar import Key, KeyBar


def demo() -> KeyBar:
    """An example."""
    bar = KeyBar()
    bar.show((Key("enter", "⏎", "Open the example"), Key("c", "c", "Compare", enabled=False)))
    return bar
