"""`agentbench baseline`: the baseline of an agent, and its accepted changes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from agentbench_tui.cli.console.output import (
    database_option,
    database_path,
    format_option,
    print_prose,
    print_rows,
)
from agentbench_tui.presentation.numbers import precise
from agentbench_tui.presentation.report import Column, Row
from agentbench_tui.store.queries.baselines import DEFAULT

if TYPE_CHECKING:
    from agentbench_tui.store.queries.baselines import AcceptedChange, Baseline

ACCEPTED = "accepted as new levels"
_BASELINES = (
    Column("agent_id", "agent", names_row=True),
    Column("name", "name", names_row=True),
    Column("where", "benchmarks"),
    Column("is", "baseline"),
    Column("created_at", "set (UTC)"),
)
_ACCEPTED = (
    Column("agent_id", "agent", names_row=True),
    Column("benchmark_id", "benchmark", names_row=True),
    Column("metric", "metric", names_row=True),
    Column("since", "new level since (UTC)"),
    Column("before", "before", precise, right=True),
    Column("after", "after", precise, right=True),
)
_name_option = click.option(
    "--name",
    default=DEFAULT,
    show_default=True,
    help="Name of the baseline, for `agentbench regressions --baseline NAME`.",
)
_suite_option = click.option("--suite", metavar="ID", help="Apply only to this suite.")
_benchmark_option = click.option("--benchmark", metavar="ID", help="Apply only to this benchmark.")


@click.group(short_help="Manage the baselines that regressions are judged against.")
def baseline() -> None:
    """Manage the baselines that `agentbench regressions` compares an agent's newest runs with."""


@baseline.command("set")
@click.argument("chosen", metavar="AGENT[@VERSION]|run:ID[/AGENT]|tag:NAME[/AGENT]")
@_name_option
@_suite_option
@_benchmark_option
@database_option
def set_(
    chosen: str, name: str, suite: str | None, benchmark: str | None, database: str | None
) -> int:
    """Set the baseline of an agent: a version (by default its newest), a run, or a tag.

    \b
    agentbench baseline set my-agent@v1
    agentbench baseline set run:01a2203b --name release
    """
    from agentbench_tui.model.errors import UsageError
    from agentbench_tui.store.database import reading
    from agentbench_tui.store.queries.baselines import accepted_changes
    from agentbench_tui.store.writes.baselines import keep_baseline
    from agentbench_tui.verdicts.regression.baseline import baseline_of_selector, target_words

    if not name or ":" in name:
        raise UsageError(f"--name {name!r}: expected a name without a colon")
    path = database_path(database)
    with reading(path) as connection:
        found = baseline_of_selector(connection, chosen, name, suite, benchmark)
        accepted = accepted_changes(connection, found.agent_id) if name == DEFAULT else []
    keep_baseline(path, found)
    click.echo(f"baseline {name} of {found.agent_id}: {target_words(found)}", err=True)
    if accepted:
        changes = f"{len(accepted)} change{'' if len(accepted) == 1 else 's'}"
        print_prose(
            f"this baseline replaces {changes} of {found.agent_id} accepted earlier; "
            f"`agentbench baseline remove {found.agent_id}` applies them again",
            err=True,
        )
    return 0


@baseline.command("list")
@click.argument("agent", required=False)
@database_option
@format_option()
def list_(agent: str | None, database: str | None, form: str) -> int:
    """List the baselines and accepted changes of AGENT, or of all agents."""
    return _print(agent, None, database, form)


@baseline.command()
@click.argument("agent")
@click.option("--name", help="Name of the baseline, for `agentbench regressions --baseline NAME`.")
@database_option
@format_option()
def show(agent: str, name: str | None, database: str | None, form: str) -> int:
    """Show the baselines and accepted changes of AGENT."""
    return _print(agent, name, database, form)


@baseline.command()
@click.argument("agent")
@_name_option
@database_option
def remove(agent: str, name: str, database: str | None) -> int:
    """Remove a baseline of AGENT."""
    from agentbench_tui.model.errors import UsageError
    from agentbench_tui.store.database import reading
    from agentbench_tui.store.queries.baselines import baselines_of
    from agentbench_tui.store.writes.baselines import remove_baseline

    path = database_path(database)
    with reading(path) as connection:
        known = sorted({one.name for one in baselines_of(connection, agent)})
    if name not in known:
        raise UsageError(_no_baseline(agent, name, known))
    remove_baseline(path, agent, name)
    click.echo(f"removed baseline {name} of {agent}", err=True)
    return 0


