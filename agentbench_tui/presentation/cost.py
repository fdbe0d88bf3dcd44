"""A cost document as a report: figures for the table, and the sentences below it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import asdict

from agentbench_tui.model.text.plain_number import counted, plain
from agentbench_tui.presentation.numbers import (
    MISSING,
    amount,
    count,
    decimals,
    money,
    money_each,
    percent,
    points,
    price_words,
    ratio,
    with_interval,
)
from agentbench_tui.presentation.report import Column, Report, Row, Section, Table, raw_columns

if TYPE_CHECKING:
    from collections.abc import Sequence

    from agentbench_tui.contracts.cost import (
        Bill,
        BilledPrice,
        CostDocument,
        CostGroup,
        CostLine,
        CostPerOutcome,
        CostSwitch,
        CostTradeOff,
    )

FRONT = {
    "on the front": "yes",
    "possibly on the front": "maybe",
    "off the front": "no",
    "unknown": MISSING,
}
"""Words of a column for each standing on the Pareto front."""
_COLUMNS = (
    Column("name_shown", "agent", names_row=True),
    Column("right", "right", percent, right=True),
    Column("usd_per_task", "USD/task", money_each, right=True),
    Column("usd_per_success_shown", "USD/right [95%]", right=True),
    Column("successes_per_usd", "right/USD", amount, True),
    Column("front", "front"),
    Column("efficiency", "eff.", decimals(2), right=True),
)
_OF_BENCHMARK = (
    Column("benchmark", "benchmark", names_row=True),
    Column("usd_per_task", "USD/task", money_each, right=True),
    Column("usd_per_success_shown", "USD/right [95%]", right=True),
    Column("successes_per_usd", "right/USD", amount, True),
)
_OF_BILL = (
    Column("name_shown", "agent", names_row=True),
    Column("answers", "answers", count, right=True),
    Column("input_tokens", "input", count, right=True),
    Column("cached_tokens", "cached", count, right=True),
    Column("output_tokens", "output", count, right=True),
    Column("reasoning_tokens", "reasoning", count, right=True),
    Column("price_shown", "price"),
    Column("cost_usd", "total USD", money, right=True),
)
_PARTS_OF = {
    "cached_tokens": "cached is part of input",
    "reasoning_tokens": "reasoning is part of output",
}
_EVERY_MODEL = "*"
_FIELDS = (
    "group", "simulated", "agent", "agent_id", "agent_version", "cases", "right", "right_low",
    "right_high", "usd_per_task", "usd_per_task_low", "usd_per_task_high", "usd_per_success",
    "usd_per_success_low", "usd_per_success_high", "successes_per_usd", "on_front", "front_share",
    "value", "efficiency", "optimal", "spent_on_wrong",
)  # fmt: skip
"""Columns of CSV, fields of JSON lines."""
_MOST_TOLD = 5
_WASTE_FROM = 0.2
"""Share of the cost spent on answers that were not right from which on it is reported."""


def cost_report(document: CostDocument) -> Report:
    """Return a section for each group of agents that answered the same cases."""
    groups = document.groups
    records = [
        _plain(number, group, line)
        for number, group in enumerate(groups, 1)
        for line in group.agents
    ]
    sections = [_section(group, document.margin) for group in groups]
    return Report(
        Table(raw_columns(_FIELDS), records),
        [*sections, *_bills(document.bills)],
        unknown_cost_lines(document) or ([] if groups else [_nothing(document)]),
    )


def _section(group: CostGroup, margin: float) -> Section:
    tables = [Table(_COLUMNS, [_shown(line) for line in group.agents])]
    for line in group.agents:
        of_each = line.by_benchmark
        if line.name == group.current and len(of_each) > 1:
            rows = [{"benchmark": name} | _figures(one) for name, one in of_each.items()]
            tables.append(Table(_OF_BENCHMARK, rows))
    return Section(title_of(group), tables, sentences_of(group, margin))


def _bills(bills: Sequence[Bill]) -> list[Section]:
    """Return the section of all bills; none without any."""
    if not bills:
        return []
    unused = {key for key in _PARTS_OF if not any(getattr(one, key) for one in bills)}
    columns = [column for column in _OF_BILL if column.key not in unused]
    rows = [
        {
            **asdict(one),
            "name_shown": one.name + (" (simulated)" if one.simulated else ""),
            "price_shown": "; ".join(map(token_price_words, one.prices)) or MISSING,
        }
        for one in bills
    ]
    parts = [words for key, words in _PARTS_OF.items() if key not in unused]
    reasons = {one.reason: one.name for one in bills if one.reason}
    lines = [f"{MISSING} under total of {name}: {reason}" for reason, name in reasons.items()]
    if any(one.prices for one in bills):
        lines.insert(0, "; ".join(["price: USD per million tokens, input / output", *parts]))
    return [Section("tokens, prices and totals, over all answers", [Table(columns, rows)], lines)]


def token_price_words(price: BilledPrice) -> str:
    """Write a price with its model and source: `0.5/1.5 (--price)`."""
    amounts = [price.input_usd_per_mtok, price.output_usd_per_mtok]
    if price.cached_input_usd_per_mtok not in (None, amounts[0]):
        amounts.append(price.cached_input_usd_per_mtok)
    shown = "/".join(MISSING if one is None else plain(one) for one in amounts)
    of = "" if price.model == _EVERY_MODEL else f"{price.model} "
    return f"{of}{shown} ({price.source})"


def unknown_cost_lines(document: CostDocument) -> list[str]:
    """Return whose cost is unknown, and why."""
    unknown: dict[tuple[str, str], list[str]] = {}
    for one in document.unknown:
        unknown.setdefault((one.benchmark, one.reason), []).append(one.name)
    return [
        f"{MISSING} the cost of {some_names(names)} on {benchmark} is unknown: {reason}"
        for (benchmark, reason), names in unknown.items()
    ]


def _nothing(document: CostDocument) -> str:
    days = document.window_days
    window = "" if days is None else f" in the last {counted(days, 'day')}"
    return f"no complete execution{window}; start one with `agentbench run`"


def _figures(line: CostPerOutcome) -> dict[str, object]:
    return {
        "usd_per_task": line.cost_usd_per_task.value,
        "usd_per_success_shown": per_success_words(line),
        "successes_per_usd": line.successes_per_usd.value,
    }


def _shown(line: CostLine) -> Row:
    return {
        **asdict(line),
        **_figures(line),
        "name_shown": line.name + (" (simulated)" if line.simulated else ""),
        "right": line.correct_share.value,
        "front": FRONT[line.front.standing],
    }


def _plain(number_of_group: int, group: CostGroup, line: CostLine) -> Row:
    """A line for JSON lines and CSV: numbers, one a column."""
    found: dict[str, object] = {
        **asdict(line),
        "group": number_of_group,
        "agent": line.name,
        "cases": group.cases,
        "right": line.correct_share.value,
        "right_low": line.correct_share.low,
        "right_high": line.correct_share.high,
        "successes_per_usd": line.successes_per_usd.value,
        "on_front": line.front.on_front,
        "front_share": line.front.share,
    }
    for name, of in (
        ("usd_per_task", line.cost_usd_per_task),
        ("usd_per_success", line.cost_usd_per_success),
    ):
        found |= {name: of.value, f"{name}_low": of.low, f"{name}_high": of.high}
    return {name: found[name] for name in _FIELDS}


def title_of(group: CostGroup) -> str:
    """Say which cases were asked, of which suites, and of which agents."""
    suites = sorted({one.partition("/")[0] for one in group.benchmarks})
    simulated = " by simulated agents" if group.simulated else ""
    left = (
        f", without {counted(group.left_out, 'case')} that not all agents received"
        if group.left_out
        else ""
    )
    return f"{counted(group.cases, 'case')} of {', '.join(suites)}{simulated}{left}"


def sentences_of(group: CostGroup, margin: float) -> list[str]:
    """Say what the numbers mean."""
    near_best = [one.configuration for one in group.optimal_configurations]
    lines = [
        *_cheapest(group.agents),
        f"best value (eff. above 0.8): {some_names(near_best) or 'none'}",
        *map(trade_off_words, group.trade_offs),
        group.formula,
        group.speed_words,
        "front: no other is right as often for less, or more often for as much (95% of draws)",
    ]
    unsure = {line.front.reason for line in group.agents} - {""}
    lines += [f"{MISSING} under front: {reason} independent cases" for reason in unsure]
    found = group.cost_optimization_opportunities
    told = [*found]
    if group.current is None:  # of each the one that saves most, which is its first
        told = list({one.current: one for one in reversed(found)}.values())[::-1]
    told = told[:_MOST_TOLD]
    lines += [switch_words(one) for one in told]
    if len(found) > len(told):
        lines.append(f"… {len(found) - len(told)} more (--format json)")
    if not found and len(group.agents) > 1:
        of = f" instead of {group.current}" if group.current else ""
        lines.append(
            f"no switch{of} is shown to save: no agent is, with 95% confidence, both cheaper and"
            f" at most {100 * margin:g} points less right"
        )
    wasteful = [
        line
        for line in sorted(group.agents, key=lambda line: -(line.spent_on_wrong or 0))
        if (line.spent_on_wrong or 0) >= _WASTE_FROM and group.current in (None, line.name)
    ]
    lines += [
        f"{line.name}: {percent(line.spent_on_wrong)} of its cost went into answers that"
        f" were not right{_dearest(line)}"
        for line in wasteful[:_MOST_TOLD]
    ]
    hourly = [line.name for line in group.agents if line.by_the_hour]
    if hourly:
        names = some_names(hourly)
        lines.append(f"paid by the hour, which is shared evenly over the questions: {names}")
    return lines


def _cheapest(agents: Sequence[CostLine]) -> list[str]:
    """Say who has the lowest cost per right answer, if there are several agents."""
    costs = {line.name: line.cost_usd_per_success.value for line in agents}
    known = [cost for cost in costs.values() if cost is not None]
    if len(known) < 2:
        return []
    least = min(known)
    names = [name for name, cost in costs.items() if cost == least]
    return [f"cheapest per right answer: {some_names(names)} ({price_words(least, 'answers')})"]


def trade_off_words(one: CostTradeOff) -> str:
    """Say that an agent of good value is right less often than another, and what that one costs."""
    gap = with_interval(one.difference, one.low, one.high, points)
    words = f"{one.more_accurate} is right more often than {one.configuration} ({gap})"
    factor = one.cost_ratio
    if factor is None:
        return f"{words}, which costs nothing: choose by what a wrong answer costs you"
    if factor <= 1:
        return f"{words}, and costs no more per task"
    return f"{words}, at {ratio(factor)} its cost per task: choose by what a wrong answer costs you"


def some_names(names: Sequence[str]) -> str:
    """List a few of them without repetition, and how many more there are."""
    each = [*dict.fromkeys(names)]
    more = len(each) - _MOST_TOLD
    return ", ".join(each[:_MOST_TOLD]) + (f" and {more:,} more" if more > 0 else "")


def switch_words(one: CostSwitch) -> str:
    """Describe one opportunity: the replacement, the saving, and that quality is preserved."""
    saving = one.saving
    quality = {"equivalent": "at equal quality", "better": "and is right more often"}.get(
        one.verdict, "without being worse by the margin"
    )
    return (
        f"{one.switch_to} instead of {one.current} saves"
        f" {with_interval(saving.value, saving.low, saving.high, percent)}"
        f" ({money(one.usd_per_1000_tasks)} in 1,000 tasks) {quality}"
        f" (right: {points(one.difference)})"
    )


def _dearest(line: CostLine) -> str:
    """Return the benchmark with the highest cost per right answer, if there are several."""
    if len(line.by_benchmark) == 1:
        return ""
    of_each = {name: one.cost_usd_per_success for name, one in line.by_benchmark.items()}
    never = [name for name, one in of_each.items() if one.value is None and one.reason]
    if never:
        return f"; never right on {some_names(never)}"
    cost, name = max((one.value, name) for name, one in of_each.items() if one.value)
    return f"; a right answer is dearest on {name} ({price_words(cost, 'answers')})"


def bounded_words(line: CostPerOutcome) -> str:
    """`above $0.01` of an agent that was never right, whose cost is only bounded from below; else
    nothing.
    """
    per_success = line.cost_usd_per_success
    if per_success.value is not None or per_success.low is None:
        return ""
    return f"above {money_each(per_success.low)}"


def per_success_words(line: CostPerOutcome) -> str:
    """`$0.0042 [$0.0031, $0.0060]`; `above $0.01` of one that was never right."""
    per_success = line.cost_usd_per_success
    low, high = per_success.low, per_success.high
    if per_success.value is None and low is not None:
        return bounded_words(line)
    shown = money_each(per_success.value)
    if low is not None:
        shown += f" [{money_each(low)}, {'∞' if high is None else money_each(high)}]"
    return shown
