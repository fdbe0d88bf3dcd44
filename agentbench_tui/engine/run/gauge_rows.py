"""Summary of a run's gauges for one of its executions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agentbench_tui.engine.task.aggregate import MetricValue

if TYPE_CHECKING:
    from collections.abc import Iterable

    from agentbench_tui.store.queries.gauges import GaugeSummaryRow


def gpu_usage(rows: Iterable[GaugeSummaryRow]) -> MetricValue | None:
    """Return `gpu_usage_percent`; None if no GPU was sampled."""
    found = [
        (row.mean, row.n)
        for row in rows
        if row.scope.startswith("gpu:") and row.field == "utilisation_percent"
    ]
    if not found:
        return None
    value = sum(mean for mean, _ in found) / len(found)
    return MetricValue("gpu_usage_percent", value, "%", n=sum(n for _, n in found))
