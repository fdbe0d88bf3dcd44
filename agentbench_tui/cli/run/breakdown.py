"""`--by FIELD`: results by groups of cases, in `run` and `runs show`."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import click

from agentbench_tui.cli.console.numbers import ROWS
from agentbench_tui.cli.console.output import print_json, print_prose, print_rows
from agentbench_tui.model.text.untrusted import one_line
from agentbench_tui.presentation.report import Column

if TYPE_CHECKING:
    import sqlite3

    from agentbench_tui.engine.run.plan import Plan
    from agentbench_tui.verdicts.groups.breakdown import Breakdown

Command = TypeVar("Command", bound=Callable[..., Any])
Document = dict[str, Any]
Show = Callable[["sqlite3.Connection", Document, str], None]
_LONGEST = 2000
"""Characters of a sentence."""

by_limit_option = click.option(
    "--by-limit",
    type=ROWS,
    default=30,
    show_default=True,
    help="Maximum number of --by groups to show, those with the most cases first. All "
    "groups are tested.",
)


def by_options(command: Command) -> Command:
    """Add `--by` and `--by-limit`: results by groups of cases."""
    command = by_limit_option(command)
    return click.option(
        "--by",
        metavar="FIELD",
        help="Also show results for each group of cases that share the value of FIELD: a "
        "metadata field such as category or difficulty, or cluster, expected, benchmark or "
        "suite. Scores, ranks and gates still use all cases.",
    )(command)


def check_field(plan: Plan, wanted: str) -> None:
    """Raise UsageError, before the first request, for a field that no case of the plan has."""
    from agentbench_tui.engine.cases.casebook import each_dataset
    from agentbench_tui.model.errors import UsageError
    from agentbench_tui.verdicts.evidence.place import Place
    from agentbench_tui.verdicts.groups.breakdown import NO_CASES
    from agentbench_tui.verdicts.groups.case_groups import CaseFields

    fields = CaseFields()
    numbers: dict[tuple[str, str], int] = {}
    for position, source in each_dataset(plan):
        group = plan.groups[position]
        benchmark = group.benchmark["benchmark_id"]
        fields.add_places([Place(group.suite_id, benchmark)])
        with source:
            for case in source.cases():
                number = numbers.setdefault((benchmark, case.id), len(numbers))
                fields.add_case(number, case)
    if not numbers:
        raise UsageError(f"--by {wanted}: {NO_CASES}")
    fields.groups(wanted)


def with_breakdown(show: Show | None, wanted: str, limit: int) -> Show:
    """Print by `show` (by default as any run), then the breakdown; JSON has it in `breakdown`."""

    def broken_down(connection: sqlite3.Connection, run: Document, form: str) -> None:
        from agentbench_tui.cli.run.running import show_run
        from agentbench_tui.verdicts.groups.breakdown_document import breakdown_document

        found = breakdown_of_run(connection, run, wanted)
        run["breakdown"] = breakdown_document(found, limit)
        if form not in {"csv", "jsonl"}:
            (show or show_run())(connection, run, form)
        if form != "json":
            print_breakdown(found, form, limit)

    return broken_down


def breakdown_of_run(connection: sqlite3.Connection, run: Document, wanted: str) -> Breakdown:
    """Return the breakdown of a document's run."""
    from agentbench_tui.store.queries.runs import executions_of, find_run
    from agentbench_tui.verdicts.groups.breakdown import breakdown

    rows = executions_of(connection, find_run(connection, run["run_id"])["key"])
    return breakdown(connection, rows, wanted)


def print_breakdown(found: Breakdown, form: str, limit: int) -> None:
    """Print a breakdown as a table with sentences; CSV and JSON lines have a row for each group."""
    from agentbench_tui.presentation.breakdown import (
        COLUMNS,
        TEXTS,
        breakdown_rows,
        breakdown_sentences,
        metric_title,
    )
    from agentbench_tui.verdicts.groups.breakdown_document import breakdown_document

    document = breakdown_document(found, limit)
    if form == "json":
        print_json(document)
        return
    if form in {"csv", "jsonl"}:
        rows = _plain_rows(document)
        print_rows(rows, [Column(name, name) for name in (rows[0] if rows else ("group",))], form)
        return
    click.echo()
    print_prose(one_line(f"{'## ' if form == 'md' else ''}By {found.field}"))
    if form == "md":
        click.echo()
    columns = [
        Column(
            key,
            {"main": metric_title(found), "group": found.field}.get(key, title),
            right=key not in TEXTS,
            names_row=key in {"agent", "group"},
        )
        for key, title in COLUMNS
    ]
    print_rows(breakdown_rows(found, limit), columns, form)
    if form == "md":
        click.echo()
    for line in breakdown_sentences(found, limit):
        print_prose(one_line(line, _LONGEST))


def _plain_rows(document: Document) -> list[Document]:
    """Return a row of numbers for each group of each agent."""
    rows = []
    for agent in document["agents"]:
        about = {name: agent[name] for name in ("agent_id", "agent_version", "simulated", "metric")}
        about["field"] = document["field"]
        for group in agent["groups"]:
            row = about | agent["parameters"]
            for name, value in group.items():
                if name == "failures":
                    row[name] = " ".join(f"{kind}:{count}" for kind, count in value.items())
                elif isinstance(value, dict):
                    row |= {
                        name: value["value"], f"{name}_low": value["low"],
                        f"{name}_high": value["high"],
                    }  # fmt: skip
                else:
                    row[name] = value
            rows.append(row)
    return rows
