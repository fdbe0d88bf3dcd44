"""`agentbench leaderboard`: agents by their latest executions, in each category and over all."""

from __future__ import annotations

from typing import Any, get_args

import click

from agentbench_tui.cli.numbers import ROWS
from agentbench_tui.cli.output import (
    Column,
    database_option,
    database_path,
    format_option,
    print_rows,
)
from agentbench_tui.verdicts.figures import number

_COLUMNS = (
    Column("category", "category", names_row=True),
    Column("rank", "#", right=True, names_row=True),
    Column("agent", "agent", names_row=True),
    Column("overall", "overall", number(), right=True),
    Column("accuracy", "accuracy", number(), right=True),
    Column("speed", "speed", number(), right=True),
    Column("efficiency", "efficiency", number(), right=True),
    Column("cost", "cost", number(), right=True),
    Column("reliability", "reliability", number(), right=True),
    Column("benchmarks_completed", "benchmarks", right=True),
    Column("harness", "harness"),
    Column("last_benchmark_date", "last (UTC)"),
)


@click.command(short_help="Rank agents by their scores.")
@click.option("--category", help="Only suites of this category.")
@click.option("--run", "run", metavar="RUN", help="The leaderboard of one run.")
@click.option("--days", type=click.IntRange(1, 36500), default=30, show_default=True)
@click.option("--limit", type=ROWS, default=20, show_default=True)
@database_option
@format_option()
def leaderboard(
    category: str | None,
    run: str | None,
    days: int,
    limit: int,
    database: str | None,
    form: str,
) -> int:
    """Agents ranked by their executions of the last days; simulated ones among themselves.

    \b
    agentbench leaderboard
    agentbench leaderboard --category accuracy --format json
    agentbench leaderboard --days 365
    agentbench leaderboard --run latest
    """
    from agentbench_tui.store.database import reading
    from agentbench_tui.verdicts.leaderboard import category_leaderboard

    if category is not None:
        _check_category(category)
    with reading(database_path(database)) as connection:
        if run is not None:
            return _print_run_leaderboard(connection, run, form)
        document = category_leaderboard(connection, category, limit, days)
    rows = [
        {**entry, "category": name, "agent": _name(entry)}
        for name, entries in document["categories"].items()
        for entry in entries
    ]
    print_rows(rows, _COLUMNS, form, document)
    if form == "table" and not rows:
        click.echo(f"no complete execution in the last {days} days; `agentbench run` makes some")
    return 0


def _check_category(category: str) -> None:
    from agentbench_tui.model.errors import UsageError, did_you_mean
    from agentbench_tui.model.suite import Category

    known = get_args(Category)
    if category not in known:
        raise UsageError(
            f"--category {category}: unknown{did_you_mean(category, known)};"
            f" there are {', '.join(known)}"
        )


def _print_run_leaderboard(connection: Any, wanted: str, form: str) -> int:
    from agentbench_tui.cli.result import LEADERBOARD, leaderboard_rows
    from agentbench_tui.store.queries import find_run
    from agentbench_tui.verdicts.leaderboard import SCHEMA, run_leaderboard

    row = find_run(connection, wanted)
    entries = run_leaderboard(connection, row["key"])
    document = {"schema": SCHEMA, "run_id": row["id"], "leaderboard": entries}
    print_rows(leaderboard_rows(entries), LEADERBOARD, form, document)
    return 0


def _name(entry: dict[str, Any]) -> str:
    return str(entry["agent_id"]) + (" (simulated)" if entry["simulated"] else "")
