"""Repeats a suspect: the same executions, as a new run."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from agentbench_tui.engine.run.plan import Plan, decode_plan
from agentbench_tui.model.errors import UsageError
from agentbench_tui.model.identity import new_id
from agentbench_tui.store.queries.runs import find_run
from agentbench_tui.store.run_copy import IMPORTED_IN_PART

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable

    from agentbench_tui.store.queries.runs import Row
    from agentbench_tui.verdicts.regression.finding import Finding


def confirming_plans(
    connection: sqlite3.Connection, findings: Iterable[Finding]
) -> list[tuple[Row, Plan]]:
    """Return each run with suspects, and a plan of only their executions.

    Raises UsageError for a run that cannot be carried out again.
    """
    wanted: dict[str, set[str]] = {}
    for one in findings:
        if one.is_decided_by_another_run:
            ids = {row["id"] for point in one.new for row in point.executions}
            wanted.setdefault(one.new[-1].run_id, set()).update(ids)
    return [_again(connection, run_id, ids) for run_id, ids in wanted.items()]


def _again(connection: sqlite3.Connection, run_id: str, ids: set[str]) -> tuple[Row, Plan]:
    run = find_run(connection, run_id)
    if run["error"] == IMPORTED_IN_PART:
        raise UsageError(f"run {run_id} was {IMPORTED_IN_PART}")
    plan = decode_plan(run["plan"])
    groups, ordinal = [], 0
    for group in plan.groups:
        executions = []
        for execution in group.executions:
            if execution.id in ids:
                fresh = msgspec.structs.replace(execution, id=new_id(), ordinal=ordinal)
                executions.append(fresh)
                ordinal += 1
        if executions:
            groups.append(msgspec.structs.replace(group, executions=tuple(executions)))
    hashes = {group.suite_hash for group in groups}
    again = msgspec.structs.replace(
        plan,
        run_id=new_id(),
        suites=tuple(suite for suite in plan.suites if suite.hash in hashes),
        groups=tuple(groups),
        tags=(),
        notes=f"again, to confirm run {run_id}",
    )
    return run, again
