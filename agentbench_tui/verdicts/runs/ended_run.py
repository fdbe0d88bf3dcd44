"""A run that has ended: its document, its gates, and whether everything was measured."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import msgspec

from agentbench_tui.contracts.document import plain
from agentbench_tui.contracts.run import GateOutcome, GatesDocument
from agentbench_tui.engine.run.plan import decode_plan
from agentbench_tui.model.errors import UsageError
from agentbench_tui.store.queries.graded_answers import has_grading_failures
from agentbench_tui.store.queries.runs import failure_details, find_run
from agentbench_tui.verdicts.evidence.declared_metrics import declare_metrics_in
from agentbench_tui.verdicts.regression.regression_gate import NoRegression
from agentbench_tui.verdicts.runs.documents import run_document
from agentbench_tui.verdicts.runs.exit_code import exit_code, is_unmeasured
from agentbench_tui.verdicts.runs.gate import check_gates, is_further_attempts
from agentbench_tui.verdicts.stored_plan import read_plan

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Mapping, Sequence

    from agentbench_tui.engine.run.plan import Plan
    from agentbench_tui.verdicts.runs.gate import GateResult

_MOST_DETAILS = 8
_VERDICTS: Mapping[int, Literal["passed", "failed", "undecided"]] = {
    0: "passed", 1: "failed", 3: "undecided",
}  # fmt: skip
"""Exit code → verdict on the gates of a run."""


class EndedRun(msgspec.Struct, frozen=True):
    """State of a run at its end."""

    document: dict[str, Any]
    """`agentbench.run/1`."""
    gates: list[GateResult]
    """Those of the plan and of its suites, on every execution."""
    failures: list[dict[str, Any]]
    """The most frequent failures, each with an example."""
    has_grading_failures: bool = False
    """Whether a metric or a scorer failed on an answer, whose other figures count."""

    @property
    def is_whole(self) -> bool:
        """Return whether the run completed and all of it was measured."""
        return (
            self.document["status"] != "interrupted"
            and not is_unmeasured(self.document)
            and not self.has_grading_failures
        )

    @property
    def exit_code(self) -> int:
        """Return 1 if a gate failed; 3 if a gate, or part of the run, could not be judged;
        else 0.
        """
        return exit_code(self.gates, is_whole=self.is_whole)


def ended_run(connection: sqlite3.Connection, plan: Plan) -> EndedRun:
    """Read a run at its end and check its gates. Raises UsageError if it is not stored."""
    run = find_run(connection, plan.run_id)
    return _judged(connection, run, plan.gates, _gates_of_suites(plan))


def judged_run(
    connection: sqlite3.Connection, run: dict[str, Any], gates: Sequence[str] = ()
) -> EndedRun:
    """Check gates on a stored run, a row of `queries.runs.find_run`.

    Without `gates`, its own are checked: those of its command line and of its suites. Raises
    UsageError for a gate that means nothing, and for a run without gates. A run that only has
    further attempts passes no gate on anything else than pass@k: that would be a pass by nothing.
    """
    if gates:
        return _judged(connection, run, gates, {}, judges_attempts=True)
    if not read_plan(run["plan"]).has_gates:
        raise UsageError(
            f"run {run['id']} has no gates of its own; name some, such as 'accuracy>=0.8'"
        )
    plan = decode_plan(run["plan"])
    return _judged(connection, run, plan.gates, _gates_of_suites(plan), judges_attempts=True)


def _gates_of_suites(plan: Plan) -> dict[str, Sequence[str]]:
    return {one.suite_id: one.resolved().gates for one in plan.suites}


def _judged(
    connection: sqlite3.Connection,
    run: dict[str, Any],
    gates: Sequence[str],
    of_suites: Mapping[str, Sequence[str]],
    *,
    judges_attempts: bool = False,
) -> EndedRun:
    declare_metrics_in(connection, run["key"])
    document = run_document(connection, run)
    failures = failure_details(connection, run["key"], limit=_MOST_DETAILS)
    results = check_gates(
        document,
        gates,
        of_suites,
        NoRegression(connection, run["id"]),
        judges_attempts=judges_attempts and all(map(is_further_attempts, document["executions"])),
    )
    if results:
        document["gates"] = [gate.document() for gate in results]
    return EndedRun(document, results, failures, has_grading_failures(connection, run["key"]))


def gates_document(ended: EndedRun) -> GatesDocument:
    """Return what `agentbench gate --format json` prints."""
    return GatesDocument(
        run_id=ended.document["run_id"],
        status=ended.document["status"],
        verdict=_VERDICTS[ended.exit_code],
        is_whole=ended.is_whole,
        gates=tuple(GateOutcome(**gate.document()) for gate in ended.gates),
    )


def write_documents(document: dict[str, Any], plan: Plan) -> list[str]:
    """Write a run's document into the `output_dir` of every suite that names one.

    Returns a line for each file: that it was written, or why it was not.
    """
    lines = []
    for folder in {folder for one in plan.suites if (folder := one.resolved().output_dir)}:
        target = Path(folder) / f"{plan.run_id}.json"
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(json.dumps(plain(document), indent=2, allow_nan=False))
        except OSError as error:
            lines.append(f"output_dir: {target} cannot be written: {error.strerror}")
        else:
            lines.append(f"written: {target}")
    return lines
