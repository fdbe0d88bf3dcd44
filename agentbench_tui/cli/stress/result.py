"""Printed result of stress: a block per scenario, then the recommendations and the score."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from agentbench_tui.cli.console.output import print_json, print_prose, print_rows
from agentbench_tui.model.text.cells import markdown_cell
from agentbench_tui.presentation.report import raw_columns
from agentbench_tui.presentation.runs import ended
from agentbench_tui.presentation.stress.sentences import (
    details,
    graded_advice,
    headline,
    scale_line,
    standing_line,
)
from agentbench_tui.verdicts.runs.documents import typed_run
from agentbench_tui.verdicts.stress.stress_document import agents_under_stress, stress_document
from agentbench_tui.verdicts.stress.stress_levels import level_curve

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable, Sequence

    from agentbench_tui.contracts.document import Json
    from agentbench_tui.contracts.stress import AgentStress, ScenarioResult
    from agentbench_tui.presentation.report import Row
    from agentbench_tui.reports.figures.plot import Plot

_WIDTH, _HEIGHT = 64, 12
_COLUMNS = (
    *("agent", "simulated", "scenario", "status", "reason", "time_scale", "resilience"),
    *("resilience_low", "resilience_high", "worst_second", "broke", "on", "unit", "pass", "fail"),
    *("broke_on", "why", "hysteresis", "drift", "recovery_s", "windows", "recommendations"),
)


def print_stress_run(_: sqlite3.Connection, document: dict[str, Json], form: str) -> None:
    """Print the result of `agentbench stress`. `document`: `agentbench.run/1`."""
    run = typed_run(document)
    if form == "json":
        print_json(stress_document(run))
        return
    print_stress(agents_under_stress(run), form)
    if form == "table":
        print_prose(f"run {run.run_id}: {ended(run)}")


def print_in_run(
    document: dict[str, Json],
    _: list[dict[str, Json]],
    form: str,
    *,
    in_full: bool,  # noqa: ARG001  # the contract's signature
) -> None:
    """Print the scenarios among the executions of a run, always in full."""
    print_stress(agents_under_stress(typed_run(document)), form)


def print_stress(agents: Sequence[AgentStress], form: str) -> None:
    """Print what was found of agents as `table`, `md`, `csv` or `jsonl`."""
    if form in {"csv", "jsonl"}:
        rows = [row for agent in agents for row in stress_rows(agent)]
        print_rows(rows, raw_columns(_COLUMNS), form)
        return
    for place, agent in enumerate(agents):
        if place:
            click.echo()
        _print_agent(agent, form, named=len(agents) > 1)


def stress_rows(agent: AgentStress) -> list[Row]:
    """Return one row per scenario, for spreadsheets and scripts."""
    rows: list[Row] = []
    for one in agent.scenarios:
        low, high = one.interval or (None, None)
        point = one.breaking_point
        values = (
            *(agent.agent, agent.simulated, one.name, one.status, one.reason, one.time_scale),
            *(one.resilience, low, high, one.worst_second, one.broke),
            *((None,) * 4 if point is None else (point.on, point.unit, point.passes, point.fails)),
            None if point is None else ", ".join(point.broke) or None,
            *((None,) * 3 if point is None else (point.reason, point.hysteresis, point.drift)),
            one.recovery_s,
            len(one.windows),
            "; ".join(advice.words for advice in one.recommendations),
        )
        rows.append(dict(zip(_COLUMNS, values, strict=True)))
    return rows


def curve_of(scenario: ScenarioResult) -> Plot | None:
    """Return p95 over the level that the scenario raised, with the limit; None below 3 levels."""
    from agentbench_tui.reports.figures.plot import line_plot

    found = level_curve(scenario)
    if found is None:
        return None
    return line_plot(
        {"p95": (found.levels, found.p95_ms)},
        lines={} if found.limit_ms is None else {"limit": found.limit_ms},
        title=f"{scenario.name}: p95 of latency",
        x_label=found.counts,
        y_label="ms",
    )


def _print_agent(agent: AgentStress, form: str, *, named: bool) -> None:
    name = agent.agent + (" (simulated)" if agent.simulated else "")
    if form == "md":
        click.echo(f"## {markdown_cell(name)}\n")
    elif named or agent.simulated:
        print_prose(name)
        click.echo()
    for scenario in agent.scenarios:
        _print_scenario(scenario, form)
    advice = [one.line() for one in graded_advice(agent.scenarios)]
    if advice:
        _print_list("Recommendations", advice, form)
    closing = [scale_line(agent), standing_line(agent)]
    for line in filter(None, closing):
        print_prose(line if form == "table" else f"{markdown_cell(line)}\n")


def _print_scenario(scenario: ScenarioResult, form: str) -> None:
    """Print the headline, the details, and the curve."""
    _print_list(headline(scenario), [one.line() for one in details(scenario)], form, end="")
    curve = curve_of(scenario)
    if curve is not None:
        text = curve.text(_WIDTH, _HEIGHT, coloured=None if form == "table" else False)
        click.echo(f"```\n{text}\n```" if form == "md" else _indented(text))
    click.echo()


def _print_list(title: str, lines: Iterable[str], form: str, end: str = "\n") -> None:
    if form == "md":
        click.echo(f"### {markdown_cell(title)}\n")
        for line in lines:
            click.echo(f"- {markdown_cell(line)}")
        click.echo()
        return
    print_prose(title)
    for line in lines:
        print_prose(f"  {line}")
    click.echo(end, nl=False)


def _indented(text: str) -> str:
    return "\n".join(f"  {line}".rstrip() for line in text.splitlines())
