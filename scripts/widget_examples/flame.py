"""An example of `flame`; its data are made up."""

from __future__ import annotations

from agentbench_tui.tui.widgets.flame import Flame, FlameView, Frame


def demo() -> FlameView:
    """An example."""
    search = Frame(
        "search", 420, (Frame("connect", 60), Frame("rank", 340, (Frame("embed", 250),)))
    )
    think = Frame("model", 610, (Frame("first token", 180), Frame("tokens", 430)))
    agent = Frame("example agent", 1110, (Frame("read", 40), search, think))
    view = FlameView()
    view.show(Flame(Frame("example answer", 1240, (Frame("queueing", 90), agent))))
    return view
