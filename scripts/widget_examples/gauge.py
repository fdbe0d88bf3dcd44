"""An example of `gauge`; its data are made up."""

from __future__ import annotations

import math

from agentbench_tui.tui.widgets.gauge import Cores, Gauge, Gauges, GaugesData


def demo() -> Gauges:
    """A box with 16 cores and one GPU; made up."""
    course = [40 + 30 * math.sin(number / 2) for number in range(12)]
    return Gauges(
        GaugesData(
            (
                Gauge("example", 43.0, 100.0, history=course, note="made up"),
                Cores("cores", [(number * 37) % 101 for number in range(16)]),
                Gauge("memory", 78_100.0, 128_000.0, "MB", history=[v * 1000 for v in course]),
                Gauge("GPU 0", 97.0, 100.0, history=[90.0 + v / 10 for v in course]),
                Gauge("GPU memory", 69_000.0, 79_000.0, "MB"),
                Gauge("GPU power", 698.0, 700.0, "W", note="power cap"),
                Gauge("GPU heat", 74.0, 90.0, "°C"),
                Gauge("clock", 1410.0, None, "MHz", history=[1400.0, 1410.0, None, 1200.0, 1410.0]),
                Gauge("GPU 1", None, 100.0, reason="no access to its counters (MIG)"),
            )
        )
    )
