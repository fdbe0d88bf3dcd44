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
from agentbench_tui.store.queries.iterations import newest_answer_times, open_iterations
from agentbench_tui.store.reruns import use_dataset_of
from agentbench_tui.store.writes import runs
from agentbench_tui.store.writes.definitions import (
    BenchmarkRow,
    SuiteRow,
    write_agent,
    write_suite,
)
from agentbench_tui.store.writes.executions import (
    ExecutionRow,
    add_stopped_iteration,
    plan_execution,
)
from agentbench_tui.store.writes.runs import RunRow

if TYPE_CHECKING:
    import sqlite3
    from pathlib import Path

    from agentbench_tui.engine.run.plan import ExecutionPlan, Group, Plan, SuiteInPlan


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
    run_key = runs.begin_run(
        connection,
        RunRow(
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
    )
    for group, execution in plan.executions():
        _register_execution(connection, run_key, group, execution, workspace, now)
    return run_key


def _register_suite(connection: sqlite3.Connection, suite: SuiteInPlan, now: str) -> None:
    model = suite.resolved()
    write_suite(
        connection,
        SuiteRow(
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
        [
            BenchmarkRow(
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
    agent, continued = execution.agent, execution.continued
    specification = msgspec.json.encode(agent).decode()
    write_agent(connection, agent.id, agent.name or agent.id, agent.version, specification, now)
    key = plan_execution(
        connection,
        ExecutionRow(
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
            continued.execution_id if continued is not None and continued.attempt == 1 else None,
            continued.execution_id if continued is not None and continued.attempt > 1 else None,
        ),
    )
    if continued is not None:
        use_dataset_of(connection, key, continued.execution_id)


def reopen_run(connection: sqlite3.Connection, run_id: str, holder: LeaseHolder) -> int:
    """Mark an interrupted run as running again; its key."""
    key = runs.set_running_again(connection, run_id, msgspec.json.encode(holder).decode())
    close_open_iterations(connection, key)
    return key


def close_open_iterations(connection: sqlite3.Connection, run_key: int) -> None:
    """Write the rows of iterations that a killed process could not close.

    Their duration is the time in which any of their answers was in flight.
    """
    for one in open_iterations(connection, run_key):
        answers = newest_answer_times(connection, one)
        asking_ms = reached = 0.0
        for answer in sorted(answers):
            end_ms = answer.sent_ms + answer.e2e_ms
            asking_ms += max(0.0, end_ms - max(answer.sent_ms, reached))
            reached = max(reached, end_ms)
        add_stopped_iteration(
            connection,
            (run_key, one.execution_key, one.repeat, one.iteration),
            one.started_at,
            asking_ms / 1000,
            (
                len(answers),
                sum(answer.answered for answer in answers),
                sum(answer.correct for answer in answers),
            ),
        )
