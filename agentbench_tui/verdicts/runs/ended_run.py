"""A run that has ended: its document, its gates, and whether everything could be measured."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agentbench_tui.model.answer import UNMEASURED
from agentbench_tui.store.queries.runs import failure_details, find_run
from agentbench_tui.verdicts.evidence.declared_metrics import declare_metrics_in
from agentbench_tui.verdicts.regression.regression_gate import NoRegression
from agentbench_tui.verdicts.runs.documents import run_document
from agentbench_tui.verdicts.runs.gate import check_gates

if TYPE_CHECKING:
    import sqlite3

    from agentbench_tui.engine.run.plan import Plan
    from agentbench_tui.verdicts.runs.gate import GateResult

_MOST_DETAILS = 8


@dataclass(frozen=True, slots=True)
class EndedRun:
    """State of a run at its end."""

    document: dict[str, Any]
    """`agentbench.run/1`."""
    gates: list[GateResult]
    """Those of the plan and of its suites, on every execution."""
    failures: list[dict[str, Any]]
    """The most frequent failures, each with an example."""


def ended_run(connection: sqlite3.Connection, plan: Plan) -> EndedRun:
    """Read a run at its end and check its gates. Raises UsageError if it is not stored."""
    run = find_run(connection, plan.run_id)
    document = run_document(connection, run)
    failures = failure_details(connection, run["key"], limit=_MOST_DETAILS)
    of_suites = {one.suite_id: one.resolved().gates for one in plan.suites}
    declare_metrics_in(connection, run["key"])
    gates = check_gates(document, plan.gates, of_suites, NoRegression(connection, plan.run_id))
    if gates:
        document["gates"] = [gate.document() for gate in gates]
    return EndedRun(document, gates, failures)


def write_documents(document: dict[str, Any], plan: Plan) -> list[str]:
    """Write a run's document into the `output_dir` of every suite that names one.

    Returns a line for each file: that it was written, or why it was not.
    """
    lines = []
    for folder in {folder for one in plan.suites if (folder := one.resolved().output_dir)}:
        target = Path(folder) / f"{plan.run_id}.json"
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(json.dumps(document, indent=2, allow_nan=False))
        except OSError as error:
            lines.append(f"output_dir: {target} cannot be written: {error.strerror}")
        else:
            lines.append(f"written: {target}")
    return lines


def is_unmeasured(document: dict[str, Any]) -> bool:
    """Return whether part of a run could not be measured, so that it must not count as a result."""
    return document["status"] in {"incomplete", "running"} or any(
        _has_nothing(execution) or not UNMEASURED.isdisjoint(execution["failures"])
        for execution in document["executions"]
    )


def _has_nothing(execution: dict[str, Any]) -> bool:
    """Return whether no request was answered, including those that the plan cancelled."""
    load = execution.get("load")
    broken_off: int = 0 if load is None else load["requests"]["cancelled"]
    answered: int = execution["cases"]["answered"]
    return answered + broken_off == 0
