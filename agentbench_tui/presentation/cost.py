"""Text of a cost document: figures for the table, and the sentences below it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agentbench_tui.model.text.plain_number import counted
from agentbench_tui.presentation.numbers import MISSING, money, percent, points, with_interval

if TYPE_CHECKING:
    from collections.abc import Sequence

_MOST_TOLD = 5
_WASTE_FROM = 0.2
"""Share of the cost spent on answers that were not right from which on it is reported."""

Document = dict[str, Any]


def title_of(group: Document) -> str:
    """Say which cases were asked, of which suites, and of which agents."""
    suites = sorted({one.partition("/")[0] for one in group["benchmarks"]})
    simulated = " by simulated agents" if group["simulated"] else ""
    left = f", {group['left_out']:,} that not all were asked left out" if group["left_out"] else ""
    return f"{counted(group['cases'], 'case')} of {', '.join(suites)}{simulated}{left}"


def sentences_of(group: Document, margin: float) -> list[str]:
    """Say what the numbers mean."""
    optimal = [one["configuration"] for one in group["optimal_configurations"]]
    lines = [
        f"{group['formula']}; above 0.8 is optimal: {some_names(optimal) or 'nobody'}",
        group["speed_words"],
        "front: no other is right as often for less, or more often for as much (95% of draws)",
    ]
    unsure = {line["front"]["reason"] for line in group["agents"]} - {""}
    lines += [f"{MISSING} under front: {reason} independent cases" for reason in unsure]
    found = group["cost_optimization_opportunities"]
    told = found
    if group["current"] is None:  # of each the one that saves most, which is its first
        told = list({one["current"]: one for one in reversed(found)}.values())[::-1]
    told = told[:_MOST_TOLD]
    lines += [switch_words(one) for one in told]
    if len(found) > len(told):
        lines.append(f"… {len(found) - len(told)} more (--format json)")
    if not found and len(group["agents"]) > 1:
        of = f" instead of {group['current']}" if group["current"] else ""
        lines.append(
            f"no switch{of} is shown to save: no agent is, with 95% confidence, both cheaper and"
            f" at most {100 * margin:g} points less right"
        )
    wasteful = [
        line
        for line in sorted(group["agents"], key=lambda line: -(line["spent_on_wrong"] or 0))
        if (line["spent_on_wrong"] or 0) >= _WASTE_FROM and group["current"] in (None, line["name"])
    ]
    lines += [
        f"{line['name']}: {percent(line['spent_on_wrong'])} of its cost went into answers that"
        f" were not right{_dearest(line)}"
        for line in wasteful[:_MOST_TOLD]
    ]
    hourly = [line["name"] for line in group["agents"] if line["by_the_hour"]]
    if hourly:
        names = some_names(hourly)
        lines.append(f"paid by the hour, which is shared out evenly over what was asked: {names}")
    return lines


def some_names(names: Sequence[str]) -> str:
    """List a few of them without repetition, and how many more there are."""
    each = [*dict.fromkeys(names)]
    more = len(each) - _MOST_TOLD
    return ", ".join(each[:_MOST_TOLD]) + (f" and {more:,} more" if more > 0 else "")


def switch_words(one: Document) -> str:
    """Describe one opportunity: the replacement, the saving, and that quality is preserved."""
    saving = one["saving"]
    quality = {"equivalent": "at equal quality", "better": "and is right more often"}.get(
        one["verdict"], "without being worse by the margin"
    )
    return (
        f"{one['switch_to']} instead of {one['current']} saves"
        f" {with_interval(saving['value'], saving['low'], saving['high'], percent)}"
        f" ({money(one['usd_per_1000_tasks'])} in 1,000 tasks) {quality}"
        f" (right: {points(one['difference'])})"
    )


def _dearest(line: Document) -> str:
    """Return the benchmark with the highest cost per right answer, if there are several."""
    costs = {
        name: one["cost_usd_per_success"]["value"]
        for name, one in line["by_benchmark"].items()
        if one["cost_usd_per_success"]["reason"] or one["cost_usd_per_success"]["value"]
    }
    if len(line["by_benchmark"]) == 1:
        return ""
    never = [name for name, value in costs.items() if value is None]
    if never:
        return f"; never right on {some_names(never)}"
    name = max(costs, key=lambda one: costs[one])
    return f"; a right answer is dearest on {name} ({money(costs[name])})"


def per_success_words(line: Document) -> str:
    """`$0.0042 [$0.0031, $0.0060]`; `above $0.01` of one that was never right."""
    per_success = line["cost_usd_per_success"]
    low, high = per_success["low"], per_success["high"]
    if per_success["value"] is None and low is not None:
        return f"above {money(low)}"  # never right: infinite, but bounded from below
    shown = money(per_success["value"])
    if low is not None:
        shown += f" [{money(low)}, {'∞' if high is None else money(high)}]"
    return shown
