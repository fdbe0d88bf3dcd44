"""`agentbench stats`: how sure numbers are, how many runs a question takes, and proof of both."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from agentbench_tui.cli.console.output import Column, format_option, print_prose, print_rows
from agentbench_tui.cli.stats.power import power
from agentbench_tui.cli.stats.summary import summary
from agentbench_tui.cli.stats.variance import variance
from agentbench_tui.verdicts.words.figures import NOTHING


def _digits(value: Any) -> str:
    return NOTHING if value is None else f"{value:.10g}"


_CHECKED = (
    Column("entry", "entry", names_row=True),
    Column("theirs", "theirs", _digits, right=True),
    Column("ours", "ours", _digits, right=True),
    Column("relative_difference", "rel. diff.", lambda value: f"{value:.1e}" if value else "0"),
    Column("rule", "rule"),
    Column("ok", "ok", lambda value: "yes" if value else "NO"),
)


@click.group(short_help="How sure is it, how many runs does it take?")
def stats() -> None:
    """Spread, power, summaries with their intervals, and a check of the statistics themselves."""


@stats.command("check", short_help="Hold the statistics against answers of other software.")
@click.argument("file", type=click.Path(dir_okay=False, path_type=Path))
@format_option()
def check(file: Path, form: str) -> int:
    """Hold the statistics against answers of other software in FILE; exit 1 when one differs.

    Every answer is computed anew from the inputs in FILE. Exact ones must agree to 1e-9 of
    themselves, those found by stepping towards them to 5e-6, and those that rest on chance within
    the tolerance that the file gives.

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
