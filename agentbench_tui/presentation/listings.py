"""Lists of runs, agents and baselines as reports."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agentbench_tui.contracts.document import plain
from agentbench_tui.presentation.numbers import money
from agentbench_tui.presentation.report import Column, Report, Section, Table
from agentbench_tui.presentation.runs import answers_shown

if TYPE_CHECKING:
    from agentbench_tui.contracts.listings import AgentsDocument
    from agentbench_tui.contracts.runs import RunsDocument

_RUNS = (
    Column("id", "run", names_row=True),
    Column("status", "status"),
    Column("suites_shown", "suites"),
    Column("agents_shown", "agents"),
    Column("executions_shown", "executions", right=True),
    Column("answers_shown", "right/answered/asked", right=True),
    Column("cost_usd", "USD", money, right=True),
    Column("started_at", "started (UTC)"),
    Column("tags_shown", "tags"),
)
_AGENTS = (
    Column("id", "agent", names_row=True),
    Column("version", "version"),
    Column("target", "target"),
    Column("simulated", "simulated", lambda value: "yes" if value else "no"),
    Column("versions", "versions", right=True),
    Column("runs", "runs", right=True),
    Column("last_complete_at", "last complete (UTC)"),
)


def runs_report(document: RunsDocument) -> Report:
    """Return one row per run."""
    rows = [
        {
            **plain(run),
            "suites_shown": ", ".join(run.suite_ids),
            "agents_shown": ", ".join(run.agent_versions or ()),
            "tags_shown": ", ".join(run.tags),
            "executions_shown": f"{run.complete or 0}/{run.executions}",
            "answers_shown": answers_shown(run),
        }
        for run in document.runs
    ]
    table = Table(_RUNS, rows)
    return Report(table, [Section(tables=[table])])


def agents_report(document: AgentsDocument, why_empty: str) -> Report:
    """Return one row per agent; `why_empty` is the sentence in place of no rows."""
    table = Table(_AGENTS, plain(document.agents))
    if not document.agents:
        return Report(table, sentences=[why_empty])
    return Report(table, [Section(tables=[table])])
