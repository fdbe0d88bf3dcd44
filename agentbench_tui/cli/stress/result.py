"""Printed result of stress: a block per scenario, then the recommendations and the score."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from agentbench_tui.cli.console.output import print_json, print_prose, print_rows
from agentbench_tui.model.text.cells import markdown_cell
from agentbench_tui.presentation.report import Column
from agentbench_tui.presentation.runs import ending_words
from agentbench_tui.presentation.stress import (
    advice_lines,
    details,
    headline,
    scale_line,
    standing_line,
)
from agentbench_tui.verdicts.stress.stress_document import stress_document
from agentbench_tui.verdicts.stress.stress_levels import level_curve

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable

    from agentbench_tui.reports.figures.plot import Plot

_WIDTH, _HEIGHT = 64, 12
_COLUMNS = (
    *("agent", "simulated", "scenario", "status", "reason", "time_scale", "resilience"),
    *("resilience_low", "resilience_high", "worst_second", "broke", "on", "unit", "pass", "fail"),
    *("broke_on", "why", "hysteresis", "drift", "recovery_s", "windows", "recommendations"),
)

Document = dict[str, Any]


def print_stress_run(_: sqlite3.Connection, run: Document, form: str) -> None:
    """Print the result of `agentbench stress`. `run`: `agentbench.run/1`."""
    if form == "json":
        print_json(stress_document(run))
        return
    print_stress(run, form)
    if form == "table":
        print_prose(f"run {run['run_id']}: {ending_words(run)}")


def print_in_run(run: Document, _: list[Document], form: str, *, in_full: bool) -> None:  # noqa: ARG001  # the contract's signature
    """Print the scenarios among the executions of a run, always in full."""
    print_stress(run, form)


def print_stress(run: Document, form: str) -> None:
    """Print the stress executions of a run as `table`, `md`, `csv` or `jsonl`."""
    agents = agents_of(run)
    if form in {"csv", "jsonl"}:
        rows = [row for agent in agents for row in stress_rows(agent)]
        print_rows(rows, [Column(name, name) for name in _COLUMNS], form)
        return
    for place, agent in enumerate(agents):
        if place:
            click.echo()
        _print_agent(agent, form, named=len(agents) > 1)


def agents_of(run: Document) -> list[Document]:
    """Return one document per agent of the run that was put under stress."""
    document = stress_document(run)
    agents: list[Document] = document.get("agents", [document])
    return agents


def stress_rows(agent: Document) -> list[Document]:
    """Return one row per scenario, for spreadsheets and scripts."""
    rows = []
    for one in agent["scenarios"]:
        low, high = one["interval"] or (None, None)
        point = one["breaking_point"] or {}
        rows.append(
            {
                "agent": agent["agent"],
                "simulated": agent["simulated"],
                "scenario": one["name"],
                **{key: one[key] for key in ("status", "reason", "time_scale", "resilience")},
                "resilience_low": low,
                "resilience_high": high,
                **{key: one[key] for key in ("worst_second", "broke", "recovery_s")},
                **{key: point.get(key) for key in ("on", "unit", "pass", "fail")},
                "broke_on": ", ".join(point.get("broke", ())) or None,
                "why": point.get("reason"),
                "hysteresis": point.get("hysteresis"),
                "drift": point.get("drift"),
                "windows": len(one["windows"]),
                "recommendations": "; ".join(advice["words"] for advice in one["recommendations"]),
            }
        )
    return [{name: row[name] for name in _COLUMNS} for row in rows]


def curve_of(scenario: Document) -> Plot | None:
    """Return p95 over the level that the scenario raised, with the limit; None below 3 levels."""
    from agentbench_tui.reports.figures.plot import line_plot

    found = level_curve(scenario)
    if found is None:
        return None
    return line_plot(
        {"p95": (found.levels, found.p95_ms)},
        lines={} if found.limit_ms is None else {"limit": found.limit_ms},
        title=f"{scenario['name']}: p95 of latency",
        x_label=found.counts,
        y_label="ms",
    )


def _print_agent(agent: Document, form: str, *, named: bool) -> None:
    name = agent["agent"] + (" (simulated)" if agent["simulated"] else "")
    if form == "md":
        click.echo(f"## {markdown_cell(name)}\n")
    elif named or agent["simulated"]:
        print_prose(name)
        click.echo()
    for scenario in agent["scenarios"]:
        _print_scenario(scenario, form)
    advice = advice_lines(agent["scenarios"])
    if advice:
        _print_list("Recommendations", advice, form)
    closing = [scale_line(agent), standing_line(agent)]
    for line in filter(None, closing):
        print_prose(line if form == "table" else f"{markdown_cell(line)}\n")


def _print_scenario(scenario: Document, form: str) -> None:
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
