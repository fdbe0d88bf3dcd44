"""Charts of a run: scores, latencies, and what happened over time."""

from __future__ import annotations

from dataclasses import replace
from itertools import groupby
from typing import TYPE_CHECKING

import numpy as np

from agentbench_tui.analysis.summary import needed
from agentbench_tui.model.figures.dimension import DIMENSIONS
from agentbench_tui.model.text.plain_number import counted, percent_number
from agentbench_tui.presentation.charts import (
    LOG_FROM,
    Axis,
    Histogram,
    Line,
    LineChart,
    Radar,
)
from agentbench_tui.presentation.numbers import (
    count,
    duration,
    duration_s,
    measure_of,
    of_dimension,
)
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
_SHARES = (*(place / 50 for place in range(1, 50)), 0.99, 0.995, 0.999, 0.9995, 0.9999)
_OF_AGENT = "agent:"
"""Beginning of the name of a gauge that was read from an agent's processes, before its id."""
_GAUGE_TITLES = {
    "cpu_percent": "CPU use", "rss_mb": "Memory of processes",
    "utilisation_percent": "GPU utilization", "memory_used_mb": "Memory in use",
}  # fmt: skip


def score_charts(entries: Sequence[Entry]) -> list[Chart]:
    """Return the radar of the five dimensions; nothing if no agent has enough of them."""
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
    return charts


def latency_charts(of_benchmark: Sequence[Latencies]) -> list[Chart]:
    """Return the histogram and the percentile curve of each agent on one benchmark."""
    those = of_benchmark[:_MOST_SERIES]
    values = np.concatenate([one.e2e_ms for one in those])
    values = values[values > 0]
    if len(values) < 2:
        return []
    low, high = float(values.min()), float(values.max())
    log = high / low > LOG_FROM
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
