"""`agentbench resume` and `agentbench rescore`: continue a stored run, and score it again."""

from __future__ import annotations

import shlex
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click
import msgspec

from agentbench_tui.cli.console.output import (
    FORMATS,
    database_option,
    database_path,
    print_prose,
    stdout_kept,
)
from agentbench_tui.cli.run.options import how_of
from agentbench_tui.cli.run.session_options import view_options
from agentbench_tui.cli.run.trust import check_trust, trust_option
from agentbench_tui.model.kinds import load_part
from agentbench_tui.model.text.plain_number import counted

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from agentbench_tui.cli.run.running import How
    from agentbench_tui.engine.run.plan import Plan


@click.command(short_help="Continue an interrupted run.")
@click.argument("run", required=False)
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
    "--detach", is_flag=True, help="Continue the run in the background, print its id and exit."
)
@click.option("--quiet", "-q", is_flag=True, help="Show no progress.")
@trust_option
@view_options
def resume(run: str | None, database: str | None, trust: bool, **given: Any) -> int:
    """Continue RUN (an id, a unique prefix of one, or `latest`), and print its result at the end.

    Without RUN, continue the newest run that was interrupted or killed. Stored answers are kept;
    requests that were in flight are sent again. An imported run executes no code, contacts no
    server and reads no file until you allow it.

    \b
    agentbench resume
    agentbench resume 01a2203b --no-ui
    """
    from agentbench_tui.cli.experiments.result import experiments_shown, sharing_process
    from agentbench_tui.cli.run import running
    from agentbench_tui.engine.run.dead_runs import PROCESS_ENDED
    from agentbench_tui.engine.run.plan import check_unmasked, decode_plan
    from agentbench_tui.engine.run.trust import executed_by_resuming
    from agentbench_tui.model.errors import UsageError
    from agentbench_tui.store.database import reading
    from agentbench_tui.store.locking import is_leased
    from agentbench_tui.store.queries.runs import cases_of_run, find_run
    from agentbench_tui.store.run_copy import IMPORTED_IN_PART

    path = database_path(database)
    with _to_resume(path) as there, reading(there) as connection:
        row = find_run(connection, run or _resumable(connection, there))
    if is_leased(there, row["id"]):
        raise UsageError(
            f"run {row['id']} is still running; `agentbench attach {row['id']}` watches it"
        )
    if row["error"] == IMPORTED_IN_PART:
        raise UsageError(f"run {row['id']} was {IMPORTED_IN_PART}")
    if row["status"] == "complete":
        raise UsageError(f"run {row['id']} is complete; there is nothing to resume")
    plan = decode_plan(row["plan"])
    check_unmasked(plan)
    if row["imported_at"] is not None:
        with reading(there) as connection:
            lines = executed_by_resuming(plan, cases_of_run(connection, row["key"]))
        check_trust(row, lines, trust=trust)
    is_killed = row["status"] == "running" or row["stop_reason"] == PROCESS_ENDED
    if is_killed and (named := sharing_process(plan)):
        print_prose(
            f"run {row['id']}: {PROCESS_ENDED}; {', '.join(named)} ran in the same process "
            "and may have ended it. With fresh_process, only one iteration would fail",
            err=True,
        )
    how = as_begun(plan, experiments_shown(plan, how_of(given)))
    return running.run_plan(plan, str(path), None, how, resume=True)


def _resumable(connection: Any, path: Path) -> str:
    """Return the run to continue if none is named. Raises UsageError if there is none."""
    from agentbench_tui.model.errors import UsageError
    from agentbench_tui.store.queries.runs import newest_run_ids
    from agentbench_tui.verdicts.runs.run_choice import live_run, resumable_run

    found = resumable_run(connection, path)
    if found is not None:
        return found
    running = live_run(connection, path)
    if running is not None:
        raise UsageError(
            f"no run was interrupted; run {running} is still running (`agentbench attach`)"
        )
    lacking = newest_run_ids(connection, 1, "incomplete")
    hint = "".join(f"; `agentbench resume {run}` asks what run {run} lacks" for run in lacking)
    raise UsageError(f"no run was interrupted{hint or ', so there is nothing to resume'}")


