"""Prints the result of a load, and the plan of one."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click
import msgspec

from agentbench_tui.cli.console.reports import print_report
from agentbench_tui.cli.load.comparison import compare_targets, targets_compared
from agentbench_tui.cli.run.plan import say_traces
from agentbench_tui.contracts.document import plain
from agentbench_tui.model.text.plain_number import counted
from agentbench_tui.presentation.execution_records import execution_records
from agentbench_tui.presentation.load.report import load_report, load_sections
from agentbench_tui.presentation.report import Report
from agentbench_tui.verdicts.evidence.place import point_words

if TYPE_CHECKING:
    import sqlite3

    from agentbench_tui.contracts.document import Json
    from agentbench_tui.contracts.load import LoadDocument, LoadSweepDocument
    from agentbench_tui.contracts.run import RunDocument
    from agentbench_tui.engine.run.plan import Plan
    from agentbench_tui.verdicts.comparison.selector_comparison import SelectorComparison


def print_load_run(connection: sqlite3.Connection, document: dict[str, Json], form: str) -> None:
    """Print the result of `agentbench load`. `document`: `agentbench.run/1`."""
    # Here, since a load imports this module before its window, and numpy would come with it.
    from agentbench_tui.presentation.comparison.report import comparison_report
    from agentbench_tui.verdicts.runs.documents import typed_run

    run = typed_run(document)
    compared = None
    if form not in {"csv", "jsonl"} and (agents := targets_compared(run)):
        compared = compare_targets(connection, run.run_id, agents)
    sections = () if compared is None else comparison_report(compared.document).sections
    printed = _json_document(run, compared) if form == "json" else None
    print_report(load_report(run, sections), form, printed)


def print_in_run(
    _: dict[str, Json], executions: list[dict[str, Json]], form: str, *, in_full: bool
) -> None:
    """Print the loads among the executions of a run: with `in_full` like `agentbench load`, unless
    there are more than `MOST_IN_FULL`; else one line each.
    """
    from agentbench_tui.verdicts.runs.documents import typed_executions

    typed = typed_executions(executions)
    sections = load_sections(typed, in_full=in_full)
    print_report(Report(execution_records(typed), sections), form, None)
    if form in {"table", "md"}:
        click.echo()


def _json_document(
    run: RunDocument, compared: SelectorComparison | None
) -> LoadDocument | LoadSweepDocument:
    """Return the document of a load, measured or not; for a sweep, and for several targets, one
    with all points."""
    from agentbench_tui.verdicts.load.load_document import unmeasured_load
    from agentbench_tui.verdicts.load.load_sweep import sweep_document

    if len(run.executions) != 1:
        document = sweep_document(run)
        if compared is None:
            return document
        return msgspec.structs.replace(document, comparison=plain(compared.document))
    (only,) = run.executions
    return only.load_result or unmeasured_load(run.run_id, only)


def print_load_plan(plan: Plan, form: str) -> None:
    """Print what `agentbench load` would do, one line per point."""
    from agentbench_tui.contracts.plan import LoadPlanDocument, PlannedLoad
    from agentbench_tui.load.schedule.schedule_words import schedule_words
    from agentbench_tui.presentation.load.plan import load_plan_report

    loads = tuple(
        PlannedLoad(
            agent_id=execution.agent.id,
            target=execution.agent.target,
            parameters=point_words(group.parameters),
            schedule=schedule_words(group.benchmark["load"]),
            repeats=plan.repeats,
            seed=group.seed,
        )
        for group, execution in plan.executions()
    )
    document = LoadPlanDocument(executions=loads)
    print_report(load_plan_report(document), form, document)
    say_traces(plan)
    if form == "table":
        click.echo(f"{counted(len(loads), 'load')}; nothing was run", err=True)
