"""The rows of a run: written when it starts, closed when it ends."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from agentbench_tui import __version__
from agentbench_tui.engine.run.plan import encode_plan
from agentbench_tui.model.clock import utc_now
from agentbench_tui.model.errors import StoreError
from agentbench_tui.store.database import workspace_id
from agentbench_tui.store.locking import Lease, LeaseHolder

if TYPE_CHECKING:
    import sqlite3
    from pathlib import Path

    from agentbench_tui.engine.run.plan import ExecutionPlan, Group, Plan, SuiteInPlan


PROCESS_ENDED = "its process ended"
"""Why a run stopped that could not say so itself."""


def take_lease(database: Path, run_id: str) -> tuple[Lease, LeaseHolder]:
    """The right to write a run. Raises StoreError while another process has it."""
    holder = LeaseHolder.here()
    lease = Lease.take(database, run_id, holder)
    if lease is None:
        raise StoreError(f"another process is executing run {run_id}")
    return lease, holder


def register_run(connection: sqlite3.Connection, plan: Plan, holder: LeaseHolder) -> int:
    """Write the run with its suites, agents and planned executions; its key."""
    now = utc_now()
    for suite in plan.suites:
        _register_suite(connection, suite, now)
    workspace = workspace_id(connection)
    run_key: int = connection.execute(
        "INSERT INTO runs (id, workspace_id, status, suite_ids, plan, command, seed, repeats,"
        " tags, notes, tool_version, lease, started_at)"
        " VALUES (?,?,'running',?,?,?,?,?,?,?,?,?,?) RETURNING key",
        (
            plan.run_id,
            workspace,
            msgspec.json.encode([suite.suite_id for suite in plan.suites]).decode(),
            encode_plan(plan),
            plan.command,
            plan.seed,
            plan.repeats,
            msgspec.json.encode(plan.tags).decode(),
            plan.notes,
            __version__,
            msgspec.json.encode(holder).decode(),
            now,
        ),
    ).fetchone()[0]
    for group, execution in plan.executions():
        _register_execution(connection, run_key, group, execution, workspace, now)
    return run_key


def _register_suite(connection: sqlite3.Connection, suite: SuiteInPlan, now: str) -> None:
    """Write the suite's rows, also over others of its hash: those of an imported run are only
    claimed to be of it."""
    model = suite.resolved()
    connection.execute(
        "INSERT INTO benchmark_suites (hash, suite_id, name, category, version,"
        " description, document, source, created_at) VALUES (?,?,?,?,?,?,?,?,?)"
        " ON CONFLICT (hash) DO UPDATE SET suite_id=excluded.suite_id, name=excluded.name,"
        " category=excluded.category, version=excluded.version,"
        " description=excluded.description, document=excluded.document",
        (
            suite.hash,
            model.suite_id,
            model.name or model.suite_id,
            model.category,
            model.version,
            model.description,
            msgspec.json.encode(suite.document).decode(),
            suite.source,
            model.created_at or now,
        ),
    )
    connection.executemany(
        "INSERT INTO benchmarks (suite_hash, benchmark_id, name, description, kind, test_type)"
        " VALUES (?,?,?,?,?,?) ON CONFLICT (suite_hash, benchmark_id) DO UPDATE SET"
        " name=excluded.name, description=excluded.description, kind=excluded.kind,"
        " test_type=excluded.test_type",
        [
            (
                suite.hash,
                benchmark.benchmark_id,
                benchmark.name or benchmark.benchmark_id,
                benchmark.description,
                benchmark.kind,
                benchmark.test_type,
            )
            for benchmark in model.benchmarks
        ],
    )


def _register_execution(
    connection: sqlite3.Connection,
    run_key: int,
    group: Group,
    execution: ExecutionPlan,
    workspace: str,
    now: str,
) -> None:
    agent = execution.agent
    specification = msgspec.json.encode(agent).decode()
    connection.execute(
        "INSERT INTO agents (id, name, created_at) VALUES (?,?,?)"
        " ON CONFLICT (id) DO UPDATE SET name=excluded.name",
        (agent.id, agent.name or agent.id, now),
    )
    connection.execute(
        "INSERT OR IGNORE INTO agent_versions (agent_id, version, specification, created_at)"
        " VALUES (?,?,?,?)",
        (agent.id, agent.version, specification, now),
    )
    connection.execute(
        "INSERT INTO benchmark_executions (id, run_key, ordinal, suite_hash, suite_id,"
        " benchmark_id, agent_id, agent_version, workspace_id, parameters, seed, simulated,"
        " model_configuration, status, created_at)"
        " VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,'planned',?)",
        (
            execution.id,
            run_key,
            execution.ordinal,
            group.suite_hash,
            group.suite_id,
            group.benchmark["benchmark_id"],
            agent.id,
            agent.version,
            workspace,
            msgspec.json.encode(group.parameters, order="sorted").decode(),
            group.seed,
            agent.simulated,
            specification,
            now,
        ),
    )


def reopen_run(connection: sqlite3.Connection, run_id: str, holder: LeaseHolder) -> int:
    """Mark an interrupted run as running again; its key."""
    key: int = connection.execute(
        "UPDATE runs SET status='running', stop_reason=NULL, ended_at=NULL, error=NULL, lease=?"
        " WHERE id=? RETURNING key",
        (msgspec.json.encode(holder).decode(), run_id),
    ).fetchone()[0]
    connection.execute(
        "UPDATE benchmark_executions SET status='planned', stop_reason=NULL, error_details=NULL"
        " WHERE run_key=? AND status != 'complete'",
        (key,),
    )
    close_open_iterations(connection, key)
    return key


def mark_dead_runs(connection: sqlite3.Connection, database: Path) -> list[str]:
    """Mark as interrupted every `running` run whose process is gone; their ids.

    Only who gets a run's lease may do so, which the run's own process never lets go of.
    """
    marked = []
    for key, run_id in connection.execute(
        "SELECT key, id FROM runs WHERE status='running'"
    ).fetchall():
        lease = Lease.take(database, run_id)
        if lease is None:
            continue
        connection.execute(
            "UPDATE runs SET status='interrupted', stop_reason=?, ended_at=?"
            " WHERE key=? AND status='running'",
            (PROCESS_ENDED, utc_now(), key),
        )
        connection.execute(
            "UPDATE benchmark_executions SET status='interrupted'"
            " WHERE run_key=? AND status IN ('running', 'planned')",
            (key,),
        )
        connection.execute("DELETE FROM live WHERE run_key=?", (key,))
        lease.release()
        marked.append(run_id)
    return marked


def execution_keys(connection: sqlite3.Connection, run_key: int) -> dict[str, int]:
    """Execution id → key."""
    return {
        row[0]: row[1]
        for row in connection.execute(
            "SELECT id, key FROM benchmark_executions WHERE run_key=?", (run_key,)
        )
    }


def complete_executions(connection: sqlite3.Connection, run_key: int) -> set[int]:
    """Keys of the executions that came to their end: all asked, or stopped early."""
    statement = "SELECT key FROM benchmark_executions WHERE run_key=? AND status='complete'"
    return {row[0] for row in connection.execute(statement, (run_key,))}


def spent_so_far(connection: sqlite3.Connection, run_key: int) -> tuple[float, int]:
    """(dollars, tokens) of the answers that are in the store."""
    cost, tokens = connection.execute(
        "SELECT TOTAL(cost_usd), CAST(TOTAL(input_tokens) + TOTAL(output_tokens) AS INTEGER)"
        " FROM answers WHERE run_key=?",
        (run_key,),
    ).fetchone()
    return cost, tokens


def close_open_iterations(connection: sqlite3.Connection, run_key: int) -> None:
    """Write the rows of iterations that a killed process could not close.

    What it asked for is known from the answers: the time in which any of them was in flight.
    """
    for key, repeat, nth, missing, started_at in connection.execute(
        "SELECT a.execution_key, a.repeat, a.iteration, COUNT(*) - COALESCE((SELECT"
        "  SUM(i.observed) FROM iterations i WHERE NOT i.warmup AND i.repeat=a.repeat"
        "  AND i.execution_key=a.execution_key AND i.iteration=a.iteration), 0) AS missing,"
        " e.start_time FROM answers a JOIN benchmark_executions e ON e.key=a.execution_key"
        " WHERE a.run_key=? GROUP BY 1, 2, 3 HAVING missing > 0",
        (run_key,),
    ).fetchall():
        rows = connection.execute(
            "SELECT sent_ms, COALESCE(e2e_ms, 0), failure_kind IS NULL, correct IS 1 FROM answers"
            " WHERE execution_key=? AND repeat=? AND iteration=? ORDER BY seq DESC LIMIT ?",
            (key, repeat, nth, missing),
        ).fetchall()
        asking_ms = reached = 0.0
        for sent, took, _, _ in sorted(map(tuple, rows)):
            asking_ms += max(0.0, sent + took - max(sent, reached))
            reached = max(reached, sent + took)
        connection.execute(
            "INSERT INTO iterations (run_key, execution_key, repeat, iteration, warmup, status,"
            " started_at, asking_s, observed, answered, correct)"
            " VALUES (?,?,?,?,0,'stopped',?,?,?,?,?)",
            (
                *(run_key, key, repeat, nth, started_at, asking_ms / 1000, len(rows)),
                sum(row[2] for row in rows),
                sum(row[3] for row in rows),
            ),
        )


def committed_observations(
    connection: sqlite3.Connection, run_key: int
) -> dict[int, set[tuple[int, int, int]]]:
    """Execution key → (case key, repeat, iteration) of every observation that is in the store."""
    found: dict[int, set[tuple[int, int, int]]] = {}
    for key, *place in connection.execute(
        "SELECT execution_key, case_key, repeat, iteration FROM answers WHERE run_key=?", (run_key,)
    ):
        case, repeat, iteration = place
        found.setdefault(key, set()).add((case, repeat, iteration))
    return found
