"""`agentbench stats power`: detectable effects of a sample size, and sample sizes for a change."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from agentbench_tui.cli.compare.files import database_of, where_option
from agentbench_tui.cli.console.output import (
    benchmark_options,
    database_option,
    format_option,
)
from agentbench_tui.cli.console.reports import print_report
from agentbench_tui.cli.console.shares import PART_WITH_ENDS, SHARE, Share
from agentbench_tui.cli.stats.summary import selector_of

if TYPE_CHECKING:
    from agentbench_tui.verdicts.statistics.power_answers import Answer, Chances
    from agentbench_tui.verdicts.statistics.power_measured import Gain


class _Effect(Share):
    """A share, and whether it was written as a percentage."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return both. Raises a usage error."""
        return super().convert(value, param, ctx), str(value).strip().endswith("%")


@click.command("power", short_help="Smallest detectable effect, or required sample size.")
@click.argument("selectors", nargs=-1, metavar="[SELECTOR [SELECTOR]]")
@click.option(
    "--n",
    type=click.IntRange(min=2),
    help="Number of values in each group, or of pairs, that you have.",
)
@click.option(
    "--effect",
    type=_Effect(),
    help="Change to detect: a percentage such as 5% with --sd or a selector, else a number "
    "of standard deviations such as 0.5.",
)
@click.option(
    "--sd",
    type=SHARE,
    help="Standard deviation between runs as a share of their mean, such as 10%.",
)
@click.option(
    "--shares",
    type=(PART_WITH_ENDS, PART_WITH_ENDS),
    metavar="P Q",
    help="Two success rates to distinguish, such as --shares 70% 80%.",
)
@click.option(
    "--discordant",
    type=(PART_WITH_ENDS, PART_WITH_ENDS),
    metavar="A B",
    help="Shares of cases that only A and only B answers correctly, such as --discordant "
    "0.05 0.10.",
)
@click.option("--metric", metavar="NAME", help="Use only this metric of the selectors.")
@where_option
@benchmark_options
@click.option(
    "--alpha",
    type=float,
    default=0.05,
    show_default=True,
    help="Significance level: the probability of a false positive.",
)
@click.option(
    "--power",
    type=float,
    default=0.8,
    show_default=True,
    help="Statistical power: the probability of detecting an effect of this size.",
)
@database_option
@format_option()
def power(selectors: tuple[str, ...], form: str, **given: Any) -> int:
    """Show the smallest effect that N runs can detect, or how many runs an effect requires.

    Without options, print a table for common values. One selector supplies the variance between
    its runs. Two selectors supply the variance of their case-by-case differences (or of whole
    repeats, if the between-repeat variance is larger) and what pairing gains.

    \b
    agentbench stats power --n 15
    agentbench stats power --effect 5% --sd 10%
    agentbench stats power --shares 70% 80%
    agentbench stats power --discordant 0.05 0.10
    agentbench stats power planner --metric e2e_ms --effect 3%
    agentbench stats power planner rules
    """
    from agentbench_tui.contracts.document import plain
    from agentbench_tui.presentation.statistics import power_report
    from agentbench_tui.verdicts.statistics.power_answers import Chances, power_document

    chances = Chances(given["alpha"], given["power"])
    selectors = tuple(selector_of(text) for text in selectors)
    _check(selectors, given)
    if given["effect"] is not None:
        given["effect"], _ = given["effect"]
    gains: list[Gain] = []
    if selectors:
        answers, gains = _of_selectors(selectors, given, chances)
    else:
        answers = _of_figures(given, chances)
    document = power_document(answers, chances, selectors, [gain.result() for gain in gains])
    print_report(power_report(document), form, plain(document))
    return 0


def _check(selectors: tuple[str, ...], given: dict[str, Any]) -> None:
    from agentbench_tui.model.errors import UsageError

    if len(selectors) > 2:
        raise UsageError(
            "give one selector, or two for a paired comparison; for more, use `agentbench compare`"
        )
    figures = [name for name in ("sd", "shares", "discordant") if given[name] is not None]
    if selectors and figures:
        raise UsageError(f"--{figures[0]} is measured from the selector; remove it")
    if len(figures) > 1:
        raise UsageError(f"--{figures[0]} and --{figures[1]} exclude each other")
    if given["effect"] is not None and not selectors and not figures:
        effect, is_change = given["effect"]
        if is_change:
            raise UsageError(
                f"--effect {100 * effect:g}%: a percentage requires --sd (the standard "
                "deviation between runs) or a selector. Otherwise give a number of standard "
                "deviations, such as 0.5"
            )


def _of_figures(given: dict[str, Any], chances: Chances) -> list[Answer]:
    from agentbench_tui.verdicts.statistics.power_answers import (
        USUAL_SIZES,
        mcnemar_answer,
        size_for_shares,
        sizes_for,
        smallest_effects,
        smallest_share_difference,
    )

    n, effect, sd = given["n"], given["effect"], given["sd"]
    if given["discordant"] is not None:
        only_a, only_b = given["discordant"]
        return [mcnemar_answer(only_a, only_b, chances, n)]
    if given["shares"] is not None:
        first, second = given["shares"]
        found = [size_for_shares(first, second, chances)]
        return found if n is None else [*found, smallest_share_difference(n, first, chances)]
    if effect is not None:
        answers = sizes_for(effect, chances, sd)
        return answers if n is None else answers + smallest_effects(n, chances, sd)
    sizes = USUAL_SIZES if n is None else (n,)
    return [answer for size in sizes for answer in smallest_effects(size, chances, sd)]


def _of_selectors(
    selectors: tuple[str, ...], given: dict[str, Any], chances: Chances
) -> tuple[list[Answer], list[Gain]]:
    from agentbench_tui.model.errors import UsageError
    from agentbench_tui.verdicts.evidence.case_numbers import CaseNumbers
    from agentbench_tui.verdicts.selection.given_sides import check_where
    from agentbench_tui.verdicts.selection.measured import asked_metric, measured
    from agentbench_tui.verdicts.statistics.power_measured import matched, of_one, of_two

    metric, effect = given["metric"], given["effect"]
    answers: list[Answer] = []
    gains: list[Gain] = []
    check_where(selectors, given["where"])
    with database_of(selectors, given["database"]) as connection:
        column = asked_metric(connection, metric, selectors)
        numbers = CaseNumbers(connection)
        sides = [
            measured(
                connection,
                text,
                numbers,
                suite=given["suite"],
                benchmark=given["benchmark"],
                column=column,
                where=given["where"],
            )
            for text in selectors
        ]
        if len(sides) == 1:
            for one in sides[0]:
                answers += of_one(one, metric, effect, given["n"], chances)
        else:
            pairs = matched(sides[0], sides[1])
            if not pairs:
                raise UsageError(f"{selectors[0]} and {selectors[1]}: no benchmark in common")
            for a, b in pairs:
                found, gained = of_two(a, b, metric, effect, given["n"], chances)
                answers += found
                gains += gained
    if not answers and not gains:
        raise UsageError(f"{', '.join(selectors)}: no run has {metric or 'a main metric'}")
    return answers, gains
