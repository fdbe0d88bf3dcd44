"""Scatter plot, tables and sentences of the page Cost."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agentbench_tui.presentation.charts import LOG_FROM
from agentbench_tui.presentation.cost import FRONT, bounded_words, sentences_of, switch_words
from agentbench_tui.presentation.numbers import MISSING, decimals, money, percent, quantity
from agentbench_tui.tui.drawing.drawn_cells import interval_cell
from agentbench_tui.tui.drawing.grid_data import Cell, Column, GridData, GridRow, Role
from agentbench_tui.tui.drawing.money import Money, money_of
from agentbench_tui.tui.widgets.interval_cell import Interval, interval_column
from agentbench_tui.tui.widgets.scatter import Point, Scatter
from agentbench_tui.tui.widgets.sentences import Sentence

if TYPE_CHECKING:
    from collections.abc import Sequence

    from agentbench_tui.contracts.cost import CostDocument, CostGroup, CostLine, CostPerOutcome
    from agentbench_tui.contracts.leaderboard import FigureWithReason
    from agentbench_tui.store.queries.prices import PriceTable
    from agentbench_tui.tui.agent_series import AgentSeries

_TASKS = 1000
_FRONT_ROLES: dict[str, Role] = {
    "on the front": "good",
    "possibly on the front": "text",
    "off the front": "dim",
    "unknown": "dim",
}
_PRICES = (
    Column("model", "of", 12, flex=2, has_names=True),
    Column("input", "input", 7, align="right"),
    Column("output", "output", 7, align="right"),
    Column("cached", "cached", 8, align="right", priority=4),
    Column("hour", "an hour", 7, align="right"),
    Column("source", "from", 8, flex=1, priority=2),
    Column("date", "as of", 10, priority=3),
)


def is_spread(group: CostGroup) -> bool:
    """Return whether costs differ so much that only a logarithmic axis shows them."""
    costs = [one.cost_usd_per_task.value for one in group.agents]
    known = [cost for cost in costs if cost is not None and cost > 0]
    return bool(known) and max(known) / min(known) >= LOG_FROM


def tasks_of(group: CostGroup) -> int:
    """Return the number of tasks of the plot: a million if the tables give amounts per million."""
    money = money_of(one.cost_usd_per_task.value for one in group.agents)
    return _TASKS if money.of == 1 else int(money.of)


def cost_scatter(group: CostGroup, series: AgentSeries, *, log: bool) -> Scatter:
    """Return cost of many tasks and share of right answers, with intervals and the front."""
    tasks = tasks_of(group)
    markers = series.of(one.name for one in group.agents)
    points = []
    for one in group.agents:
        cost, right = one.cost_usd_per_task, one.correct_share
        if cost.value is None or right.value is None:
            continue
        points.append(
            Point(
                one.name,
                tasks * cost.value,
                100 * right.value,
                _times(cost.low, tasks),
                _times(cost.high, tasks),
                _times(right.low, 100),
                _times(right.high, 100),
                markers[one.name],
                one.simulated,
                one.front.on_front,
            )
        )
    return Scatter(
        tuple(points), f"cost of {tasks:,} tasks", "right answers", "$", "%", log_x=log,
        reason="no agent has both a known cost and a known share of right answers",
    )  # fmt: skip


def _times(value: float | None, factor: float) -> float | None:
    return None if value is None else factor * value


def agents_table(group: CostGroup, series: AgentSeries, words: str = "") -> GridData:
    """Return one row per agent of the group, filtered by name."""
    markers = series.of(one.name for one in group.agents)
    rights = [_interval(one.correct_share) for one in group.agents]
    money = money_of(one.cost_usd_per_task.value for one in group.agents)
    costs = [_cost_interval(one, money) for one in group.agents]
    column = interval_column(rights, "share")
    cost_column = interval_column(costs, "$", log=is_spread(group))
    rows = []
    for one, right, cost in zip(group.agents, rights, costs, strict=True):
        if words.casefold() not in one.name.casefold():
            continue
        front, role = FRONT[one.front.standing], _FRONT_ROLES[one.front.standing]
        name = one.name + (" (simulated)" if one.simulated else "")
        wasted = one.spent_on_wrong
        rows.append(
            GridRow(
                one.name,
                (
                    Cell(name, series=markers[one.name], role=_name_role(one, group)),
                    interval_cell(right, column),
                    money.shown(one.cost_usd_per_task.value),
                    interval_cell(cost, cost_column),
                    _rate(one.successes_per_usd.value),
                    Cell(front, role=role),
                    _efficiency(one),
                    percent(wasted),
                ),
            )
        )
    reason = f"no agent is called '{words}'" if words else "nobody"
    return GridData(_agent_columns(money), rows, reason=reason)


def _agent_columns(money: Money) -> tuple[Column, ...]:
    return (
        Column("agent", "agent", 13, flex=1, has_names=True),
        Column("right", "right [95%]", 21, flex=2),
        money.column("task", "task", 9, "right", priority=2),
        money.column("success", "right", 10, flex=4),
        Column("per_usd", "right/USD", 9, align="right", priority=3),
        Column("front", "front", 5),
        Column("efficiency", "efficiency", 14, priority=4),
        Column("wasted", "on wrong", 8, align="right", priority=5),
    )


def _name_role(one: CostLine, group: CostGroup) -> Role | None:
    return "title" if one.name == group.current else None


def _efficiency(one: CostLine) -> Cell:
    value = one.efficiency
    if value is None:
        return Cell(MISSING)
    return Cell(decimals(2)(value), bar=value, role="good" if one.optimal else None)


def _interval(of: FigureWithReason) -> Interval:
    return Interval(of.value, of.low, of.high, of.reason)


def _cost_interval(one: CostPerOutcome, money: Money) -> Interval:
    """Format the interval; an agent without right answers has no value, but a lower bound in the
    reason.
    """
    of = one.cost_usd_per_success
    value, low, high = (_times(one, money.of) for one in (of.value, of.low, of.high))
    return Interval(value, low, high, bounded_words(one))


def _rate(value: float | None) -> str:
    return MISSING if value is None else quantity(value)


def benchmarks_table(one: CostLine) -> GridData:
    """Return the table of an agent's costs on each benchmark."""
    suites = {name.partition("/")[0] for name in one.by_benchmark}
    money = money_of(found.cost_usd_per_task.value for found in one.by_benchmark.values())
    columns = (
        Column("benchmark", "benchmark", 12, flex=1),
        money.column("task", "task", 10, "right", priority=2),
        money.column("success", "right", 11, "right"),
        Column("per_usd", "right/USD", 9, align="right", priority=3),
    )
    rows = [
        GridRow(
            name,
            (
                name.partition("/")[2] if len(suites) == 1 else name,
                money.shown(found.cost_usd_per_task.value),
                money.shown(found.cost_usd_per_success.value),
                _rate(found.successes_per_usd.value),
            ),
        )
        for name, found in one.by_benchmark.items()
    ]
    return GridData(columns, rows, reason="of no benchmark the cost is known")


