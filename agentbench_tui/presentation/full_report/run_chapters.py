"""Chapters of a run that its figures over time, its stress and its profile fill."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agentbench_tui.presentation.full_report.parts import Chapter
from agentbench_tui.presentation.full_report.run_charts import (
    latencies_by_benchmark,
    latency_charts,
    over_time_charts,
)
from agentbench_tui.presentation.full_report.stress_charts import stress_charts
from agentbench_tui.presentation.load.report import measured_sections
from agentbench_tui.presentation.report import Section
from agentbench_tui.presentation.stress.sentences import details, graded_advice, headline

if TYPE_CHECKING:
    from collections.abc import Sequence

    from agentbench_tui.contracts.run import RunDocument
    from agentbench_tui.presentation.report import Report
    from agentbench_tui.verdicts.runs.run_times import RunTimes

_MOST_BENCHMARKS = 8


def latency_chapter(times: RunTimes) -> Chapter:
    """Draw the latencies on each benchmark."""
    found = latencies_by_benchmark(times)
    sections = [
        Section(name, charts=charts)
        for name, those in found[:_MOST_BENCHMARKS]
        if (charts := latency_charts(those))
    ]
    if len(found) > _MOST_BENCHMARKS:
        more = len(found) - _MOST_BENCHMARKS
        sections.append(Section(sentences=[f"{more} more benchmarks or points are not drawn."]))
    return Chapter("latency", "Latency", sections)


def over_time_chapter(times: RunTimes) -> Chapter:
    """Draw what happened over the run."""
    charts = over_time_charts(times)
    sections = [Section("", charts=charts)] if charts else []
    return Chapter("over-time", "Over time", sections)


def load_chapter(run: RunDocument) -> Chapter:
    """Show each load in full."""
    loads = [one for one in run.executions if one.load_result is not None and one.scenario is None]
    return Chapter("load", "Load", measured_sections(loads, in_full=True))


def stress_chapter(run: RunDocument) -> Chapter:
    """Show every scenario: headline, charts, details, and the advice on all."""
    sections = []
    scenarios = []
    for one in run.executions:
        if one.scenario is None:
            continue
        scenarios.append(one.scenario)
        title = f"{one.agent_id}, {headline(one.scenario)}"
        sections.append(
            Section(
                title,
                sentences=[each.line() for each in details(one.scenario)],
                charts=stress_charts(one.scenario, one.agent_id),
            )
        )
    advice = [one.line() for one in graded_advice(scenarios)]
    if advice:
        sections.insert(0, Section("Recommendations", sentences=advice))
    return Chapter("stress", "Stress", sections)


def profile_chapter(found: Report | None) -> Chapter:
    """Show where time and tokens went."""
    sections: Sequence[Section] = () if found is None else found.sections
    return Chapter("profile", "Profile", sections, is_detail=True)
