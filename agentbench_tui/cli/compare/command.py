"""`agentbench compare A B …`: which is better, by how much, and with what confidence."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import click

from agentbench_tui.cli.compare.curve_options import SpreadingCommand, curve_options
from agentbench_tui.cli.compare.curves import compare_curves, is_about_curves
from agentbench_tui.cli.compare.files import (
    attempt_option,
    better_option,
    cluster_option,
    where_option,
)
from agentbench_tui.cli.console.numbers import ROWS
from agentbench_tui.cli.console.output import (
    benchmark_options,
    database_option,
    database_path,
    format_option,
    print_prose,
)
from agentbench_tui.cli.console.shares import PART
from agentbench_tui.cli.run.breakdown import by_limit_option
from agentbench_tui.model.text.untrusted import one_line

if TYPE_CHECKING:
    from agentbench_tui.verdicts.comparison.compare import Compared
    from agentbench_tui.verdicts.comparison.selector_comparison import ComparisonOptions


@click.command(
    cls=SpreadingCommand, short_help="Compare agents, versions or runs: is B better than A?"
)
@click.argument("selectors", nargs=-1, metavar="A B…")
@benchmark_options
@click.option(
    "--metric",
    "metrics",
    multiple=True,
    metavar="NAME",
    help="Compare this metric instead of the main metrics. May be given several times.",
)
@better_option
@where_option
@attempt_option
@cluster_option
@click.option(
    "--paired",
    type=click.Choice(("auto", "yes", "no")),
    default="auto",
    show_default=True,
    help="Compare case by case: `auto` if A and B answered the same cases, `yes` always, "
    "`no` never.",
)
@click.option(
    "--margin",
    type=PART,
    metavar="M",
    help="Smallest change that matters, such as 0.05 or 5%; in percentage points for a "
    "metric that is a share.",
    show_default="5%; 2 points for shares",
)
@click.option(
    "--seed",
    type=click.IntRange(0, 2**32 - 1),
    default=42,
    show_default=True,
    help="Seed of the bootstrap.",
)
@click.option(
    "--limit",
    type=ROWS,
    default=5,
    show_default=True,
    help="Maximum number of cases to list on which A and B disagree.",
)
@click.option(
    "--fail-on",
    type=click.Choice(("worse",)),
    help="Exit with 1 if B is worse in a metric. Exit with 3 if no metric could be judged, "
    "A and B cannot be ranked, or an inconclusive metric looks worse by more than the "
    "margin.",
)
@click.option(
    "--by",
    metavar="FIELD",
    help="Also compare within each group of cases that share the value of FIELD: a metadata "
    "field such as category, or cluster, expected, benchmark, suite, or any column of "
    "a file. Verdicts and gates on all cases do not change.",
)
@by_limit_option
@curve_options
@database_option
@format_option()
def compare(
    selectors: tuple[str, ...],
    suite: str | None,
    benchmark: str | None,
    metrics: tuple[str, ...],
    better: Literal["lower", "higher"] | None,
    where: dict[str, str],
    attempt: str,
    cluster: str | None,
    paired: Literal["auto", "yes", "no"],
    margin: float | None,
    seed: int,
    limit: int,
    fail_on: str | None,
    by: str | None,
    by_limit: int,
    database: str | None,
    form: str,
    **curves: Any,
) -> int:
    """Compare B with the control A. Given three or more selectors, compare every pair.

    \b
    A selector is AGENT, AGENT@VERSION, run:ID, run:ID/AGENT or tag:NAME/AGENT; append
    ?PARAMETER=VALUE for one point of a sweep. file:PATH reads samples as CSV or JSON Lines.

    \b
    agentbench compare planner rules
    agentbench compare planner@1.2 planner@1.3 --fail-on worse
    agentbench compare planner rules --by difficulty
    agentbench compare run:ID1/small run:ID2/small --metric accuracy --margin 3%
    agentbench compare 'chat?rate=5' 'chat?rate=10' --format json
    agentbench compare file:old.csv file:new.csv
    agentbench compare --control-run-ids r1 r2 r3 --candidate-run-ids r4 r5 r6 --series-dir runs
    """
    if is_about_curves(curves):
        if by is not None:
            raise click.UsageError("--by groups cases, but training runs have no cases")
        return compare_curves(
            curves, selectors, metrics, better, form, paired=paired, margin=margin, seed=seed,
            database=database, suite=suite, benchmark=benchmark, fail_on=fail_on,
        )  # fmt: skip
    from agentbench_tui.verdicts.comparison.selector_comparison import ComparisonOptions

    options = ComparisonOptions(
        selectors, suite, benchmark, metrics, better, where, attempt, cluster, paired, margin,
        seed, limit, by, by_limit,
    )  # fmt: skip
    found = _compare_sides(options, database, form)
    return 0 if fail_on is None else _gate(found)


def _compare_sides(options: ComparisonOptions, database: str | None, form: str) -> Compared:
    """Compare the sides and print the result."""
    from agentbench_tui.cli.compare.result import print_comparison
    from agentbench_tui.verdicts.comparison.selector_comparison import compare_selectors

    def say(note: str) -> None:
        print_prose(one_line(note, 1000), err=True)

    compared = compare_selectors(options, database_path(database), say)
    print_comparison(compared.document, form, compared.groups, options.by_limit)
    return compared.found


def _gate(found: Compared) -> int:
    """Return 1 if something is worse; 3 if a benchmark ranks neither side, nothing could be
    judged, or an inconclusive metric looks worse by more than the margin.
    """
    from agentbench_tui.verdicts.comparison.change import change_words
    from agentbench_tui.verdicts.comparison.outcome import leaning

    benchmarks = [one for pair in found.pairs for one in pair.benchmarks]
    metrics = [
        one for at in benchmarks if not at.why_unranked for one in at.metrics if one.comparable
    ]
    worse = [one.metric for one in metrics if one.verdict == "worse"]
    if worse:
        click.echo(f"gate: worse in {', '.join(dict.fromkeys(worse))}", err=True)
        return 1
    unranked = next((at.why_unranked for at in benchmarks if at.why_unranked), "")
    if unranked:
        click.echo(f"gate: no verdict, not ranked: {unranked}", err=True)
        return 3
    if all(one.verdict == "inconclusive" for one in metrics):
        click.echo("gate: no verdict, every metric is inconclusive", err=True)
        return 3
    leans = [change_words(one) for one in metrics if leaning(one) == "worse"]
    if leans:
        click.echo(f"gate: inconclusive, but looks worse: {', '.join(leans)}", err=True)
        return 3
    return 0
