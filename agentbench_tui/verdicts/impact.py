"""What a regression touches: its weight, the share of the cases, and what it costs a day.

The formulas are those of `model.regression_figures`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from agentbench_tui.model.metric import find_metric
from agentbench_tui.verdicts.health import dimension_of, weight_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from agentbench_tui.verdicts.answer_columns import AnswerColumns
    from agentbench_tui.verdicts.finding import Finding

_MS_AN_HOUR = 3_600_000


@dataclass(frozen=True, slots=True)
class Impact:
    """Numbers are None where they are not known; `reasons` says why."""

    dimension: str
    weight: float
    """0 … 1 of the overall score (`impact_weight`)."""
    cases: int | None
    """Cases that both sides answered."""
    cases_worse: int | None
    cases_better: int | None
    per_day: float | None
    per_day_unit: str
    reasons: tuple[str, ...]

    @property
    def share_of_cases(self) -> float | None:
        """0 … 1, of those that both sides answered."""
        if not self.cases or self.cases_worse is None or self.cases_better is None:
            return None
        return max(0, self.cases_worse - self.cases_better) / self.cases


def impact_of(
    finding: Finding,
    findings: Sequence[Finding],
    columns: AnswerColumns,
    requests_per_day: float | None,
) -> Impact:
    """The impact of one regression among all that was judged."""
    benchmarks = {
        (one.place.benchmark_id, one.place.parameters)
        for one in findings
        if one.place.suite_id == finding.place.suite_id
    }
    counts, why_no_cases = _cases(finding, columns)
    per_day, unit, why_no_rate = _per_day(finding, requests_per_day)
    return Impact(
        dimension=dimension_of(finding.metric),
        weight=weight_of(finding) / len(benchmarks),
        cases=counts[0],
        cases_worse=counts[1],
        cases_better=counts[2],
        per_day=per_day,
        per_day_unit=unit,
        reasons=tuple(filter(None, (why_no_cases, why_no_rate))),
    )


def _cases(
    finding: Finding, columns: AnswerColumns
) -> tuple[tuple[int | None, int | None, int | None], str]:
    sides = columns.sides(finding)
    if sides is None:
        return (None, None, None), "share of cases: a load has none"
    if sides[0].of(finding.metric) is None:
        return (None, None, None), "share of cases: not a metric of single answers"
    old, new = (side.by_case(finding.metric) for side in sides)
    both = old.keys() & new.keys()
    if not both:
        return (None, None, None), "share of cases: no case was answered on both sides"
    changes = [_worse_by(finding, old[case], new[case]) for case in both]
    worse = sum(change >= finding.margin for change in changes)
    better = sum(change <= -finding.margin for change in changes)
    return (len(both), worse, better), ""


def _worse_by(finding: Finding, before: float, now: float) -> float:
    """By how much a case is worse, negative when better: a factor less 1, or points."""
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