@baseline.command()
@click.argument("agent")
@_suite_option
@_benchmark_option
@click.option(
    "--metric",
    "metrics",
    multiple=True,
    metavar="NAME",
    help="Apply only to this metric. May be given several times.",
)
@click.option("--undo", is_flag=True, help="Withdraw the accepted changes.")
@database_option
@format_option()
def accept(
    agent: str,
    suite: str | None,
    benchmark: str | None,
    metrics: tuple[str, ...],
    undo: bool,
    database: str | None,
    form: str,
) -> int:
    """Accept the detected changes of AGENT, for better or worse, as its new level.

    Earlier runs are no longer compared with. `agentbench regressions` shows the detected changes.

    \b
    agentbench baseline accept my-agent
    agentbench baseline accept my-agent --benchmark sums --metric e2e_ms.p50
    agentbench baseline accept my-agent --undo
    """
    from agentbench_tui.model.errors import UsageError
    from agentbench_tui.model.figures.metric import regressing_metrics
    from agentbench_tui.store.database import reading
    from agentbench_tui.store.queries.baselines import accepted_changes, baselines_of
    from agentbench_tui.store.writes.baselines import keep_accepted, remove_accepted
    from agentbench_tui.verdicts.regression.acceptance import acceptable
    from agentbench_tui.verdicts.regression.baseline import target_words
    from agentbench_tui.verdicts.regression.regression import RegressionAsked, judge_agent

    path = database_path(database)
    wanted = RegressionAsked(agent, suite=suite, benchmark=benchmark, metrics=metrics)
    with reading(path) as connection:
        overriding = [one for one in baselines_of(connection, agent) if one.name == DEFAULT]
        if undo:
            only = regressing_metrics(metrics)
            changes = [
                one
                for one in accepted_changes(connection, agent)
                if suite in {None, one.suite_id}
                and benchmark in {None, one.benchmark_id}
                and (not only or one.metric in only)
            ]
        else:
            changes = acceptable(judge_agent(connection, wanted).findings)
    if not changes:
        what = "no change was accepted" if undo else "no detected change can be accepted"
        raise UsageError(
            f"{agent}: {what}; `agentbench regressions {agent}` shows the detected changes"
        )
    (remove_accepted if undo else keep_accepted)(path, changes)
    _print_changes(changes, form, "no longer accepted" if undo else ACCEPTED)
    if overriding and not undo:
        print_prose(
            f"accepted changes do not apply while baseline '{DEFAULT}' is set"
            f" ({target_words(overriding[0])}); `agentbench baseline remove {agent}` removes it",
            err=True,
        )
    return 0


def _print(agent: str | None, name: str | None, database: str | None, form: str) -> int:
    from dataclasses import asdict

    from agentbench_tui.contracts.document import plain
    from agentbench_tui.contracts.listings import AcceptedLevel, BaselineEntry, BaselinesDocument
    from agentbench_tui.model.errors import UsageError, did_you_mean
    from agentbench_tui.store.database import reading
    from agentbench_tui.store.queries.baselines import accepted_changes, baselines_of
    from agentbench_tui.store.queries.selection import agent_ids

    with reading(database_path(database)) as connection:
        known = agent_ids(connection)
        if agent is not None and agent not in known:
            raise UsageError(f"no agent '{agent}'{did_you_mean(agent, known)}")
        of_agent = baselines_of(connection, agent)
        names = sorted({one.name for one in of_agent})
        if name is not None and name not in names:
            raise UsageError(_no_baseline(str(agent), name, names))
        found = [one for one in of_agent if name in {None, one.name}]
        changes = accepted_changes(connection, agent)
    document = BaselinesDocument(
        baselines=tuple(BaselineEntry(**asdict(one)) for one in found),
        accepted_changes=tuple(AcceptedLevel(**asdict(one)) for one in changes),
    )
    rows = [_row(one) for one in found]
    if rows or form != "table":
        print_rows(rows, _BASELINES, form, plain(document))
    if form == "table":
        if not rows:
            click.echo("no baseline is set; the newest runs are compared with the runs before them")
        if changes:
            click.echo()
            _print_changes(changes, form, ACCEPTED)
    return 0


def _no_baseline(agent: str, name: str, names: list[str]) -> str:
    from agentbench_tui.model.errors import did_you_mean

    there_are = ", ".join(names) or "none"
    return f"{agent} has no baseline '{name}'{did_you_mean(name, names)}; there are {there_are}"


def _row(one: Baseline) -> Row:
    from agentbench_tui.verdicts.regression.baseline import target_words

    where = "/".join(filter(None, (one.suite_id, one.benchmark_id))) or "all"
    return {
        "agent_id": one.agent_id,
        "name": one.name,
        "where": where,
        "is": target_words(one),
        "created_at": one.created_at,
    }


def _print_changes(changes: list[AcceptedChange], form: str, title: str) -> None:
    from dataclasses import asdict

    from agentbench_tui.contracts.document import plain
    from agentbench_tui.contracts.listings import AcceptedLevel, BaselinesDocument

    levels = tuple(AcceptedLevel(**asdict(one)) for one in changes)
    if title == ACCEPTED:
        document = BaselinesDocument(baselines=(), accepted_changes=levels)
    else:
        document = BaselinesDocument(baselines=(), accepted_changes=(), no_longer_accepted=levels)
    print_rows(plain(levels), _ACCEPTED, form, plain(document), title=title)
