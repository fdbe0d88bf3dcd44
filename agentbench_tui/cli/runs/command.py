"""`agentbench runs`: lists runs, shows one in full with its requests, and handles runs as files."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from agentbench_tui.cli.console.numbers import ROWS
from agentbench_tui.cli.console.output import (
    database_option,
    database_path,
    format_option,
    print_json,
    print_prose,
    print_rows,
)
from agentbench_tui.cli.console.reports import print_report
from agentbench_tui.cli.run.breakdown import by_options, print_breakdown
from agentbench_tui.cli.runs.answers import show_answers
from agentbench_tui.cli.runs.case_lines import case_lines
from agentbench_tui.cli.runs.files import delete, export, import_
from agentbench_tui.cli.runs.samples import samples
from agentbench_tui.model.text.plain_number import counted
from agentbench_tui.presentation.report import Column

if TYPE_CHECKING:
    import sqlite3

    from agentbench_tui.contracts.runs import RunSummary


@click.group(short_help="List, show, delete, export and import runs.")
def runs() -> None:
    """Manage the runs in the database. RUN is an id, a unique prefix of one, or `latest`."""


@runs.command("list")
@click.option(
    "--limit", type=ROWS, default=20, show_default=True, help="Maximum number of rows to show."
)
@click.option("--tag", help="List only runs with this tag.")
@database_option
@format_option()
def list_(limit: int, tag: str | None, database: str | None, form: str) -> int:
    """List runs, newest first.

    \b
    agentbench runs list
    agentbench runs list --tag nightly --format json
    """
    from agentbench_tui.contracts.document import plain
    from agentbench_tui.contracts.runs import RunsDocument
    from agentbench_tui.presentation.listings import runs_report
    from agentbench_tui.store.database import reading
    from agentbench_tui.verdicts.selection.listings import runs_document

    path = database_path(database)
    _say_abandoned(path)
    with reading(path) as connection:
        document = runs_document(connection, path, limit, tag)
        runs = tuple(
            _with_loads(connection, run) if run.status in {"running", "interrupted"} else run
            for run in document.runs
        )
    found = RunsDocument(runs=runs)
    print_report(runs_report(found), form, plain(found))
    return 0


def _say_abandoned(path: Path) -> None:
    """Print the path of the local copy that a killed run left of a database on a network file
    system.
    """
    from agentbench_tui.store.location import abandoned_copy, is_on_network

    if is_on_network(path) and (copy := abandoned_copy(path)) is not None:
        copy.unlock()
        click.echo(
            f"{path}: a run was killed while it wrote to the local copy {copy.path}; "
            "`agentbench resume` continues it",
            err=True,
        )


def _with_loads(connection: sqlite3.Connection, run: RunSummary) -> RunSummary:
    """Count loads without figures, such as running and killed ones."""
    from msgspec.structs import replace

    from agentbench_tui.store.queries.ticks import told_of_open_loads

    observed, answered = told_of_open_loads(connection, run.id)
    return replace(
        run, observed=(run.observed or 0) + observed, answered=(run.answered or 0) + answered
    )


@runs.command()
@click.argument("run", default="latest")
@click.option(
    "--case", "case_id", metavar="ID", help="Show one case in full: question, answer and scores."
)
@click.option("--answers", is_flag=True, help="Show every observation, one per line.")
@click.option("--wrong", is_flag=True, help="Show only observations that are not correct, and why.")
@click.option("--agent", metavar="ID", help="Show only this agent.")
@click.option("--benchmark", metavar="ID", help="Show only this benchmark.")
@click.option(
    "--limit", type=ROWS, default=50, show_default=True, help="Maximum number of rows to show."
)
@by_options
@database_option
@format_option()
def show(run: str, database: str | None, form: str, **given: Any) -> int:
    """Show a run: its scores, leaderboard and environment, or its answers, one case, or groups.

    \b
    agentbench runs show latest
    agentbench runs show latest --by difficulty
    agentbench runs show 01a2203b --wrong --agent rules
    agentbench runs show latest --case gains-1 --format json
    """
    from agentbench_tui.store.database import reading
    from agentbench_tui.store.queries.runs import find_run

    others = [f"--{name}" for name in ("case_id", "answers", "wrong") if given[name]]
    if given["by"] is not None and others:
        alone = ", ".join(others).replace("case_id", "case")
        raise click.UsageError(f"--by shows groups of cases, so it cannot be combined with {alone}")
    path = database_path(database)
    with reading(path) as connection:
        row = find_run(connection, run)
        if given["case_id"] is not None:
            return _show_case(connection, row, form, given)
        if given["answers"] or given["wrong"]:
            return show_answers(connection, row, form, given)
        if given["by"] is not None:
            return _show_groups(connection, row, form, given)
        return _show_run(connection, path, row, form)


def _show_run(connection: Any, path: Path, row: dict[str, Any], form: str) -> int:
    from agentbench_tui.cli.run.result import print_run
    from agentbench_tui.presentation.load.report import MOST_IN_FULL
    from agentbench_tui.store.locking import is_leased
    from agentbench_tui.verdicts.run_leaderboard import boards_without_scores
    from agentbench_tui.verdicts.runs.documents import count_kept, mark_interrupted, run_details

    document = run_details(connection, row)
    if document["status"] == "running" and not is_leased(path, row["id"]):
        mark_interrupted(document)
    if document["status"] == "interrupted":
        count_kept(connection, row["key"], document)
    if form == "json":
        print_json(document)
        return 0
    boards = boards_without_scores(connection, document)
    print_run(document, form, full=True, in_full=True, boards=boards)
    if form == "table":
        loads = sum(one.get("load") is not None for one in document["executions"])
        if loads > MOST_IN_FULL:
            print_prose("for every statistic of each load: --format csv or --format json")
        if document["status"] == "running":
            print_prose(_progress(connection, row["id"], document))
        elif document["status"] == "interrupted":
            for line in _kept_words(connection, row, document):
                print_prose(line)
        for line in _circumstances(document):
            print_prose(line)
    return 0


def _show_groups(connection: Any, row: dict[str, Any], form: str, given: dict[str, Any]) -> int:
    from agentbench_tui.verdicts.groups.breakdown import breakdown
    from agentbench_tui.verdicts.groups.breakdown_document import breakdown_document
    from agentbench_tui.verdicts.runs.documents import run_details

    found = breakdown(connection, executions_wanted(connection, row, given), given["by"])
    if form == "json":
        shown = breakdown_document(found, given["by_limit"])
        print_json(run_details(connection, row) | {"breakdown": shown})
        return 0
    print_breakdown(found, form, given["by_limit"])
    return 0


def _progress(connection: Any, run_id: str, document: dict[str, Any]) -> str:
    """Format the progress of a run whose figures are incomplete."""
    from agentbench_tui.cli.run.result import kind_of, pause_words
    from agentbench_tui.store.queries.progress import pauses_of_run, progress_of_run
    from agentbench_tui.store.queries.ticks import sent_so_far

    if all(kind_of(one).sends_load for one in document["executions"]):
        sent, answered = sent_so_far(connection, run_id)
        return f"so far {sent:,} sent, {answered:,} answered; figures come when a load has ended"
    done = progress_of_run(connection, run_id)
    assert done is not None  # it has just been found
    return (
        f"so far {done['observed']} of {done['planned']} asked, {done['answered']} answered,"
        f" {done['correct']} right{pause_words(pauses_of_run(connection, run_id))};"
        " scores come when an agent has been asked everything"
    )


def _kept_words(connection: Any, row: dict[str, Any], document: dict[str, Any]) -> list[str]:
    """Say what is stored of an interrupted run's unfinished executions, and how to resume it."""
    resume = f"`agentbench resume {row['id']}` continues it"
    unfinished = [one for one in document["executions"] if one["status"] == "interrupted"]
    answers = sum(one["cases"]["observed"] for one in unfinished if not one.get("load"))
    lines = _stored_words(connection, row)
    if answers:
        are = "is" if answers == 1 else "are"
        kept = f"{counted(answers, 'answer')} of the unfinished executions {are} kept"
        lines.insert(0, f"the run was not finished; {kept}; {resume}")
    elif not lines:
        kept = "no answer of the unfinished executions is kept"
        lines.append(f"the run was not finished; {kept}; {resume}")
    return lines


