"""`agentbench leaderboard`: agents by their latest executions, and how sure their ranks are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, cast, get_args

import click

from agentbench_tui.cli.compare.files import cluster_option
from agentbench_tui.cli.console.numbers import ROWS
from agentbench_tui.cli.console.output import (
    database_option,
    database_path,
    format_option,
    print_prose,
    print_rows,
)
from agentbench_tui.cli.run.breakdown import by_limit_option

_RANKED = ("agent", "version", "model")


@dataclass(frozen=True, slots=True)
class _By:
    """What `--by` says."""

    ranked: Literal["agent", "version", "model"] = "agent"
    field: str | None = None
    """Of the cases; None for one board of all of them."""


def _as_by(_: click.Context, parameter: click.Parameter, given: Sequence[str]) -> _By:
    ranked = [one for one in given if one in _RANKED]
    fields = [one for one in given if one not in _RANKED]
    for twice in (ranked, fields):
        if len(twice) > 1:
            raise click.BadParameter(f"give one of {' and '.join(twice)}", param=parameter)
    return _By(cast("Any", ranked[0]) if ranked else "agent", fields[0] if fields else None)


@click.command(short_help="Rank agents by their scores.")
@click.option("--suite", metavar="ID", help="Only this suite.")
@click.option("--category", help="Only suites of this category.")
@click.option("--benchmark", metavar="ID", help="Only this benchmark.")
@click.option("--overall", is_flag=True, help="One board over all categories.")
@click.option(
    "--metric",
    help="What ranks: a metric or score of `agentbench explain`, such as e2e_ms.p95, speed_score or"
    " overall. By default accuracy; e2e_ms where nothing is called right or wrong.",
)
@click.option(
    "--by",
    multiple=True,
    metavar="agent|version|model|FIELD",
    callback=_as_by,
    help="What is ranked: agent, version or model; any other word is a field of the cases, such as"
    " difficulty or benchmark (metadata.NAME where it is one of the three), with a board for each"
    " of its values. May be given once for each of both.  [default: agent]",
)
@cluster_option
@by_limit_option
@click.option("--rating", is_flag=True, help="Bradley-Terry ratings too.")
@click.option(
    "--run",
    "run",
    metavar="RUN",
    help="Only the executions of this run (id, prefix or latest). Alone it shows the leaderboard"
    " that `run` printed; with --metric, --rating, --overall or --by boards of these executions.",
)
@click.option(
    "--days",
    type=click.IntRange(1, 36500),
    help="Only executions of the last DAYS days.  [default: 30; with --run any]",
)
@click.option("--limit", type=ROWS, default=20, show_default=True)
@click.option("--wide", is_flag=True, help="Every column, whatever the screen's width.")
@database_option
@format_option()
def leaderboard(
    suite: str | None,
    category: str | None,
    overall: bool,
    metric: str | None,
    by: _By,
    by_limit: int,
    cluster: str | None,
    rating: bool,
    run: str | None,
    benchmark: str | None,
    days: int | None,
    limit: int,
    wide: bool,
    database: str | None,
    form: str,
) -> int:
    """Agents ranked by their executions of the last days; simulated ones among themselves.

    Agents that the data cannot tell apart share a rank (`1=`). Compared are the cases that all
    of a board were asked.

    \b
    agentbench leaderboard
    agentbench leaderboard --suite gsm8k --rating
    agentbench leaderboard --metric e2e_ms.p50 --category accuracy
    agentbench leaderboard --overall --days 365 --format json
    agentbench leaderboard --by difficulty
    agentbench leaderboard --run latest
    agentbench leaderboard --run latest --benchmark math --metric cost_usd_per_correct
    """
    from agentbench_tui.cli.leaderboard.scoreboard import print_boards
    from agentbench_tui.store.database import reading
    from agentbench_tui.store.queries.leaderboard import LEADERBOARD_DAYS
    from agentbench_tui.store.queries.runs import find_run
    from agentbench_tui.verdicts.ranking.leaderboard import leaderboard_document
    from agentbench_tui.verdicts.ranking.scoreboard import BoardAsked
    from agentbench_tui.verdicts.run_leaderboard import run_leaderboard
    from agentbench_tui.verdicts.selection.contenders import Wanted

    if category is not None:
        check_category(category)
    with reading(database_path(database)) as connection:
        found = None if run is None else find_run(connection, run)
        run_key = None if found is None else found["key"]
        if days is None and found is None:
            days = LEADERBOARD_DAYS
        wanted = Wanted(days, suite, category, by.ranked, benchmark, run_key)
        asked = BoardAsked(metric, overall, rating, wanted, cluster, by.field, by_limit)
        document = leaderboard_document(connection, asked, limit)
        if found is not None:
            document["run_id"] = found["id"]
            document["leaderboard"] = run_leaderboard(connection, found["key"], wanted)
    alone = not (metric or overall or rating or cluster or by != _By())
    if found is not None and alone:
        _print_of_run(document, form)
    else:
        print_boards(document, form, wide=wide)
    return 0


def check_category(category: str) -> None:
    """Raise UsageError for a category that suites cannot have."""
    from agentbench_tui.model.errors import UsageError, did_you_mean
    from agentbench_tui.model.suite import Category

    known = get_args(Category)
    if category not in known:
        raise UsageError(
            f"--category {category}: unknown{did_you_mean(category, known)};"
            f" there are {', '.join(known)}"
        )


def _print_of_run(document: dict[str, Any], form: str) -> None:
    """The leaderboard of one run, by the overall score, as `run` prints it."""
    from agentbench_tui.cli.run.result import LEADERBOARD, leaderboard_rows, unsure_lines

    entries = document["leaderboard"]
    print_rows(leaderboard_rows(entries), LEADERBOARD, form, document)
    if form == "table":
        for line in unsure_lines(entries):
            print_prose(line)
        if not entries:
            print_prose(document["reason"])
