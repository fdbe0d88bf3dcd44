"""`agentbench stats variance`: variation between runs, and the runs that a mean requires."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from agentbench_tui.cli.compare.files import attempt_option, database_of, where_option
from agentbench_tui.cli.console.output import (
    benchmark_options,
    console,
    database_option,
    format_option,
    print_prose,
)
from agentbench_tui.cli.console.reports import print_report
from agentbench_tui.cli.console.shares import SHARE
from agentbench_tui.cli.console.streams import knows_all_characters
from agentbench_tui.cli.stats.summary import selector_of

if TYPE_CHECKING:
    from agentbench_tui.reports.figures.plot import Plot
    from agentbench_tui.verdicts.statistics.spread import RunSpread

_PLOT_HEIGHT = 20
_FILE = "file:"


@click.command("variance", short_help="Show the variance between runs and the runs a mean needs.")
@click.argument("selectors", nargs=-1, required=True, metavar="SELECTOR|FILE…")
@benchmark_options
@click.option(
    "--metric",
    metavar="NAME",
    help="Analyze only this metric, or this column of files.",
    show_default="the main metrics",
)
@where_option
@attempt_option
@click.option(
    "--threshold",
    type=SHARE,
    default=0.05,
    show_default=True,
    help="Highest acceptable coefficient of variation (standard deviation ÷ mean) between runs.",
)
@click.option(
    "--half-width",
    type=SHARE,
    default=0.05,
    show_default=True,
    help="Half-width of the mean's 95% interval to aim for, as a share of the mean.",
)
@click.option(
    "--output", type=click.Path(path_type=Path), help="Write the plots to this PNG or SVG file."
)
@click.option(
    "--plot/--no-plot",
    "plotted",
    default=None,
    help="Also draw the plots here.",
    show_default="on in a terminal",
)
@database_option
@format_option()
def variance(
    selectors: tuple[str, ...],
    suite: str | None,
    benchmark: str | None,
    metric: str | None,
    where: dict[str, str],
    attempt: str,
    threshold: float,
    half_width: float,
    output: Path | None,
    plotted: bool | None,
    database: str | None,
    form: str,
) -> int:
    """Show the variance between runs, and how many runs a precise mean requires.

    A run is a repeat of a benchmark (several run: selectors are pooled), a row of a file, or a
    learning curve. Files with a `step` column hold learning curves: one per file, or one for each
    value of a `run` column. A curve is summarized by its area (last quarter) and its slope.

    \b
    agentbench stats variance planner --metric e2e_ms
    agentbench stats variance run:latest/planner --half-width 2%
    agentbench stats variance run:ID1/planner run:ID2/planner run:ID3/planner
    agentbench stats variance seed1.csv seed2.csv seed3.csv --metric reward --output spread.png
    """
    from agentbench_tui.contracts.document import plain
    from agentbench_tui.contracts.stats import StatsVarianceDocument
    from agentbench_tui.presentation.statistics import variance_report
    from agentbench_tui.verdicts.statistics.spread import metric_spread

    if output is not None:
        from agentbench_tui.reports.figures.picture import check_path

        check_path(output)
    found, notes = _spreads(
        selectors, (suite, benchmark, metric), where, attempt, (threshold, half_width), database
    )
    for note in notes:
        print_prose(note, err=True)
    document = StatsVarianceDocument(
        selectors=selectors, metrics=tuple(metric_spread(one) for one in found)
    )
    print_report(variance_report(document, half_width), form, plain(document))
    drawn = _plots(found) if output is not None or _wants_plots(plotted, form) else None
    if drawn is not None and _wants_plots(plotted, form):
        width = min(console().width, 100)
        click.echo(drawn.text(width, _PLOT_HEIGHT * len(drawn.panels), colored=_colored()))
    if drawn is not None and output is not None:
        drawn.write(output)
        click.echo(f"plots: {output}", err=True)
    return 0


def _spreads(
    selectors: tuple[str, ...],
    chosen: tuple[str | None, str | None, str | None],
    where: dict[str, str],
    attempt: str,
    wanted: tuple[float, float],
    database: str | None,
) -> tuple[list[RunSpread], list[str]]:
    from agentbench_tui.verdicts.files.sample_folder import sample_files
    from agentbench_tui.verdicts.selection.given_sides import check_where
    from agentbench_tui.verdicts.statistics.spread import spread_of
    from agentbench_tui.verdicts.training.learning_runs import is_curve_file, learning_runs

    texts = [selector_of(text) for text in selectors]
    paths = [Path(text.removeprefix(_FILE)) for text in texts if text.startswith(_FILE)]
    files = [one for path in paths for one in sample_files(path)]
    curves = [path for path in files if is_curve_file(path)]
    check_where(texts, where, attempt)
    if not curves:
        return _of_samples(texts, chosen, where, attempt, wanted, database)
    if where or attempt:
        from agentbench_tui.model.errors import UsageError

        option = "--where" if where else "--attempt"
        raise UsageError(
            f"{option} selects rows of samples, but {curves[0]} contains learning curves"
        )
    if len(curves) < len(files) or len(paths) < len(texts):
        from agentbench_tui.model.errors import UsageError

        raise UsageError(
            f"{curves[0]} contains learning curves; do not mix such files with other selectors"
        )
    runs = learning_runs(curves, chosen[2])
    return [spread_of(one.name, "", one.runs, *wanted) for one in runs.numbers], list(runs.notes)


def _of_samples(
    texts: list[str],
    chosen: tuple[str | None, str | None, str | None],
    where: dict[str, str],
    attempt: str,
    wanted: tuple[float, float],
    database: str | None,
) -> tuple[list[RunSpread], list[str]]:
    from agentbench_tui.model.errors import UsageError
    from agentbench_tui.verdicts.evidence.case_numbers import CaseNumbers
    from agentbench_tui.verdicts.selection.measured import (
        are_runs,
        asked_metric,
        measured,
        metrics_of,
        runs_together,
    )
    from agentbench_tui.verdicts.statistics.spread import MAIN, spread_at

    suite, benchmark, metric = chosen
    found: list[RunSpread] = []
    notes: list[str] = []
    with database_of(texts, database) as connection:
        column = asked_metric(connection, metric, texts)
        numbers = CaseNumbers(connection)
        only = {"suite": suite, "benchmark": benchmark}
        parts = (
            runs_together(connection, texts, numbers, **only)
            if are_runs(texts)
            else [
                one
                for text in texts
                for one in measured(
                    connection, text, numbers, column=column, where=where, attempt=attempt, **only
                )
            ]
        )
        for one in parts:
            notes += one.notes
            names = metrics_of(one, MAIN if metric is None else (metric,))
            found += [spread_at(one, name, *wanted) for name in names]
    if not found:
        raise UsageError(
            f"no run of {', '.join(texts)} has {'a main metric' if metric is None else metric}"
        )
    return found, list(dict.fromkeys(notes))


def _plots(found: list[RunSpread]) -> Plot | None:
    from agentbench_tui.reports.figures.plot import beside
    from agentbench_tui.reports.figures.spread_plot import spread_plot

    drawable = [spread_plot(one) for one in found if one.curve.points]
    return beside(*drawable) if drawable else None


def _wants_plots(plotted: bool | None, form: str) -> bool:
    if form != "table":
        return False
    if plotted is None:
        return sys.stdout.isatty() and knows_all_characters(sys.stdout)
    return plotted


def _colored() -> bool | None:
    """Return whether to use colors: on a terminal unless disabled, never in a file."""
    return None if sys.stdout.isatty() else False
