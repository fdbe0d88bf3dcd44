"""Prints the effects of a sweep's parameters, and writes them as an image file."""

from __future__ import annotations

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
    import sqlite3
    from collections.abc import Sequence


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
    from agentbench_tui.contracts.document import plain
    from agentbench_tui.model.errors import Unmeasured
    from agentbench_tui.presentation.effects import effects_report
    from agentbench_tui.reports.figures.picture import check_path
    from agentbench_tui.store.database import reading
    from agentbench_tui.store.queries.runs import find_run
    from agentbench_tui.verdicts.experiment_effects import effects_document

    if plot is not None:
        check_path(Path(plot))
    with reading(database_path(database)) as connection:
        run_id = find_run(connection, run)["id"]
        _check_metrics(connection, run_id, metrics)
        document = effects_document(connection, run_id, metrics)
    if not document.effects:
        raise Unmeasured(f"run {run_id} has no experiment sweep with at least two measured points")
    print_report(effects_report(document), form, plain(document))
    if plot is not None:
        from agentbench_tui.reports.figures.effect_plot import effect_plot

        effect_plot(document.effects).write(Path(plot))
        click.echo(f"written: {plot}", err=True)
    return 0


def _check_metrics(connection: sqlite3.Connection, run_id: str, metrics: Sequence[str]) -> None:
    from agentbench_tui.model.errors import UsageError, did_you_mean
    from agentbench_tui.verdicts.experiment_effects import known_metrics

    known = known_metrics(connection, run_id) if metrics else []
    for name in metrics:
        if name not in known:
            near = did_you_mean(name, known) or f"; there are {', '.join(known)}"
            raise UsageError(f"--metric {name}: no experiment of the run returned it{near}")
