"""Memory of a target's processes, if the harness started them."""

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
    """Return `memory_peak_mb` from the gauges of the agent's processes during the execution;
    None if there are none, as for a remote endpoint.
    """
    high, n = memory_peak_of_agent(connection, execution_key, agent_id)
    if high is None:
        return None
    reason = f"the highest of {counted(n, 'reading')}; a peak between two is not seen"
    return MetricValue("memory_peak_mb", float(high), "MB", None, None, n, reason)
