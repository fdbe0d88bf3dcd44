"""Printed result of experiments: times of each variant, returned numbers, comparisons."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from msgspec.structs import replace

from agentbench_tui.cli.console.output import print_json, print_prose, print_rows
from agentbench_tui.model.figures.metric import METRICS, Metric
from agentbench_tui.model.text.untrusted import one_line
from agentbench_tui.presentation.numbers import precise
from agentbench_tui.presentation.report import Column

if TYPE_CHECKING:
    import sqlite3

    from agentbench_tui.cli.run.running import How
    from agentbench_tui.engine.run.plan import Plan

Document = dict[str, Any]
Show = Callable[["sqlite3.Connection", Document, str], None]

_LONGEST_SETTINGS = 400
_TIMES = ("mean", "p50", "p95", "p99")


_COLUMNS = (
    Column("benchmark_id", "experiment", names_row=True),
    Column("point", "point", names_row=True),
    Column("variant", "variant", names_row=True),
    Column("metric", "metric"),
    Column("value", "value", precise, right=True),
    Column("low", "from", precise, right=True),
    Column("high", "to", precise, right=True),
    Column("unit", "unit"),
    Column("n", "n", right=True),
    Column("reason", "note", lambda value: value or ""),
)


def show_experiments(plan: Plan, *, all_pairs: bool = False) -> Show:
    """Return a printer for a run of experiments: variants against the first, or `all_pairs`."""
    from agentbench_tui.experiments.settings import told_settings

    columns = _directed(plan)
    at_once = max(one.resolved().parallelism for one in plan.suites)

    def show(connection: sqlite3.Connection, run: Document, form: str) -> None:
        if form == "json":
            print_json(run)
            return
        _print_figures(run, form)
        if form == "table":
            for place, settings in told_settings(connection, run["run_id"]).items():
                values = ", ".join(f"{name}={value}" for name, value in settings.items())
                print_prose(one_line(f"in force: {place}: {values}", _LONGEST_SETTINGS))
            _print_verdicts(connection, run, columns, at_once, all_pairs=all_pairs)

    return show


def _directed(plan: Plan) -> dict[str, Metric]:
    """Return the returned metrics with a declared better direction, by name."""
    from agentbench_tui.experiments.declared import directed
    from agentbench_tui.experiments.registry import find_experiment

    found: dict[str, Metric] = {}
    for group in plan.groups:
        found |= directed(
            find_experiment(group.benchmark["experiment"], Path(group.base_dir)).better
        )
    return found


def _print_figures(run: Document, form: str) -> None:
    """Print every figure of every execution of `agentbench.run/1`."""
    rows = [row for one in run["executions"] for row in metric_rows(one)]
    if form != "table":
        print_rows(rows, _shown(rows), form)
        return
    beyond = _beyond(rows)
    rows = [row for row in rows if row["metric"] not in beyond]
    print_rows(rows, _shown(rows), form)
    if beyond:
        print_prose(
            "; ".join(f"{name.removeprefix('e2e_ms.')} {why}" for name, why in beyond.items())
        )
    for one in run["executions"]:
        if one["status"] != "complete":
            why = f": {one['stop_reason']}" if one["stop_reason"] else ""
            print_prose(f"{one['agent_id']}{_point(one)} is {one['status']}{why}")


def _print_verdicts(
    connection: sqlite3.Connection,
    run: Document,
    columns: Mapping[str, Metric],
    at_once: int,
    *,
    all_pairs: bool,
) -> None:
    """Print comparisons of variants, and the effects of a sweep's parameters.

    `columns` are judged in addition to the times; if several points were measured in parallel, only
    they are judged.
    """
    from agentbench_tui.verdicts.experiment_effects import TIME, effects_document

    metrics = (*((TIME,) if at_once == 1 else ()), *columns)
    if at_once > 1:
        print_prose(f"{at_once} points ran at once, so times are not compared")
    if metrics:
        from agentbench_tui.cli.experiments.compared import print_comparisons

        print_comparisons(connection, run, columns, metrics, all_pairs=all_pairs)
        effects = effects_document(connection, run["run_id"], metrics)
        if effects.effects:
            from agentbench_tui.cli.console.reports import print_report
            from agentbench_tui.presentation.effects import effects_report

            click.echo()
            print_report(effects_report(effects), "table", None)
    print_prose(f"run {run['run_id']}: {run['status']}")


def _beyond(rows: Sequence[Document]) -> dict[str, str]:
    """Return the percentiles that no execution has enough iterations for, with the number that they
    need.
    """
    names = dict.fromkeys(row["metric"] for row in rows if row["metric"].startswith("e2e_ms.p"))
    found = {}
    for name in names:
        of_name = [row for row in rows if row["metric"] == name]
        if all(row["value"] is None for row in of_name):
            found[name] = str(of_name[0]["reason"])
    return found


def metric_rows(execution: Document) -> list[Document]:
    """Return one row per figure of an execution: times first, then returned numbers."""
    metrics = execution["metrics"]
    names = [f"e2e_ms.{part}" for part in _TIMES]
    names += sorted(name for name in metrics if name.partition(".")[0] not in METRICS)
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
    """Drop columns that are constant or empty."""
    return [
        column
        for column in _COLUMNS
        if column.key != "point" or len({row["point"] for row in rows}) > 1
    ]


def deliver_results(plan: Plan, reporters: Sequence[str], show: Show | None) -> Show:
    """Print by `show` (by default as any run), and write results and reports where the suite has a
    folder for them."""
    from agentbench_tui.experiments.results import find_reporter

    functions = {name: find_reporter(name, Path.cwd()) for name in reporters}

    def deliver(connection: sqlite3.Connection, run: Document, form: str) -> None:
        from agentbench_tui.cli.run.running import show_run

        (show or show_run())(connection, run, form)
        for suite_hash in {one.hash for one in plan.suites if one.resolved().output_dir}:
            _write(connection, plan, suite_hash, functions)

    return deliver


def experiments_shown(
    plan: Plan, how: How, reporters: Sequence[str] = (), *, all_pairs: bool = False
) -> How:
    """Return `how` for a run with experiments: its output at the end, and its files."""
    kinds = {group.benchmark["kind"] for group in plan.groups}
    if "experiment" not in kinds:
        return how
    show = show_experiments(plan, all_pairs=all_pairs) if kinds == {"experiment"} else None
    return replace(how, show=deliver_results(plan, reporters, show))


def are_idle(plan: Plan, agents: Sequence[str]) -> bool:
    """Return whether agents were named but take no part in the plan, because it only measures
    code.
    """
    if any(group.benchmark["kind"] != "experiment" for group in plan.groups):
        return False
    from agentbench_tui.experiments.variants import TARGET, is_variant

    measured = [one.agent for _, one in plan.executions()]
    ids = {agent.id for agent in measured}
    a_variant = re.compile(rf"([^=?]+=)?\s*{TARGET}(\?|$)")
    are_named = any(one.strip() not in ids and not a_variant.match(one) for one in agents)
    return are_named and all(map(is_variant, measured))


def sharing_process(plan: Plan) -> list[str]:
    """Return experiments that are measured in the process of the run."""
    return [
        *dict.fromkeys(
            group.benchmark["benchmark_id"]
            for group in plan.groups
            if group.benchmark["kind"] == "experiment" and not group.benchmark["fresh_process"]
        )
    ]


def _write(
    connection: sqlite3.Connection, plan: Plan, suite_hash: str, reporters: dict[str, Any]
) -> None:
    from agentbench_tui.experiments.kind import run_folder
    from agentbench_tui.experiments.results import results_of, write_results

    folder = run_folder(plan, suite_hash, Path())
    try:
        results = results_of(connection, plan.run_id, folder)
        written = write_results(results, folder)
        written += _effects_written(connection, plan.run_id, folder)
        for path in written:
            click.echo(f"written: {path}", err=True)
    except OSError as error:
        where = error.filename or folder
        click.echo(f"{where}: cannot be written: {error.strerror}", err=True)
        return
    for name, reporter in reporters.items():
        try:
            reporter(results, str(folder))
        except Exception as error:  # noqa: BLE001  # somebody else's code; what was measured is kept
            click.echo(f"reporter {name} failed: {error!r}", err=True)


def _effects_written(connection: sqlite3.Connection, run_id: str, folder: Path) -> list[Path]:
    """Write the effects of a sweep's parameters as JSON, and as a picture if matplotlib is
    installed.
    """
    from agentbench_tui.contracts.document import plain
    from agentbench_tui.model.errors import MissingExtra
    from agentbench_tui.reports.figures.effect_plot import effect_plot
    from agentbench_tui.verdicts.experiment_effects import effects_document

    document = effects_document(connection, run_id)
    paths = [folder / "effects.json", folder / "effects.svg"]
    if not document.effects or paths[0].exists():
        return []
    paths[0].write_text(json.dumps(plain(document), indent=2), encoding="utf-8")
    try:
        effect_plot(document.effects).write(paths[1])
    except MissingExtra:
        return paths[:1]
    return paths
