"""Prints the result of stress."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from agentbench_tui.cli.console.reports import print_report
from agentbench_tui.presentation.stress.report import agents_report, stress_report
from agentbench_tui.verdicts.runs.documents import typed_run
from agentbench_tui.verdicts.stress.stress_document import agents_under_stress, stress_document

if TYPE_CHECKING:
    import sqlite3

    from agentbench_tui.contracts.document import Json


def print_stress_run(_: sqlite3.Connection, document: dict[str, Json], form: str) -> None:
    """Print the result of `agentbench stress`. `document`: `agentbench.run/1`."""
    run = typed_run(document)
    print_report(stress_report(run, agents_under_stress(run)), form, stress_document(run))


def print_in_run(
    document: dict[str, Json],
    _: list[dict[str, Json]],
    form: str,
    *,
    in_full: bool,  # noqa: ARG001  # the contract's signature
) -> None:
    """Print the scenarios among the executions of a run, always in full."""
    print_report(agents_report(agents_under_stress(typed_run(document))), form, None)
    if form in {"table", "md"}:
        click.echo()
