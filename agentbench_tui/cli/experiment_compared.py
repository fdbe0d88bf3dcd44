"""Variants of experiments held against the first of them, as one table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from agentbench_tui.cli.output import Column, print_prose, print_rows
from agentbench_tui.verdicts.figures import NOTHING

if TYPE_CHECKING:
    import sqlite3

    from agentbench_tui.model.metric import Metric
    from agentbench_tui.verdicts.compare import Compared, Pair

Document = dict[str, Any]

MOST_PAIRS = 45
"""Comparisons that are told; of more, `agentbench compare` tells those that are asked for."""
ENOUGH_REPEATS = 5
"""From which on a verdict on speed is to be had."""
_COLUMNS = (
    Column("place", "experiment", names_row=True),
    Column("variant", "variant", names_row=True),
    Column("metric", "metric"),
    Column("change", "against it [95 %]"),
    Column("p", "p", right=True),
    Column("verdict", "is"),
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
    """`metrics` of variants, some of them `columns`, against the first variant, or all pairs in
    full. `run` is `agentbench.run/1`."""
    from agentbench_tui.model.errors import AgentbenchError
    from agentbench_tui.verdicts.case_numbers import CaseNumbers
    from agentbench_tui.verdicts.compare import compare
    from agentbench_tui.verdicts.comparison import Asked
    from agentbench_tui.verdicts.side import load_sides

    complete = [one["agent_id"] for one in run["executions"] if one["status"] == "complete"]
    variants = list(dict.fromkeys(complete))
    count = len(variants)
    if count < 2 or (count * (count - 1) // 2 if all_pairs else count - 1) > MOST_PAIRS:
        return
    numbers = CaseNumbers(connection)
    try:
        sides = [
            replace(side, selector=replace(side.selector, text=name))
            for name, side in zip(
                variants,
                load_sides(
                    connection,
                    [f"run:{run['run_id']}/{name}" for name in variants],
                    None,
                    None,
                    numbers,
                    (),
                ),
                strict=True,
            )
        ]
        found = compare(
            connection,
            sides,
            numbers,
            Asked("auto", None, 42, columns=columns),
            metrics,
            against_first=not all_pairs,
        )
    except AgentbenchError as error:
        print_prose(str(error), err=True)
        return
    click.echo()
    if all_pairs:
        from agentbench_tui.cli.compare_result import print_comparison
        from agentbench_tui.verdicts.compare_document import compare_document

        print_comparison(found, compare_document(connection, found, numbers, 0), "table")
    else:
        _print_against_first(found)


def _print_against_first(found: Compared) -> None:
    rows = [row for pair in found.pairs for row in _rows(pair)]
    places = {row["place"] for row in rows}
    columns = [
        one
        for one in _COLUMNS
        if (one.key != "place" or len(places) > 1)
        and (one.key != "needed" or any(row["needed"] for row in rows))
    ]
    title = f"against {found.sides[0].label}"
    if len(places) == 1:
        title = f"{places.pop()}: {title}"
    print_rows(rows, columns, "table", title=title)
    for words in _notes(found):
        print_prose(f"– {words}")


def _rows(pair: Pair) -> list[Document]:
    from agentbench_tui.verdicts.change import change, needed_words, p_words

    return [
        {
            "place": one.place.words,
            "variant": pair.b.label,
            "metric": metric.metric,
            "change": f"× {change(metric)}" if metric.ratio is not None else change(metric),
            "p": p_words(metric.p_adjusted),
            "verdict": metric.verdict if metric.comparable and pair.is_ranked else NOTHING,
            "needed": needed_words(metric),
            "n": f"{metric.n:,} {'pairs' if metric.paired else metric.of}",
        }
        for one in pair.benchmarks
        for metric in one.metrics
    ]


def _notes(found: Compared) -> list[str]:
    """What is to be known besides, each once, with the variants that it is true of."""
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
        lines.append(f"measure with --runs {ENOUGH_REPEATS}: fewer repeats tell little of another")
    return lines
