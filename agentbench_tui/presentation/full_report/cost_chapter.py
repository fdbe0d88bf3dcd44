"""The chapter of a run's report on cost and quality, with the Pareto front and its uncertainty."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from agentbench_tui.analysis.boards.pareto import dominance
from agentbench_tui.presentation.charts import LOG_FROM, Axis, Dot, ScatterChart
from agentbench_tui.presentation.cost import (
    FRONT,
    title_of,
    trade_off_words,
    unknown_cost_lines,
)
from agentbench_tui.presentation.full_report.parts import Chapter
from agentbench_tui.presentation.numbers import (
    MISSING,
    estimate,
    money,
    money_of_many,
    percent,
)
from agentbench_tui.presentation.report import Column, Row, Section, Table
from agentbench_tui.presentation.runs import ranked_together

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from agentbench_tui.contracts.cost import CostDocument, CostGroup, CostLine
    from agentbench_tui.contracts.leaderboard import FigureWithReason
    from agentbench_tui.contracts.run import RunLeaderboardEntry as Entry

_READ_FRONT = (
    "Pareto front: no other agent is right as often for less, or more often for as much. "
    "yes: on it in 95% of the resamples of the cases or more. no: in 5% or less. maybe: in between."
)
_BY_THE_HOUR = (
    "Costs are machine time, shared evenly over the cases: resamples of the cases do not include "
    "the noise of the times."
)


def cost_chapter(document: CostDocument | None, entries: Sequence[Entry]) -> Chapter:
    """Show what right answers cost, and who is on the Pareto front, per group of shared cases.

    Without right and wrong answers, accuracy is drawn over cost by the means of `entries`.
    """
    groups = () if document is None else document.groups
    sections = [_section(one) for one in groups if len(one.agents) > 1]
    if sections and document is not None:
        lines = unknown_cost_lines(document)
        sections += [Section(sentences=lines)] if lines else []
    elif (chart := cost_quality_chart(entries)) is not None:
        sections = [Section("", charts=[chart])]
    return Chapter("cost", "Cost and quality", sections)


def _section(group: CostGroup) -> Section:
    many, word = money_of_many(line.cost_usd_per_task.value for line in group.agents)
    s = "s" if word else ""
    known = any(line.cost_usd_per_task.low is not None for line in group.agents)
    interval = " [95%]" if known else ""
    columns = (
        Column("name", "agent", names_row=True),
        Column("right", "right [95%]", right=True),
        Column("per_task", f"USD per {word}task{s}{interval}", right=True),
        Column("per_right", f"USD per {word}right answer{s}{interval}", right=True),
        Column("standing", "Pareto front"),
        Column("share", "on it in resamples", percent, right=True),
    )
    rows = [_row(line, many, known) for line in group.agents]
    reasons = dict.fromkeys(line.front.reason for line in group.agents if line.front.reason)
    lines = [
        _READ_FRONT,
        *map(trade_off_words, group.trade_offs),
        *([_BY_THE_HOUR] if any(line.by_the_hour for line in group.agents) else ()),
        *(f"{MISSING} under Pareto front: {reason} independent cases" for reason in reasons),
    ]
    chart = front_chart(group)
    charts = [] if chart is None else [chart]
    return Section(title_of(group), [Table(columns, rows)], lines, charts)


def _row(line: CostLine, many: float, has_intervals: bool) -> Row:
    show = _interval if has_intervals else _value
    per_right = line.cost_usd_per_success
    bounded = per_right.value is None and per_right.low is not None
    return {
        "name": f"{line.name}{' (simulated)' if line.simulated else ''}",
        "right": _interval(line.correct_share, 1.0, percent),
        "per_task": show(line.cost_usd_per_task, many, money),
        "per_right": (
            f"above {money(many * (per_right.low or 0.0))}"
            if bounded
            else show(per_right, many, money)
        ),
        "standing": FRONT[line.front.standing],
        "share": line.front.share,
    }


def _interval(found: FigureWithReason, many: float, show: Callable[[float | None], str]) -> str:
    value, low, high = (
        None if end is None else many * end for end in (found.value, found.low, found.high)
    )
    return estimate(value, low, high, show)


def _value(found: FigureWithReason, many: float, show: Callable[[float | None], str]) -> str:
    return show(None if found.value is None else many * found.value)


def front_chart(group: CostGroup) -> ScatterChart | None:
    """Draw the share of right answers over the cost of a task, with intervals and the front."""
    known = [one for one in group.agents if one.cost_usd_per_task.value]
    if len(known) < 2:
        return None
    prices = [one.cost_usd_per_task.value or 0.0 for one in known]
    many, axis = _cost_axis(prices)
    dots = [_dot(one, many) for one in known]
    front = ", ".join(one.name for one in dots if one.on_front)
    summary = (
        "Share of right answers over the cost of a task, with 95% intervals. On the Pareto front "
        f"by the means: {front}. " + "; ".join(f"{one.name}: {one.note}" for one in dots)
    )
    return ScatterChart(
        "Cost and quality",
        summary,
        axis,
        Axis("right answers", percent),
        dots,
    )


def _dot(line: CostLine, many: float) -> Dot:
    cost, right = line.cost_usd_per_task, line.correct_share
    share = line.front.share
    return Dot(
        line.name,
        many * (cost.value or 0.0),
        right.value or 0.0,
        None if cost.low is None else many * cost.low,
        None if cost.high is None else many * cost.high,
        right.low,
        right.high,
        on_front=line.front.on_front,
        note=(
            f"front unknown, {line.front.reason} independent cases"
            if share is None
            else f"on the front in {percent(share)} of resamples"
        ),
    )


def _cost_axis(prices: Sequence[float]) -> tuple[float, Axis]:
    """Return the number of tasks whose cost is drawn, and its axis, of prices above 0."""
    many, word = money_of_many(prices)
    title = f"USD per {word}task{'s' if word else ''}"
    return many, Axis(title, money, log=max(prices) / min(prices) > LOG_FROM)


def cost_quality_chart(entries: Sequence[Entry]) -> ScatterChart | None:
    """Draw USD per task against accuracy; None for fewer than two agents with both."""
    known = [
        (one, one.cost_usd / one.observed, one.accuracy)
        for one in entries
        if one.cost_usd and one.observed and one.accuracy is not None
    ]
    if len(known) < 2:
        return None
    rivals = ranked_together([one for one, _, _ in known])
    compared = [one in rivals for one, _, _ in known]
    beaten = dominance([quality for _, _, quality in known], [usd for _, usd, _ in known])
    on_front = compared & ~(beaten & np.array(compared)[:, None]).any(axis=0)
    prices = [usd for _, usd, _ in known]
    many, axis = _cost_axis(prices)
    dots = [
        Dot(one.agent_id, many * usd, quality, on_front=bool(on_front[place]))
        for place, (one, usd, quality) in enumerate(known)
    ]
    names = ", ".join(one.name for one in dots if one.on_front)
    return ScatterChart(
        "Cost and quality",
        f"Accuracy over the cost of a task. On the Pareto front by the means, where nobody is both "
        f"cheaper and more accurate: {names}.",
        axis,
        Axis("accuracy", percent),
        dots,
    )
