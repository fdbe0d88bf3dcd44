"""Comparison of an experiment's variants with the first of them, as one table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from agentbench_tui.cli.console.output import print_prose, print_rows
from agentbench_tui.model.text.plain_number import counted
from agentbench_tui.presentation.comparison.wording import CHANGE_TITLE
from agentbench_tui.presentation.numbers import MISSING
from agentbench_tui.presentation.report import Column

if TYPE_CHECKING:
    import sqlite3

    from agentbench_tui.model.figures.metric import Metric
    from agentbench_tui.verdicts.comparison.compare import Compared, Pair
    from agentbench_tui.verdicts.comparison.comparison import Comparison

Document = dict[str, Any]

MOST_PAIRS = 45
"""Maximum number of printed comparisons; use `agentbench compare` for the others."""
ENOUGH_REPEATS = 5
"""From which on a verdict on speed is to be had."""
_COLUMNS = (
    Column("place", "experiment", names_row=True),
    Column("variant", "B", names_row=True),
    Column("metric", "metric"),
    Column("change", CHANGE_TITLE),
    Column("p", "p", right=True),
    Column("verdict", "B is"),
    Column("needed", "needs", right=True),
    Column("n", "from"),
)


def print_comparisons(
    connection: sqlite3.Connection,
    run: Document,
    columns: Mapping[str, Metric],
    metrics: Sequence[str],
    *,
    all_pairs: bool,
) -> None:
    """Compare variants by `metrics`, some of them `columns`, with the first variant, or print all
    pairs in full. `run` is `agentbench.run/1`.
    """
    from agentbench_tui.model.errors import AgentbenchError

    by_benchmark: dict[str, dict[str, None]] = {}
    for one in run["executions"]:
        if one["status"] == "complete":
            by_benchmark.setdefault(one["benchmark_id"], {})[one["agent_id"]] = None
    for benchmark_id, variants in by_benchmark.items():
        count = len(variants)
        if not 0 < (count * (count - 1) // 2 if all_pairs else count - 1) <= MOST_PAIRS:
            continue
        try:
            _print_benchmark(
                connection, (run["run_id"], benchmark_id, *variants), columns, metrics, all_pairs
            )
        except AgentbenchError as error:
            print_prose(f"{benchmark_id}: {error}", err=True)


def _print_benchmark(
    connection: sqlite3.Connection,
    of: tuple[str, ...],
    columns: Mapping[str, Metric],
    metrics: Sequence[str],
    all_pairs: bool,
) -> None:
    """Print one benchmark; `of`: the run, the benchmark, and its variants.

    Raises AgentbenchError if they cannot be compared.
    """
    from agentbench_tui.verdicts.comparison.compare import compare
    from agentbench_tui.verdicts.comparison.comparison import Asked
    from agentbench_tui.verdicts.evidence.case_numbers import CaseNumbers
    from agentbench_tui.verdicts.selection.side import load_sides

    run_id, benchmark_id, *variants = of
    numbers = CaseNumbers(connection)
    selectors = [f"run:{run_id}/{name}" for name in variants]
    sides = [
        replace(side, selector=replace(side.selector, text=name))
        for name, side in zip(
            variants,
            load_sides(connection, selectors, None, benchmark_id, numbers, ()),
            strict=True,
        )
    ]
    asked = Asked("auto", None, 42, columns=columns)
    known = [name for name in metrics if name not in columns or _has(connection, of, name)]
    found = compare(connection, sides, numbers, asked, known, against_first=not all_pairs)
    click.echo()
    if all_pairs:
        from agentbench_tui.cli.compare.result import print_comparison
        from agentbench_tui.verdicts.comparison.compare_document import compare_document

        print_comparison(compare_document(connection, found, numbers, 0), "table")
    else:
        _print_against_first(found)


def _has(connection: sqlite3.Connection, of: tuple[str, ...], name: str) -> bool:
    """Return whether the benchmark has that number, which may belong to another experiment."""
    from agentbench_tui.store.queries.metrics import run_has_metric

    return run_has_metric(connection, of[0], of[1], name)


def _print_against_first(found: Compared) -> None:
    rows = [row for pair in found.pairs for row in _rows(pair)]
    places = {row["place"] for row in rows}
    columns = [
        one
        for one in _COLUMNS
        if (one.key != "place" or len(places) > 1)
        and (one.key != "needed" or any(row["needed"] for row in rows))
    ]
    title = f"each B against A, {found.sides[0].label}"
    if len(places) == 1:
        title = f"{places.pop()}: {title}"
    print_rows(rows, columns, "table", title=title)
    for words in _notes(found):
        print_prose(f"– {words}")


def _rows(pair: Pair) -> list[Document]:
    from agentbench_tui.presentation.comparison.wording import change, needed_words
    from agentbench_tui.presentation.numbers import p_value

    return [
        {
            "place": one.place.words,
            "variant": pair.b.label,
            "metric": metric.metric,
            "change": change(metric),
            "p": p_value(metric.p_adjusted),
            "verdict": metric.verdict if metric.comparable and pair.is_ranked else MISSING,
            "needed": needed_words(metric),
            "n": _sample(metric),
        }
        for one in pair.benchmarks
        for metric in one.metrics
    ]


def _sample(metric: Comparison) -> str:
    return counted(metric.n, "pair" if metric.paired else metric.of.removesuffix("s"))


def _notes(found: Compared) -> list[str]:
    """Return further notes, each once, with the variants that it applies to."""
    by_words: dict[str, dict[str, None]] = {}
    for pair in found.pairs:
        for one in pair.benchmarks:
            said = [difference.words for difference in one.differences]
            said += [*one.notes, *(words for metric in one.metrics for words in metric.notes)]
            for words in said:
                by_words.setdefault(words, {})[pair.b.label] = None
    lines = [
        words if len(labels) == len(found.pairs) else f"{', '.join(labels)}: {words}"
        for words, labels in by_words.items()
    ]
    if found.tests > 1:
        by = "Holm" if found.adjustment == "holm" else "Benjamini and Hochberg"
        lines.append(f"p of {found.tests} tests adjusted by {by}")
    few = min((m.n for p in found.pairs for m in p.metrics if m.of == "repeats"), default=None)
    if few is None or few < ENOUGH_REPEATS:
        lines.append(f"measure with --runs {ENOUGH_REPEATS}: fewer repeats say little about others")
    return lines
