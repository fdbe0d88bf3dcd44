"""An example of `histogram`; its data are made up."""

from __future__ import annotations

from agentbench_tui.tui.drawing.histogram_data import HistogramData
from agentbench_tui.tui.widgets.histogram import HistogramView


def demo() -> HistogramView:
    """Two agents' times with a second, slow way of answering; made up by a formula."""
    from agentbench_tui.analysis.histogram import Histogram

    def times(scale: float, slow: int) -> Histogram:
        evenly = [(number + 0.5) / 2000 for number in range(2000)]
        usual = [scale * (share / (1 - share)) ** 0.18 for share in evenly]
        late = [scale * 4.5 * (1 + 0.4 * number / slow) for number in range(slow)]
        return Histogram([*usual, *late])

    return HistogramView(
        HistogramData.of(
            times(330, 120),
            baseline=times(410, 60),
            baseline_name="v1.2",
            title="end to end (example)",
        )
    )
