"""Printed result of a load: verdict first, then times, rates, failures, the harness's share."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from agentbench_tui.cli.console.output import print_json, print_prose, print_rows
from agentbench_tui.cli.load.comparison import compare_targets, targets_compared
from agentbench_tui.cli.load.rows import print_raw
from agentbench_tui.cli.load.sentences import (
    headline,
    load_notes,
    name_of,
    rate_lines,
    repeats_line,
    slo_lines,
    spread_of,
    verdict_of,
    with_range,
)
from agentbench_tui.cli.run.plan import say_traces
from agentbench_tui.cli.run.result import place_of
from agentbench_tui.model.text.cells import markdown_cell
from agentbench_tui.presentation.numbers import MISSING, amount, count, duration, money
from agentbench_tui.presentation.report import Column
from agentbench_tui.presentation.runs import ending_words
from agentbench_tui.verdicts.evidence.place import point_words
from agentbench_tui.verdicts.load.load_sweep import sweep_document

if TYPE_CHECKING:
    import sqlite3

    from agentbench_tui.engine.run.plan import Plan
    from agentbench_tui.verdicts.comparison.selector_comparison import SelectorComparison

_PARTS = (
    ("mean", "mean"),
    ("p50", "p50"),
    ("p90", "p90"),
    ("p95", "p95"),
    ("p99", "p99"),
    ("p999", "p99.9"),
    ("max", "max"),
)
"""Key in the document, and title."""
_ORDER = (
    "e2e_ms",
    "e2e_from_send_ms",
    "ttft_ms",
    "ttft_from_send_ms",
    "ttfo_ms",
    "tpot_ms",
    "itl_ms",
    "icl_ms",
    "send_lag_ms",
    "queue_ms",
)
"""Order of the times in the table, if measured."""

_WITH_SPREAD = ("mean", "p50", "p99")
"""Parts that are shown with what they vary by between repeats."""
MOST_IN_FULL = 4
"""Maximum number of loads of one run that are printed in full."""
RAW = ("csv", "jsonl")
"""Formats with raw numbers; the others are for people."""

METRICS = (
    Column("metric", "metric", names_row=True),
    *(Column(key, title, right=True) for key, title in _PARTS),
    Column("n", "n", count, right=True),
)
LOADS = (
    Column("benchmark_id", "load", names_row=True),
    Column("agent", "agent", names_row=True),
    Column("parameters_shown", "parameters", names_row=True),
    Column("verdict", "verdict"),
    Column("asked_per_s", "asked/s", amount, right=True),
    Column("sent_per_s", "sent/s", amount, right=True),
    Column("answered_per_s", "answered/s", amount, right=True),
    Column("failed", "failed", count, right=True),
    Column("unfinished", "unfinished", count, right=True),
    Column("cancelled", "broken off", count, right=True),
    Column("unsent", "never sent", count, right=True),
    Column("e2e_p50", "e2e p50", right=True),
    Column("e2e_p95", "e2e p95", right=True),
    Column("e2e_p99", "e2e p99", right=True),
    Column("ttft_p50", "ttft p50", right=True),
    Column("ttft_p95", "ttft p95", right=True),
    Column("ttft_p99", "ttft p99", right=True),
    Column("output_tokens_per_s", "tokens/s", amount, right=True),
    Column("goodput_per_s", "goodput/s", amount, right=True),
    Column("cost_usd", "USD", money, right=True),
)


_WHERE_ANY = ("unfinished", "cancelled", "unsent")
"""Columns of counts that are shown only if a count is above 0."""


def print_load_run(connection: sqlite3.Connection, document: dict[str, Any], form: str) -> None:
    """Print the result of `agentbench load`: one load in full, a sweep with one line per point, and
    several targets with their comparison, which is the answer, before it."""
    loads = [one for one in document["executions"] if one.get("load")]
    compared = None
    if form not in RAW and (agents := targets_compared(document)):
        compared = compare_targets(connection, document, agents)
    if form == "json":
        print_json(_json_document(document, compared))
        return
    if form in RAW:
        print_raw(document["executions"], form)
        return
    alone = len(document["executions"]) == len(loads) == 1
    if compared is not None:
        from agentbench_tui.cli.compare.result import print_comparison

        print_comparison(compared.document, form)
        click.echo()
    if alone:
        print_load(loads[0], form)
    elif loads:
        print_loads(loads, form)
    if form == "table":
        for one in document["executions"]:
            if not one.get("load"):
                print_prose(f"{name_of(one)}: {ending_words(one)}")
        # On a small screen the head has gone by.
        verdict = f" · {verdict_of(loads[0])}" if alone else ""
        print_prose(f"run {document['run_id']}: {ending_words(document)}{verdict}")


def print_in_run(
    _: dict[str, Any], executions: list[dict[str, Any]], form: str, *, in_full: bool
) -> None:
    """Print the loads among the executions of a run: with `in_full` like `agentbench load`, unless
    there are more than `MOST_IN_FULL`; else one line each.
    """
    if form in RAW:
        print_raw(executions, form)
        return
    loads = [one for one in executions if one.get("load")]
    if in_full and len(loads) <= MOST_IN_FULL:
        for one in loads:
            print_load(one, form)
            click.echo()
    elif loads:
        print_loads(loads, form)
        click.echo()
    for one in executions:
        if not one.get("load"):
            print_prose(f"{place_of(one)}: {ending_words(one)}")


def _json_document(run: dict[str, Any], compared: SelectorComparison | None) -> dict[str, Any]:
    """Return the document of a load, measured or not; for a sweep, and for several targets, one
    with all points."""
    from agentbench_tui.verdicts.load.load_document import unmeasured_load

    if len(run["executions"]) != 1:
        document = sweep_document(run)
        return document if compared is None else document | {"comparison": compared.document}
    (only,) = run["executions"]
    load: dict[str, Any] | None = only.get("load")
    return unmeasured_load(run, only) if load is None else load


def print_loads(executions: list[dict[str, Any]], form: str) -> None:
    """Print one line per measured execution of kind load, with notes; CSV and JSON lines as in
    `load_rows`.
    """
    if form in RAW:
        print_raw(executions, form)
        return
    rows = [load_row(one) for one in executions]
    unused = set()
    if len({row["benchmark_id"] for row in rows}) == 1:
        unused.add("benchmark_id")
    if not any(row["parameters_shown"] for row in rows):
        unused.add("parameters_shown")
    if not any(one["load"]["slo"] for one in executions):
        unused.add("goodput_per_s")
    if all(row["cost_usd"] is None for row in rows):
        unused.add("cost_usd")
    unused.update(key for key in _WHERE_ANY if not any(row[key] for row in rows))
    print_rows(rows, [column for column in LOADS if column.key not in unused], form)
    if form == "table":
        told = [*slo_lines(executions), repeats_line(executions), *load_notes(executions)]
        for line in filter(None, told):
            print_prose(line)


def print_load(execution: dict[str, Any], form: str) -> None:
    """Print one execution of kind load in full. `form`: `table` or `md`."""
    load = execution["load"]
    first = headline(execution)
    print_prose(first if form == "table" else markdown_cell(first))
    click.echo()
    rows = metric_rows(load)
    if rows:
        print_rows(rows, METRICS, form)
    if form == "table":
        if rows:
            click.echo()
        told = [repeats_line([execution]), *rate_lines(load), *load_notes([execution])]
        for line in filter(None, told):
            print_prose(line)


def metric_rows(load: dict[str, Any]) -> list[dict[str, Any]]:
    """Return a row for each measured time, with percentiles in readable form."""
    rows = []
    for name in _ORDER:
        metric = load["metrics"].get(name)
        if metric is None or not metric["n"]:
            continue
        row = {"metric": f"~{name}" if metric.get("estimated") else name, "n": metric["n"]}
        rows.append(row | {key: part_shown(load, name, key) for key, _ in _PARTS})
    return rows


def part_shown(load: dict[str, Any], name: str, key: str) -> str:
    """Format a percentile, mean or maximum of a metric, with its variation between repeats, or
    the number of samples it needs.
    """
    metric = load["metrics"].get(name)
    if metric is None:
        return MISSING
    value = metric.get(key)
    if value is not None:
        varies = spread_of(load, name).get(key) if key in _WITH_SPREAD else None
        return with_range(value, varies, duration)
    needed = metric.get("needs", {}).get(key)
    return MISSING if needed is None else f"needs {needed:,}"


def load_row(execution: dict[str, Any]) -> dict[str, Any]:
    """Return one line of the table of loads."""
    load = execution["load"]
    requests, metrics = load["requests"], load["metrics"]
    return {
        "benchmark_id": execution["benchmark_id"],
        "agent": execution["agent_id"] + (" (simulated)" if execution["simulated"] else ""),
        "parameters_shown": point_words(execution["parameters"]),
        "asked_per_s": requests["asked_per_s"],
        "sent_per_s": requests["sent_per_s"],
        "answered_per_s": metrics.get("request_throughput_per_s"),
        "failed": sum(requests["failed"].values()),
        **{key: requests[key] for key in _WHERE_ANY},
        "e2e_p50": part_shown(load, "e2e_ms", "p50"),
        "e2e_p95": part_shown(load, "e2e_ms", "p95"),
        "e2e_p99": part_shown(load, "e2e_ms", "p99"),
        "ttft_p50": part_shown(load, "ttft_ms", "p50"),
        "ttft_p95": part_shown(load, "ttft_ms", "p95"),
        "ttft_p99": part_shown(load, "ttft_ms", "p99"),
        "output_tokens_per_s": metrics.get("output_tokens_per_s"),
        "goodput_per_s": metrics.get("goodput_per_s"),
        "cost_usd": metrics.get("cost_usd"),
        "verdict": load["verdict"],
    }


def print_load_plan(plan: Plan, form: str) -> None:
    """Print what `agentbench load` would do, one line per point."""
    from agentbench_tui.load.schedule.schedule_words import schedule_words

    rows = [
        {
            "agent_id": execution.agent.id,
            "target": execution.agent.target,
            "parameters": point_words(group.parameters),
            "schedule": schedule_words(group.benchmark["load"]),
            "repeats": plan.repeats,
            "seed": group.seed,
        }
        for group, execution in plan.executions()
    ]
    columns = (
        Column("agent_id", "agent", names_row=True),
        Column("target", "target"),
        Column("parameters", "point"),
        Column("schedule", "schedule"),
        Column("repeats", "repeats", right=True),
        Column("seed", "seed", right=True),
    )
    print_rows(rows, columns, form, document={"schema": "agentbench.plan/1", "executions": rows})
    say_traces(plan)
    if form == "table":
        click.echo(f"{len(rows)} load{'' if len(rows) == 1 else 's'}; nothing was run", err=True)
