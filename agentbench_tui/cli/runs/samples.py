"""`agentbench runs samples`: prints every request of a run's loads, one per row."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any

import click

from agentbench_tui.cli.console.output import database_option, database_path
from agentbench_tui.model.text.cells import csv_cell

if TYPE_CHECKING:
    from collections.abc import Iterable

PLACE = ("benchmark_id", "agent_id", "parameters")
"""Which execution a row is of, before the fields of the request."""


@click.command(short_help="Print every request of a load, one row per request.")
@click.argument("run", default="latest")
@click.option("--agent", metavar="ID", help="Print only this agent's requests.")
@click.option("--benchmark", metavar="ID", help="Print only this benchmark's requests.")
@click.option(
    "--point",
    "points",
    multiple=True,
    metavar="NAME=VALUE",
    help="Print only this point of a sweep. May be given several times.",
)
@click.option(
    "--unfinished", is_flag=True, help="Include the stored requests of a repeat that was cut off."
)
@click.option(
    "--format",
    "form",
    type=click.Choice(("csv", "jsonl")),
    default="csv",
    show_default=True,
    help="Output format.",
)
@database_option
def samples(run: str, form: str, database: str | None, **given: Any) -> int:
    """Print every load request of RUN: due and send time, latencies, tokens and outcome.

    \b
    agentbench runs samples latest > requests.csv
    agentbench runs samples 01a2203b --agent my-model --format jsonl
    agentbench runs samples latest --point rate=50
    """
    from agentbench_tui.cli.runs.command import executions_wanted
    from agentbench_tui.model.errors import UsageError
    from agentbench_tui.store.database import reading
    from agentbench_tui.store.queries.load import has_samples
    from agentbench_tui.store.queries.runs import find_run, is_of_load
    from agentbench_tui.verdicts.load.load_samples import FIELDS

    with reading(database_path(database)) as connection:
        row = find_run(connection, run)
        executions = _at_points(executions_wanted(connection, row, given), given["points"])
        loads = [one for one in executions if has_samples(connection, one["key"])]
        if not loads and any(is_of_load(connection, one) for one in executions):
            raise UsageError(
                f"run {row['id']}: no request of this load was stored before it ended; "
                f"`agentbench runs show {row['id']}` shows how it ended"
            )
        if not loads:
            raise UsageError(
                f"run {row['id']} holds no requests of a load;"
                " `agentbench runs show RUN --answers` lists the answers to cases"
            )
        rows = _rows(connection, loads, unfinished=given["unfinished"])
        _write(rows, (*PLACE, *FIELDS), form)
        if not given["unfinished"]:
            _say_left_out(connection, loads)
    return 0


def _at_points(executions: list[dict[str, Any]], points: tuple[str, ...]) -> list[dict[str, Any]]:
    """Return the executions whose parameters have these values. Raises UsageError if there are
    none.
    """
    from agentbench_tui.model.errors import UsageError
    from agentbench_tui.verdicts.evidence.place import point_words

    for point in points:
        name, given, value = point.partition("=")
        if not given:
            raise UsageError(f"--point {point}: expected NAME=VALUE, such as rate=50")
        found = [one for one in executions if _is_at(one["parameters"], name.strip(), value)]
        if not found:
            known = dict.fromkeys(point_words(one["parameters"]) for one in executions)
            there = ", ".join(filter(None, known))
            raise UsageError(
                f"--point {point}: no such point; "
                + (f"there are {there}" if there else "the run has no sweep")
            )
        executions = found
    return executions


def _is_at(parameters: dict[str, Any], name: str, value: str) -> bool:
    """Return whether a parameter has a value; numbers are compared by value: 50 is 50.0."""
    if name not in parameters:
        return False
    have = parameters[name]
    try:
        return bool(float(have) == float(value))
    except (TypeError, ValueError):
        return str(have) == value.strip()


def _rows(
    connection: Any, executions: Iterable[dict[str, Any]], *, unfinished: bool
) -> Iterable[dict[str, Any]]:
    from agentbench_tui.verdicts.load.load_samples import cut_off_window, request_types, samples_of

    for one in executions:
        place = {name: one[name] for name in PLACE}
        cut_off = cut_off_window(connection, one) if unfinished else None
        for sample in samples_of(connection, one, request_types(connection, one), cut_off):
            yield place | sample


def _say_left_out(connection: Any, executions: Iterable[dict[str, Any]]) -> None:
    from agentbench_tui.store.queries.load import stored_requests

    left_out = sum(stored_requests(connection, one["key"])[1] for one in executions)
    if left_out:
        click.echo(
            f"{left_out:,} requests of unfinished repeats are excluded; include them with "
            "--unfinished",
            err=True,
        )


def _write(rows: Iterable[dict[str, Any]], names: tuple[str, ...], form: str) -> None:
    """Write rows one after another, because all may not fit in memory."""
    if form == "jsonl":
        for row in rows:
            sys.stdout.write(f"{json.dumps(row, allow_nan=False)}\n")
        return
    import csv

    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow(names)
    writer.writerows([csv_cell(row[name]) for name in names] for row in rows)
