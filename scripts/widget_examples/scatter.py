"""An example of `scatter`; its data are made up."""

from __future__ import annotations

from agentbench_tui.tui.widgets.scatter import Point, Scatter, ScatterPlot


def demo() -> ScatterPlot:
    """An example."""
    plot = ScatterPlot()
    plot.show(
        Scatter(
            (
                Point("example-atlas", 2.4, 93.4, 2.2, 2.7, 90.1, 95.8, 0, on_front=True),
                Point("example-oracle", 4.1, 88.0, 3.6, 4.9, 84.2, 91.1, 0),
                Point("example-swift", 0.23, 81.5, 0.21, 0.26, 77.3, 85.2, 1, on_front=True),
                Point("example-tern", 0.05, 62.2, 0.04, 0.07, 56.8, 67.5, 1, on_front=True),
                Point("example-heron", 0.31, 70.9, 0.28, 0.35, 66.0, 75.4, 1),
                Point("example-mosaic", 0.36, 72.4, 0.33, 0.4, 68.0, 76.5, 0),
                Point("example-mock", 0.9, 55.0, group=0, simulated=True),
            ),
            "cost of 1,000 answers",
            "right answers",
            "$",
            "%",
            log_x=True,
            groups=("large", "small"),
        )
    )
    return plot
