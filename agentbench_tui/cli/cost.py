"""`agentbench cost`: cost of a task and of a success, the Pareto front, and possible savings."""

from __future__ import annotations

from typing import Any

import click

from agentbench_tui.cli.console.output import (
    Column,
    database_option,
    database_path,
    format_option,
    print_prose,
    print_rows,
)
from agentbench_tui.cli.console.shares import PART
from agentbench_tui.model.text.plain_number import counted
from agentbench_tui.presentation.cost import (
    per_success_words,
    sentences_of,
    some_names,
    title_of,
)
from agentbench_tui.presentation.numbers import MISSING, amount, decimals, money, percent

_FRONT = {
    "on the front": "yes",
    "possibly on the front": "maybe",
    "off the front": "no",
    "unknown": MISSING,
}
_COLUMNS = (
    Column("name_shown", "agent", names_row=True),
    Column("right", "right", percent, right=True),
    Column("usd_per_task", "USD/task", money, right=True),
    Column("usd_per_success_shown", "USD/right [95%]", right=True),
    Column("successes_per_usd", "right/USD", amount, True),
    Column("front", "front"),
    Column("efficiency", "eff.", decimals(2), right=True),
)
_OF_BENCHMARK = (
    Column("benchmark", "benchmark", names_row=True),
    Column("usd_per_task", "USD/task", money, right=True),
    Column("usd_per_success_shown", "USD/right [95%]", right=True),
    Column("successes_per_usd", "right/USD", amount, True),
)
_PLAIN = (
    "group", "simulated", "agent", "agent_id", "agent_version", "cases", "right", "right_low",
    "right_high", "usd_per_task", "usd_per_task_low", "usd_per_task_high", "usd_per_success",
    "usd_per_success_low", "usd_per_success_high", "successes_per_usd", "on_front", "front_share",
    "value", "efficiency", "optimal", "spent_on_wrong",
)  # fmt: skip
"""Columns of CSV."""

Document = dict[str, Any]


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
    by: Any,
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
    from agentbench_tui.store.database import reading
    from agentbench_tui.verdicts.cost.cost_board import CostAsked, about, cost_document
    from agentbench_tui.verdicts.ranking.leaderboard import check_category
    from agentbench_tui.verdicts.selection.contenders import Wanted

    if category is not None:
        check_category(category)
    if any("@" in name for name in agents):
        by = "version"
    with reading(database_path(database)) as connection:
        asked = CostAsked(agents, margin, Wanted(days, suite, category, by))
        document = cost_document(connection, asked)
    if len(agents) == 1:
        document = about(document, agents[0])
    if form in {"json", "jsonl", "csv"}:
        rows = [
            _plain(number_of_group, group, line)
            for number_of_group, group in enumerate(document["groups"], 1)
            for line in group["agents"]
        ]
        print_rows(rows, [Column(name, name) for name in _PLAIN], form, document)
        return 0
    _print(document, form)
    return 0


def _print(document: Document, form: str) -> None:
    for group in document["groups"]:
        title = title_of(group)
        print_prose(f"**{title}**\n" if form == "md" else title)
        print_rows([_shown(line) for line in group["agents"]], _COLUMNS, form)
        for line in group["agents"]:
            if line["name"] == group["current"] and len(line["by_benchmark"]) > 1:
                click.echo()
                rows = [{"benchmark": name, **_figures(one)}
                        for name, one in line["by_benchmark"].items()]  # fmt: skip
                print_rows(rows, _OF_BENCHMARK, form)
        click.echo()
        for sentence in sentences_of(group, document["margin"]):
            print_prose(sentence)
        click.echo()
    unknown: dict[tuple[str, str], list[str]] = {}
    for one in document["unknown"]:
        unknown.setdefault((one["benchmark"], one["reason"]), []).append(one["name"])
    for (benchmark, reason), names in unknown.items():
        named = some_names(names)
        print_prose(f"{MISSING} the cost of {named} on {benchmark} is unknown: {reason}")
    if not document["groups"] and not unknown:
        days = counted(document["window_days"], "day")
        click.echo(f"no complete execution in the last {days}; start one with `agentbench run`")


def _figures(line: Document) -> Document:
    return {
        "usd_per_task": line["cost_usd_per_task"]["value"],
        "usd_per_success_shown": per_success_words(line),
        "successes_per_usd": line["successes_per_usd"]["value"],
    }


def _shown(line: Document) -> Document:
    return {
        **line,
        **_figures(line),
        "name_shown": line["name"] + (" (simulated)" if line["simulated"] else ""),
        "right": line["correct_share"]["value"],
        "front": _FRONT[line["front"]["standing"]],
    }


def _plain(number_of_group: int, group: Document, line: Document) -> Document:
    """A line for JSON lines and CSV: numbers, one a column."""
    found = {
        "group": number_of_group,
        "agent": line["name"],
        "cases": group["cases"],
        "right": line["correct_share"]["value"],
        "right_low": line["correct_share"]["low"],
        "right_high": line["correct_share"]["high"],
        "successes_per_usd": line["successes_per_usd"]["value"],
        "on_front": line["front"]["on_front"],
        "front_share": line["front"]["share"],
    }
    for name in ("usd_per_task", "usd_per_success"):
        of = line[f"cost_{name}"]
        found |= {name: of["value"], f"{name}_low": of["low"], f"{name}_high": of["high"]}
    return {name: found.get(name, line.get(name)) for name in _PLAIN}
