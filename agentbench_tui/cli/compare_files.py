"""What `agentbench compare` needs where a side is a file: its columns, and perhaps no database."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING, Any, TypeVar

import click

from agentbench_tui.cli.output import database_path

if TYPE_CHECKING:
    from agentbench_tui.analysis.scale import Better
    from agentbench_tui.model.metric import Metric

Command = TypeVar("Command", bound=Callable[..., Any])


def better_option(command: Command) -> Command:
    """`--better`, which way a metric is good that only a file or a training run knows."""
    return click.option(
        "--better",
        type=click.Choice(("lower", "higher")),
        help="Whether less or more is good of a --metric that is a column of a file, or that an"
        " experiment returned.",
    )(command)


def file_columns(
    selectors: Sequence[str], metrics: Sequence[str], better: Better | None
) -> dict[str, Metric]:
    """The metrics that are meant as columns of files, by name.

    Raises UsageError for one without a direction, and for a direction that nothing needs.
    """
    from agentbench_tui.model.errors import UsageError
    from agentbench_tui.verdicts.sample_columns import chosen_metric
    from agentbench_tui.verdicts.selector import parse_selector

    is_file = any(parse_selector(text).kind == "file" for text in selectors)
    if not is_file and better is None:
        return {}
    chosen = [one for name in metrics if (one := chosen_metric(name, better)) is not None]
    if not is_file and not chosen:
        raise UsageError(
            "--better is for columns of files and what experiments return: name one by --metric"
        )
    return {one.name: one for one in chosen}


@contextmanager
def database_of(selectors: Sequence[str], database: str | None) -> Iterator[sqlite3.Connection]:
    """The database to read; an empty one where only files are compared."""
    from agentbench_tui.store.database import reading
    from agentbench_tui.verdicts.side import is_of_files

    if is_of_files(selectors):
        with closing(sqlite3.connect(":memory:")) as connection:
            yield connection
        return
    with reading(database_path(database)) as connection:
        yield connection
