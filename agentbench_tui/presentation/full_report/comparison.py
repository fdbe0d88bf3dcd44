"""A comparison as a full report: the verdict on B, every metric with its interval, the cases."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec import UNSET

from agentbench_tui.contracts.compare import CompareDocument
from agentbench_tui.contracts.document import plain
from agentbench_tui.model.text.plain_number import counted
from agentbench_tui.presentation.charts import Axis, Interval, IntervalChart
from agentbench_tui.presentation.comparison.verdict import comparison_verdict
from agentbench_tui.presentation.comparison.wording import (
    CHANGE_TITLE,
    answers_at,
    attempts_change,
    attempts_note,
    cases_title,
    change,
    measured_alone_words,
    needed_words,
    sample_words,
    tests_words,
)
from agentbench_tui.presentation.full_report.parts import Chapter, FullReport
from agentbench_tui.presentation.numbers import (
    MISSING,
    amount,
    measure_of,
    p_value,
    percent,
    points,
    ratio,
    signed_amount,
)
from agentbench_tui.presentation.report import Column, Row, Section, Table, raw_columns

if TYPE_CHECKING:
    from collections.abc import Sequence

    from agentbench_tui.contracts.compare import (
        ComparedAttempts,
        ComparedBenchmark,
        ComparedMetric,
        CompareMatrixDocument,
        Pair,
    )

_METRICS = (
    Column("metric", "metric", names_row=True),
    Column("benchmark", "benchmark", names_row=True),
    Column("verdict", "B is"),
    Column("change", CHANGE_TITLE, right=True),
    Column("a", "A", right=True),
    Column("b", "B", right=True),
    Column("p", "p", p_value, right=True),
    Column("n", "from"),
    Column("needed", "needs", right=True),
)
_CASES = (
    Column("case_id", "case", names_row=True),
    Column("benchmark", "benchmark"),
    Column("right", "right"),
    Column("expected", "expected"),
    Column("a", "A answered"),
    Column("b", "B answered"),
)
_RECORDS = raw_columns(
    ("control", "candidate", "suite_id", "benchmark_id", "parameters", "metric", "unit", "better",
     "a", "b", "difference", "ratio", "low", "high", "p_value", "p_adjusted", "method", "paired",
     "n", "of", "verdict", "comparable", "n_needed")
)  # fmt: skip


def full_comparison(
    compared: CompareDocument | CompareMatrixDocument, notes: Sequence[str] = ()
) -> FullReport:
    """Return a comparison as a full report."""
    pairs: Sequence[Pair] = compared.matrix
    names = compared.selectors
    chapters = []
    for number, pair in enumerate(pairs, 1):
        anchor = "head-to-head" if len(pairs) == 1 else f"head-to-head-{number}"
        title = "Head to head" if len(pairs) == 1 else f"{pair.a} and {pair.b}"
        chapters.append(Chapter(anchor, title, _sections(pair)))
    chapters.append(_circumstances(pairs, notes))
    chapters.append(_methods(compared))
    return FullReport(
        title=f"Comparison of {' and '.join(names) if len(names) == 2 else ', '.join(names)}",
        about=_about(names),
        verdict=comparison_verdict(compared),
        chapters=[one for one in chapters if one.sections],
        document=plain(compared),
        tables={"metrics": Table(_RECORDS, [row for pair in pairs for row in _records(pair)])},
    )


def _about(names: Sequence[str]) -> list[tuple[str, str]]:
    letters = "AB" if len(names) == 2 else [str(number) for number in range(1, len(names) + 1)]
    return [*zip(letters, names, strict=True)]


def _sections(pair: Pair) -> list[Section]:
    rows = [_row(one) for one in pair.metrics]
    rows += [_attempts_row(at, one) for at in pair.benchmarks for one in at.attempts]
    columns = [
        one
        for one in _METRICS
        if not (one.key == "benchmark" and len(pair.benchmarks) < 2)
        and not (one.key == "needed" and not any(row["needed"] for row in rows))
    ]
    found = []
    if rows:
        heading = f"A is {pair.a}, B is {pair.b}"
        found.append(Section(heading, [Table(columns, rows)], charts=interval_charts(pair)))
    cases = [_case(at, one) for at in pair.benchmarks if at.disagreements is not None
             for one in at.disagreements.first]  # fmt: skip
    if cases:
        total = sum(
            at.disagreements.only_a + at.disagreements.only_b
            for at in pair.benchmarks
            if at.disagreements is not None
        )
        title = cases_title(len(cases), total)
        found.append(Section(title, [Table(_CASES, cases)]))
    return found


def _row(one: ComparedMetric) -> Row:
    show = measure_of(one.unit)
    return {
        "metric": one.metric,
        "benchmark": "" if one.benchmark_id is UNSET else one.benchmark_id,
        "verdict": one.verdict if one.comparable else MISSING,
        "change": change(one),
        "a": show(one.a),
        "b": show(one.b),
        "p": one.p_adjusted,
        "n": sample_words(one),
        "needed": needed_words(one),
    }


def _attempts_row(at: ComparedBenchmark, one: ComparedAttempts) -> Row:
    return {
        "metric": one.metric,
        "benchmark": at.benchmark_id,
        "verdict": MISSING,
        "change": attempts_change(one),
        "a": percent(one.a),
        "b": percent(one.b),
        "p": None,
        "n": sample_words(one),
        "needed": "",
    }


def interval_charts(pair: Pair) -> list[IntervalChart]:
    """Draw ratios and differences apart: each has another value at which nothing differs."""
    ratios = [one for one in pair.metrics if one.ratio is not None]
    shares = [one for one in pair.metrics if one.ratio is None and one.unit == "share"]
    others = [one for one in pair.metrics if one.ratio is None and one.unit != "share"
              and one.difference is not None]  # fmt: skip
    charts = []
    several = len(pair.benchmarks) > 1
    if ratios:
        axis = Axis(f"{pair.b} ÷ {pair.a}", ratio, log=True)
        rows = [_interval(one, one.ratio, several) for one in ratios]
        charts.append(_chart("Ratios", axis, rows, 1.0))
    if shares:
        axis = Axis(f"{pair.b} - {pair.a}", points)
        rows = [_interval(one, one.difference, several) for one in shares]
        charts.append(_chart("Differences in percentage points", axis, rows, 0.0))
    for one in others:
        axis = Axis(f"{pair.b} - {pair.a}, {one.unit}", signed_amount)
        charts.append(
            _chart(
                f"Difference in {one.metric}", axis, [_interval(one, one.difference, several)], 0.0
            )
        )
    return charts


def _chart(title: str, axis: Axis, rows: Sequence[Interval], reference: float) -> IntervalChart:
    summary = f"{title} of {counted(len(rows), 'metric')} with 95% intervals; " + "; ".join(
        f"{one.name} {axis.show(one.value)}, {one.note}" for one in rows[:8]
    )
    return IntervalChart(title, summary, axis, rows, reference)


def _interval(one: ComparedMetric, value: float | None, several: bool) -> Interval:
    where = f", {one.benchmark_id}" if several and one.benchmark_id is not UNSET else ""
    note = one.verdict if one.comparable else "not comparable"
    return Interval(f"{one.metric}{where}", value, one.low, one.high, note)


def _case(at: ComparedBenchmark, one: Any) -> Row:
    return {
        "case_id": one.case_id,
        "benchmark": at.benchmark_id,
        **answers_at(one),
    }


def _circumstances(pairs: Sequence[Pair], notes: Sequence[str]) -> Chapter:
    lines = list(notes)
    for pair in pairs:
        for at in pair.benchmarks:
            lines += [f"{at.benchmark_id}: {one.words}" for one in at.differences]
            notes_here = [*at.notes, *([note] if (note := attempts_note(at)) else [])]
            lines += [f"{at.benchmark_id}: {words}" for words in notes_here]
        for side in (pair.sides.a, pair.sides.b):
            lines += [f"{side.selector}: {words}" for words in side.notes]
            if side.not_shared:
                lines.append(measured_alone_words(side))
        lines += [f"{metric.metric}: {words}" for metric in pair.metrics for words in metric.notes]
    unique = [*dict.fromkeys(lines)]
    sections = [Section(sentences=unique)] if unique else []
    return Chapter("circumstances", "Circumstances and notes", sections, is_detail=True)


def _methods(compared: CompareDocument | CompareMatrixDocument) -> Chapter:
    level = amount(100 * (1 - compared.alpha))
    methods = sorted({one.method for pair in compared.matrix for one in pair.metrics if one.method})
    tests = tests_words(compared.tests, compared.adjustment)
    intervals = f"Intervals are {level}% confidence intervals. {tests}"
    verdicts = (
        "B is better or worse in a metric if the adjusted test excludes no difference; equivalent "
        "if the 90% interval is inside the margin; otherwise inconclusive."
    )
    seed = f"Seed of the bootstrap: {compared.seed}."
    lines = [intervals, verdicts, *(f"Method: {one}." for one in methods), seed]
    return Chapter("methods", "Methods", [Section(sentences=lines)], is_detail=True)


def _records(pair: Pair) -> list[Row]:
    names = [column.key for column in _RECORDS if column.key not in {"control", "candidate"}]
    return [
        {"control": pair.a, "candidate": pair.b}
        | {name: _given(getattr(one, name)) for name in names}
        for one in pair.metrics
    ]


def _given(value: Any) -> Any:
    return None if value is UNSET else value
