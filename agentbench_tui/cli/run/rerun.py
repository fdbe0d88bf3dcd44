"""`agentbench rerun`: asks part of a run again, as its own run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from agentbench_tui.cli.console.output import FORMATS, database_option, database_path
from agentbench_tui.cli.run.options import command_line, how_of
from agentbench_tui.cli.run.session_options import view_options
from agentbench_tui.cli.run.trust import check_trust, trust_option

if TYPE_CHECKING:
    import sqlite3

    from agentbench_tui.engine.run.plan import Plan


@click.command(short_help="Ask only what failed, or what was wrong, again.")
@click.argument("run", default="latest")
@click.option(
    "--failed",
    is_flag=True,
    help="Ask every case without a valid answer again, whatever the reason.",
)
@click.option("--wrong", is_flag=True, help="Ask every case with a wrong answer again.")
@click.option(
    "--infrastructure",
    is_flag=True,
    help="Ask every case again that failed on the way to the agent: rate limits, connections, "
    "servers, and agentbench itself.",
)
@click.option(
    "--case",
    "cases",
    multiple=True,
    metavar="ID",
    help="Ask this case again, whatever came of it. May be given several times.",
)
@database_option
@click.option(
    "--format",
    "form",
    type=click.Choice(FORMATS),
    default="table",
    show_default=True,
    help="Output format.",
)
@click.option(
    "--dry-run",
    is_flag=True,
    help="Print which requests would be repeated and why, their number and expected cost, and exit "
    "without sending or changing anything.",
)
@click.option("--detach", is_flag=True, help="Start it in the background, print its id and exit.")
@click.option("--quiet", "-q", is_flag=True, help="Show no progress.")
@trust_option
@view_options
def rerun(run: str, database: str | None, trust: bool, **given: Any) -> int:
    """Ask part of RUN (an id, a unique prefix of one, or `latest`) again, as a run of its own.

    A new answer takes the place of an infrastructure failure: the new run then holds all other
    answers of RUN too, and boards, comparisons and histories read it instead of RUN. Anything else
    that is asked again, such as a wrong answer, is a further attempt: it counts for pass@k, and
    changes no accuracy, time or cost.

    \b
    agentbench rerun --failed
    agentbench rerun --failed --wrong --dry-run
    agentbench rerun 01a2203b --infrastructure
    agentbench rerun 01a2203b --wrong
    agentbench rerun 01a2203b --case gains-1 --case gains-7
    """
    from agentbench_tui.cli.run import running
    from agentbench_tui.engine.run.rerun import Choice, rerun_plan
    from agentbench_tui.engine.run.trust import executed_by_resuming
    from agentbench_tui.model.errors import UsageError
    from agentbench_tui.store.database import reading
    from agentbench_tui.store.locking import is_leased
    from agentbench_tui.store.queries.runs import cases_of_run, find_run

    choice = Choice(
        given.pop("failed"), given.pop("wrong"), given.pop("infrastructure"), given.pop("cases")
    )
    if choice == Choice():
        raise click.UsageError(
            "choose what to ask again: --failed, --wrong, --infrastructure or --case ID"
        )
    path = database_path(database)
    with reading(path) as connection:
        row = find_run(connection, run)
        if is_leased(path, row["id"]):
            raise UsageError(
                f"run {row['id']} is still running; `agentbench attach {row['id']}` watches it,"
                " and part of it can be asked again when it has ended"
            )
        plan = rerun_plan(connection, row, choice, command_line())
        if given.pop("dry_run"):
            return _print_plan(connection, plan, given["form"])
        if row["imported_at"] is not None:
            lines = executed_by_resuming(plan, cases_of_run(connection, row["key"]))
            check_trust(row, lines, trust=trust)
    return running.run_plan(plan, str(path), None, how_of(given))


def _print_plan(connection: sqlite3.Connection, plan: Plan, form: str) -> int:
    """Print what a rerun would ask."""
    from agentbench_tui.cli.console.reports import print_report
    from agentbench_tui.presentation.rerun_plan import rerun_plan_report
    from agentbench_tui.verdicts.runs.rerun_plan import rerun_plan_document

    document = rerun_plan_document(connection, plan)
    print_report(rerun_plan_report(document), form, document)
    return 0
