"""`agentbench agents`: agents that have been measured, and checks of a target."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import click

from agentbench_tui.cli.console.output import (
    database_option,
    database_path,
    format_option,
)
from agentbench_tui.cli.console.reports import print_report

if TYPE_CHECKING:
    from collections.abc import Sequence

    from agentbench_tui.model.agent import AgentSpec


@click.group(short_help="List agents and check targets.")
def agents() -> None:
    """List measured agents and check targets."""


@agents.command("list")
@click.option(
    "--stale",
    metavar="DAYS",
    help="List only agents without a complete execution in the last DAYS days, such as 30d.",
)
@database_option
@format_option()
def list_(stale: str | None, database: str | None, form: str) -> int:
    """List the agents that have been measured, most recent first.

    \b
    agentbench agents list
    agentbench agents list --stale 30d
    """
    from agentbench_tui.contracts.document import plain
    from agentbench_tui.contracts.listings import AgentsDocument
    from agentbench_tui.presentation.listings import agents_report
    from agentbench_tui.store.database import reading
    from agentbench_tui.verdicts.selection.listings import agents_document

    with reading(database_path(database)) as connection:
        found = agents_document(connection)
    why_empty = "no agent has been measured"
    if stale is not None:
        oldest = (datetime.now(UTC) - _days(stale)).isoformat()
        agents = tuple(one for one in found.agents if (one.last_complete_at or "") < oldest)
        found = AgentsDocument(agents=agents)
        why_empty = f"no agent is stale: none is without a complete execution in the last {stale}"
    print_report(agents_report(found, why_empty), form, plain(found))
    return 0


def _days(text: str) -> timedelta:
    from agentbench_tui.model.errors import UsageError

    digits = text.removesuffix("d")
    if not digits.isdecimal() or len(digits) > 5:
        raise UsageError(f"--stale {text}: expected a number of days, such as 30d")
    return timedelta(days=int(digits))


@agents.command()
@click.argument("targets", nargs=-1, required=True, metavar="[ID=]TARGET...")
@click.option(
    "--ask",
    is_flag=True,
    help="Also send each agent one short question. A paid API charges for it.",
)
@click.option("--suite", metavar="SUITE", help="Suite whose agents can be named by ID alone.")
def check(targets: tuple[str, ...], ask: bool, suite: str | None) -> int:
    """Check whether TARGETs can be run, without sending them a request.

    \b
    agentbench agents check python:my_agent:answer
    agentbench agents check openai:http://127.0.0.1:8000/v1#my-model --ask
    agentbench agents check planner --suite quickstart
    """
    from agentbench_tui.agents.registry import check_agent
    from agentbench_tui.model.text.secrets import redact
    from agentbench_tui.model.text.untrusted import one_line

    wrong = 0
    for spec in _given(targets, suite):
        problems = check_agent(spec)
        said = ""
        if ask and not problems:
            said, problems = _asked(spec)
        wrong += bool(problems)
        for problem in problems:
            click.echo(f"{spec.id}: {one_line(redact(problem), 500)}", err=True)
        if not problems:
            click.echo(f"{spec.id}@{spec.version}: {redact(spec.target)}: ok{said}")
    return 2 if wrong else 0


def _given(targets: Sequence[str], suite: str | None) -> list[AgentSpec]:
    """Return the selected agents, interpreted as by `agentbench run SUITE --agent`."""
    from agentbench_tui.agents.target import parse_agent
    from agentbench_tui.engine.run.planning import agent_given
    from agentbench_tui.engine.suite.loading import load_suite

    here = Path.cwd()
    if suite is None:
        return [parse_agent(target, base_dir=str(here)) for target in targets]
    loaded = load_suite(suite)
    return [agent_given(target, loaded.suite, loaded.folder, here) for target in targets]


def _asked(spec: AgentSpec) -> tuple[str, list[str]]:
    """Return the agent's answer, or the reason for a failure."""
    from agentbench_tui.agents.trial import QUESTION, ask_once
    from agentbench_tui.model.answer import AgentFailure
    from agentbench_tui.model.text.secrets import redact
    from agentbench_tui.model.text.untrusted import one_line
    from agentbench_tui.presentation.numbers import duration
    from agentbench_tui.process.event_loop import run_shared

    try:
        answer, took_ms = run_shared(ask_once(spec))
    except AgentFailure as failure:
        return "", [f"asked “{QUESTION}”: {failure}"]
    words = one_line(redact(answer.text), 60) or "no text"
    return f", answered in {duration(took_ms)}: {words}", []
