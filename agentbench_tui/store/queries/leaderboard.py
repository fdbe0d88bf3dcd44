"""The leaderboard's views, over the executions that a filter keeps.

The views `benchmark_leaderboard` and `agent_comparison_matrix` take no parameter. So their own text
is run with another source of executions: what they rank, and how, stays stated once. Unlike the
views, it does not let a run of some of the cases stand for an earlier run of more.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from agentbench_tui.store.queries.latest import whole_runs_instead
from agentbench_tui.store.queries.runs import rows_of

if TYPE_CHECKING:
    import sqlite3

Row = dict[str, Any]

LEADERBOARD_DAYS = 30
"""The window of the view `benchmark_leaderboard`."""
_WINDOW = f"e.created_at > strftime('%Y-%m-%dT%H:%M:%fZ', 'now', '-{LEADERBOARD_DAYS} days')"
_LATEST = "latest_executions"
_OF_RUN = "(SELECT * FROM benchmark_executions WHERE status='complete' AND run_key=:run)"


@dataclass(frozen=True, slots=True)
class ExecutionFilter:
    """Which complete executions count; None keeps all."""

    days: int | None = LEADERBOARD_DAYS
    """Maximum age in days."""
    suite: str | None = None
    category: str | None = None
    """Category of the suite."""
    benchmark: str | None = None
    run_key: int | None = None
    """Only this run; by default the latest executions of all runs."""
    agents: tuple[str, ...] | None = None
    keys: tuple[int, ...] | None = None
    """Exactly these executions, whatever else is set."""

    def of_whole_runs(self, connection: sqlite3.Connection) -> ExecutionFilter:
        """Return the filter with its executions as keys, those of partial runs replaced by those of
        the latest whole run of the same version and suite; of one run, itself.
        """
        if self.run_key is not None or self.keys is not None:
            return self
        rows = connection.execute(f"SELECT key FROM {self.source()}", self.values())  # noqa: S608  # ours
        (since,) = connection.execute(
            "SELECT strftime('%Y-%m-%dT%H:%M:%fZ', 'now', :window)", self.values()
        ).fetchone()
        found = whole_runs_instead(connection, [key for (key,) in rows.fetchall()], since)
        return replace(self, keys=tuple(found))

    def source(self) -> str:
        """Return the executions as an SQL table, with the names in `values` as parameters."""
        if self.keys is not None:
            return (
                "(SELECT x.* FROM json_each(:keys) k"
                " CROSS JOIN benchmark_executions x ON x.key=k.value)"
            )
        executions = _LATEST if self.run_key is None else _OF_RUN
        return (
            f"(SELECT x.* FROM {executions} x"  # noqa: S608  # constants alone
            " LEFT JOIN benchmark_suites f ON f.hash=x.suite_hash WHERE"
            " (:window IS NULL OR x.created_at > strftime('%Y-%m-%dT%H:%M:%fZ', 'now', :window))"
            " AND (:suite IS NULL OR x.suite_id=:suite)"
            " AND (:benchmark IS NULL OR x.benchmark_id=:benchmark)"
            " AND (:category IS NULL OR f.category=:category)"
            " AND (:agents IS NULL OR x.agent_id IN (SELECT value FROM json_each(:agents))))"
        )

    def values(self) -> dict[str, Any]:
        """Return the parameters of `source`."""
        return {
            "window": None if self.days is None else f"-{self.days} days",
            "suite": self.suite,
            "benchmark": self.benchmark,
            "category": self.category,
            "run": self.run_key,
            "agents": None if self.agents is None else json.dumps(self.agents),
            "keys": None if self.keys is None else json.dumps(self.keys),
        }


def leaderboard_rows(connection: sqlite3.Connection, kept: ExecutionFilter) -> list[Row]:
    """Return the view `benchmark_leaderboard` of these executions: ranks within each suite
    category.
    """
    select = _text_of(connection, "benchmark_leaderboard", kept).replace(_WINDOW, "TRUE")
    rows = rows_of(connection, select, kept.values())
    for row in rows:
        row["scores_and_ranks"] = json.loads(row["scores_and_ranks"])
    return rows


def matrix_rows(connection: sqlite3.Connection, kept: ExecutionFilter) -> list[Row]:
    """Return the view `agent_comparison_matrix` of these executions: ranks over all categories."""
    select = _text_of(connection, "agent_comparison_matrix", kept)
    return rows_of(
        connection,
        f"SELECT * FROM ({select})"  # noqa: S608  # the view's own text
        " ORDER BY simulated, overall_rank IS NULL, overall_rank, avg_accuracy DESC",
        kept.values(),
    )


def harness_verdicts(
    connection: sqlite3.Connection, kept: ExecutionFilter
) -> dict[tuple[str, str, bool], str]:
    """Return the worst verdict behind each line of the leaderboard, by category, agent and
    simulated. A load has its own verdict; anything else has that of its run.
    """
    worst = "MAX(CASE COALESCE(l.verdict, r.verdict)"
    worst += " WHEN 'generator-limited' THEN 2 WHEN 'noisy' THEN 1 WHEN 'clean' THEN 0 END)"
    rows = connection.execute(
        f"SELECT s.category, e.agent_id, e.simulated, {worst} FROM {kept.source()} e"  # noqa: S608
        " JOIN runs r ON r.key=e.run_key JOIN benchmark_suites s ON s.hash=e.suite_hash"
        " LEFT JOIN load_summaries l ON l.execution_key=e.key GROUP BY 1, 2, 3",
        kept.values(),
    ).fetchall()
    names = ("clean", "noisy", "generator-limited")
    return {
        (category, agent, bool(simulated)): names[place]
        for category, agent, simulated, place in rows
        if place is not None
    }


def _text_of(connection: sqlite3.Connection, view: str, kept: ExecutionFilter) -> str:
    text: str = connection.execute(
        "SELECT sql FROM sqlite_master WHERE type='view' AND name=?", (view,)
    ).fetchone()[0]
    return text.partition(" AS\n")[2].replace(f"FROM {_LATEST}", f"FROM {kept.source()}")
