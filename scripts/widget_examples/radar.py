"""An example of `radar`; its data are made up."""

from __future__ import annotations

from agentbench_tui.tui.drawing.radar_data import Radar, Shape
from agentbench_tui.tui.widgets.radar import RadarChart


def demo() -> RadarChart:
    """An example."""
    chart = RadarChart()
    chart.show(
        Radar(
            ("speed", "accuracy", "cost", "reliability", "scalability"),
            (
                Shape("example-atlas", (61.2, 93.4, 38.0, 88.1, 62.5)),
                Shape("example-swift", (96.0, 58.3, 92.4, 71.0, 91.7)),
                Shape("example-mock", (80.5, 41.0, 75.0, 52.2, None), simulated=True),
            ),
        )
    )
    return chart
