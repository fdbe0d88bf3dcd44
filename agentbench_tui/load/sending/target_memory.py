"""How much memory the processes of a target took, where the harness started them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agentbench_tui.engine.task.aggregate import MetricValue
from agentbench_tui.model.text.plain_number import counted
from agentbench_tui.store.queries.gauges import memory_peak_of_agent

if TYPE_CHECKING:
    import sqlite3


def memory_peak(
    connection: sqlite3.Connection, execution_key: int, agent_id: str
) -> MetricValue | None:
    """`memory_peak_mb` from the gauges of the agent's processes while the execution went on; None
    where there are none, as of an endpoint that runs elsewhere."""
    high, n = memory_peak_of_agent(connection, execution_key, agent_id)
    if high is None:
        return None
    reason = f"the highest of {counted(n, 'reading')}; a peak between two is not seen"
    return MetricValue("memory_peak_mb", float(high), "MB", None, None, n, reason)
