"""`agentbench report`: writes a run, or a comparison, as files for people and programs."""

from __future__ import annotations

import os
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from agentbench_tui.cli.console.output import database_option, database_path
from agentbench_tui.model.errors import UsageError, write_error
from agentbench_tui.model.text.plain_number import counted
from agentbench_tui.reports.figures.chart_files import FORMATS, check_can_draw, write_charts

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable

    from agentbench_tui.analysis.scale import Better
    from agentbench_tui.presentation.full_report.parts import FullReport
    from agentbench_tui.reports.sources import RunSource

_FILE = click.Path(path_type=Path, dir_okay=False)
_FOLDER = click.Path(path_type=Path, file_okay=False)
STEP_SUMMARY = "GITHUB_STEP_SUMMARY"
"""Variable of GitHub Actions: the file whose Markdown is shown on the page of a run."""


class _ChartFiles(NamedTuple):
    folder: Path
    kind: str


@click.command(short_help="Write a run or a comparison as report files.")
@click.argument("subjects", nargs=-1, metavar="[RUN | A B…]")
@click.option("--html", type=_FILE, metavar="FILE", help="Write one HTML page without network use.")
@click.option("--md", type=_FILE, metavar="FILE", help="Write Markdown for a pull-request comment.")
@click.option("--json", "json_", type=_FILE, metavar="FILE", help="Write the JSON document.")
@click.option("--csv", type=_FOLDER, metavar="DIR", help="Write CSV files into this folder.")
@click.option(
    "--charts",
    type=_FOLDER,
    metavar="DIR",
    help="Write each chart of the page as a file into this folder. Needs the extra `plot`.",
)
@click.option(
    "--chart-format",
    type=click.Choice(FORMATS),
    default=FORMATS[0],
    show_default=True,
    help="Format of the files of --charts.",
)
@click.option(
    "--junit",
    type=_FILE,
    metavar="FILE",
    help="Write JUnit XML of a run. A wrong answer fails only if a gate on correctness fails; "
    "failures of the server, the network or the harness are errors.",
)
@click.option(
    "--github-summary",
    is_flag=True,
    help=f"Append Markdown to the file that {STEP_SUMMARY} names, as GitHub Actions sets it.",
)
@click.option(
    "--reporter",
    "reporters",
    type=(str, _FOLDER),
    multiple=True,
    metavar="NAME DIR",
    help="Let this reporter write the results of a run into the folder DIR: python:FILE:NAME, or "
    "one from a plug-in. May be given several times.",
)
@click.option(
    "--curves",
    type=click.Path(path_type=Path, exists=True),
    multiple=True,
    metavar="PATH",
    help="Report on the learning curves of this group of training runs: a CSV or JSON lines file, "
    "or a folder of them. A second one is compared with the first.",
)
@click.option(
    "--metric",
    metavar="NAME",
    help="Column of the metric in the files of --curves; without it overview/reward, or their only "
    "one.",
)
@click.option(
    "--better",
    type=click.Choice(["higher", "lower"]),
    help="Better direction of the metric of --curves; without it by the metric's name.",
)
@click.option("--open", "open_", is_flag=True, help="Open the HTML page in a browser.")
@click.option(
    "--gate",
    "gates",
    multiple=True,
    metavar="GATE",
    help="Check this gate on the run and report the outcome, such as 'accuracy>=0.8'. May be "
    "given several times. `agentbench gate` sets an exit code.",
)
@database_option
def report(
    subjects: tuple[str, ...],
    html: Path | None,
    md: Path | None,
    json_: Path | None,
    csv: Path | None,
    charts: Path | None,
    chart_format: str,
    junit: Path | None,
    github_summary: bool,
    reporters: tuple[tuple[str, Path], ...],
    curves: tuple[Path, ...],
    metric: str | None,
    better: Better | None,
    open_: bool,
    gates: tuple[str, ...],
    database: str | None,
) -> int:
    """Write a report of RUN, of the comparison of B with A, or of learning curves.

    RUN is the id of a run, a unique prefix of it, or `latest`, which is the default. A and B are
    selectors as for `agentbench compare`. Existing files are overwritten.

    \b
    agentbench report latest --html report.html --open
    agentbench report latest --md comment.md --junit results.xml
    agentbench report planner rules --md comparison.md
    agentbench report 01a2203b --csv tables --json run.json
    agentbench report latest --charts pictures --chart-format pdf
    agentbench report latest --gate 'accuracy>=0.8' --github-summary
    agentbench report --curves runs/old --curves runs/new --html curves.html
    """
    path = database_path(database)
    targets = {"html": html, "md": md, "json": json_, "csv": csv, "junit": junit}
    if github_summary:
        targets["summary"] = _summary_file()
    drawn = None if charts is None else _ChartFiles(charts, chart_format)
    if drawn is not None:
        check_can_draw()
    if open_ and html is None:
        raise click.UsageError("--open needs --html FILE, the page to open")
    if not any(targets.values()) and drawn is None and not reporters:
        raise click.UsageError("name at least one file to write, such as --html FILE")
    if curves:
        _check_is_no_run(targets["junit"], gates, reporters)
        _check_has_no_subjects(subjects)
        found = _report_curves(curves, metric, better, targets)
    elif metric or better:
        raise click.UsageError("--metric and --better need --curves PATH, the training runs")
    elif len(subjects) > 1:
        _check_is_no_run(targets["junit"], gates, reporters)
        found = _report_comparison(subjects, path, targets)
    else:
        wanted = subjects[0] if subjects else "latest"
        found = _report_run(wanted, path, targets, gates, reporters)
    if drawn is not None:
        _write_charts(found, drawn)
    if open_ and html is not None:
        click.launch(html.resolve().as_uri())
    return 0


