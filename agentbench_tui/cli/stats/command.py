"""`agentbench stats`: uncertainty of numbers, sample sizes, and checks of the statistics."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from agentbench_tui.cli.console.output import format_option, print_prose, print_rows
from agentbench_tui.cli.stats.power import power
from agentbench_tui.cli.stats.summary import summary
from agentbench_tui.cli.stats.variance import variance
from agentbench_tui.presentation.numbers import MISSING
from agentbench_tui.presentation.report import Column


def _digits(value: Any) -> str:
    return MISSING if value is None else f"{value:.10g}"


_CHECKED = (
    Column("entry", "entry", names_row=True),
    Column("theirs", "theirs", _digits, right=True),
    Column("ours", "ours", _digits, right=True),
    Column("relative_difference", "rel. diff.", lambda value: f"{value:.1e}" if value else "0"),
    Column("rule", "rule"),
    Column("ok", "ok", lambda value: "yes" if value else "NO"),
)


@click.group(short_help="Show intervals, variance and required sample sizes.")
def stats() -> None:
    """Show variance, statistical power and intervals, or check the statistics themselves."""


@stats.command("check", short_help="Check the statistics against results of other software.")
@click.argument("file", type=click.Path(dir_okay=False, path_type=Path))
@format_option()
def check(file: Path, form: str) -> int:
    """Compare the statistics with results of other software in FILE; exit with 1 if one differs.

    Every result is computed from the inputs in FILE. Exact results must agree to a relative error
    of 1e-9, iterative ones to 5e-6, and random ones to the tolerance that FILE gives.

    \b
    agentbench stats check reference.json
    agentbench stats check reference.json --format json
    """
    from agentbench_tui.model.errors import GateFailed
    from agentbench_tui.verdicts.statistics.reference_check import check_document, check_file

    found = check_file(file)
    document = check_document(found)
    print_rows(document["entries"], _CHECKED, form, document)
    if form == "table":
        for entry in document["entries"]:
            if entry["note"]:
                print_prose(f"{entry['entry']}: {entry['note']}")
        for skipped in document["skipped"]:
            print_prose(f"skipped {skipped['entry']}: {skipped['reason']}")
        for name in document["unknown"]:
            print_prose(f"unknown {name}: not checked")
        click.echo(f"{document['n_ok']} of {len(document['entries'])} entries agree")
    if found.failed:
        names = ", ".join(entry.entry for entry in found.failed[:3])
        more = " …" if len(found.failed) > 3 else ""
        raise GateFailed(f"{len(found.failed)} entries differ: {names}{more}")
    return 0


stats.add_command(summary)
stats.add_command(variance)
stats.add_command(power)
