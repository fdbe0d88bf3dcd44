"""A comparison as a full report: the verdict on B, every metric with its interval, the cases."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec import UNSET

from agentbench_tui.contracts.compare import CompareDocument
from agentbench_tui.contracts.document import plain
from agentbench_tui.model.text.plain_number import counted
from agentbench_tui.presentation.charts import Axis, Interval, IntervalChart
from agentbench_tui.presentation.comparison import attempts_change, attempts_note, change
from agentbench_tui.presentation.full_report.parts import Chapter, FullReport, Outcome, Verdict
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
from agentbench_tui.verdicts.evidence.comparability import DISTURBED, depends_on_machine

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
    Column("change", "B / A, or B - A [95%]", right=True),
    Column("a", "A", right=True),
    Column("b", "B", right=True),
    Column("p", "p", p_value, right=True),
    Column("n", "from", right=True),
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
_OUTCOMES: dict[str, Outcome] = {
    "better": "good", "worse": "bad", "trade-off": "open", "tie": "open",
}  # fmt: skip


_MOST_NAMED = 3
"""Decided metrics that a verdict names; more are counted."""


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


def comparison_verdict(compared: CompareDocument | CompareMatrixDocument) -> Verdict:
    """Say who wins, or why nobody does, with the metrics that decide."""
    if not isinstance(compared, CompareDocument):
        winner = compared.overall.winner
        words = (
            f"No single winner among {counted(len(compared.sides), 'contender')}."
            if winner is None
            else f"{winner} is the best of {counted(len(compared.sides), 'contender')}."
        )
        by_pair = [pair_verdict(pair).words for pair in compared.matrix]
        outcome: Outcome = "open" if winner is None else "good"
        return Verdict(words, outcome, [*by_pair, *compared.recommendations])
    return pair_verdict(compared)


def pair_verdict(pair: Pair) -> Verdict:
    """Say what the metrics of one pair come to."""
    overall = pair.overall
    if pair.identical:
        return Verdict(
            f"A {pair.a}, B {pair.b}: {pair.identical}, so there is nothing to compare.", "open"
        )
    if not pair.metrics:
        return Verdict(
            f"Nothing to compare: {pair.a} and {pair.b} share no measured metric.", "open"
        )
    if pair.why_unranked:
        words = f"No winner can be named between {pair.a} and {pair.b}: {pair.why_unranked}."
        return Verdict(words, "open", advice(pair))
    verdict: Outcome = _OUTCOMES[overall.verdict]
    if overall.verdict in {"better", "worse"}:
        words = f"{pair.b} is {overall.verdict} than {pair.a}: {_outcomes(pair)}."
    elif overall.verdict == "trade-off":
        words = f"No winner, a trade-off: {pair.b} is {_outcomes(pair)}."
    elif overall.settled:
        verdict = "plain"
        words = f"{pair.a} and {pair.b} are equivalent: {pair.b} is {_outcomes(pair)}."
    elif overall.worse and not overall.better:
        # No loss elsewhere is excluded, nor a gain, so nobody wins; this much is certain.
        verdict = "bad"
        words = f"{pair.b} is {_outcomes(pair, than=pair.a)}."
    else:
        words = f"No winner yet between {pair.a} and {pair.b}: {pair.b} is {_outcomes(pair)}."
    decided = [one for one in pair.metrics if one.verdict in {"worse", "better"} and one.comparable]
    decided.sort(key=lambda one: one.verdict == "better")
    reasons = [_metric_words(pair, one) for one in decided]
    return Verdict(words, verdict, [*reasons, *advice(pair)])


def advice(pair: Pair) -> list[str]:
    """Return the recommendations as sentences; the name of a side keeps its spelling."""
    return [
        words if words.startswith((pair.a, pair.b)) else f"{words[:1].upper()}{words[1:]}"
        for words in (one if one.endswith(".") else f"{one}." for one in pair.recommendations)
    ]


def _outcomes(pair: Pair, than: str = "") -> str:
    """Name the metrics that are decided, and count the others. `than`: what B is worse than, if
    the sentence has not said so yet.
    """
    overall = pair.overall
    counts = (
        (overall.better, "better"), (overall.worse, "worse"),
        (overall.equivalent, "equivalent"), (overall.inconclusive, "inconclusive"),
    )  # fmt: skip
    compared = {"worse": f"worse than {than}"} if than else {}
    named = [
        f"{compared.get(verdict, verdict)} in {_which(pair, verdict, n)}"
        for n, verdict in counts
        if n
    ]
    return ", ".join(named) or "not judged in any metric"


def _which(pair: Pair, verdict: str, count: int) -> str:
    """Name the metrics of a verdict if they are what a reader asks for and few, else count them."""
    names = [
        *dict.fromkeys(
            f"{one.metric} (noisy)" if _is_disturbed(pair, one) else one.metric
            for one in pair.metrics
            if one.comparable and one.verdict == verdict
        )
    ]
    most = _MOST_NAMED if verdict in {"better", "worse"} else 1
    if 0 < len(names) <= most:
        return " and ".join(filter(None, [", ".join(names[:-1]), names[-1]]))
    return counted(count, "metric")


def _is_disturbed(pair: Pair, metric: ComparedMetric) -> bool:
    """Return whether the machine or the harness disturbed the times that a metric compares."""
    return depends_on_machine(metric.metric, ()) and any(
        one.what == DISTURBED
        for at in pair.benchmarks
        if metric.benchmark_id in {UNSET, at.benchmark_id}
        for one in at.differences
    )


def _metric_words(pair: Pair, one: ComparedMetric) -> str:
    show = measure_of(one.unit)
    where = "" if one.benchmark_id is UNSET else f" on {one.benchmark_id}"
    return (
        f"{pair.b} is {one.verdict} in {one.metric}{where}: {show(one.b)} against {show(one.a)} "
        f"({change(one)})."
    )


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
        title = f"Cases that only one gets right: {len(cases):,} of {total:,}"
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
        "n": f"{one.n:,} {'pairs' if one.paired else one.of}",
        "needed": "" if one.n_needed is None else f"{one.n_needed:,} {one.varies_by}",
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
        "n": f"{one.n:,} {'pairs' if one.paired else one.of}",
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
        "right": "A" if one.a.right > one.b.right else "B",
        "expected": one.expected or MISSING,
        "a": f"({one.a.failure})" if one.a.failure else one.a.answer or MISSING,
        "b": f"({one.b.failure})" if one.b.failure else one.b.answer or MISSING,
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
                lines.append(f"only {side.selector} was measured on {', '.join(side.not_shared)}")
        lines += [f"{metric.metric}: {words}" for metric in pair.metrics for words in metric.notes]
    unique = [*dict.fromkeys(lines)]
    sections = [Section(sentences=unique)] if unique else []
    return Chapter("circumstances", "Circumstances and notes", sections, is_detail=True)


def _methods(compared: CompareDocument | CompareMatrixDocument) -> Chapter:
    by = "Holm" if compared.adjustment == "holm" else "Benjamini and Hochberg"
    level = amount(100 * (1 - compared.alpha))
    methods = sorted({one.method for pair in compared.matrix for one in pair.metrics if one.method})
    intervals = (
        f"Intervals are {level}% confidence intervals. p-values of "
        f"{counted(compared.tests, 'test')} are adjusted by {by}."
    )
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
