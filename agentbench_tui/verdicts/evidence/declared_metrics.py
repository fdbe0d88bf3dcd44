"""What experiments say of the numbers that they return, for those who judge them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agentbench_tui.experiments.declared import declared_of
from agentbench_tui.model.figures.metric import declare_metric, find_metric

if TYPE_CHECKING:
    import sqlite3


def declare_metrics_of(connection: sqlite3.Connection, agent: str) -> tuple[str, ...]:
    """Make known what the agent's newest execution of each experiment says is better lower or
    higher; their names. Two experiments that disagree leave a name to the first."""
    names: dict[str, None] = {}
    for (key,) in connection.execute(_NEWEST, (agent,)).fetchall():
        for name, metric in declared_of(connection, key).items():
            if declare_metric(metric):
                names[name] = None
    return tuple(names)


def declare_metrics_in(connection: sqlite3.Connection, run_key: int) -> None:
    """Make known what the experiments of a run say of what they return, so that its gates may
    stand on it where their code is not at hand."""
    for (key,) in connection.execute(_IN_RUN, (run_key,)).fetchall():
        for metric in declared_of(connection, key).values():
            declare_metric(metric)


def undeclared_metrics(connection: sqlite3.Connection, agent: str) -> tuple[str, ...]:
    """What the newest executions of the agent's experiments returned and nobody says which way is
    better of."""
    names: dict[str, None] = {}
    for (key,) in connection.execute(_NEWEST, (agent,)).fetchall():
        found = connection.execute("SELECT name FROM metrics WHERE execution_key=?", (key,))
        names |= {name: None for (name,) in map(tuple, found) if find_metric(name) is None}
    return tuple(names)


_IN_RUN = (
    "SELECT e.key FROM benchmark_executions e JOIN benchmarks b ON b.suite_hash=e.suite_hash"
    " AND b.benchmark_id=e.benchmark_id WHERE e.run_key=? AND b.kind='experiment'"
    " GROUP BY e.suite_hash, e.benchmark_id"
)
_NEWEST = (
    # From the few experiments to their executions: an agent may have thousands of others.
    "SELECT MAX(e.key) FROM benchmarks b JOIN benchmark_suites s ON s.hash=b.suite_hash"
    " CROSS JOIN benchmark_executions e ON e.suite_id=s.suite_id AND e.benchmark_id=b.benchmark_id"
    " AND e.suite_hash=b.suite_hash WHERE e.agent_id=? AND e.status='complete'"
    " AND b.kind='experiment' GROUP BY e.benchmark_id ORDER BY 1"
)
