"""A comparison of training runs as sentences, as a plot, and as CSV in the familiar layout."""

from __future__ import annotations

import csv
import sys
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import click

from agentbench_tui.cli.compare.curve_sentences import lines
from agentbench_tui.cli.console.output import console, print_json, print_rows
from agentbench_tui.model.errors import write_error
from agentbench_tui.model.text.cells import csv_cell, markdown_cell
from agentbench_tui.model.text.untrusted import one_line
from agentbench_tui.presentation.numbers import p_value, precise, signed_amount
from agentbench_tui.presentation.report import Column
from agentbench_tui.verdicts.training.curve_document import (
    bootstrap_ends,
    curve_document,
    metric_document,
)

if TYPE_CHECKING:
    from pathlib import Path

    from agentbench_tui.reports.figures.plot import Plot
    from agentbench_tui.verdicts.training.curve_question import Answer

HEADER = ("group", "label", "value_or_control", "candidate_value_optional")
_DIGITS = 9
_NO_WIDTH = 1e-9
"""Relative spread below which there is no distribution to draw."""
_FAR = 3
"""Widths of the distribution from which on 0 is too far away to be shown."""
_PLOT = 76, 12
_COLUMNS = (
    Column("metric", "metric", names_row=True),
    Column("a", "control", precise, right=True),
    Column("b", "candidate", precise, right=True),
    Column("difference", "difference", signed_amount, right=True),
    Column("low", "low", signed_amount, right=True),
    Column("high", "high", signed_amount, right=True),
    Column("p_value", "p", p_value, right=True),
    Column("p_adjusted", "p adjusted", p_value, right=True),
    Column("effect_size", "Cliff's delta", precise, right=True),
    Column("n", "runs", right=True),
    Column("verdict", "candidate is"),
)


def print_curves(answers: Sequence[Answer], form: str) -> None:
    """Print in the requested format; the table has a plot below it."""
    if form == "json":
        print_json(curve_document(answers))
    elif form in {"csv", "jsonl", "md"}:
        rows = [metric_document(answer) for answer in answers]
        columns = _COLUMNS if form == "md" else [Column(name, name) for name in rows[0]]
        print_rows(rows, columns, form)
        if form == "md":
            _print_notes(answers)
    else:
        for place, answer in enumerate(answers):
            if place:
                click.echo()
            _print_lines(answer)
            plot = distribution_plot(answer)
            if plot is not None:
                click.echo()
                click.echo(plot.text(*_PLOT))


def _print_notes(answers: Sequence[Answer]) -> None:
    """Print notes below a table, which has no room for them."""
    told = [f"{one.comparison.metric}: {note}" for one in answers for note in one.notes]
    if told:
        click.echo()
    for words in told:
        click.echo(f"- {markdown_cell(words)}")


def _print_lines(answer: Answer) -> None:
    """Print whole lines to a pipe; on a terminal, continuation lines are indented."""
    import textwrap

    width = console().width if sys.stdout.isatty() else None
    for text, indent in lines(answer):
        shown = text
        if width is not None and text:
            shown = textwrap.fill(
                text, width, subsequent_indent=" " * indent, break_on_hyphens=False
            )
        click.echo(shown)


def distribution_plot(answer: Answer) -> Plot | None:
    """Return the bootstrap distribution with the effect, the interval, and 0 if it is close;
    None if there is none, or it has a single value.
    """
    import numpy as np

    from agentbench_tui.reports.figures.plot import histogram_plot

    found = answer.comparison
    if found.bootstrap is None or found.effect is None:
        return None
    drawn = found.bootstrap.resampled
    if np.ptp(drawn) <= _NO_WIDTH * np.abs(drawn).max():
        return None
    low, high = bootstrap_ends(found)
    marks = {"effect": found.effect, "low": low, "high": high}
    far = _FAR * np.ptp(drawn)
    if drawn.min() <= far and drawn.max() >= -far:
        marks = {"no difference": 0.0, **marks}
    return histogram_plot(
        drawn,
        marks={name: value for name, value in marks.items() if value is not None},
        title=f"{one_line(found.metric)}: differences of the mean in resampled runs",
        x_label="candidate - control",
    )


def write_csv(path: Path, answer: Answer) -> None:
    """Write every run or pair and the result as CSV; values of unfinished runs are empty."""
    try:
        with path.open("w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(HEADER)
            writer.writerows(map(csv_cell, row) for row in _csv_rows(answer))
    except OSError as error:
        raise write_error(f"--output.csv_path {path}", error) from None


def _csv_rows(answer: Answer) -> Iterator[tuple[Any, ...]]:
    found = answer.comparison
    if found.paired:
        for one, other in zip(found.control, found.candidate, strict=True):
            label = f"{one.name} | {other.name}" if one.seed is None else f"seed {one.seed}"
            yield "pair", label, _nine(one.value), _nine(other.value)
    else:
        for group, runs in (("control", found.control), ("candidate", found.candidate)):
            yield from ((group, run.name, _nine(run.value), "") for run in runs)
    low, high = bootstrap_ends(found)
    for label, value in (("effect", found.effect), ("ci_low", low), ("ci_high", high)):
        yield "result", label, _nine(value), ""


def _nine(value: float | None) -> Any:
    return "" if value is None else float(f"{value:.{_DIGITS}g}")
