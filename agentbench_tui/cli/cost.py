"""`agentbench cost`: cost of a task and of a success, the Pareto front, and possible savings."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from agentbench_tui.cli.console.output import (
    database_option,
    database_path,
    format_option,
)
from agentbench_tui.cli.console.shares import PART

if TYPE_CHECKING:
    from agentbench_tui.verdicts.selection.contenders import By


@click.command(short_help="Show the cost of correct answers, and possible savings.")
@click.argument("agents", nargs=-1, metavar="[AGENT]...")
@click.option("--suite", metavar="ID", help="Use only this suite.")
@click.option("--category", help="Use only suites of this category.")
@click.option(
    "--days",
    type=click.IntRange(1, 36500),
    default=30,
    show_default=True,
    help="Use only executions of the last DAYS days.",
)
@click.option(
    "--by",
    type=click.Choice(["agent", "version", "model"]),
    default="agent",
    show_default=True,
    help="What to compare.",
)
@click.option(
    "--margin",
    type=PART,
    metavar="M",
    default=0.02,
    show_default=True,
    help="Smallest difference in accuracy that matters, such as 0.02 or 2%.",
)
@database_option
@format_option()
def cost(
    agents: tuple[str, ...],
    suite: str | None,
    category: str | None,
    days: int,
    by: By,
    margin: float,
    database: str | None,
    form: str,
) -> int:
    """Show cost per task and per correct answer, the cost-quality frontier, and possible savings.

    The first AGENT is the one in use; the savings are computed for it. A single AGENT is compared
    with every agent that answered the same cases, several AGENTs only with each other.

    \b
    agentbench cost
    agentbench cost gpt-large
    agentbench cost gpt-large gpt-small --margin 0.01
    agentbench cost bot@v2 bot@v3 --by version --format json
    """
    from agentbench_tui.cli.console.reports import print_report
    from agentbench_tui.presentation.cost import cost_report
    from agentbench_tui.store.database import reading
    from agentbench_tui.verdicts.cost.cost_board import CostAsked, about, cost_document
    from agentbench_tui.verdicts.selection.contenders import Wanted, check_category

    if category is not None:
        check_category(category)
    if any("@" in name for name in agents):
        by = "version"
    with reading(database_path(database)) as connection:
        asked = CostAsked(agents, margin, Wanted(days, suite, category, by))
        document = cost_document(connection, asked)
    if len(agents) == 1:
        document = about(document, agents[0])
    print_report(cost_report(document), form, document)
    return 0
