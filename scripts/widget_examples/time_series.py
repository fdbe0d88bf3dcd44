"""An example of `time_series`; its data are made up."""

from __future__ import annotations

from agentbench_tui.tui.widgets.sparkline import SparklineData
from agentbench_tui.tui.widgets.time_series import TimeSeries, TimeSeriesData


def demo() -> TimeSeries:
    """Of a run that does not exist."""
    rate = [200.0 + (number * 37) % 60 - (150 if 40 < number < 50 else 0) for number in range(90)]
    errors = [3.0 if 40 < number < 50 else 0.0 for number in range(90)]
    return TimeSeries(
        TimeSeriesData(
            (
                SparklineData("answers", rate, "req/s"),
                SparklineData("failures", errors, "/s", errors=True),
            ),
            marks=((49, "example: server restarted"),),
        )
    )
