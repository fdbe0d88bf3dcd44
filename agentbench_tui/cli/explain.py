"""`agentbench explain`: meaning and formula of a metric, a score or a term."""

from __future__ import annotations

from typing import Any

import click

from agentbench_tui.cli.console.output import format_option, print_rows
from agentbench_tui.presentation.report import Column

_COLUMNS = (
    Column("name", "name", names_row=True),
    Column("type", "type"),
    Column("unit", "unit"),
    Column("direction", "better"),
    Column("formula", "formula"),
)


@click.command(short_help="Explain what a metric, score or term means.")
@click.argument("metric", nargs=-1)
@format_option()
def explain(metric: tuple[str, ...], form: str) -> int:
    """Explain METRICs: the formula, unit and direction of each.

    A METRIC can also be a term from a table or a sentence. Without METRIC, list all of them.

    \b
    agentbench explain e2e_ms.p95
    agentbench explain accuracy overall
    agentbench explain verdict
    agentbench explain real-time priority
    """
    from agentbench_tui.verdicts.explanation import SCHEMA, explain_arguments, explanations

    if not metric:
        rows = explanations()
        print_rows(
            [{**row, "formula": row["formula"].partition(". ")[0]} for row in rows],
            _COLUMNS,
            form,
            {"schema": SCHEMA, "metrics": rows},
        )
        return 0
    rows = explain_arguments(metric)
    if form != "table":
        document = rows[0] if len(rows) == 1 else {"metrics": rows}
        print_rows(rows, _COLUMNS, form, {"schema": SCHEMA, **document})
        return 0
    for row in rows:
        _say(row)
    return 0


def _say(row: dict[str, Any]) -> None:
    better = {"lower": "lower is better", "higher": "higher is better", "none": "neither better"}
    # What is no number: nothing to be better or worse.
    is_word = row["type"] in {"fact", "word"}
    words = [row["unit"]] if is_word else [row["type"], row["unit"], better[row["direction"]]]
    click.echo(f"{row['name']}  ({', '.join(words)})")
    click.echo(click.wrap_text(row["formula"], 88, "  ", "  "))
    if row["parts"]:
        click.echo(
            f"  Available as {', '.join(row['metric'] + '.' + part for part in row['parts'])}."
        )
