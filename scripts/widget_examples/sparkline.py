"""An example of `sparkline`; its data are made up."""

from __future__ import annotations

import math

from agentbench_tui.tui.widgets.sparkline import Sparkline, SparklineData


def demo() -> Sparkline:
    """A throughput that falls out of its usual band for a while; made up."""
    course = [
        2400 + 180 * math.sin(number / 3) - (900 if 70 <= number < 84 else 0)
        for number in range(110)
    ]
    view = Sparkline(
        SparklineData("requests (example)", course, "req/s", band=(2150.0, 2650.0), from_zero=False)
    )
    view.styles.height = "1fr"
    return view
