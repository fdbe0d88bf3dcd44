"""Options of `agentbench compare` for files: columns, rows, and whether a database is needed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import click

from agentbench_tui.cli.console.output import database_path

if TYPE_CHECKING:
    import sqlite3
    from contextlib import AbstractContextManager

Command = TypeVar("Command", bound=Callable[..., Any])


def better_option(command: Command) -> Command:
    """Add `--better`, the better direction of a metric that only a file or a training run knows."""
    return click.option(
        "--better",
        type=click.Choice(("lower", "higher")),
        help="Direction in which a --metric improves if it is a column of a file or was "
        "returned by an experiment.",
    )(command)


class _Condition(click.ParamType[tuple[str, str]]):
    name = "condition"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[str, str]:
        """Parse a column and the value that it must have."""
        if isinstance(value, tuple):
            return value
        column, equals, wanted = str(value).partition("=")
        if not equals or not column.strip():
            self.fail(f"'{value}': expected COLUMN=VALUE", param, ctx)
        return column.strip(), wanted.strip()


def _as_filter(
    _: click.Context, parameter: click.Parameter, given: Sequence[tuple[str, str]]
) -> dict[str, str]:
    chosen = dict(given)
    if len(chosen) < len(given):
        raise click.BadParameter(
            "a column is given twice; give each column one value", param=parameter
        )
    return chosen


def where_option(command: Command) -> Command:
    """Add `--where`, which selects rows of files, as a mapping of columns to values."""
    return click.option(
        "--where",
        type=_Condition(),
        multiple=True,
        callback=_as_filter,
        metavar="COLUMN=VALUE",
        help="Use only rows of files whose COLUMN has this value. An unambiguous prefix of the "
        "value is enough. May be given several times.",
    )(command)


class _Attempt(click.ParamType[str]):
    name = "attempt"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Return a choice among the tries of a case."""
        from agentbench_tui.verdicts.files.retries import CHOICE

        if value and not CHOICE.fullmatch(str(value)):
            self.fail(f"'{value}': expected first, last, all or pass@K", param, ctx)
        return str(value)


def attempt_option(command: Command) -> Command:
    """Add `--attempt`, which selects the attempt at a case for files with a column `attempt`."""
    return click.option(
        "--attempt",
        type=_Attempt(),
        default="",
        metavar="TRY",
        help="Attempt that counts for each case in files with an `attempt` column: first, last, "
        "all, or pass@K (correct within K attempts).",
        show_default="first; all if attempts continue after a correct one",
    )(command)


def cluster_option(command: Command) -> Command:
    """Add `--cluster`, which declares the cases that belong together, also for stored runs."""
    return click.option(
        "--cluster",
        metavar="FIELD",
        help="Treat cases with the same value of this metadata field, or column of a file, as "
        "one cluster of dependent cases. Special values: `id`, the id without its last "
        "part; `template`, `beginning`, `ending` and `near-duplicates`, similar inputs; "
        "`case`, all cases are independent.",
        show_default="as the suite declares, with a check for other dependence",
    )(command)


def database_of(
    selectors: Sequence[str], database: str | None
) -> AbstractContextManager[sqlite3.Connection]:
    """Return the database to read; an empty one if only files are compared."""
    from agentbench_tui.verdicts.selection.given_sides import reading_sides

    return reading_sides(selectors, database_path(database))