def _stored_words(connection: Any, row: dict[str, Any]) -> list[str]:
    """Say what is stored of loads without figures."""
    from agentbench_tui.store.queries.load import stored_requests
    from agentbench_tui.store.queries.runs import executions_of, load_summary_of

    keys = [one["key"] for one in executions_of(connection, row["key"])]
    counts = [
        stored_requests(connection, key) for key in keys if load_summary_of(connection, key) is None
    ]
    whole, cut_off = sum(one[0] for one in counts), sum(one[1] for one in counts)
    samples = f"`agentbench runs samples {row['id']}"
    lines = []
    if whole:
        lines.append(
            f"{whole:,} requests of whole repeats are stored ({samples}`); their figures come when"
            " `agentbench resume` has measured the others"
        )
    if cut_off:
        lines.append(
            f"{cut_off:,} requests of a repeat that was cut off are stored ({samples} "
            "--unfinished`); `agentbench resume` measures it again"
        )
    return lines


def _circumstances(document: dict[str, Any]) -> list[str]:
    from agentbench_tui.model.text.untrusted import one_line
    from agentbench_tui.verdicts.cost.unchecked_limits import unchecked_words

    first = (
        f"started {document['started_at']}, ended {document['ended_at'] or '–'},"
        f" seed {document['seed']}, repeats {document['repeats']},"
        f" agentbench {document['tool_version']}"
    )
    lines = [first]
    if document["command"]:
        lines.append(one_line(document["command"], 400))
    if document["notes"]:
        lines.append(one_line(document["notes"], 400))
    if document["error"]:
        lines.append(f"error: {one_line(document['error'], 400)}")
    lines += [one_line(remark, 400) for remark in document["remarks"]]
    lines += [one_line(words, 400) for words in unchecked_words(document)]
    lines += [one_line(found["words"], 600) for found in document["clusters"]]
    lines += [f"  {reason}" for reason in (document["overhead"] or {}).get("reasons", [])]
    for failure in document["failure_details"]:
        place = f"{failure['agent_id']} {failure['benchmark_id']} {failure['stage']}"
        detail = one_line(f"{place}: {failure['kind']}: {failure['detail']}", 160)
        lines.append(f"{failure['n']:>5} × {detail}")
    return lines


