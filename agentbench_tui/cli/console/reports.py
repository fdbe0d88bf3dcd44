"""Renders a report on stdout: as a table with sentences, Markdown, CSV, JSON lines or JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from agentbench_tui.cli.console.output import print_prose, print_rows
from agentbench_tui.model.text.cells import markdown_cell
from agentbench_tui.model.text.untrusted import visible

if TYPE_CHECKING:
    from collections.abc import Sequence

    from agentbench_tui.presentation.charts import Chart
    from agentbench_tui.presentation.report import Report, Section

_CHART = (64, 12)
"""Columns and rows of a chart."""
_LONGEST = 2000
"""Characters of a sentence in Markdown."""


def print_report(report: Report, form: str, document: Any) -> None:
    """Print a report in the requested format; `document` is what JSON prints."""
    if form in {"json", "jsonl", "csv"}:
        records = (form == "csv" and report.csv_records) or report.records
        print_rows(records.rows, records.columns, form, document)
        return
    print_sections(report.sections, form)
    if report.sections and report.sentences:
        click.echo()
    _print_sentences(report.sentences, form)


def print_sections(sections: Sequence[Section], form: str) -> None:
    """Print sections with a blank line between them, as `table` or `md`."""
    for place, section in enumerate(sections):
        if place:
            click.echo()
        _print_section(section, form)


def _print_section(section: Section, form: str) -> None:
    if section.heading:
        _print_block(section, form)
        return
    if section.title:
        if form == "md" and (section.tables or section.is_answer):
            click.echo(f"**{markdown_cell(section.title, _LONGEST)}**\n")
        else:
            print_prose(visible(section.title))
            if section.tables and section.is_answer:
                click.echo()
    for place, table in enumerate(section.tables):
        if place:
            click.echo()
        print_rows(table.rows, table.columns, form)
    if section.tables and section.sentences:
        click.echo()
    _print_sentences(section.sentences, form)


def _print_block(section: Section, form: str) -> None:
    """Print a heading, and what is below it as a list; in a table indented by its rank."""
    if form == "md":
        title = markdown_cell(section.title, _LONGEST)
        click.echo(f"{'#' * (section.heading + 1)} {title}")
        if section.sentences:
            click.echo()
        _print_sentences(section.sentences, form)
    else:
        print_prose(visible(section.title))
        for sentence in section.sentences:
            print_prose(f"{_indent(section)}{visible(sentence)}")
    for chart in section.charts:
        _print_chart(chart, _indent(section), form)


def _print_chart(chart: Chart, indent: str, form: str) -> None:
    """Draw a chart of lines; the others are for files and pages."""
    from agentbench_tui.presentation.charts import LineChart
    from agentbench_tui.reports.figures.line_chart import chart_plot

    if not isinstance(chart, LineChart):
        return
    text = chart_plot(chart).text(*_CHART, colored=False if form == "md" else None)
    if form == "md":
        click.echo(f"\n```\n{text}\n```")
    else:
        click.echo("\n".join(f"{indent}{line}".rstrip() for line in text.splitlines()))


def _indent(section: Section) -> str:
    return "  " * (section.heading - 1)


def _print_sentences(sentences: Sequence[str], form: str) -> None:
    for sentence in sentences:
        if form == "md":
            click.echo(f"- {markdown_cell(sentence, _LONGEST)}")
        else:
            print_prose(visible(sentence))