@contextmanager
def _to_resume(path: Path) -> Iterator[Path]:
    """Return the database, or the local copy of it that a killed process left."""
    from agentbench_tui.store.location import abandoned_copy, is_on_network

    copy = abandoned_copy(path) if is_on_network(path) else None
    if copy is None:
        yield path
        return
    click.echo(f"{path}: continuing in the local copy of a killed run, {copy.path}", err=True)
    try:
        yield copy.path
    finally:
        copy.unlock()


def as_begun(plan: Plan, how: How) -> How:
    """Show the result like the command that started the run, including its JSON schema."""
    words = shlex.split(plan.command)
    begun = words[1] if len(words) > 1 else ""
    if begun not in _RESULTS:
        return how
    return msgspec.structs.replace(how, show=load_part(_RESULTS[begun]))


_RESULTS = {
    "load": "agentbench_tui.cli.load.result:print_load_run",
    "stress": "agentbench_tui.cli.stress.result:print_stress_run",
    "market": "agentbench_tui.cli.market.result:print_market_run",
}
"""Command that begins runs → what prints their result as it does."""


@click.command(short_help="Score the stored answers of a run again.")
@click.argument("run", default="latest")
@click.option(
    "--suite",
    metavar="SUITE",
    help="Suite whose scorers and rubrics to use.",
    show_default="the suite of the run",
)
@click.option(
    "--set",
    "settings",
    multiple=True,
    metavar="KEY=VALUE",
    help="Set a declared parameter of --suite. May be given several times.",
)
@trust_option
@database_option
@click.option(
    "--format",
    "form",
    type=click.Choice(FORMATS),
    default="table",
    show_default=True,
    help="Output format.",
)
def rescore(
    run: str,
    suite: str | None,
    settings: tuple[str, ...],
    trust: bool,
    database: str | None,
    form: str,
) -> int:
    """Score the stored answers of RUN again. No agent is called.

    All scores change at once; a command that is stopped changes none. Scorers of an imported run,
    and code in its answers, are not executed until you allow it.

    \b
    agentbench rescore latest
    agentbench rescore 01a2203b --suite better-rubric.yaml
    """
    from agentbench_tui.cli.run.result import print_run
    from agentbench_tui.engine.run.plan import decode_plan
    from agentbench_tui.engine.run.trust import answers_executed_by, executed_by_rescoring
    from agentbench_tui.engine.suite.loading import load_suite
    from agentbench_tui.engine.suite.parameters import parse_settings
    from agentbench_tui.engine.suite.validation import validate_suite
    from agentbench_tui.engine.task.rescoring import rescore as rescore_run
    from agentbench_tui.model.errors import SuiteError
    from agentbench_tui.store.database import reading
    from agentbench_tui.store.queries.graded_answers import has_grading_failures
    from agentbench_tui.store.queries.runs import find_run
    from agentbench_tui.verdicts.runs.documents import run_document
    from agentbench_tui.verdicts.runs.exit_code import exit_code, is_unmeasured

    path = database_path(database)
    with reading(path) as connection:
        row = find_run(connection, run)
    loaded = None
    if suite is None:
        check_trust(row, executed_by_rescoring(decode_plan(row["plan"])), trust=trust)
    else:
        loaded = load_suite(suite)
        problems = validate_suite(loaded, [], parse_settings(loaded.suite, settings))
        if problems:
            raise SuiteError(problems)
        check_trust(row, answers_executed_by(loaded.suite.benchmarks), trust=trust)
    with stdout_kept():
        from agentbench_tui.process.event_loop import run_shared

        done = run_shared(rescore_run(path, row, loaded, settings))
    with reading(path) as connection:
        document = run_document(connection, find_run(connection, row["id"]))
        is_graded = not has_grading_failures(connection, row["key"])
    print_run(document, form)
    click.echo(
        f"{counted(done.answers, 'answer')} scored again, {done.changed} with a different result",
        err=True,
    )
    return exit_code((), is_whole=is_graded and not is_unmeasured(document))
