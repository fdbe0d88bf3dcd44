"""A comparison: the verdict and accuracy first, then the advice, every metric, and the cases."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from msgspec import UNSET

from agentbench_tui.contracts.compare import CompareDocument, CompareMatrixDocument
from agentbench_tui.contracts.document import plain
from agentbench_tui.model.text.untrusted import one_line
from agentbench_tui.presentation.comparison.verdict import (
    advice,
    comparison_verdict,
    pair_verdict,
)
from agentbench_tui.presentation.comparison.wording import (
    CHANGE_TITLE,
    answers_at,
    attempts_change,
    attempts_note,
    both_values,
    cases_title,
    change,
    measured_alone_words,
    needed_words,
    sample_words,
    tests_words,
)
from agentbench_tui.presentation.numbers import MISSING, p_value, percent
from agentbench_tui.presentation.report import Column, Report, Row, Section, Table, raw_columns
from agentbench_tui.verdicts.evidence.place import point_words

if TYPE_CHECKING:
    from agentbench_tui.contracts.compare import (
        ComparedBenchmark,
        ComparedMetric,
        Pair,
    )

ACCURACY = "accuracy"
_METRICS = (
    Column("metric", "metric", names_row=True),
    Column("change", CHANGE_TITLE),
    Column("p", "p", right=True),
    Column("verdict", "B is"),
    Column("needed", "needs", right=True),
    Column("values", "A, B", right=True),
    Column("n", "from"),
)
_CASES = (
    Column("case_id", "case", names_row=True),
    Column("right", "right"),
    Column("expected", "expected"),
    Column("a", "A"),
    Column("b", "B"),
)
_MOST_NAMED = 4
_SHOWN = 44
"""Characters of an answer in a table; JSON has more."""
_SWAPPED = {"better": "worse", "worse": "better"}


def comparison_report(compared: CompareDocument | CompareMatrixDocument) -> Report:
    """Return a comparison without its breakdown by groups of cases, see `comparison_by_group`."""
    sections = []
    if isinstance(compared, CompareMatrixDocument):
        sections.append(Section(comparison_verdict(compared).words, [_matrix(compared)],
                                is_answer=True))  # fmt: skip
    for pair in compared.matrix:
        sections += _pair(pair, compared)
    return Report(Table(*_records(compared)), sections)


def _records(
    compared: CompareDocument | CompareMatrixDocument,
) -> tuple[Sequence[Column], Sequence[Row]]:
    """Return one row per metric and pair, with the labels of A and B next to their values."""
    rows: list[Row] = [
        {"control": pair.a, "candidate": pair.b, **plain(metric)}
        for pair in compared.matrix
        for metric in pair.metrics
    ]
    if compared.breakdown is not UNSET:
        rows = [{"group": None, **row} for row in rows]
        rows += [
            {name: row.get(name) for name in rows[0]}
            for one in compared.breakdown.pairs
            for group in one.groups
            for metric in group.metrics
            for row in [{"control": one.a, "candidate": one.b, "group": group.group,
                         **plain(metric)}]
        ]  # fmt: skip
    return raw_columns([*rows[0]] if rows else ["metric"]), rows


def _matrix(compared: CompareMatrixDocument) -> Table:
    """Return the verdict of each row against each column."""
    cells = {(pair.a, pair.b): pair for pair in compared.matrix}
    rows = []
    for row in compared.selectors:
        said = {"name": row}
        for column in compared.selectors:
            if (column, row) in cells:
                said[f"against {column}"] = _cell(cells[column, row], swapped=False)
            elif (row, column) in cells:
                said[f"against {column}"] = _cell(cells[row, column], swapped=True)
        rows.append(said)
    columns = [
        Column("name", "is against", names_row=True),
        *(Column(f"against {one}", one) for one in compared.selectors),
    ]
    return Table(columns, rows)


def _cell(pair: Pair, *, swapped: bool) -> str:
    if pair.why_unranked:
        return "not ranked"
    verdict = pair.overall.verdict
    if verdict == "tie" and not pair.overall.settled:
        return "tie, open"
    return _SWAPPED.get(verdict, verdict) if swapped else verdict


def _pair(pair: Pair, compared: CompareDocument | CompareMatrixDocument) -> list[Section]:
    """Return the answer, then what it rests on."""
    if pair.identical:
        return [Section(pair_verdict(pair).words, is_answer=True)]
    answer = [*accuracy_lines(pair), *advice(pair)]
    sections = [Section(pair_verdict(pair).words, sentences=answer, is_answer=True)]
    shared = _shared_notes(pair)
    for place, at in enumerate(pair.benchmarks):
        title = f"{_place(at)}: A {pair.a}, B {pair.b}" if not place else _place(at)
        notes = [words for words in _notes(pair, at) if words not in shared]
        sections.append(Section(title, _metrics(pair, at), notes))
    if shared:
        sections.append(Section(f"On all {len(pair.benchmarks)} benchmarks:", sentences=shared))
    sections += [
        one for at in pair.benchmarks if (one := _cases(at, len(pair.benchmarks) > 1)) is not None
    ]
    return [*sections, Section(sentences=_remarks(pair, compared))]


def accuracy_lines(pair: Pair) -> list[str]:
    """Return how accurate both sides are, on each of the first few benchmarks."""
    if pair.identical:  # its accuracy is no result of a comparison
        return []
    return [
        f"Accuracy{_on(pair, one)}: {pair.b} {percent(one.b)}, {pair.a} {percent(one.a)}"
        f" ({change(one)}, {one.verdict if one.comparable else 'not compared'})."
        for one in [one for one in pair.metrics if one.metric == ACCURACY][:_MOST_NAMED]
    ]


def _on(pair: Pair, one: ComparedMetric) -> str:
    return f" on {one.benchmark_id}" if len(pair.benchmarks) > 1 else ""


def _place(at: ComparedBenchmark) -> str:
    point = point_words(at.parameters)
    return f"{at.suite_id}/{at.benchmark_id}" + (f" at {point}" if point else "")


def _at(pair: Pair, at: ComparedBenchmark) -> list[ComparedMetric]:
    """Return the metrics of a benchmark, accuracy first."""
    here = (at.suite_id, at.benchmark_id, at.parameters)
    found = [
        one for one in pair.metrics if (one.suite_id, one.benchmark_id, one.parameters) == here
    ]
    return sorted(found, key=lambda one: one.metric != ACCURACY)


def _metrics(pair: Pair, at: ComparedBenchmark) -> list[Table]:
    rows = [
        {
            "metric": one.metric,
            "change": change(one),
            "p": p_value(one.p_adjusted),
            "verdict": one.verdict if one.comparable else MISSING,
            "needed": needed_words(one),
            "values": both_values(one),
            "n": sample_words(one),
        }
        for one in _at(pair, at)
    ]
    rows += [
        {
            "metric": one.metric,
            "change": attempts_change(one),
            "p": MISSING,
            "verdict": MISSING,
            "needed": "",
            "values": f"{percent(one.a)}, {percent(one.b)}",
            "n": sample_words(one),
        }
        for one in at.attempts
    ]
    columns = [one for one in _METRICS if one.key != "needed" or any(r["needed"] for r in rows)]
    return [Table(columns, rows)] if rows else []


def _notes(pair: Pair, at: ComparedBenchmark) -> list[str]:
    """Return the differences other than the agents, and notes.

    If both sides are the same, notes on disturbances and improvements are useless.
    """
    if at.identical:
        return []
    said = [*sorted({one.words for one in at.differences}), *at.notes]
    if note := attempts_note(at):
        said.append(note)
    by_words: dict[str, list[str]] = {}
    for metric in _at(pair, at):
        for words in metric.notes:
            by_words.setdefault(words, []).append(metric.metric)
    return said + [f"{', '.join(names)}: {words}" for words, names in by_words.items()]


def _shared_notes(pair: Pair) -> list[str]:
    """Return the notes that every one of several benchmarks has."""
    if len(pair.benchmarks) < 2:
        return []
    first, *rest = [_notes(pair, at) for at in pair.benchmarks]
    return [words for words in first if all(words in others for others in rest)]


def _cases(at: ComparedBenchmark, several: bool) -> Section | None:
    apart = at.disagreements
    if apart is None or not apart.first:
        return None
    rows = [{"case_id": one.case_id, **answers_at(one, _short)} for one in apart.first]
    where = f" on {at.benchmark_id}" if several else ""
    count = apart.only_a + apart.only_b
    return Section(f"{cases_title(len(rows), count, where)}:", [Table(_CASES, rows)])


def _short(text: str | None) -> str:
    if text is None:
        return MISSING
    line = one_line(text)
    return line if len(line) <= _SHOWN else f"…{line[1 - _SHOWN :]}"


def _remarks(pair: Pair, compared: CompareDocument | CompareMatrixDocument) -> list[str]:
    """Return what was left out, the winners by category, and how p-values were adjusted."""
    lines = [measured_alone_words(side) for side in (pair.sides.a, pair.sides.b) if side.not_shared]
    if len(pair.categories) > 1:
        winners = ", ".join(f"{name} {one or MISSING}" for name, one in pair.categories.items())
        lines.append(f"Winners by category: {winners}")
    return [*lines, tests_words(compared.tests, compared.adjustment)]
