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
from agentbench_tui.presentation.numbers import MISSING, amount
from agentbench_tui.presentation.report import Column, Row, Section, Table
from agentbench_tui.presentation.run_remarks import untimed_lines
from agentbench_tui.presentation.stress.sentences import (
    breaking_words,
    details,
    graded_advice,
    in_words,
    outcome_words,
    recovery_words,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from agentbench_tui.contracts.run import ExecutionResult, RunDocument
    from agentbench_tui.contracts.stress import ScenarioResult
    from agentbench_tui.presentation.report import Report
    from agentbench_tui.verdicts.runs.run_times import RunTimes

_MOST_BENCHMARKS = 8
_SCENARIOS = (
    Column("scenario", "scenario", names_row=True),
    Column("agent", "agent", names_row=True),
    Column("broke", "breaking point"),
    Column("resilience", "resilience, of 100", amount, right=True),
    Column("recovered", "recovery"),
)
_READ_PROFILE = (
    "Phases and figures that were not measured are excluded; `agentbench profile` lists them with "
    "the reasons."
)
_PROFILED_FAILURES = "Times in this chapter include failed answers."
_RESILIENCE = (
    "Resilience counts, for each second of the stress and of the recovery, the correct answers "
    "within the limits among those that the target could have given; 100 is the best."
)
_READ_SCENARIOS = (
    _RESILIENCE,
    f"{MISSING}: the scenario does not search for a breaking point, or does not measure this.",
)


def latency_chapter(times: RunTimes, executions: Sequence[ExecutionResult] = ()) -> Chapter:
    """Draw the latencies on each benchmark, and say which answers have none."""
    found = latencies_by_benchmark(times)
    sections = [
        Section(name, charts=charts)
        for name, those in found[:_MOST_BENCHMARKS]
        if (charts := latency_charts(those))
    ]
    if len(found) > _MOST_BENCHMARKS:
        more = len(found) - _MOST_BENCHMARKS
        sections.append(Section(sentences=[f"{more} more benchmarks or points are not drawn."]))
    if sections and (lines := untimed_lines(executions)):
        sections.append(Section(sentences=lines))
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
    """Show all scenarios in a table, the advice on all, then each with charts and details."""
    found = [(one.agent_id, one.scenario) for one in run.executions if one.scenario is not None]
    if not found:
        return Chapter("stress", "Stress", ())
    table = Table(_SCENARIOS, _scenario_rows(found))
    sections = [Section("All scenarios", [table], _READ_SCENARIOS), *_advice_sections(found)]
    sections += [
        Section(
            f"{agent}, {in_words(one.name)}: {outcome_words(one)}",
            sentences=[each.line() for each in details(one)],
            charts=stress_charts(one, agent),
        )
        for agent, one in found
    ]
    return Chapter("stress", "Stress", sections)


def _advice_sections(found: Sequence[tuple[str, ScenarioResult]]) -> list[Section]:
    """Return the recommendations for each agent that has any."""
    sections = []
    for agent in dict.fromkeys(agent for agent, _ in found):
        own = [one for name, one in found if name == agent]
        lines = [one.line() for one in graded_advice(own, in_prose=True)]
        if lines:
            sections.append(Section(f"Recommendations for {agent}", sentences=lines))
    return sections


def _scenario_rows(found: Sequence[tuple[str, ScenarioResult]]) -> list[Row]:
    """Return a row for each scenario of each agent, the agents next to each other."""
    names = list(dict.fromkeys(one.name for _, one in found))
    return [
        {
            "scenario": in_words(one.name),
            "agent": agent,
            "broke": breaking_words(one) or (MISSING if one.status == "complete" else one.status),
            "resilience": one.resilience,
            "recovered": recovery_words(one) or MISSING,
        }
        for agent, one in sorted(found, key=lambda item: names.index(item[1].name))
    ]


def profile_chapter(found: Report | None, failed: int = 0) -> Chapter:
    """Show where time and tokens went. `failed`: failed answers of the run, whose times count."""
    if found is None:
        return Chapter("profile", "Profile", ())
    lines = [_READ_PROFILE, *([_PROFILED_FAILURES] if failed else ())]
    sections = [Section(sentences=lines), *found.sections]
    return Chapter("profile", "Profile", sections, is_detail=True, is_long=True)
