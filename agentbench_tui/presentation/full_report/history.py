"""Metrics of an agent over its runs, with the changes of level that were found."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agentbench_tui.presentation.charts import Axis, Line, LineChart, Mark
from agentbench_tui.presentation.full_report.parts import Chapter
from agentbench_tui.presentation.numbers import count, measure_of
from agentbench_tui.presentation.regressions import lines_of, place_words
from agentbench_tui.presentation.report import Section

if TYPE_CHECKING:
    from collections.abc import Sequence

    from agentbench_tui.verdicts.regression.metric_series import AgentSeries, Series

_MOST_CHARTS = 6
_SHORT_ID = 13
"""Characters of a run's id in a label: its time, and enough to find it."""


def history_chapter(of_agents: Sequence[AgentSeries], run_id: str) -> Chapter:
    """Draw the history of each agent of a run; regressions first."""
    sections = []
    for one in of_agents:
        drawn = [series for series in one.series if len(series.points) > 1]
        drawn.sort(key=lambda series: series.finding.verdict != "regression")
        if drawn:
            charts = [_chart(series, one.agent, run_id) for series in drawn[:_MOST_CHARTS]]
            sections.append(Section(one.agent, sentences=lines_of(one.document), charts=charts))
    return Chapter("history", "History", sections)


def history_reasons(of_agents: Sequence[AgentSeries], run_id: str) -> list[str]:
    """Say which agents of a run have become worse, if this is their newest run."""
    lines = []
    for one in of_agents:
        is_newest = any(series.points and series.points[-1].run_id == run_id
                        for series in one.series)  # fmt: skip
        found = one.document.regressions
        if is_newest and found:
            names = dict.fromkeys(f"{each.metric} on {each.benchmark_id}" for each in found)
            lines.append(
                f"{one.agent} has become worse than in its earlier runs: {', '.join(names)}."
            )
    return lines


def _chart(series: Series, agent: str, run_id: str) -> LineChart:
    finding = series.finding
    xs = [float(number) for number in range(1, len(series.points) + 1)]
    labels = [
        f"run {number}, {point.at[:10]}, {point.run_id[:_SHORT_ID]}, version {point.version}"
        for number, point in enumerate(series.points, 1)
    ]
    marks = [
        Mark(
            change.first + 1.0,
            f"{'worse' if change.worse else 'better'} from run {change.first + 1}",
            tone="bad" if change.worse else "good",
        )
        for change in series.changes
    ]  # fmt: skip
    marks += [
        Mark(x, "this run")
        for x, point in zip(xs, series.points, strict=True)
        if point.run_id == run_id and x < len(series.points)
    ]
    line = Line(
        finding.metric,
        xs,
        [point.value for point in series.points],
        [point.low for point in series.points],
        [point.high for point in series.points],
        labels=labels,
        contender=agent,
    )
    summary = f"{finding.metric} over {len(xs)} runs, the newest last. Verdict: {finding.verdict}."
    return LineChart(
        f"{agent}: {finding.metric}, {place_words(finding)}: {finding.verdict}",
        summary,
        Axis("run", count),
        Axis(finding.metric, measure_of(finding.unit)),
        [line],
        marks,
    )
