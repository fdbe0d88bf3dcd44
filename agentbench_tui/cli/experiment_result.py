"""What a person sees of experiments: times of each variant, what they gave, one against another."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from agentbench_tui.cli.output import Column, print_json, print_prose, print_rows
from agentbench_tui.model.metric import Metric, find_metric

if TYPE_CHECKING:
    import sqlite3

    from agentbench_tui.engine.plan import Plan

Document = dict[str, Any]
Show = Callable[["sqlite3.Connection", Document, str], None]

MOST_COMPARED = 4
"""Variants that are held against each other pair by pair; of more the table tells."""
_TIMES = ("mean", "p50", "p95", "p99")


def _figure(value: Any) -> str:
    return "–" if value is None else f"{value:.4g}"


_COLUMNS = (
    Column("benchmark_id", "experiment", names_row=True),
    Column("point", "point", names_row=True),
    Column("variant", "variant", names_row=True),
    Column("metric", "metric"),
    Column("value", "value", _figure, right=True),
    Column("low", "from", _figure, right=True),
    Column("high", "to", _figure, right=True),
    Column("unit", "unit"),
    Column("n", "n", right=True),
    Column("reason", "note", lambda value: value or ""),
)


def show_experiments(plan: Plan) -> Show:
    """Prints the result of a run that is all experiments."""
    columns = _directed(plan)

    def show(connection: sqlite3.Connection, run: Document, form: str) -> None:
        print_experiment_run(connection, run, form, columns)

    return show


def _directed(plan: Plan) -> dict[str, Metric]:
    """What iterations return of which their experiments say what is better, by name."""
    from agentbench_tui.experiments.aggregate import unit_of
    from agentbench_tui.experiments.registry import find_experiment

    found = {}
    for group in plan.groups:
        cls = find_experiment(group.benchmark["experiment"], Path(group.base_dir))
        for name, direction in cls.better.items():
            found[name] = Metric(name, unit_of(name), direction, "What an experiment returned.")
    return found


def print_experiment_run(
    connection: sqlite3.Connection, run: Document, form: str, columns: Mapping[str, Metric]
) -> None:
    """The result of `agentbench experiments run`. `run`: `agentbench.run/1`; `columns` are compared
    besides the times."""
    if form == "json":
        print_json(run)
        return
    rows = [row for one in run["executions"] for row in metric_rows(one)]
    print_rows(rows, _shown(rows), form)
    if form != "table":
        return
    for one in run["executions"]:
        if one["status"] != "complete":
            why = f": {one['stop_reason']}" if one["stop_reason"] else ""
            print_prose(f"{one['agent_id']}{_point(one)} is {one['status']}{why}")
    _print_comparisons(connection, run, columns)
    print_prose(f"run {run['run_id']}: {run['status']}")


def metric_rows(execution: Document) -> list[Document]:
    """A row for each figure of an execution: times first, then what the iterations gave."""
    metrics = execution["metrics"]
    names = [f"e2e_ms.{part}" for part in _TIMES]
    names += sorted(name for name in metrics if find_metric(name.partition(".")[0]) is None)
    return [
        {
            "benchmark_id": execution["benchmark_id"],
            "point": _point(execution).strip(),
            "variant": execution["agent_id"],
            "metric": name,
            **{key: metrics[name][key] for key in ("value", "low", "high", "unit", "n", "reason")},
        }
        for name in names
        if name in metrics
    ]


def _point(execution: Document) -> str:
    pairs = [f"{name}={value}" for name, value in execution["parameters"].items()]
    return f" {' '.join(pairs)}" if pairs else ""


def _shown(rows: Sequence[Document]) -> list[Column]:
    """Without columns that say the same, or nothing, everywhere."""
    return [
        column
        for column in _COLUMNS
        if column.key != "point" or len({row["point"] for row in rows}) > 1
    ]


def _print_comparisons(
    connection: sqlite3.Connection, run: Document, columns: Mapping[str, Metric]
) -> None:
    from agentbench_tui.cli.compare_result import print_comparison
    from agentbench_tui.model.errors import AgentbenchError
    from agentbench_tui.verdicts.case_numbers import CaseNumbers
    from agentbench_tui.verdicts.compare import compare
    from agentbench_tui.verdicts.compare_document import compare_document
    from agentbench_tui.verdicts.comparison import Asked
    from agentbench_tui.verdicts.side import load_sides

    complete = [one["agent_id"] for one in run["executions"] if one["status"] == "complete"]
    variants = list(dict.fromkeys(complete))
    if not 2 <= len(variants) <= MOST_COMPARED:
        return
    numbers = CaseNumbers(connection)
    asked = Asked("auto", None, 42, columns=columns)
    try:
        selectors = [f"run:{run['run_id']}/{name}" for name in variants]
        sides = load_sides(connection, selectors, None, None, numbers, ())
        found = compare(connection, sides, numbers, asked, ("e2e_ms", *columns))
    except AgentbenchError as error:
        print_prose(str(error), err=True)
        return
    click.echo()
    print_comparison(found, compare_document(connection, found, numbers, 0), "table")


def deliver_results(plan: Plan, reporters: Sequence[str], show: Show | None) -> Show:
    """Print by `show` (by default as any run), and write results and reports where the suite has a
    folder for them."""
    from agentbench_tui.experiments.results import find_reporter

    functions = {name: find_reporter(name) for name in reporters}

    def deliver(connection: sqlite3.Connection, run: Document, form: str) -> None:
        if show is None:
            from agentbench_tui.cli.result import print_run

            print_run(run, form)
        else:
            show(connection, run, form)
        for suite_hash in {one.hash for one in plan.suites if one.document["output_dir"]}:
            _write(connection, plan, suite_hash, functions)

    return deliver


def _write(
    connection: sqlite3.Connection, plan: Plan, suite_hash: str, reporters: dict[str, Any]
) -> None:
    from agentbench_tui.experiments.kind import run_folder
    from agentbench_tui.experiments.results import results_of, write_results

    folder = run_folder(plan, suite_hash, Path())
    try:
        results = results_of(connection, plan.run_id, folder)
        for path in write_results(results, folder):
            click.echo(f"written: {path}", err=True)
    except OSError as error:
        click.echo(f"{error.filename}: cannot be written: {error.strerror}", err=True)
        return
    for name, reporter in reporters.items():
        try:
            reporter(results, str(folder))
        except Exception as error:  # noqa: BLE001  # somebody else's code; what was measured is kept
            click.echo(f"reporter {name} failed: {error!r}", err=True)
