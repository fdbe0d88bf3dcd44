"""An example of `plot`; its data are made up."""

from __future__ import annotations

from agentbench_tui.tui.drawing.plot_data import Band, Limit, Line, Mark, PlotData
from agentbench_tui.tui.widgets.plot import Plot


def demo() -> Plot:
    """Latency against the rate of requests for two agents; made up."""
    rates = [5.0 * number for number in range(1, 21)]
    swift = [90 + 2.2 * rate + (rate / 70) ** 9 * 40 for rate in rates]
    atlas = [210 + 0.6 * rate + (rate / 95) ** 8 * 30 for rate in rates]
    return Plot(
        PlotData(
            lines=(Line("atlas-70b", rates, atlas), Line("swift-8b", rates, swift)),
            bands=(
                Band(rates, [0.88 * y for y in atlas], [1.15 * y for y in atlas], 0),
                Band(rates, [0.9 * y for y in swift], [1.1 * y for y in swift], 1),
            ),
            marks=(Mark(78.0, "knee of swift-8b"),),
            limits=(Limit(500.0, "objective"),),
            title="p95 by rate (example)",
            x_label="requests a second",
            y_unit="ms",
            y_from_zero=True,
        )
    )
