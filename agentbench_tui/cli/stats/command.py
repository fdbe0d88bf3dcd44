"""`agentbench stats`: uncertainty of numbers, sample sizes, and checks of the statistics."""

from __future__ import annotations

from pathlib import Path

import click

from agentbench_tui.cli.console.output import format_option
from agentbench_tui.cli.console.reports import print_report
from agentbench_tui.cli.stats.power import power
from agentbench_tui.cli.stats.summary import summary
from agentbench_tui.cli.stats.variance import variance


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
    from agentbench_tui.contracts.document import plain
    from agentbench_tui.model.errors import GateFailed
    from agentbench_tui.presentation.statistics import check_report
    from agentbench_tui.verdicts.statistics.reference_check import check_document, check_file

    found = check_file(file)
    document = check_document(found)
    print_report(check_report(document), form, plain(document))
    if found.failed:
        names = ", ".join(entry.entry for entry in found.failed[:3])
        more = " …" if len(found.failed) > 3 else ""
        raise GateFailed(f"{len(found.failed)} entries differ: {names}{more}")
    return 0


stats.add_command(summary)
stats.add_command(variance)
stats.add_command(power)
