"""`agentbench leaderboard`: agents by their latest executions, with the uncertainty of
their ranks.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, cast

import click
import msgspec

from agentbench_tui.cli.compare.files import cluster_option
from agentbench_tui.cli.console.numbers import ROWS
from agentbench_tui.cli.console.output import (
    console,
    database_option,
    database_path,
    format_option,
)
from agentbench_tui.cli.run.breakdown import by_limit_option

_RANKED = ("agent", "version", "model")


class _By(msgspec.Struct, frozen=True):
    """Parsed value of `--by`."""

    ranked: Literal["agent", "version", "model"] = "agent"
    field: str | None = None
    """Field of the cases; None for one board of all of them."""


def _as_by(_: click.Context, parameter: click.Parameter, given: Sequence[str]) -> _By:
    ranked = [one for one in given if one in _RANKED]
    fields = [one for one in given if one not in _RANKED]
    for twice in (ranked, fields):
        if len(twice) > 1:
            raise click.BadParameter(f"give one of {' and '.join(twice)}", param=parameter)
    return _By(cast("Any", ranked[0]) if ranked else "agent", fields[0] if fields else None)


_WIDE_FROM = 110
"""Screen width from which on the five scores are shown by default."""


@click.command(short_help="Rank agents by their scores.")
@click.option("--suite", metavar="ID", help="Use only this suite.")
@click.option("--category", help="Use only suites of this category.")
@click.option("--benchmark", metavar="ID", help="Use only this benchmark.")
@click.option("--overall", is_flag=True, help="Show one board across all categories.")
@click.option(
    "--metric",
    help="Metric or score to rank by, such as e2e_ms.p95, speed_score or overall; "
    "`agentbench explain` lists them.",
    show_default="accuracy; e2e_ms if no answer is graded",
)
@click.option(
    "--by",
    multiple=True,
    metavar="agent|version|model|FIELD",
    callback=_as_by,
    help="What to rank: agent, version or model. Any other word is a field of the cases, "
    "such as difficulty or benchmark, with one board for each of its values; write "
    "metadata.NAME for a field named agent, version or model. May be given twice: once "
    "for each use.",
    show_default="agent",
)
@cluster_option
@by_limit_option
@click.option("--rating", is_flag=True, help="Also show Bradley-Terry ratings.")
@click.option(
    "--run",
    "run",
    metavar="RUN",
    help="Use only the executions of this run (id, unique prefix, or `latest`). Without "
    "--metric, --rating, --overall or --by, show the leaderboard that `agentbench run` "
    "printed.",
)
@click.option(
    "--days",
    type=click.IntRange(1, 36500),
    help="Use only executions of the last DAYS days.",
    show_default="30; no limit with --run",
)
@click.option(
    "--limit", type=ROWS, default=20, show_default=True, help="Maximum number of rows to show."
)
@click.option(
    "--wide", is_flag=True, help="Show every column, even if the table is wider than the screen."
)
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
    """Rank agents by their recent executions; simulated agents are ranked separately.

    Statistically tied agents share a rank (`1=`). A board compares only the cases that all of its
    agents were asked.

    \b
    agentbench leaderboard
    agentbench leaderboard --suite gsm8k --rating
    agentbench leaderboard --metric e2e_ms.p50 --category accuracy
    agentbench leaderboard --overall --days 365 --format json
    agentbench leaderboard --by difficulty
    agentbench leaderboard --run latest
    agentbench leaderboard --run latest --benchmark math --metric cost_usd_per_correct
    """
    from agentbench_tui.cli.console.reports import print_report
    from agentbench_tui.presentation.leaderboard import leaderboard_report
    from agentbench_tui.store.database import reading
    from agentbench_tui.verdicts.ranking.leaderboard import asked_leaderboard
    from agentbench_tui.verdicts.ranking.scoreboard import BoardAsked
    from agentbench_tui.verdicts.selection.contenders import Wanted

    wanted = Wanted(days, suite, category, by.ranked, benchmark)
    asked = BoardAsked(metric, overall, rating, wanted, cluster, by.field, by_limit)
    with reading(database_path(database)) as connection:
        document = asked_leaderboard(connection, asked, run, limit)
    alone = not (metric or overall or rating or cluster or by != _By())
    if run is not None and alone:
        _print_of_run(document, form)
    else:
        roomy = form == "table" and console().width >= _WIDE_FROM
        print_report(leaderboard_report(document, wide=wide, roomy=roomy), form, document)
    return 0


def _print_of_run(document: dict[str, Any], form: str) -> None:
    """Print the leaderboard of one run by overall score, as `run` prints it."""
    from agentbench_tui.cli.console.reports import print_report
    from agentbench_tui.presentation.leaderboard import run_leaderboard_report

    print_report(run_leaderboard_report(document), form, document)
