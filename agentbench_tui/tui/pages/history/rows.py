"""Tables and sentences of the page History."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agentbench_tui.presentation.numbers import MISSING, measured
from agentbench_tui.presentation.regressions import (
    change_cells,
    change_words,
    how_much,
    impact_words,
    left_out_lines,
    place_words,
    run_words,
    size_words,
    verdict_line,
)
from agentbench_tui.tui.drawing.grid_data import Cell, Column, GridData, GridRow, Role
from agentbench_tui.tui.pages.history.plot import BETTER, WORSE
from agentbench_tui.tui.widgets.filter_line import holds
from agentbench_tui.tui.widgets.sentences import Sentence

if TYPE_CHECKING:
    from collections.abc import Sequence

    from agentbench_tui.contracts.listings import ListedAgent
    from agentbench_tui.contracts.regressions import RegressionFinding
    from agentbench_tui.verdicts.regression.alarms import Standing
    from agentbench_tui.verdicts.regression.metric_series import AgentSeries, Series

_FINDINGS = (
    Column("verdict", "verdict", 21),
    Column("benchmark", "benchmark", 13, flex=2),
    Column("metric", "metric", 17, flex=1),
    Column("change", "change", 9, align="right"),
    Column("interval", "95% interval", 15, align="right", priority=2),
    Column("before", "before", 9, align="right", priority=4),
    Column("now", "now", 9, align="right", priority=3),
    Column("since", "since", 11, priority=5),
    Column("impact", "touches", 18, flex=2, priority=7),
    Column("seen", "would see", 11, align="right", priority=6),
)
_ALARMS = (
    Column("agent", "agent", 11, flex=2, has_names=True),
    Column("version", "version", 12, flex=1, priority=2),
    Column("verdict", "verdict", 15, flex=1),
    Column("health", "health", 6, align="right"),
)
_AGENTS = (
    Column("id", "agent", 14, flex=1, has_names=True),
    Column("versions", "versions", 8, align="right"),
    Column("runs", "runs", 6, align="right"),
    Column("last", "last measured (UTC)", 19),
)
_VERSIONS = (
    Column("version", "version", 14, flex=1, has_names=True),
    Column("runs", "runs", 5, align="right"),
    Column("last", "last measured (UTC)", 19),
)
_ROLES: dict[str, Role] = {
    "regression": "bad",
    "suspect": "warn",
    "improvement": "good",
    "no regression": "good",
    "no change seen": "text",
}
_CHANGED = frozenset({"regression", "suspect", "improvement"})
_ORDER = ("regression", "suspect", "improvement", "no change seen")
_GRADES = ("critical", "major", "minor")
_WELL, _POOR = 90.0, 60.0
"""Health from which on all is well, and below which it is not."""


def key_of(series: Series) -> str:
    """Return the key of its row in the table of findings."""
    return "\n".join((*series.place, series.metric))


def findings_table(course: AgentSeries, words: str, *, worst_first: bool) -> GridData:
    """Return every metric at every benchmark that contains the words."""
    those = list(course.series)
    if worst_first:
        those.sort(key=_gravity)
    rows = [_finding_row(one) for one in those if not words or _holds(one, words)]
    return GridData(
        _FINDINGS,
        rows,
        sort=("verdict", False) if worst_first else ("benchmark", False),
        reason=f"nothing holds '{words}'" if words else "nothing was judged",
    )


def _holds(series: Series, words: str) -> bool:
    one = series.finding
    return holds(words, place_words(one), one.metric, one.verdict, one.severity or "")


def _gravity(series: Series) -> tuple[int, int, float]:
    one = series.finding
    verdict = _ORDER.index(one.verdict) if one.verdict in _ORDER else len(_ORDER)
    grade = _GRADES.index(one.severity) if one.severity else len(_GRADES)
    return verdict, grade, -round(one.at_least_percentage or 0.0, 1)


def _finding_row(series: Series) -> GridRow:
    one = series.finding
    role = _ROLES.get(one.verdict, "dim")
    point, impact = one.change_point, one.impact_analysis
    change, interval = change_cells(one)
    return GridRow(
        key_of(series),
        (
            Cell(_verdict(one), role=role),
            place_words(one),
            one.metric,
            Cell(change, role=role if one.verdict != "no change seen" else None),
            interval,
            measured(one.baseline_value, one.unit),
            measured(one.current_value, one.unit),
            Cell(MISSING if point is None else _minute(point.first.at)[5:]),
            Cell(MISSING if impact is None else impact_words(impact), role="dim"),
            size_words(one.smallest_seen, one.change_is),
        ),
    )


def _verdict(one: RegressionFinding) -> str:
    sign = {"regression": f"{WORSE} ", "improvement": f"{BETTER} ", "suspect": "? "}
    words = f"{one.verdict} {one.severity or ''}".strip()
    return sign.get(one.verdict, "  ") + words


def verdict_sentences(course: AgentSeries) -> list[Sentence]:
    """Summarize the newest runs: verdict, health, advice, patterns, exclusions."""
    document = course.document
    said = [Sentence(verdict_line(document), "verdict", _ROLES.get(document.verdict, "warn"))]
    whole = document.overall_health
    if whole is None:
        said.append(Sentence(f"{MISSING} nothing could be judged", "health"))
    else:
        said.append(Sentence(f"{whole:.0f} of 100", "health", health_role(whole)))
    action = document.recommended_action
    role: Role = "text" if action == "none" else "title"
    said.append(Sentence(action, "do", role))
    said.append(Sentence(document.reason, "because"))
    if document.interrupted_run is not None:
        run = document.interrupted_run
        said.append(Sentence(f"run {run} was interrupted and is not judged", "newer", "warn"))
    said += [Sentence(one.text, "pattern", "accent") for one in document.patterns]
    said += [Sentence(words, "left out", "dim") for words in left_out_lines(document)]
    return said


def finding_sentences(series: Series) -> list[Sentence]:
    """Describe the data behind a finding; without a regression, the smallest detectable one."""
    one = series.finding
    said = [Sentence(_verdict(one).strip(), "verdict", _ROLES.get(one.verdict, "dim"))]
    if one.severity:
        said.append(Sentence(f"{how_much(one)} {one.against}", "size", "bad"))
    elif one.change is not None:
        said.append(Sentence(f"{change_words(one)} against {one.against}", "size"))
    if one.verdict == "no change seen" and one.smallest_seen is not None:
        smallest = size_words(one.smallest_seen, one.change_is)
        seen = f"a worsening of {smallest} or more would have been noticed with 80% probability"
        said.append(Sentence(seen, "no regression", "good"))
    point = one.change_point
    if point is not None and one.verdict in _CHANGED:
        where = f"from {run_words(point.first)}"
        if point.last != point.first:
            where += f" to {run_words(point.last)}"
        said.append(Sentence(where, "since"))
    if one.impact_analysis is not None:
        said.append(Sentence(impact_words(one.impact_analysis), "touches"))
    values = one.values
    if values.baseline or values.current:
        compared = f"{values.of}: {values.baseline} against {values.current}"
        said.append(Sentence(compared, "based on", "dim"))
    if one.reason:
        said.append(Sentence(one.reason, "why", "warn"))
    said += [Sentence(note, "note", "dim") for note in one.notes]
    if series.accepted is not None:
        accepted = series.accepted
        level = measured(accepted.after, one.unit)
        said.append(Sentence(f"{level} since {accepted.since[:16]}", "accepted", "accent"))
    if series.earlier:
        count = f"{'more than ' if series.is_cut else ''}{series.earlier:,}"
        said.append(Sentence(f"{count} earlier runs are not drawn", "note", "dim"))
    return said


def after(series: Sequence[Series], at: Series, *, by_place: bool) -> Series | None:
    """Return the finding at the next benchmark, with the same metric if it has it; or the next
    metric of the same benchmark. None if there is no other.
    """
    if by_place:
        places = list(dict.fromkeys(one.place for one in series))
        place = places[(places.index(at.place) + 1) % len(places)]
        there = [one for one in series if one.place == place]
        chosen = next((one for one in there if one.metric == at.metric), there[0])
        return None if place == at.place else chosen
    there = [one for one in series if one.place == at.place]
    chosen = there[(there.index(at) + 1) % len(there)]
    return None if chosen is at else chosen


def before_and_now(series: Series, agent: str) -> list[str] | None:
    """Return selectors of the run before the newest change and of the newest run, for a
    comparison; None if there is only one run.
    """
    if len(series.points) < 2:
        return None
    point = series.finding.change_point
    before = None if point is None else point.before
    run_id = series.points[-2].run_id if before is None else before.run_id
    return [f"run:{run_id}/{agent}", f"run:{series.points[-1].run_id}/{agent}"]


def alarms_table(standings: Sequence[Standing]) -> GridData:
    """Return every agent, the worst first."""
    rows = [_alarm_row(one) for one in standings]
    return GridData(_ALARMS, rows, reason="looking at all agents …")


def _alarm_row(one: Standing) -> GridRow:
    words = one.verdict or one.reason
    if one.regressions:
        words = f"{WORSE} {one.regressions} {one.severity}"
    return GridRow(
        one.agent,
        (
            one.agent,
            Cell(one.version or MISSING, role="dim"),
            Cell(words, role=_ROLES.get(one.verdict, "dim")),
            Cell(
                MISSING if one.health is None else f"{one.health:.0f}",
                role=None if one.health is None else health_role(one.health),
            ),
        ),
    )


def agents_table(agents: Sequence[ListedAgent]) -> GridData:
    """Return the table of agents, to choose one."""
    rows = [
        GridRow(
            one.id,
            (
                one.id + (" (simulated)" if one.simulated else ""),
                str(one.versions),
                str(one.runs),
                _minute(one.last_run_at or MISSING),
            ),
        )
        for one in agents
    ]
    return GridData(_AGENTS, rows)


def versions_table(course: AgentSeries) -> GridData:
    """Return the agent's versions to choose from, newest first."""
    runs: dict[str, dict[str, str]] = {}
    for one in course.series:
        for point in one.points:
            runs.setdefault(point.version, {})[point.run_id] = point.at
    newest = {version: max(those.values()) for version, those in runs.items()}
    rows = [
        GridRow(version, (version, str(len(runs[version])), _minute(newest[version])))
        for version in sorted(runs, key=lambda one: newest[one], reverse=True)
    ]
    return GridData(_VERSIONS, rows)


def _minute(at: str) -> str:
    return at[:16].replace("T", " ")


def health_role(health: float) -> Role:
    """Return the role of a health from 0 to 100."""
    if health >= _WELL:
        return "good"
    return "bad" if health < _POOR else "warn"