def savings(document: CostDocument, group: CostGroup) -> list[Sentence]:
    """Return possible savings, and notes on the group."""
    found = [switch_words(one) for one in group.cost_optimization_opportunities]
    said = [Sentence(words, "saves", "good") for words in found]
    if found:
        points = f"{100 * document.margin:g} points"
        equal = f"the test excludes a difference in right answers of {points} or more"
        said.append(Sentence(equal, "equal", "dim"))
    others = [one for one in sentences_of(group, document.margin) if one not in found]
    return [*said, *(Sentence(words, "·") for words in others)]


def unknown_sentences(document: CostDocument) -> list[Sentence]:
    """Name the agents with unknown costs, the reasons, and how to make them known."""
    by_reason: dict[str, list[str]] = {}
    for one in document.unknown:
        names = by_reason.setdefault(one.reason, [])
        name = f"{one.name} on {one.benchmark}"
        if name not in names:
            names.append(name)
    said = [
        Sentence(f"{', '.join(names[:3])}{_more(names)}: {reason}", "of", "warn")
        for reason, names in by_reason.items()
    ]
    if said:
        said += [
            Sentence("agentbench run … --prices FILE (USD for a million tokens)", "tokens"),
            Sentence("agentbench run … --hourly-price USD (a machine of one's own)", "hours"),
        ]
    return said


def _more(names: Sequence[str]) -> str:
    return f" and {len(names) - 3} more" if names[3:] else ""


def prices_table(prices: PriceTable) -> GridData:
    """Return the table of prices: models per million tokens, agents per hour."""
    rows = [
        GridRow(
            one.model,
            (
                one.model,
                money(one.input_usd_per_mtok),
                money(one.output_usd_per_mtok),
                money(one.cached_input_usd_per_mtok),
                MISSING,
                one.source,
                one.price_date or MISSING,
            ),
        )
        for one in prices.tokens
    ]
    rows += [
        GridRow(
            f"hour of {one.agent_id}",
            (
                one.agent_id,
                *(MISSING, MISSING, MISSING),
                money(one.usd_per_hour),
                "run",
                one.applied_at[:10],
            ),
        )
        for one in prices.hours
    ]
    return GridData(_PRICES, rows, reason="no price was applied yet: --prices FILE gives some")
