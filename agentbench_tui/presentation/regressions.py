"""Text of a regressions document: figures for the table, and the sentences below it."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import msgspec

from agentbench_tui.contracts.document import plain
from agentbench_tui.model.text.plain_number import with_unit
from agentbench_tui.presentation.numbers import (
    MISSING,
    Show,
    amount,
    bracketed,
    duration_s,
    measured,
    money,
    percent,
    points,
    signed_percent,
    size_in_points,
    with_interval,
)
from agentbench_tui.presentation.report import Column, Report, Row, Section, Table, raw_columns
from agentbench_tui.verdicts.evidence.place import point_words

if TYPE_CHECKING:
    from collections.abc import Sequence

    from agentbench_tui.contracts.regressions import (
        ImpactAnalysis,
        RegressionFinding,
        RegressionsDocument,
        RunPoint,
        SizeRange,
    )

_COLUMNS = (
    Column("benchmark", "benchmark", names_row=True),
    Column("metric", "metric", names_row=True),
    Column("before_shown", "before", right=True),
    Column("now_shown", "now", right=True),
    Column("change_shown", "change [95%]", right=True),
    Column("verdict_shown", "verdict"),
    Column("seen_shown", "would see", right=True),
)
_FIELDS = raw_columns(
    (
        "suite_id", "benchmark_id", "parameters", "metric", "unit", "better", "verdict",
        "severity", "gate", "against", "baseline_value", "current_value", "change", "change_is",
        "low", "high", "regression_percentage", "at_least_percentage", "p_value", "smallest_seen",
        "reason",
    )
)  # fmt: skip
_SHOWN = 5
"""Number of regressions described in sentences, the worst at the confidence bound first."""
_UNDECIDED = ("not enough data", "not comparable")


def regressions_report(document: RegressionsDocument) -> Report:
    """Return the findings as a table, and the verdict with its reasons as sentences."""
    table = Table(_COLUMNS, [row_of(one) for one in document.findings])
    rows = [plain(one) for one in document.findings]
    health = {"overall_health": document.overall_health}
    return Report(
        Table(_FIELDS, rows),
        [Section(tables=[table], sentences=lines_of(document))],
        csv_records=Table(
            (*_FIELDS, *raw_columns(["overall_health"])), [{**row, **health} for row in rows]
        ),
    )


def row_of(one: RegressionFinding) -> Row:
    """A line of the table."""
    severity = f" ({one.severity})" if one.severity else ""
    return {
        **msgspec.structs.asdict(one),
        "benchmark": place_words(one),
        "before_shown": measured(one.baseline_value, one.unit),
        "now_shown": measured(one.current_value, one.unit),
        "change_shown": change_words(one),
        "verdict_shown": f"{one.verdict}{severity}",
        "seen_shown": size_words(one.smallest_seen, one.change_is),
    }


def place_words(one: RegressionFinding) -> str:
    """`benchmark (point)`."""
    point = point_words(one.parameters)
    return f"{one.benchmark_id} ({point})" if point else str(one.benchmark_id)


def size_words(size: float | None, change_is: str) -> str:
    """`6.2%`, or of shares `2.5 pp` (percentage points)."""
    return percent(size) if change_is == "ratio" else size_in_points(size)


def change_words(one: RegressionFinding) -> str:
    """`+21.0% [+15.2, +27.1]`, or of shares `-2.5 pp [-4.0, -1.1]`."""
    value, low, high, show = _change(one)
    return with_interval(value, low, high, show)


def change_cells(one: RegressionFinding) -> tuple[str, str]:
    """The change and its interval by themselves, for two columns."""
    value, low, high, show = _change(one)
    shown = show(value)
    if value is None or low is None or high is None:
        return shown, MISSING
    return shown, bracketed(shown, show(low), show(high))


def _change(one: RegressionFinding) -> tuple[float | None, float | None, float | None, Show]:
    """Return the change with its interval, a ratio less 1, and what formats it."""
    if one.change_is != "ratio":
        return one.change, one.low, one.high, points
    change, low, high = (
        None if ratio is None else ratio - 1 for ratio in (one.change, one.low, one.high)
    )
    return change, low, high, signed_percent


def lines_of(document: RegressionsDocument) -> list[str]:
    """The sentences below the table, the verdict first."""
    lines = []
    if document.interrupted_run is not None:
        run = document.interrupted_run
        told = f"run {run}, newer, was interrupted: not judged; `agentbench resume {run}`"
        lines.append(told)
    lines.append(verdict_line(document))
    worst = sorted(document.regressions, key=_by_size)
    for one in worst[:_SHOWN]:
        lines += _about(one)
    if len(worst) > _SHOWN:
        lines.append(f"… {len(worst) - _SHOWN} more regressions (--format json)")
    lines += [f"pattern: {pattern.text}" for pattern in document.patterns]
    lines += _reasons(document.findings)
    lines += left_out_lines(document)
    health = document.overall_health
    shown = MISSING if health is None else f"{health:.0f} of 100"
    lines.append(f"health {shown}; {document.recommended_action}: {document.reason}")
    return lines


def verdict_line(document: RegressionsDocument) -> str:
    """Describe the newest runs; without a regression, the smallest detectable one."""
    name = f"{document.agent}@{document.version}"
    verdict = document.verdict
    if verdict == "regression":
        return f"{name}: regression"
    if verdict == "suspect":
        return f"{name}: suspect{_what_decides(document)}"
    findings = document.findings
    undecided = [one for one in findings if one.verdict in _UNDECIDED]
    if len(undecided) == len(findings):
        return f"{name}: {verdict}"
    sizes = document.smallest_seen
    by_scale = (("ratio", sizes.ratio), ("points", sizes.points))
    seen = [_range(size, kind) for kind, size in by_scale if size is not None]
    what = "no regression"
    if seen:
        what += f"; one of {' or '.join(seen)} would have been noticed with 80% probability"
    if document.interrupted_run is not None:
        return f"{name}: {verdict}; of the runs before {what}"
    if not undecided:
        return f"{name}: {what}"
    return f"{name}: {verdict} for {len(undecided)} of {len(findings)}; of the others {what}"


def _what_decides(document: RegressionsDocument) -> str:
    suspects = [one for one in document.findings if one.verdict == "suspect"]
    if any(one.gate == "history" for one in suspects):
        return f"; `agentbench regressions {document.agent} --confirm` decides"
    return ""


def _range(size: SizeRange, change_is: str) -> str:
    """From the metric that shows most to the one that shows least."""
    least, most = (size_words(end, change_is) for end in (size.least, size.most))
    return least if least == most else f"{least} to {most} (see the last column)"


def left_out_lines(document: RegressionsDocument) -> list[str]:
    """Describe what was not measured or did not complete."""
    name = f"{document.agent}@{document.version}"
    lines = []
    if document.undeclared:
        lines.append(
            f"{MISSING} not judged, since `better` of the experiment does not say which way they"
            f" are: {', '.join(document.undeclared)}"
        )
    if document.unmeasured:
        lines.append(f"{MISSING} not measured of {name}: {', '.join(document.unmeasured)}")
    count = document.unfinished
    if count:
        what = "execution of" if count == 1 else "executions of"
        lines.append(f"{count} {what} {name} did not complete: left out")
    return lines


def _about(one: RegressionFinding) -> list[str]:
    line = f"{one.metric} of {place_words(one)}: {how_much(one)} {one.against}"
    point = one.change_point
    if point is not None:
        line += f"; since {run_words(point.first)}"
        if point.last != point.first:
            line += f" … {run_words(point.last)}"
    impact = one.impact_analysis
    return [line] if impact is None else [line, f"  touches {impact_words(impact)}"]


def _by_size(one: RegressionFinding) -> float:
    """Sort total losses first, then by size at the confidence bound."""
    least = one.at_least_percentage
    return -math.inf if least is None else -least


def how_much(one: RegressionFinding) -> str:
    """Format `at least 4.2 points worse than`, or the current state for a total loss."""
    if one.at_least_percentage is None:
        return f"{measured(one.current_value, one.unit)} now, unlike"
    least = size_words(one.at_least_percentage / 100, one.change_is)
    return f"at least {least} worse than"


def run_words(point: RunPoint) -> str:
    """When a run was made, of which version, and its id."""
    return f"{point.at[:16].replace('T', ' ')} ({point.version}, run {point.run_id[:13]})"


def impact_words(impact: ImpactAnalysis) -> str:
    """Describe the impact of a regression: the score, the cases, a day."""
    parts = [f"{percent(impact.weight)} of the overall score ({impact.dimension})"]
    if impact.share_of_cases is not None:
        parts.append(_touched(impact, impact.share_of_cases))
    if impact.per_day is not None:
        parts.append(f"{_amount(impact.per_day, impact.per_day_unit or '')} a day")
    return "; ".join(parts)


def _touched(impact: ImpactAnalysis, share_of_cases: float) -> str:
    """`net 60.0% of the cases (7 worse, 1 better, of 10)`."""
    counts = f"{impact.cases_worse} worse, {impact.cases_better} better, of {impact.cases}"
    net = "net " if impact.share_better else ""
    share = f"{net}{percent(share_of_cases)} of the {impact.share_of}"
    if impact.share_of == "cases":
        return f"{share} ({counts})"
    worse, better = impact.share_worse or 0.0, impact.share_better or 0.0
    lost = f"{percent(worse)} lost, {percent(better)} won"
    return f"{share} ({lost}; cases: {counts})"


def _amount(value: float, unit: str) -> str:
    if unit == "USD":
        return money(value)
    return (
        f"{duration_s(3600 * value)} of waiting" if unit == "h" else with_unit(amount(value), unit)
    )


def _reasons(findings: Sequence[RegressionFinding]) -> list[str]:
    """Give the reasons for missing verdicts, and remarks; one line each."""
    found: dict[str, list[str]] = {}
    for one in findings:
        texts = list(one.notes)
        if one.reason:
            of = f"{one.verdict}: " if one.verdict in _UNDECIDED else ""
            texts.append(f"{of}{one.reason}")
        if one.impact_analysis:
            texts += [f"{MISSING} {reason}" for reason in one.impact_analysis.reasons]
        for text in texts:
            found.setdefault(text, []).append(f"{one.metric} of {place_words(one)}")
    return [
        f"{text} ({', '.join(names[:2])}{f' and {len(names) - 2} more' if names[2:] else ''})"
        for text, names in found.items()
    ]
