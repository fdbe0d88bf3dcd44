"""Effects of a sweep's parameters, as a table with its plot, and as an image file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from agentbench_tui.cli.console.output import (
    database_option,
    database_path,
    format_option,
    print_prose,
    print_rows,
)
from agentbench_tui.model.text.untrusted import one_line
from agentbench_tui.presentation.numbers import precise, signed_amount, signed_percent
from agentbench_tui.presentation.report import Column

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Sequence

Document = dict[str, Any]

_CELLS = 31
"""Width of the strip that shows an effect and its interval."""
_LONGEST_NAME = 24


_LEVELS = (
    Column("parameter", "parameter", names_row=True),
    Column("level", "level", names_row=True),
    Column("mean", "mean", precise, right=True),
    Column("difference", "effect", signed_amount, right=True),
    Column("low", "from", signed_amount, right=True),
    Column("high", "to", signed_amount, right=True),
    Column("relative", "of mean", signed_percent, right=True),
    Column("strip", "plot"),
    Column("least", "least", signed_amount, right=True),
    Column("most", "most", signed_amount, right=True),
    Column("reason", "note"),
)
_ROWS = (Column("benchmark_id", "benchmark"), Column("metric", "metric"), Column("unit", "unit"))


@click.command("effects", short_help="Show the main effect of each parameter of a sweep.")
@click.argument("run", default="latest")
@click.option(
    "--metric", "metrics", multiple=True, metavar="NAME",
    help="Metric to analyze. May be given several times.",
    show_default="time, and metrics with a declared direction",
)  # fmt: skip
@click.option(
    "--plot", metavar="FILE", help="Write a plot of the effects to this .svg or .png file."
)
@database_option
@format_option()
def effects(
    run: str, metrics: tuple[str, ...], plot: str | None, database: str | None, form: str
) -> int:
    """Show the main effect of each parameter in RUN's sweeps, with all other parameters held equal.

    \b
    agentbench experiments effects
    agentbench experiments effects latest --metric statements_per_s --plot effects.svg
    """
    from agentbench_tui.experiments.effects import effects_document
    from agentbench_tui.model.errors import Unmeasured
    from agentbench_tui.reports.figures.picture import check_path
    from agentbench_tui.store.database import reading
    from agentbench_tui.store.queries.runs import find_run

    if plot is not None:
        check_path(Path(plot))
    with reading(database_path(database)) as connection:
        run_id = find_run(connection, run)["id"]
        _check_metrics(connection, run_id, metrics)
        document = effects_document(connection, run_id, metrics)
    if not document["effects"]:
        raise Unmeasured(f"run {run_id} has no experiment sweep with at least two measured points")
    if form == "table":
        print_effects(document)
    else:
        rows = [
            {**{key: one[key] for key in ("benchmark_id", "metric", "unit")}, **level}
            for one in document["effects"]
            for level in one["levels"]
        ]
        columns = [*_ROWS, *(column for column in _LEVELS if column.key != "strip")]
        print_rows(rows, columns, form, document)
    if plot is not None:
        from agentbench_tui.reports.figures.effect_plot import effect_plot

        effect_plot(document["effects"]).write(Path(plot))
        click.echo(f"written: {plot}", err=True)
    return 0


def _check_metrics(connection: sqlite3.Connection, run_id: str, metrics: Sequence[str]) -> None:
    from agentbench_tui.experiments.effects import known_metrics
    from agentbench_tui.model.errors import UsageError, did_you_mean

    known = known_metrics(connection, run_id) if metrics else []
    for name in metrics:
        if name not in known:
            near = did_you_mean(name, known) or f"; there are {', '.join(known)}"
            raise UsageError(f"--metric {name}: no experiment of the run returned it{near}")


def print_effects(document: Document) -> None:
    """Print a table for each metric, with a plot on one scale. `document` is
    `agentbench.effects/1`.
    """
    for one in document["effects"]:
        levels = one["levels"]
        ends = [abs(level[key]) for level in levels for key in ("difference", "low", "high")
                if level[key] is not None]  # fmt: skip
        reach = max(ends, default=0.0)
        rows = [{**level, "strip": _strip(level, reach)} for level in levels]
        unit = f" in {one['unit']}" if one["unit"] else ""
        click.echo()
        print_rows(
            [{**row, "level": _short(row["level"])} for row in rows],
            [
                column
                for column in _LEVELS
                if column.key != "reason" or any(r["reason"] for r in rows)
            ],
            "table",
            title=f"{one['benchmark_id']}: what each parameter does to {one['metric']}{unit}",
        )
    print_prose(
        "effect: difference from the mean of the first value, averaged over all other "
        "parameters, with its 95% interval (not adjusted for multiple comparisons) and "
        "as a share of that mean; least and most: at single points"
    )
    if any(one["of"] == "iterations" for one in document["effects"]):
        print_prose(
            "the intervals come from iterations of one repeat and exclude between-repeat "
            "variance; measure with --runs 5"
        )
    for one in document["effects"]:
        if one["missing"]:
            print_prose(
                f"{one['benchmark_id']}: {one['missing']} of"
                f" {one['missing'] + one['points']} points have no value of {one['metric']}"
            )


def _strip(level: Document, reach: float) -> str:
    """Draw `·····│··├──●──┤···`: the effect and its interval, with 0 in the middle."""
    if level["difference"] is None or not reach:
        return "" if level["reason"] else "│".center(_CELLS, "·")
    middle = _CELLS // 2

    def cell(value: float) -> int:
        return middle + round(value / reach * middle)

    cells = ["·"] * _CELLS
    cells[middle] = "│"
    if level["low"] is not None:
        first, last = cell(level["low"]), cell(level["high"])
        cells[first : last + 1] = "─" * (last - first + 1)
        cells[first], cells[last] = "├", "┤"
    cells[cell(level["difference"])] = "●"
    return "".join(cells)


def _short(level: str) -> str:
    text = one_line(level)
    return text if len(text) <= _LONGEST_NAME else f"{text[: _LONGEST_NAME - 1]}…"
