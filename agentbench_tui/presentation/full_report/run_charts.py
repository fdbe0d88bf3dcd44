"""Charts of a run: scores, cost against quality, latencies, and what happened over time."""

from __future__ import annotations

from dataclasses import replace
from itertools import groupby
from typing import TYPE_CHECKING

import numpy as np

from agentbench_tui.analysis.boards.pareto import dominance
from agentbench_tui.analysis.summary import needed
from agentbench_tui.model.figures.dimension import DIMENSIONS
from agentbench_tui.model.text.plain_number import counted, percent_number
from agentbench_tui.presentation.charts import (
    Axis,
    Dot,
    Histogram,
    Line,
    LineChart,
    Radar,
    ScatterChart,
)
from agentbench_tui.presentation.numbers import (
    count,
    duration,
    duration_s,
    measure_of,
    money,
    money_of_many,
    of_dimension,
    percent,
)
from agentbench_tui.presentation.runs import ranked_together
from agentbench_tui.verdicts.runs.run_times import GAUGES

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from agentbench_tui.contracts.run import RunLeaderboardEntry as Entry
    from agentbench_tui.presentation.charts import Chart
    from agentbench_tui.verdicts.runs.run_times import Latencies, RunTimes, TimeCourse

_MOST_SERIES = 8
_LEAST_DIMENSIONS = 3
"""Scores of an agent that make an outline."""
_BINS = 30
_LOG_FROM = 20.0
"""Ratio of the largest to the smallest value from which an axis of times is logarithmic."""
_SHARES = (*(place / 50 for place in range(1, 50)), 0.99, 0.995, 0.999, 0.9995, 0.9999)
_OF_AGENT = "agent:"
"""Beginning of the name of a gauge that was read from an agent's processes, before its id."""
_GAUGE_TITLES = {
    "cpu_percent": "CPU use", "rss_mb": "Memory of processes",
    "utilisation_percent": "GPU utilization", "memory_used_mb": "Memory in use",
}  # fmt: skip


def score_charts(entries: Sequence[Entry]) -> list[Chart]:
    """Return the radar of the five dimensions, and cost against accuracy of several agents."""
    shown = entries[:_MOST_SERIES]
    shapes = [
        (one.agent_id, [getattr(one, name) for name in DIMENSIONS])
        for one in shown
        if sum(getattr(one, name) is not None for name in DIMENSIONS) >= _LEAST_DIMENSIONS
    ]
    charts: list[Chart] = []
    if shapes:
        charts.append(
            Radar(
                "Scores by dimension",
                "; ".join(
                    f"{name}: "
                    + ", ".join(f"{dimension} {of_dimension(dimension)(value)}"
                                for dimension, value in zip(DIMENSIONS, values, strict=True))
                    for name, values in shapes
                ),
                DIMENSIONS,
                shapes,
            )
        )  # fmt: skip
    scatter = cost_quality_chart(entries)
    return [*charts, *([scatter] if scatter is not None else [])]


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
    many, word = money_of_many(prices)
    tasks = f"{word}tasks" if word else "task"
    dots = [
        Dot(one.agent_id, many * usd, quality, on_front=bool(on_front[place]))
        for place, (one, usd, quality) in enumerate(known)
    ]
    names = ", ".join(one.name for one in dots if one.on_front)
    return ScatterChart(
        "Cost and quality",
        f"Accuracy over the cost of a task. On the Pareto front by the means, where no agent is "
        f"both cheaper and more accurate: {names}.",
        Axis(f"USD per {tasks}", money, log=max(prices) / min(prices) > _LOG_FROM),
        Axis("accuracy", percent),
        dots,
    )


