"""Tables and sentences of the page Stress."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agentbench_tui.model.text.plain_number import counted, plain
from agentbench_tui.presentation.numbers import MISSING, count
from agentbench_tui.presentation.stress.sentences import (
    Detail,
    details,
    graded_advice,
    headline,
    recovery_cell,
    window_line,
)
from agentbench_tui.tui.drawing.drawn_cells import whisker_cell
from agentbench_tui.tui.drawing.grid_data import Cell, Column, GridData, GridRow, Role
from agentbench_tui.tui.widgets.interval_cell import Interval, IntervalColumn, interval_column
from agentbench_tui.tui.widgets.sentences import Sentence

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from agentbench_tui.contracts.stress import (
        AgentStress,
        ScenarioResult,
        StressBreakingPoint,
    )
    from agentbench_tui.store.queries.stress import StressRunRow
    from agentbench_tui.verdicts.stress.stress_runs import StressRun

_SCENARIOS = (
    Column("name", "scenario", 19),
    Column("status", "status", 10, priority=3),
    Column("broke", "broke", 5),
    Column("bracket", "breaks at", 19, flex=1),
    Column("why", "what broke first", 18, flex=2, priority=5),
    Column("resilience", "resilience", 10, align="right"),
    Column("interval", "of 0 to 100", 11, flex=2, priority=2),
    Column("recovery", "recovery", 13, align="right", priority=4),
)
_RUNS = (
    Column("run", "run", 18, flex=1),
    Column("agents", "agents", 16, flex=2),
    Column("scenarios", "scenarios", 9, align="right"),
    Column("status", "status", 11),
    Column("started", "started (UTC)", 16),
)
_OPEN = frozenset({"running", "planned"})
"""Statuses of executions that have not come to their end."""
_LABEL = 18
"""Characters of a label; a longer one stays in its sentence."""
_STATUSES: dict[str, Role] = {"running": "accent", "complete": "good", "not applicable": "dim"}
_GRADES: dict[str, Role] = {"critical": "bad", "warning": "warn", "info": "text"}


def scenarios_table(agent: AgentStress, run: StressRun) -> GridData:
    """Return one row per scenario, in the order of the catalog."""
    column = _resilience_column(agent.scenarios)
    rows = [_row(one, run.statuses.get(one.execution_id, ""), column) for one in agent.scenarios]
    return GridData(_SCENARIOS, rows, reason="no scenario has begun yet")


def _resilience_column(scenarios: Sequence[ScenarioResult]) -> IntervalColumn:
    """Return a column with one axis from 0 to 100."""
    ends = [Interval(0.0), Interval(100.0)]
    return interval_column([*(_resilience(one) for one in scenarios), *ends])


def _resilience(one: ScenarioResult) -> Interval:
    low, high = one.interval or (None, None)
    return Interval(one.resilience, low, high)


def _row(one: ScenarioResult, status: str, column: IntervalColumn) -> GridRow:
    shown = status if status in _OPEN or status == "interrupted" else one.status
    return GridRow(
        one.execution_id,
        (
            one.name or MISSING,
            Cell(shown, role=_STATUSES.get(shown, "warn")),
            _broke(one.broke),
            _bracket(one.breaking_point),
            Cell(MISSING if status in _OPEN else _why(one), role="dim"),
            Cell(count(one.resilience), role="title"),
            whisker_cell(_resilience(one), column),
            recovery_cell(one),
        ),
    )


def _broke(broke: bool | None) -> Cell:
    if broke is None:
        return Cell(MISSING, role="dim")
    return Cell("yes", role="bad") if broke else Cell("no", role="good")


def _bracket(point: StressBreakingPoint | None) -> str:
    """Format `152.7 … 177.7/s`, or `above 16 users` if every tested level passed."""
    if point is None or (point.passes is None and point.fails is None):
        return MISSING
    passes, fails = (None if end is None else plain(end, 4) for end in (point.passes, point.fails))
    unit = "/s" if point.unit == "requests/s" else f" {point.unit}"
    if fails is None:
        return f"above {passes}{unit}"
    return f"below {fails}{unit}" if passes is None else f"{passes} … {fails}{unit}"


def _why(one: ScenarioResult) -> str:
    point = one.breaking_point
    if point is not None and point.broke:
        return ", ".join(point.broke)
    return one.reason or MISSING


def title_of(one: ScenarioResult, status: str) -> str:
    """Return the headline of the result; for a running scenario its progress, since its report
    says `stopped` until it has ended.
    """
    if status in _OPEN:
        return f"{one.name}: {status}, {counted(len(one.windows), 'window')} so far"
    return headline(one)


def scenario_sentences(one: ScenarioResult) -> list[Sentence]:
    """Return the details of a scenario's row, the newest window while it is running, and its
    recommendations.
    """
    said = [_labeled(each) for each in details(one)]
    if one.windows:
        said.append(Sentence(window_line(one.windows[-1]), "last", "dim"))
    for advice in one.recommendations:
        role = _GRADES.get(advice.severity, "text")
        said.append(Sentence(advice.words, advice.severity, role))
        evidence = ", ".join(_evidence(advice.evidence))
        if evidence:
            said.append(Sentence(evidence, "evidence", "dim"))
    if not said:
        said.append(Sentence(one.reason or "nothing was measured yet"))
    return said


def _labeled(one: Detail) -> Sentence:
    """Return a detail beside its label, or below it if that is long; a missing one is dim."""
    if one.is_missing:
        return Sentence(f"{one.label}: {one.words}", MISSING, "dim")
    return Sentence(one.words, one.label) if len(one.label) <= _LABEL else Sentence(one.line())


def _evidence(evidence: Mapping[str, float | str]) -> list[str]:
    return [
        f"{name.replace('_', ' ')} {plain(value, 4) if isinstance(value, float) else value}"
        for name, value in evidence.items()
    ]


def advice_sentences(scenarios: Sequence[ScenarioResult]) -> list[Sentence]:
    """Return the recommendations, most severe first, each once with all its scenarios."""
    return [
        Sentence(one.words, one.severity, _GRADES.get(one.severity, "text"))
        for one in graded_advice(scenarios)
    ]


def runs_table(runs: Sequence[StressRunRow]) -> GridData:
    """Return the table of `stress_runs`, to choose one."""
    rows = [
        GridRow(
            one.run_id,
            (
                one.run_id,
                one.agents or MISSING,
                str(one.scenarios),
                one.status,
                one.started_at[:16].replace("T", " "),
            ),
        )
        for one in runs
    ]
    return GridData(_RUNS, rows)
