"""What gauges come to for an execution."""

from agentbench_tui.engine.run.gauge_rows import gpu_usage
from agentbench_tui.engine.task.aggregate import MetricValue
from agentbench_tui.store.queries.gauges import GaugeSummaryRow


def test_the_use_of_gpus_is_the_mean_over_all_of_them() -> None:
    rows = [
        GaugeSummaryRow(1, "gpu:0", "utilisation_percent", 0.0, 90.0, 100.0, 10),
        GaugeSummaryRow(1, "gpu:1", "utilisation_percent", 0.0, 40.0, 100.0, 10),
        GaugeSummaryRow(1, "gpu:1", "memory_used_mb", 1.0, 2.0, 3.0, 10),
        GaugeSummaryRow(1, "host", "cpu_percent", 0.0, 5.0, 9.0, 10),
    ]
    assert gpu_usage(rows) == MetricValue("gpu_usage_percent", 65.0, "%", n=20)
    assert gpu_usage(rows[2:]) is None
