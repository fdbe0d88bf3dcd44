"""`agentbench stats summary`: figures of the columns of one agent, run, tag or file."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import click

from agentbench_tui.cli.compare.files import (
    attempt_option,
    cluster_option,
    database_of,
    where_option,
)
from agentbench_tui.cli.console.output import (
    benchmark_options,
    database_option,
    format_option,
    print_prose,
)
from agentbench_tui.cli.console.reports import print_report

if TYPE_CHECKING:
    from agentbench_tui.verdicts.statistics.summary_of import ColumnSummary


_PATH = re.compile(r"[/\\]|^\.")
"""Characters that distinguish a folder from an agent."""
_OF_FILES = (".csv", ".tsv", ".json", ".jsonl", ".ndjson", ".gz")
"""Suffixes that no agent's name has."""


def selector_of(text: str) -> str:
    """Return the selector; an existing file, or a folder written as a path, needs no `file:`
    prefix.

    Raises UsageError for a file that is not there.
    """
    if text.startswith(("file:", "run:", "tag:")):
        return text
    if Path(text).is_file() or (_PATH.search(text) and Path(text).is_dir()):
        return f"file:{text}"
    if text.lower().endswith(_OF_FILES):
        from agentbench_tui.model.errors import UsageError

        raise UsageError(f"no file or agent '{text}'")
    return text


@click.command("summary", short_help="Show the statistics of each metric with their intervals.")
@click.argument("selector", metavar="SELECTOR|FILE")
@benchmark_options
@click.option(
    "--metric", metavar="NAME", help="Summarize only this metric, or this column of a file."
)
@where_option
@attempt_option
@cluster_option
@click.option(
    "--seed",
    type=click.IntRange(0, 2**32 - 1),
    default=42,
    show_default=True,
    help="Seed of the bootstrap.",
)
@click.option(
    "--all",
    "every_figure",
    is_flag=True,
    help="Show every statistic in tables, not only the usual ones. JSON and CSV always "
    "contain all of them.",
)
@database_option
@format_option()
def summary(
    selector: str,
    suite: str | None,
    benchmark: str | None,
    metric: str | None,
    where: dict[str, str],
    attempt: str,
    cluster: str | None,
    seed: int,
    every_figure: bool,
    database: str | None,
    form: str,
) -> int:
    """Show the share, or the mean and quantiles, of each metric with its interval.

    Drift within a repeat is reported too. --all adds pass@k, interquartile means and effective
    sample sizes.

    \b
    agentbench stats summary planner --metric accuracy
    agentbench stats summary planner --all
    agentbench stats summary run:latest/planner --benchmark extraction
    agentbench stats summary samples.csv --format json
    """
    from agentbench_tui.contracts.document import plain
    from agentbench_tui.presentation.statistics import summary_report
    from agentbench_tui.verdicts.statistics.summary_of import summary_document

    text = selector_of(selector)
    found, notes = _summaries(
        text, (suite, benchmark, metric), where, attempt, cluster, seed, database
    )
    for note in notes:
        print_prose(note, err=True)
    document = summary_document(selector, found, seed)
    report = summary_report(found, document, every_figure=every_figure or form == "md")
    print_report(report, form, plain(document))
    return 0


def _summaries(
    text: str,
    chosen: tuple[str | None, str | None, str | None],
    where: dict[str, str],
    attempt: str,
    cluster: str | None,
    seed: int,
    database: str | None,
) -> tuple[list[ColumnSummary], list[str]]:
    from agentbench_tui.model.errors import UsageError
    from agentbench_tui.verdicts.evidence.case_numbers import CaseNumbers
    from agentbench_tui.verdicts.selection.given_sides import check_where
    from agentbench_tui.verdicts.selection.measured import asked_metric, measured, with_clusters
    from agentbench_tui.verdicts.statistics.summary_of import MAIN, summaries

    suite, benchmark, metric = chosen
    found: list[ColumnSummary] = []
    notes: list[str] = []
    check_where([text], where, attempt)
    with database_of([text], database) as connection:
        column = asked_metric(connection, metric, [text])
        cases = CaseNumbers(connection)
        places = measured(
            connection,
            text,
            cases,
            suite=suite,
            benchmark=benchmark,
            column=column,
            where=where,
            attempt=attempt,
        )
        if cluster is not None:
            places = with_clusters(places, cases, cluster)
        names = MAIN if metric is None else (metric,)
        for one in places:
            notes += one.notes
            found += summaries(connection, one, names, seed, cases, is_declared=cluster is not None)
    if not found:
        wanted = metric or "a main metric"
        raise UsageError(
            f"{text}: no answer has {wanted}; for metrics of runs, use `stats variance`"
        )
    return found, list(dict.fromkeys(notes))
