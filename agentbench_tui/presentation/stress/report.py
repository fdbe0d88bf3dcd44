"""Result of stress: a block per scenario, then the recommendations and the score."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from agentbench_tui.presentation.charts import Axis, Line, LineChart
from agentbench_tui.presentation.numbers import duration
from agentbench_tui.presentation.report import Report, Row, Section, Table, raw_columns
from agentbench_tui.presentation.runs import ended
from agentbench_tui.presentation.stress.sentences import (
    details,
    graded_advice,
    headline,
    scale_line,
    standing_line,
)
from agentbench_tui.verdicts.stress.stress_levels import level_curve

if TYPE_CHECKING:
    from collections.abc import Sequence

    from agentbench_tui.contracts.run import RunDocument
    from agentbench_tui.contracts.stress import AgentStress, ScenarioResult

_RECORDS = (
    *("agent", "simulated", "scenario", "status", "reason", "time_scale", "resilience"),
    *("resilience_low", "resilience_high", "worst_second", "broke", "on", "unit", "pass", "fail"),
    *("broke_on", "why", "hysteresis", "drift", "recovery_s", "windows", "recommendations"),
)


def stress_report(run: RunDocument, agents: Sequence[AgentStress]) -> Report:
    """Return the result of `agentbench stress`: what was found of each agent of a run."""
    report = agents_report(agents)
    closing = f"run {run.run_id}: {ended(run)}"
    if not report.sections:
        return msgspec.structs.replace(report, sentences=[closing])
    *before, last = report.sections
    last = msgspec.structs.replace(last, sentences=[*last.sentences, closing])
    return msgspec.structs.replace(report, sections=[*before, last])


def agents_report(agents: Sequence[AgentStress]) -> Report:
    """Return what was found of agents; as records one row per scenario."""
    records = [_record(agent, one) for agent in agents for one in agent.scenarios]
    sections = [section for agent in agents for section in _agent_sections(agent)]
    return Report(Table(raw_columns(_RECORDS), records), sections)


def _agent_sections(agent: AgentStress) -> list[Section]:
    advice = [one.line() for one in graded_advice(agent.scenarios)]
    closing = [*filter(None, (scale_line(agent), standing_line(agent)))]
    return [
        Section(agent.agent + (" (simulated)" if agent.simulated else ""), heading=1),
        *map(_scenario_section, agent.scenarios),
        *([Section("Recommendations", sentences=advice, heading=2)] if advice else ()),
        Section(sentences=closing),
    ]


def _scenario_section(scenario: ScenarioResult) -> Section:
    curve = level_chart(scenario)
    return Section(
        headline(scenario),
        sentences=[one.line() for one in details(scenario)],
        charts=[] if curve is None else [curve],
        heading=2,
    )


def level_chart(scenario: ScenarioResult) -> LineChart | None:
    """Draw p95 over the level that the scenario raised, with the limit; None below 3 levels."""
    found = level_curve(scenario)
    if found is None:
        return None
    lines = [Line("p95", found.levels, found.p95_ms)]
    if found.limit_ms is not None:
        ends = [found.levels[0], found.levels[-1]]
        lines.append(Line("limit", ends, [found.limit_ms] * 2, is_limit=True))
    return LineChart(
        f"{scenario.name}: p95 of latency",
        "" if scenario.breaking_point is None else scenario.breaking_point.words,
        Axis(found.counts),
        Axis("ms", duration),
        lines,
    )


def _record(agent: AgentStress, one: ScenarioResult) -> Row:
    """Return the row of a scenario, for spreadsheets and scripts."""
    low, high = one.interval or (None, None)
    point = one.breaking_point
    values = (
        *(agent.agent, agent.simulated, one.name, one.status, one.reason, one.time_scale),
        *(one.resilience, low, high, one.worst_second, one.broke),
        *((None,) * 4 if point is None else (point.on, point.unit, point.passes, point.fails)),
        None if point is None else ", ".join(point.broke) or None,
        *((None,) * 3 if point is None else (point.reason, point.hysteresis, point.drift)),
        one.recovery_s,
        len(one.windows),
        "; ".join(advice.words for advice in one.recommendations),
    )
    return dict(zip(_RECORDS, values, strict=True))
