"""Prints rows as a table, JSON, JSON lines, CSV or Markdown, with unsafe characters escaped."""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, TypeVar

import click

from agentbench_tui.cli.console.streams import knows_all_characters, stream_on
from agentbench_tui.model.text.cells import csv_cell, markdown_cell
from agentbench_tui.model.text.untrusted import one_line, visible
from agentbench_tui.presentation.numbers import MISSING
from agentbench_tui.presentation.report import Column

FORMATS = ("table", "json", "jsonl", "csv", "md")
_STEERING = re.compile("[\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
"""Characters that JSON lets through but a terminal may obey."""
_GAP = 2
"""Cells between two columns of a table."""
_LEAST_TEXT = 24
"""Minimum width of a text column, in cells; longer text is wrapped."""
_LEAST_NAME = 36
"""The same for a column that names its row: a run's id stays in one piece."""
Command = TypeVar("Command", bound=Callable[..., Any])


def format_option(default: str = "table") -> Callable[[Command], Command]:
    """Add `--format`, the same on every command that reads."""
    return click.option(
        "--format",
        "form",
        type=click.Choice(FORMATS),
        default=default,
        show_default=True,
        help="Output format.",
    )


def database_option(command: Command) -> Command:
    """Add `--db`, the same on every command."""
    return click.option(
        "--db",
        "database",
        metavar="FILE",
        envvar="AGENTBENCH_DB",
        help="Database file.",
        show_default="agentbench.db in the user's data folder",
    )(command)


def benchmark_options(command: Command) -> Command:
    """Add `--suite` and `--benchmark`, which restrict a selector."""
    command = click.option("--benchmark", metavar="ID", help="Use only this benchmark.")(command)
    return click.option("--suite", metavar="ID", help="Use only benchmarks of this suite.")(command)


def database_path(database: str | None) -> Path:
    """Return the file that `--db` names, or the user's default."""
    from agentbench_tui.store.database import default_database, real_path

    return real_path(Path(database)) if database else default_database()


def print_json(document: Any) -> None:
    """Print a document, typed or of plain values, as JSON on stdout."""
    from agentbench_tui.contracts.document import plain

    click.echo(_json(plain(document), indent=2))


def _json(value: Any, indent: int | None = None) -> str:
    """Return JSON that cannot control a terminal: unprintable characters are escaped."""
    plain = not knows_all_characters(sys.stdout)
    text = json.dumps(value, indent=indent, ensure_ascii=plain, allow_nan=False)
    return _STEERING.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


@contextmanager
def stdout_kept() -> Iterator[None]:
    """Redirect all other output to stdout (an agent's `print`, a program that it starts) to
    stderr, so that stdout has only the result. An agent may close or replace both streams: it
    has separate ones.
    """
    sys.stdout.flush()
    ours = sys.stdout, sys.stderr
    kept = os.dup(1)
    os.dup2(2, 1)
    given = sys.stdout, sys.stderr = stream_on(1), stream_on(2)
    try:
        yield
    finally:
        for stream in (*given, sys.stdout, sys.stderr):
            # Closed, its reader gone, or replaced by an agent: by None, or by anything else.
            with suppress(Exception):
                stream.flush()
        sys.stdout, sys.stderr = ours
        os.dup2(kept, 1)
        os.close(kept)


def print_rows(
    rows: Sequence[Mapping[str, Any]],
    columns: Sequence[Column],
    form: str,
    document: Any = None,
    title: str | None = None,
) -> None:
    """Print rows in the requested format; `document` replaces the bare rows in JSON."""
    if form == "json":
        print_json(rows if document is None else document)
    elif form == "jsonl":
        for row in rows:
            click.echo(_json(row))
    elif form == "csv":
        _print_csv(rows, columns)
    elif form == "md":
        _print_markdown(rows, columns)
    else:
        _print_table(rows, columns, title)


def _print_csv(rows: Sequence[Mapping[str, Any]], columns: Sequence[Column]) -> None:
    import csv

    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow([column.key for column in columns])
    for row in rows:
        writer.writerow([csv_cell(row.get(column.key)) for column in columns])


def _print_markdown(rows: Sequence[Mapping[str, Any]], columns: Sequence[Column]) -> None:
    columns = [column for column in columns if not column.is_drawing]
    click.echo("| " + " | ".join(column.title for column in columns) + " |")
    click.echo("|" + "|".join("---:" if column.right else "---" for column in columns) + "|")
    for row in rows:
        cells = [markdown_cell(column.show(row.get(column.key))) for column in columns]
        click.echo("| " + " | ".join(cells) + " |")


def _print_table(
    rows: Sequence[Mapping[str, Any]], columns: Sequence[Column], title: str | None
) -> None:
    from rich.cells import cell_len

    width = screen_width()
    shown = {column.key: [_cell(column, row) for row in rows] for column in columns}
    widest = {
        column.key: max(map(cell_len, [column.title, *shown[column.key]])) for column in columns
    }
    least = {
        column.key: widest[column.key]
        if column.right or column.is_drawing
        else min(widest[column.key], _LEAST_NAME if column.names_row else _LEAST_TEXT)
        for column in columns
    }
    if sum(least.values()) + _GAP * (len(columns) - 1) > width:
        columns = [column for column in columns if {*shown[column.key]} - {"", MISSING}]
    if title is not None:
        print_prose(title)
    for number, part in enumerate(_parts(columns, least, width)):
        if number > 0:
            click.echo()
        if sum(widest[one.key] for one in part) + _GAP * (len(part) - 1) <= width:
            _print_whole(part, shown, widest)
        else:
            _print_folded(
                part, shown, {one.key for one in part if least[one.key] == widest[one.key]}
            )


def _cell(column: Column, row: Mapping[str, Any]) -> str:
    text = column.show(row.get(column.key))
    return visible(text) if column.is_drawing else one_line(text)


def _print_whole(
    columns: Sequence[Column], shown: Mapping[str, Sequence[str]], widest: Mapping[str, int]
) -> None:
    """Print a table in which each cell fits on one line."""
    from rich.cells import cell_len

    padded = []
    for column in columns:
        cells = (column.title, *shown[column.key])
        blanks = [" " * (widest[column.key] - cell_len(cell)) for cell in cells]
        pairs = zip(cells, blanks, strict=True)
        padded.append([blank + cell if column.right else cell + blank for cell, blank in pairs])
    head, *lines = zip(*padded, strict=True)
    gap = " " * _GAP
    if not sys.stdout.isatty():
        click.echo("\n".join(map(gap.join, (head, *lines))))
        return
    from rich.text import Text

    screen = console()
    screen.print(Text(gap.join(head), style="table.header"))
    if not any(column.is_drawing for column in columns):
        click.echo("\n".join(map(gap.join, lines)), nl=bool(lines))
        return
    styles = ["cyan" if column.is_drawing else "" for column in columns]
    for cells in lines:
        screen.print(Text(gap).join(map(Text, cells, styles)))


def _print_folded(
    columns: Sequence[Column], shown: Mapping[str, Sequence[str]], in_one_line: Collection[str]
) -> None:
    """Print a table whose text columns are wrapped."""
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False)
    for column in columns:
        table.add_column(
            Text(column.title),
            justify="right" if column.right else "left",
            no_wrap=column.key in in_one_line,
            overflow="fold",
        )
    for cells in zip(*(shown[column.key] for column in columns), strict=True):
        table.add_row(*(Text(cell) for cell in cells))
    console().print(table)