def latency_charts(of_benchmark: Sequence[Latencies]) -> list[Chart]:
    """Return the histogram and the percentile curve of each agent on one benchmark."""
    those = of_benchmark[:_MOST_SERIES]
    values = np.concatenate([one.e2e_ms for one in those])
    values = values[values > 0]
    if len(values) < 2:
        return []
    low, high = float(values.min()), float(values.max())
    log = high / low > _LOG_FROM
    if high <= low:
        low, high = low * 0.95, high * 1.05
    edges = np.geomspace(low, high, _BINS + 1) if log else np.linspace(low, high, _BINS + 1)
    edges[0], edges[-1] = low, high
    counts = [(one.agent_id, [int(n) for n in np.histogram(one.e2e_ms, edges)[0]]) for one in those]
    axis = Axis("end-to-end latency", duration, log=log)
    medians = "; ".join(
        f"{one.agent_id}: median {duration(float(np.median(one.e2e_ms)))} of "
        f"{counted(len(one.e2e_ms), 'answer')}"
        for one in those
    )
    lines = [_percentiles(one) for one in those]
    where = those[0].benchmark
    return [
        Histogram(f"{where}: latency histogram", medians, axis, [*map(float, edges)], counts),
        LineChart(
            f"{where}: latency by percentile",
            f"Each point is the time that a share of the answers does not exceed. {medians}.",
            Axis("share of answers", _share, low=0.0, high=100.0),
            Axis("end-to-end latency", duration, log=log),
            [line for line in lines if len(line.x) > 1],
        ),
    ]


def _percentiles(one: Latencies) -> Line:
    """Draw only percentiles that the number of answers supports."""
    shares = [share for share in _SHARES if len(one.e2e_ms) >= needed(share)]
    found = [float(np.quantile(one.e2e_ms, share)) for share in shares]
    return Line(one.agent_id, [100 * share for share in shares], found)


def _share(value: float | None) -> str:
    return "" if value is None else f"{percent_number(value)}%"


def latencies_by_benchmark(
    times: RunTimes,
) -> list[tuple[str, list[Latencies]]]:
    """Group latencies by benchmark and point, in order."""
    ordered = sorted(enumerate(times.latencies), key=lambda item: (item[1].benchmark, item[0]))
    return [
        (name, [one for _, one in group])
        for name, group in groupby(ordered, key=lambda item: item[1].benchmark)
    ]


def in_order_of(times: RunTimes, agents: Sequence[str]) -> RunTimes:
    """Return the times with `agents` in this order, so that each has one color in all charts."""
    place = {agent: number for number, agent in enumerate(agents)}

    def ordered(courses: Sequence[TimeCourse]) -> list[TimeCourse]:
        return sorted(
            courses, key=lambda one: place.get(one.name.removeprefix(_OF_AGENT), len(place))
        )

    return replace(
        times,
        latencies=sorted(times.latencies, key=lambda one: place.get(one.agent_id, len(place))),
        answers_per_s=ordered(times.answers_per_s),
        gauges={field: ordered(courses) for field, courses in times.gauges.items()},
    )


def over_time_charts(times: RunTimes) -> list[Chart]:
    """Return answers per second and each gauge over the run."""
    charts: list[Chart] = []
    rate = _course_chart("Answers per second", times.answers_per_s, Axis("answers per s", count))
    if rate is not None:
        charts.append(rate)
    for field, courses in times.gauges.items():
        show: Callable[[float | None], str] = measure_of(GAUGES[field])
        if GAUGES[field] == "%":
            show = _share
        name = _GAUGE_TITLES[field]
        chart = _course_chart(name, courses, Axis(name, show))
        if chart is not None:
            charts.append(chart)
    return charts


def _course_chart(name: str, courses: Sequence[TimeCourse], axis: Axis) -> LineChart | None:
    those = [one for one in courses if len(one.at_s) > 1][:_MOST_SERIES]
    if not those:
        return None
    summary = "; ".join(
        f"{one.name}: mean {axis.show(float(np.mean(one.values)))}, "
        f"highest {axis.show(max(one.values))}"
        for one in those
    )
    lines = [
        Line(one.name, one.at_s, one.values, contender=one.name.removeprefix(_OF_AGENT))
        for one in those
    ]
    return LineChart(name, summary, Axis("since the start", duration_s), axis, lines)
