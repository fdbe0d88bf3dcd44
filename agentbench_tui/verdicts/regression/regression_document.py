"""`agentbench.regressions/1`: a judgment for scripts. A missing number is null."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agentbench_tui.contracts.regressions import (
    ChangeRange,
    ImpactAnalysis,
    RegressionFinding,
    RegressionFormulas,
    RegressionPattern,
    RegressionsDocument,
    RunPoint,
    SizeRange,
    SmallestDetected,
    ValueCounts,
)
from agentbench_tui.model.figures.metric import find_metric
from agentbench_tui.model.figures.regression_figures import REGRESSION
from agentbench_tui.store.queries.selection import unfinished
from agentbench_tui.verdicts.evidence.declared_metrics import undeclared_metrics
from agentbench_tui.verdicts.regression.answer_columns import AnswerColumns
from agentbench_tui.verdicts.regression.finding import UNDECIDED
from agentbench_tui.verdicts.regression.health import advice, health
from agentbench_tui.verdicts.regression.impact import impact_of
from agentbench_tui.verdicts.regression.patterns import patterns_of

if TYPE_CHECKING:
    import sqlite3

    from agentbench_tui.verdicts.regression.finding import Finding, Location
    from agentbench_tui.verdicts.regression.history import Point
    from agentbench_tui.verdicts.regression.impact import Impact
    from agentbench_tui.verdicts.regression.patterns import Pattern
    from agentbench_tui.verdicts.regression.regression import Judgment


def regressions_document(
    connection: sqlite3.Connection, judgment: Judgment, requests_per_day: float | None = None
) -> RegressionsDocument:
    """Return everything found: findings, regressions with impact, patterns, health, advice."""
    findings = judgment.findings
    columns = AnswerColumns(connection)
    patterns = patterns_of(connection, findings, columns)
    rows = []
    for one in findings:
        impact = None
        if one.verdict == "regression":
            impact = impact_of(one, findings, columns, requests_per_day)
        rows.append(_finding(one, impact))
    unmeasured = [
        place.words for place in judgment.histories if all(one.place != place for one in findings)
    ]
    advised = advice(findings, patterns, unmeasured, judgment.interrupted)
    return RegressionsDocument(
        agent=judgment.agent,
        version=judgment.version,
        verdict=overall_verdict(findings, is_newest=judgment.interrupted is None),
        interrupted_run=judgment.interrupted,
        has_regressions=any(one.verdict == "regression" for one in findings),
        regressions=tuple(row for row in rows if row.verdict == "regression"),
        findings=tuple(rows),
        smallest_seen=SmallestDetected(
            ratio=_range(findings, "ratio"), points=_range(findings, "points")
        ),
        unmeasured=tuple(unmeasured),
        undeclared=undeclared_metrics(connection, judgment.agent),
        unfinished=unfinished(connection, judgment.agent, judgment.version),
        patterns=tuple(_pattern(one) for one in patterns),
        overall_health=health(findings),
        recommended_action=advised.action,
        reason=advised.reason,
        formulas=RegressionFormulas(
            overall_health=REGRESSION["overall_health"].formula,
            impact_weight=REGRESSION["impact_weight"].formula,
            share_of_cases=REGRESSION["share_of_cases"].formula,
            per_day=REGRESSION["per_day"].formula,
        ),
    )


def _range(findings: tuple[Finding, ...], kind: str) -> SizeRange | None:
    """Return the smallest and the largest worsening that would have been detected."""
    sizes = [
        one.smallest
        for one in findings
        if one.smallest is not None and one.verdict not in UNDECIDED and one.scale.kind == kind
    ]
    return SizeRange(least=min(sizes), most=max(sizes)) if sizes else None


def overall_verdict(findings: tuple[Finding, ...], *, is_newest: bool = True) -> str:
    """Return `regression` if there is one; else the reason for an undecided result; else no
    regression.

    Also undecided if not `is_newest`: a later run was interrupted, so the current state is unknown.
    """
    verdicts = {one.verdict for one in findings}
    for verdict in ("regression", "suspect", "not comparable", "not enough data"):
        if verdict in verdicts:
            return verdict
    return "no regression" if is_newest else "not enough data"


def _finding(one: Finding, impact: Impact | None) -> RegressionFinding:
    known = find_metric(one.metric)
    assert known is not None
    worse = one.worsening
    return RegressionFinding(
        suite_id=one.place.suite_id,
        benchmark_id=one.place.benchmark_id,
        parameters=one.place.point,
        metric=one.metric,
        unit=known.unit,
        better=known.direction,
        verdict=one.verdict,
        severity=one.severity,
        gate=one.gate,
        against=one.against or None,
        baseline_value=one.before,
        current_value=one.now,
        change=one.change,
        change_is="ratio" if one.scale.kind == "ratio" else "difference",
        low=one.low,
        high=one.high,
        regression_percentage=None if worse is None else 100 * worse,
        at_least_percentage=_at_least(one),
        p_value=one.p,
        margin=one.margin,
        smallest_seen=one.smallest,
        values=ValueCounts(baseline=one.values[0], current=one.values[1], of=one.unit_of_values),
        baseline_versions=tuple(sorted({point.version for point in one.old})),
        current_versions=tuple(sorted({point.version for point in one.new})),
        change_point=None if one.location is None else _location(one.location),
        impact_analysis=None if impact is None else _impact(impact),
        reason=one.reason or None,
        notes=tuple(one.notes),
    )


def _at_least(one: Finding) -> float | None:
    """Return the least worsening; None without a regression, and for a total loss, which is not a
    percentage.
    """
    return 100 * one.least_worsening if one.severity and not one.is_total else None


def _location(location: Location) -> ChangeRange:
    before = location.before
    return ChangeRange(
        before=None if before is None else _point(before),
        first=_point(location.first),
        last=_point(location.last),
    )


def _point(point: Point) -> RunPoint:
    return RunPoint(
        run_id=point.run_id,
        at=point.at,
        version=point.version,
    )


def _impact(impact: Impact) -> ImpactAnalysis:
    return ImpactAnalysis(
        dimension=impact.dimension,
        weight=impact.weight,
        cases=impact.cases,
        cases_worse=impact.cases_worse,
        cases_better=impact.cases_better,
        share_of_cases=impact.share_of_cases,
        share_worse=impact.share_worse,
        share_better=impact.share_better,
        share_of=impact.share_of,
        per_day=impact.per_day,
        per_day_unit=impact.per_day_unit or None,
        reasons=tuple(impact.reasons),
    )


def _pattern(pattern: Pattern) -> RegressionPattern:
    return RegressionPattern(
        pattern=pattern.name,
        benchmarks=tuple(place.words for place in pattern.places),
        text=pattern.text,
        numbers=dict(pattern.numbers),
    )