def _summary_file() -> Path:
    name = os.environ.get(STEP_SUMMARY)
    if not name:
        raise UsageError(f"--github-summary: {STEP_SUMMARY} is not set; GitHub Actions sets it")
    return Path(name)


def _check_is_no_run(junit: object, gates: object, reporters: object) -> None:
    """Raise a usage error for what only a run can have."""
    for name, given in (("--junit", junit), ("--gate", gates), ("--reporter", reporters)):
        if given:
            raise click.UsageError(f"{name} is about one run; give one run and no --curves")


def _check_has_no_subjects(subjects: tuple[str, ...]) -> None:
    if subjects:
        raise click.UsageError(f"'{subjects[0]}': --curves names all that is reported; give no run")


def _report_curves(
    paths: tuple[Path, ...],
    metric: str | None,
    better: Better | None,
    targets: dict[str, Path | None],
) -> FullReport:
    from agentbench_tui.presentation.full_report.learning_curves import learning_report
    from agentbench_tui.verdicts.training.training_curves import read_curves

    found = learning_report(read_curves(paths, metric, better))
    if targets["json"] is not None and found.document is None:
        raise UsageError("--json: only a comparison of two groups of finished runs has a document")
    _write_shared(found, targets)
    _write_page(found, targets)
    return found


def _report_comparison(
    selectors: tuple[str, ...], database: Path, targets: dict[str, Path | None]
) -> FullReport:
    from agentbench_tui.reports.sources import read_comparison

    found = read_comparison(selectors, database)
    _write_shared(found, targets)
    _write_page(found, targets)
    return found


def _write_page(found: FullReport, targets: dict[str, Path | None]) -> None:
    """Write the page of a report without answers."""
    if (page := targets["html"]) is not None:
        from agentbench_tui.reports.html.document import html_page

        _written(page, lambda: _write_text(page, html_page(found)))


def _report_run(
    wanted: str,
    database: Path,
    targets: dict[str, Path | None],
    gates: tuple[str, ...],
    reporters: tuple[tuple[str, Path], ...],
) -> FullReport:
    from agentbench_tui.reports.csv_folder import write_answers
    from agentbench_tui.reports.custom import call_reporter
    from agentbench_tui.reports.html.run_page import write_source
    from agentbench_tui.reports.junit import write_junit
    from agentbench_tui.reports.sources import read_run
    from agentbench_tui.store.database import reading
    from agentbench_tui.store.queries.runs import find_run

    with reading(database) as connection:
        source = read_run(connection, database, find_run(connection, wanted), gates)
        _write_shared(source.report, targets)
        _write_of_run(connection, source, targets["html"], write_source)
        _write_of_run(connection, source, targets["csv"], write_answers)
        _write_of_run(connection, source, targets["junit"], write_junit)
        for name, folder in reporters:
            _written(folder, partial(call_reporter, connection, source, name, Path.cwd(), folder))
    return source.report


def _write_charts(found: FullReport, drawn: _ChartFiles) -> None:
    try:
        paths = write_charts(found, drawn.folder, drawn.kind)
    except OSError as error:
        raise write_error(error.filename or drawn.folder, error) from None
    click.echo(f"written: {counted(len(paths), 'chart')} in {drawn.folder}", err=True)


def _write_of_run(
    connection: sqlite3.Connection,
    source: RunSource,
    path: Path | None,
    write: Callable[[sqlite3.Connection, RunSource, Path], Any],
) -> None:
    if path is not None:
        _written(path, lambda: write(connection, source, path))


def _write_shared(report: FullReport, targets: dict[str, Path | None]) -> None:
    """Write the formats that a run and a comparison share."""
    from agentbench_tui.reports.csv_folder import write_tables
    from agentbench_tui.reports.json_file import json_text
    from agentbench_tui.reports.markdown import markdown

    md, json_, csv = targets["md"], targets["json"], targets["csv"]
    summary = targets.get("summary")
    if md is not None:
        _written(md, lambda: _write_text(md, markdown(report)))
    if json_ is not None:
        _written(json_, lambda: _write_text(json_, json_text(report)))
    if csv is not None:
        _written(csv, lambda: write_tables(report, csv))
    if summary is not None:
        _written(summary, lambda: _append_text(summary, markdown(report)))


def _write_text(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8", errors="backslashreplace")


def _append_text(path: Path, text: str) -> None:
    with path.open("a", encoding="utf-8", errors="backslashreplace") as file:
        file.write(text)


def _written(path: Path, write: Callable[[], Any]) -> None:
    """Write a file and its parent folders, and report it. Raises UsageError if that fails."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write()
    except OSError as error:
        raise write_error(error.filename or path, error) from None
    click.echo(f"written: {path}", err=True)