def _parts(columns: Sequence[Column], least: Mapping[str, int], room: int) -> list[list[Column]]:
    """Split the columns into as many tables as needed for each to fit into `room` cells."""
    names = [column for column in columns if column.names_row]
    parts = [list(names)]
    for column in columns:
        if column.names_row:
            continue
        width = sum(least[one.key] + _GAP for one in [*parts[-1], column]) - _GAP
        if width > room and len(parts[-1]) > len(names):
            parts.append(list(names))
        parts[-1].append(column)
    return parts


def print_prose(text: str, *, err: bool = False) -> None:
    """Print sentences, wrapped between words on a terminal."""
    import textwrap

    if (sys.stderr if err else sys.stdout).isatty():
        width = console(stderr=err).width
        text = "\n".join(
            textwrap.fill(
                line,
                width,
                subsequent_indent=" " * (len(line) - len(line.lstrip())),
                break_long_words=False,
                break_on_hyphens=False,
            )
            for line in text.splitlines()
        )
    click.echo(text, err=err)


_PIPE_WIDTH = 160
"""Columns of output that goes to no terminal."""


def screen_width() -> int:
    """Return the width of the terminal on stdout, or the default width for a pipe."""
    if not sys.stdout.isatty():
        return _PIPE_WIDTH
    width: int = console().width
    return width


def console(*, stderr: bool = False) -> Any:
    """Return a rich console that respects NO_COLOR and uses a fixed width for a pipe."""
    from rich.console import Console

    class Screen(Console):
        def on_broken_pipe(self) -> None:
            """Raise as every other output does: rich would exit with 1, like a failed gate."""
            raise BrokenPipeError

    stream = sys.stderr if stderr else sys.stdout
    width = None if stream.isatty() else _PIPE_WIDTH
    return Screen(stderr=stderr, width=width, highlight=False, soft_wrap=False)
