"""Tables and sentences of a comparison, from its document."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agentbench_tui.contracts.compare import ComparedAttempts, CompareMatrixDocument
from agentbench_tui.presentation.comparison.report import accuracy_lines
from agentbench_tui.presentation.comparison.verdict import pair_verdict
from agentbench_tui.presentation.comparison.wording import (
    answers_at,
    attempts_note,
    needed_words,
    sample_words,
    tests_words,
)
from agentbench_tui.presentation.numbers import MISSING, measured, p_value, percent
from agentbench_tui.tui.drawing.drawn_cells import delta_cell, whisker_cell
from agentbench_tui.tui.drawing.grid_data import Cell, Column, GridData, GridRow, Role
from agentbench_tui.tui.pages.compare.selector_rows import short
from agentbench_tui.tui.widgets.delta_cell import Delta
from agentbench_tui.tui.widgets.filter_line import holds
from agentbench_tui.tui.widgets.interval_cell import Interval, interval_column
from agentbench_tui.tui.widgets.sentences import Sentence
from agentbench_tui.verdicts.evidence.place import point_words

if TYPE_CHECKING:
    from collections.abc import Sequence

    from agentbench_tui.contracts.compare import (
        CaseDisagreement,
        ComparedBenchmark,
        ComparedMetric,
        Comparison,
        Pair,
    )
    from agentbench_tui.verdicts.evidence.place import Place

_ORDER = ("worse", "better", "inconclusive", "equivalent")
_ROLES: dict[str, Role] = {"better": "good", "worse": "bad", "trade-off": "warn"}
_OUTCOMES: dict[str, Role] = {"good": "good", "bad": "bad", "open": "warn", "plain": "text"}


def place_words(found: ComparedMetric | ComparedBenchmark) -> str:
    """Return the benchmark of a part of the document, and the point of its sweep."""
    point = point_words(found.parameters or {})
    return f"{found.benchmark_id} ({point})" if point else str(found.benchmark_id)


def is_at(found: ComparedMetric | ComparedBenchmark, place: Place | None) -> bool:
    """Return whether a part of the document belongs to this place; True if no place is chosen."""
    if place is None:
        return True
    at = (found.suite_id, found.benchmark_id, found.parameters)
    return at == (place.suite_id, place.benchmark_id, place.point)


def verdict_lines(document: Comparison, pair: Pair) -> list[Sentence]:
    """Return the verdict, then accuracy if there is one, and how many tests were made."""
    verdict = pair_verdict(pair)
    accuracy = accuracy_lines(pair)
    support = [*(accuracy if len(accuracy) == 1 else ()),
               tests_words(document.tests, document.adjustment)]  # fmt: skip
    return [
        Sentence(verdict.words, role=_OUTCOMES[verdict.outcome]),
        Sentence(" ".join(support)),
    ]


def advice(document: Comparison, pair: Pair) -> list[Sentence]:
    """Return the recommendations with their numbers, and notes on the comparison."""
    said = [Sentence(words, "do") for words in pair.recommendations]
    notes = dict.fromkeys(
        words
        for one in pair.benchmarks
        for words in [*(each.words for each in one.differences), *one.notes, attempts_note(one)]
        if words
    )
    said += [Sentence(words, "note", "dim") for words in notes]
    for metric in pair.metrics:
        name = f"{metric.metric} on {place_words(metric)}"
        said += [Sentence(f"{name}: {words}", "note", "dim") for words in metric.notes]
    if isinstance(document, CompareMatrixDocument):
        winner = document.overall.winner
        words = "no agent beats or equals all others" if winner is None else f"{short(winner)} wins"
        said.insert(0, Sentence(f"{words}, of all {len(document.sides)} sides", "overall"))
    return said


def metrics_table(
    pair: Pair, place: Place | None, *, by_verdict: bool = False, words: str = ""
) -> GridData:
    """Return a row for each metric of a pair: both values, the change drawn, its verdict, what it
    needs. Keys are numbers of the pair's metrics.

    `by_verdict`: what is worse or better first, instead of benchmark by benchmark.
    """
    found = [
        (f"{number}", one)
        for number, one in enumerate(pair.metrics)
        if is_at(one, place) and holds(words, one.metric, place_words(one), one.verdict)
    ]
    if by_verdict:
        found.sort(key=lambda each: _ORDER.index(each[1].verdict))
    several = len(pair.benchmarks) > 1 and place is None
    ratios = interval_column(
        [_interval(one) for _, one in found if one.ratio is not None],
        log=True, reference=1.0, centered=True,
    )  # fmt: skip
    differences = interval_column(
        [
            *(_interval(one) for _, one in found if one.ratio is None),
            *(_interval(one) for _, _, one in _attempts(pair, place)),
        ],
        reference=0.0,
        centered=True,
    )
    rows = [
        GridRow(
            key,
            (
                one.metric,
                place_words(one),
                measured(one.a, one.unit),
                measured(one.b, one.unit),
                delta_cell(_delta(one)),
                whisker_cell(_interval(one), ratios if one.ratio is not None else differences),
                needed_words(one),
                p_value(one.p_adjusted),
                Cell(sample_words(one), role="dim"),
            ),
        )
        for key, one in found
    ]
    rows += [
        GridRow(
            f"{number}/{one.metric}",
            (
                one.metric,
                place_words(at),
                percent(one.a),
                percent(one.b),
                delta_cell(_untested(one)),
                whisker_cell(_interval(one), differences),
                "",
                MISSING,
                Cell(sample_words(one), role="dim"),
            ),
        )
        for number, at, one in _attempts(pair, place)
        if holds(words, one.metric, place_words(at))
    ]
    return GridData(_metric_columns(several), rows, reason="no metric fits the filter")


def _attempts(
    pair: Pair, place: Place | None
) -> list[tuple[int, ComparedBenchmark, ComparedAttempts]]:
    """Return pass@k and pass^k of each benchmark with its number."""
    return [
        (number, at, one)
        for number, at in enumerate(pair.benchmarks)
        if is_at(at, place)
        for one in at.attempts
    ]


def _untested(one: ComparedAttempts) -> Delta:
    reason = one.notes[0] if one.notes else "unknown"
    return Delta(one.difference, "not tested", one.low, one.high, "points", reason)


def _metric_columns(several: bool) -> tuple[Column, ...]:
    return (
        Column("metric", "metric", 17, flex=1),
        *([Column("benchmark", "benchmark", 14, flex=1, priority=1)] if several else
          [Column("benchmark", "benchmark", 14, priority=9)]),
        Column("a", "A", 10, align="right", priority=4),
        Column("b", "B", 10, align="right", priority=4),
        Column("change", "B / A or B − A [95%], B is", 35, priority=0),
        Column("interval", "change, drawn", 15, flex=3, priority=5),
        Column("needs", "needs", 12, align="right", priority=6),
        Column("p", "p", 6, align="right", priority=7),
        Column("from", "from", 32, priority=8),
    )  # fmt: skip


def _interval(one: ComparedMetric | ComparedAttempts) -> Interval:
    of_ratio = None if isinstance(one, ComparedAttempts) else one.ratio
    middle = one.difference if of_ratio is None else of_ratio
    return Interval(middle, one.low, one.high)


def _delta(one: ComparedMetric) -> Delta:
    reason = one.notes[0] if one.notes else "unknown"
    verdict = one.verdict if one.comparable else "not comparable"
    if one.ratio is not None:
        return Delta(one.ratio, verdict, one.low, one.high, "ratio", reason)
    unit: Any = "points" if one.unit == "share" else ""
    return Delta(one.difference, verdict, one.low, one.high, unit, reason)


def cases_table(pair: Pair, place: Place | None, words: str = "") -> GridData:
    """Return cases that only one selector gets right, the clearest first; keys are `benchmark
    number/case`.
    """
    several = len(pair.benchmarks) > 1
    columns = (
        Column("case", "case", 14, flex=1, has_names=True),
        *([Column("benchmark", "benchmark", 14, priority=2)] if several else []),
        Column("right", "right", 5),
        Column("expected", "expected", 12, flex=2, priority=3),
        Column("a", "A said", 16, flex=3),
        Column("b", "B said", 16, flex=3),
    )
    rows = []
    for at, case in _apart(pair, place):
        where = place_words(pair.benchmarks[at])
        both = answers_at(case)
        if not holds(words, case.case_id, where, case.expected or "", both["a"], both["b"]):
            continue
        is_a = both["right"] == "A"
        rows.append(
            GridRow(
                f"{at}/{case.case_id}",
                (
                    case.case_id,
                    *([where] if several else []),
                    Cell(both["right"], series=0 if is_a else 1),
                    both["expected"],
                    Cell(both["a"], role="text" if is_a else "warn"),
                    Cell(both["b"], role="warn" if is_a else "text"),
                ),
            )
        )
    return GridData(columns, rows, reason=_why_no_case(pair, place, words))


def _apart(pair: Pair, place: Place | None) -> list[tuple[int, CaseDisagreement]]:
    found = [
        (at, case)
        for at, one in enumerate(pair.benchmarks)
        if is_at(one, place) and one.disagreements is not None
        for case in one.disagreements.first
    ]
    return sorted(found, key=lambda each: -abs(each[1].a.right - each[1].b.right))


def cases_title(pair: Pair, place: Place | None) -> str:
    """Return how many cases only one side gets right."""
    apart = [
        one.disagreements
        for one in pair.benchmarks
        if is_at(one, place) and one.disagreements is not None
    ]
    only_a, only_b = sum(one.only_a for one in apart), sum(one.only_b for one in apart)
    a, b = short(pair.a), short(pair.b)
    return f"right in only one: {only_a:,} in {a} (A), {only_b:,} in {b} (B)"


def _why_no_case(pair: Pair, place: Place | None, words: str) -> str:
    judged = [one for one in pair.benchmarks if is_at(one, place)]
    if all(one.disagreements is None for one in judged):
        return "no answer is called right or wrong here, so there is nothing to disagree on"
    return f"no case with “{words}”" if words else "both get the same cases right"


def matrix_table(pairs: Sequence[Pair], labels: Sequence[str]) -> GridData:
    """Return the verdict of each row against each column, as a word."""
    cells = {(pair.a, pair.b): pair for pair in pairs}
    rows = []
    for row in labels:
        said = [Cell(short(row), role="title")]
        for column in labels:
            if (column, row) in cells:
                said.append(_against(cells[column, row], swapped=False))
            elif (row, column) in cells:
                said.append(_against(cells[row, column], swapped=True))
            else:
                said.append(Cell("·", role="dim"))
        rows.append(GridRow(row, said))
    columns = (
        Column("row", "is against", 14, flex=2),
        *(Column(f"{at}", short(label), 14, flex=1) for at, label in enumerate(labels)),
    )
    return GridData(columns, rows)


def _against(pair: Pair, *, swapped: bool) -> Cell:
    found = pair.overall
    verdict = found.verdict
    if verdict in {"better", "worse"} and found.winner is None:
        return Cell("! not ranked", role="warn")
    if verdict == "tie":
        return Cell("= tie" if found.settled else "? tie, open", role="text")
    if swapped:
        verdict = {"better": "worse", "worse": "better"}.get(verdict, verdict)
    more, less = found.better, found.worse
    if swapped:
        more, less = less, more
    return Cell(f"{verdict} +{more} -{less}", role=_ROLES[verdict])
