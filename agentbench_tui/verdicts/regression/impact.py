"""Impact of a regression: its weight, the share of the cases, and the cost per day.

The formulas are those of `model.figures.regression_figures`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from agentbench_tui.model.figures.metric import find_metric
from agentbench_tui.verdicts.regression.health import dimension_of, weight_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from agentbench_tui.verdicts.regression.answer_columns import AnswerColumns
    from agentbench_tui.verdicts.regression.finding import Finding

_MS_AN_HOUR = 3_600_000


@dataclass(frozen=True, slots=True)
class Impact:
    """Impact; unknown numbers are None, and `reasons` says why."""

    dimension: str
    weight: float
    """0 … 1 of the overall score (`impact_weight`)."""
    cases: int | None
    """Cases that both sides answered."""
    cases_worse: int | None
    """By the margin or more."""
    cases_better: int | None
    share_worse: float | None
    """0 … 1: share of the cases, or of their answers if the metric is a share of answers."""
    share_better: float | None
    share_of: Literal["cases", "answers"]
    per_day: float | None
    per_day_unit: str
    reasons: tuple[str, ...]

    @property
    def share_of_cases(self) -> float | None:
        """Return worse minus better cases, 0 … 1."""
        if self.share_worse is None or self.share_better is None:
            return None
        return max(0.0, self.share_worse - self.share_better)


@dataclass(frozen=True, slots=True)
class _Touched:
    cases: int | None = None
    worse: int | None = None
    better: int | None = None
    share_worse: float | None = None
    share_better: float | None = None


def impact_of(
    finding: Finding,
    findings: Sequence[Finding],
    columns: AnswerColumns,
    requests_per_day: float | None,
) -> Impact:
    """Return the impact of one regression among all findings."""
    benchmarks = {
        (one.place.benchmark_id, one.place.parameters)
        for one in findings
        if one.place.suite_id == finding.place.suite_id
    }
    touched, why_no_cases = _touched(finding, columns)
    per_day, unit, why_no_rate = _per_day(finding, requests_per_day)
    return Impact(
        dimension=dimension_of(finding.metric),
        weight=weight_of(finding) / len(benchmarks),
        cases=touched.cases,
        cases_worse=touched.worse,
        cases_better=touched.better,
        share_worse=touched.share_worse,
        share_better=touched.share_better,
        share_of="answers" if finding.scale.kind == "points" else "cases",
        per_day=per_day,
        per_day_unit=unit,
        reasons=tuple(filter(None, (why_no_cases, why_no_rate))),
    )


def _touched(finding: Finding, columns: AnswerColumns) -> tuple[_Touched, str]:
    sides = columns.sides(finding)
    if sides is None:
        return _Touched(), "share of cases: a load has none"
    if sides[0].of(finding.metric) is None:
        return _Touched(), "share of cases: not a metric of single answers"
    old, new = (side.by_case(finding.metric) for side in sides)
    both = old.keys() & new.keys()
    if not both:
        return _Touched(), "share of cases: no case was answered on both sides"
    changes = [_worse_by(finding, old[case], new[case]) for case in both]
    worse = sum(change >= finding.margin for change in changes)
    better = sum(change <= -finding.margin for change in changes)
    if finding.scale.kind == "points":
        # a case that was always right and now never is weighs more than one that once was not
        shares = (math.fsum(max(0.0, sign * change) for change in changes) for sign in (1, -1))
        lost, won = (share / len(both) for share in shares)
    else:
        lost, won = worse / len(both), better / len(both)
    return _Touched(len(both), worse, better, lost, won), ""


def _worse_by(finding: Finding, before: float, now: float) -> float:
    """Return by how much a case is worse, negative if better: a factor minus 1, or points."""
    scale = finding.scale
    if scale.kind == "points":
        return before - now if scale.better == "higher" else now - before
    if before <= 0 or now <= 0:
        return 0.0
    factor = now / before if scale.better == "lower" else before / now
    return factor - 1 if factor >= 1 else 1 - 1 / factor


def _per_day(finding: Finding, requests_per_day: float | None) -> tuple[float | None, str, str]:
    known = find_metric(finding.metric)
    assert known is not None
    unit = {"ms": "h", "USD": "USD", "share": "answers", "tokens": "tokens"}.get(known.unit, "")
    if not unit:
        return None, unit, f"per day: {known.unit} do not add up over requests"
    if requests_per_day is None:
        return None, unit, "per day: requests a day are not known (--per-day)"
    if finding.before is None or finding.now is None:
        return None, unit, "per day: the levels are not known"
    more = finding.now - finding.before
    if finding.scale.better == "higher":
        more = -more
    if unit == "h":
        more /= _MS_AN_HOUR
    return more * requests_per_day, unit, ""
