"""An example of `waterfall`; its data are made up."""

from __future__ import annotations

from agentbench_tui.tui.widgets.waterfall import Phase, Waterfall, WaterfallView


def demo() -> WaterfallView:
    """An example."""
    tools = Phase("tools", 520, 905, (Phase("search", 520, 700), Phase("calculator", 710, 905)))
    view = WaterfallView()
    view.show(
        Waterfall(
            (
                Phase("queueing", 0, 12.4),
                Phase("connect", 12.4, 61, (Phase("name", None, reason="the address was known"),)),
                Phase("send", 61, 63.5),
                Phase("first byte", 63.5, 318),
                Phase("first token", 331, 331),
                Phase("example answer", 331, 1240, (Phase("tokens", 331, 520), tools)),
            ),
            1240,
        )
    )
    return view
