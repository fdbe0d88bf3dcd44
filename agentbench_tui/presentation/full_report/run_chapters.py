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
from agentbench_tui.presentation.numbers import MISSING, measured
from agentbench_tui.presentation.report import Column, Row, Section, Table
from agentbench_tui.presentation.stress import details, graded_advice, headline
from agentbench_tui.verdicts.evidence.place import point_words

if TYPE_CHECKING:
    from collections.abc import Sequence

    from agentbench_tui.contracts.load import LoadDocument
    from agentbench_tui.contracts.run import RunDocument
    from agentbench_tui.presentation.report import Report
    from agentbench_tui.verdicts.runs.run_times import RunTimes

_MOST_BENCHMARKS = 8
_PARTS = ("mean", "p50", "p90", "p95", "p99", "max")
_LOAD = (
    Column("metric", "metric", names_row=True),
    *(Column(part, part, right=True) for part in _PARTS),
    Column("n", "samples", lambda value: MISSING if value is None else f"{value:,}", right=True),
)
_TIMES = ("e2e_ms", "ttft_ms", "itl_ms", "tpot_ms")


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
    """Show the distributions of each load."""
    sections = []
    for one in run.executions:
        load = one.load_result
        if load is None or one.scenario is not None:
            continue
        point = point_words(one.parameters)
        title = f"{one.agent_id} on {one.benchmark_id}{f', {point}' if point else ''}"
        rows = [row for name in _TIMES if (row := _distribution(load, name)) is not None]
        sentences = [*load.reasons, *load.warnings]
        if rows or sentences:
            sections.append(Section(title, [Table(_LOAD, rows)] if rows else [], sentences))
    return Chapter("load", "Load", sections)


def _distribution(load: LoadDocument, name: str) -> Row | None:
    found = load.distribution(name)
    if found is None or not found.n:
        return None
    shown = {part: measured(found.part(part), "ms") for part in _PARTS}
    return {"metric": name, **shown, "n": found.n}


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