def executions_wanted(connection: Any, row: dict[str, Any], given: dict[str, Any]) -> list[Any]:
    """Return the executions of a run that match `--agent` and `--benchmark`."""
    from agentbench_tui.verdicts.runs import answers_document

    return answers_document.executions_wanted(connection, row, given["agent"], given["benchmark"])


def _show_case(connection: Any, row: dict[str, Any], form: str, given: dict[str, Any]) -> int:
    from agentbench_tui.model.errors import UsageError, did_you_mean
    from agentbench_tui.model.text.untrusted import visible
    from agentbench_tui.store.queries.answers import case_ids_of, case_of

    observations = []
    for execution in executions_wanted(connection, row, given):
        for observation in case_of(connection, execution["key"], given["case_id"]):
            named = {"agent_id": execution["agent_id"], "benchmark_id": execution["benchmark_id"]}
            observations.append({**named, **observation})
    if not observations:
        hint = did_you_mean(given["case_id"], case_ids_of(connection, row["key"]))
        raise UsageError(
            f"no observation of case '{given['case_id']}' in run {row['id']}{hint};"
            " `agentbench runs show RUN --answers` lists them"
        )
    if form == "json":
        document = {"schema": "agentbench.case/1", "run_id": row["id"]}
        print_json({**document, "observations": observations})
        return 0
    if form in {"csv", "jsonl"}:
        print_rows(observations, [Column(name, name) for name in observations[0]], form)
        return 0
    for observation in observations:
        click.echo(visible("\n".join(case_lines(observation))))
    return 0


for _command in (samples, delete, export, import_):
    runs.add_command(_command)
