"""A comparison as tables and sentences."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from agentbench_tui.cli.console.output import print_json, print_prose, print_rows
from agentbench_tui.model.text.cells import markdown_cell
from agentbench_tui.model.text.untrusted import one_line
from agentbench_tui.presentation.comparison import (
    CHANGE_TITLE,
    both_values,
    change,
    needed_words,
    sample_words,
)
from agentbench_tui.presentation.numbers import MISSING, p_value
from agentbench_tui.presentation.report import Column

if TYPE_CHECKING:
    from collections.abc import Sequence

    from agentbench_tui.verdicts.comparison.compare import Compared, OnBenchmark, Pair
    from agentbench_tui.verdicts.groups.compare_groups import ComparedByGroups

Document = dict[str, Any]

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
_LONGEST = 2000
"""Characters of a sentence."""
_MOST_NAMED = 4
_SHOWN = 44
"""Characters of an answer in a table; JSON has more."""


def print_comparison(
    found: Compared,
    document: Document,
    form: str,
    by: ComparedByGroups | None = None,
    by_limit: int = 0,
) -> None:
    """`document` is the comparison as `compare_document` has it, with `by` in its `breakdown`."""
    from agentbench_tui.cli.compare.groups import group_rows, print_groups

    if form == "json":
        print_json(document)
    elif form in {"csv", "jsonl"}:
        rows = _metric_rows(document)
        if by is not None:
            rows = _with_groups(rows, group_rows(document["breakdown"]))
        print_rows(rows, [Column(name, name) for name in (rows[0] if rows else ("metric",))], form)
    else:
        pairs = document.get("matrix") or [document]
        if len(found.pairs) > 1:
            _print_matrix(found, form)
        for pair, part in zip(found.pairs, pairs, strict=True):
            _print_pair(found, pair, part, form)
        if len(found.pairs) > 1:
            winner = document["overall"]["winner"]
            _say(form, f"Overall: {'no winner' if winner is None else f'{winner} wins'}.")
        if by is not None and not all(pair.identical for pair in found.pairs):
            print_groups(by, form, by_limit, both_values)


def _metric_rows(document: Document) -> list[Document]:
    """Return one row per metric and pair, with the labels of A and B next to their values."""
    return [
        {"control": part["a"], "candidate": part["b"], **metric}
        for part in document.get("matrix") or [document]
        for metric in part["metrics"]
    ]


def _with_groups(whole: list[Document], groups: list[Document]) -> list[Document]:
    """Return the rows of the whole, whose `group` is empty, and those of the groups."""
    rows = [{"group": None, **row} for row in whole]
    return rows + [{name: row.get(name) for name in rows[0]} for row in groups]


def _print_matrix(found: Compared, form: str) -> None:
    """Print the verdict of each row against each column."""
    labels = [side.label for side in found.sides]
    cells = {(pair.a.label, pair.b.label): pair for pair in found.pairs}
    rows = []
    for row in labels:
        said: Document = {"name": row}
        for column in labels:
            if (column, row) in cells:
                pair = cells[column, row]
                said[column] = _cell(pair, pair.outcome)
            elif (row, column) in cells:
                pair = cells[row, column]
                said[column] = _cell(pair, pair.outcome.swapped())
        rows.append(said)
    columns = [Column("name", "is against", names_row=True), *(Column(one, one) for one in labels)]
    print_rows(rows, columns, form)
    click.echo()


def _cell(pair: Pair, found: Any) -> str:
    if not pair.is_ranked:
        return "not ranked"
    return "tie, open" if found.verdict == "tie" and not found.is_settled else str(found.verdict)


def _print_pair(found: Compared, pair: Pair, document: Document, form: str) -> None:
    title = f"A {pair.a.label}, B {pair.b.label}"
    if pair.identical:
        _say(form, f"{title}: {pair.identical}, so there is nothing to compare.")
        return
    _say(form, title, heading=True)
    shared: list[str] = []
    if len(pair.benchmarks) > 1:  # what is to be said of every benchmark is said once
        first, *rest = map(_words, pair.benchmarks)
        shared = [words for words in first if all(words in others for others in rest)]
    for one in pair.benchmarks:
        _print_benchmark(one, [words for words in _words(one) if words not in shared], form)
    if shared:
        click.echo()
        _say(form, f"On all {len(pair.benchmarks)} benchmarks:")
    for words in [*shared, *_alone(pair)]:
        _say(form, f"– {words}")
    _print_overall(found, pair, document, form)
    for part in document["benchmarks"]:
        _print_cases(part, len(pair.benchmarks) > 1, form)
    if len(found.pairs) > 1:
        click.echo()


def _alone(pair: Pair) -> list[str]:
    return [
        f"only {side.label} was measured on {', '.join(map(str, side.alone[:_MOST_NAMED]))}"
        + (f" and {len(side.alone) - _MOST_NAMED} more" if len(side.alone) > _MOST_NAMED else "")
        for side in (pair.a, pair.b)
        if side.alone
    ]


def _words(one: OnBenchmark) -> list[str]:
    """Return the differences other than the agents, and notes.

    If both sides are the same on a benchmark, notes on disturbances and improvements are useless.
    """
    if one.identical:
        return []
    differences = {
        difference.words for difference in one.differences if not difference.is_identical
    }
    return [*sorted(differences), *_notes(one)]


def _print_benchmark(one: OnBenchmark, notes: Sequence[str], form: str) -> None:
    rows = [
        {
            "metric": metric.metric,
            "change": change(metric),
            "p": p_value(metric.p_adjusted),
            "verdict": metric.verdict if metric.comparable else MISSING,
            "needed": needed_words(metric),
            "values": both_values(metric),
            "n": sample_words(metric),
        }
        for metric in one.metrics
    ]
    click.echo()
    _say(form, str(one.place))
    if one.identical:
        _say(form, f"– {one.identical}")
    if form == "md":
        click.echo()
    if rows:
        columns = [one for one in _METRICS if one.key != "needed" or any(r["needed"] for r in rows)]
        print_rows(rows, columns, form)
    if form == "md":
        click.echo()
    for words in notes:
        _say(form, f"– {words}")


def _notes(one: OnBenchmark) -> list[str]:
    said = list(one.notes)
    by_words: dict[str, list[str]] = {}
    for metric in one.metrics:
        for words in metric.notes:
            by_words.setdefault(words, []).append(metric.metric)
    return said + [f"{', '.join(names)}: {words}" for words, names in by_words.items()]


def _print_overall(found: Compared, pair: Pair, document: Document, form: str) -> None:
    click.echo()
    by = "Holm" if found.adjustment == "holm" else "Benjamini and Hochberg"
    adjusted = {0: "no test could be made", 1: "one test"}.get(
        found.tests, f"p of {found.tests} tests adjusted by {by}"
    )
    said = pair.outcome
    if not pair.is_ranked:
        verdict = "not ranked"
    elif said.verdict == "tie":
        verdict = "a tie" if said.is_settled else "no winner yet"
    elif said.verdict == "trade-off":
        verdict = "a trade-off"
    else:
        verdict = f"{pair.winner()} wins"
    _say(form, f"Overall: {verdict}. B: {said.words} ({adjusted}).")
    categories = document["categories"]
    if len(categories) > 1:
        winners = ", ".join(f"{name} {winner or MISSING}" for name, winner in categories.items())
        _say(form, f"Winners by category: {winners}")
    for words in document["recommendations"]:
        _say(form, f"- {words}")


def _print_cases(part: Document, several: bool, form: str) -> None:
    apart = part["disagreements"]
    if apart is None or not apart["first"]:
        return
    rows = [
        {
            "case_id": case["case_id"],
            "right": "A" if case["a"]["right"] > case["b"]["right"] else "B",
            "expected": _short(case["expected"]),
            "a": _answer(case["a"]),
            "b": _answer(case["b"]),
        }
        for case in apart["first"]
    ]
    where = f" on {part['benchmark_id']}" if several else ""
    count = apart["only_a"] + apart["only_b"]
    click.echo()
    _say(form, f"Cases{where} that only one gets right, {len(rows)} of {count}:")
    if form == "md":
        click.echo()
    print_rows(rows, _CASES, form)


def _answer(said: Document) -> str:
    return f"({said['failure']})" if said["failure"] else _short(said["answer"])


def _short(text: str | None) -> str:
    if text is None:
        return MISSING
    line = one_line(text)
    return line if len(line) <= _SHOWN else f"…{line[1 - _SHOWN :]}"


def _say(form: str, text: str, *, heading: bool = False) -> None:
    if form == "md":
        mark = "## " if heading else ""
        start = "- " if text.startswith(("- ", "– ")) else ""
        click.echo(f"{mark}{start}{markdown_cell(text[2:] if start else text, _LONGEST)}")
    else:
        print_prose(one_line(text, _LONGEST))
