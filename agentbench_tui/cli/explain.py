"""`agentbench explain`: what a metric, a score or a figure of load means, by formula."""

from __future__ import annotations

import click

from agentbench_tui.cli.output import Column, format_option, print_rows

_COLUMNS = (
    Column("name", "name", names_row=True),
    Column("type", "type"),
    Column("unit", "unit"),
    Column("direction", "better"),
    Column("formula", "formula"),
)


@click.command(short_help="What a metric, score or figure means.")
@click.argument("metric", required=False)
@format_option()
def explain(metric: str | None, form: str) -> int:
    """The formula, unit and direction of METRIC; all of them without one.

    \b
    agentbench explain e2e_ms.p95
    agentbench explain overall
    agentbench explain verdict
    """
    from agentbench_tui.verdicts.explanation import SCHEMA, explanations
    from agentbench_tui.verdicts.explanation import explain as explain_metric

    if metric is None:
        rows = explanations()
        print_rows(
            [{**row, "formula": row["formula"].partition(". ")[0]} for row in rows],
            _COLUMNS,
            form,
            {"schema": SCHEMA, "metrics": rows},
        )
        return 0
    row = explain_metric(metric)
    if form != "table":
        print_rows([row], _COLUMNS, form, {"schema": SCHEMA, **row})
        return 0
    better = {"lower": "lower is better", "higher": "higher is better", "none": "neither better"}
    is_fact = row["type"] == "fact"  # no number: nothing to be better or worse
    words = [row["unit"]] if is_fact else [row["type"], row["unit"], better[row["direction"]]]
    click.echo(f"{row['name']}  ({', '.join(words)})")
    click.echo(click.wrap_text(row["formula"], 88, "  ", "  "))
    if row["parts"]:
        click.echo(f"  Given as {', '.join(row['metric'] + '.' + part for part in row['parts'])}.")
    return 0
