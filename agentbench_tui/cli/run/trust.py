"""Confirmation before an imported run executes, calls or reads what its plan names."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from agentbench_tui.cli.console.confirmation import confirm

if TYPE_CHECKING:
    from collections.abc import Sequence

trust_option = click.option(
    "--trust",
    is_flag=True,
    help="Let an imported run execute its commands and code, contact its servers and use "
    "its files. Without it, a terminal asks for permission; elsewhere the command is "
    "refused.",
)


def check_trust(row: dict[str, Any], lines: Sequence[str], *, trust: bool) -> None:
    """Ask whether an imported run may do what `lines` describe. Raises UsageError, or aborts.

    `row` is the run's; a run created here needs no confirmation.
    """
    if row["imported_at"] is None or trust or not lines:
        return
    click.echo(f"run {row['id']} was imported on {row['imported_at'][:10]}. It:", err=True)
    for line in lines:
        click.echo(f"  {line}", err=True)
    confirm("Allow this?", "an imported run needs your permission for this; allow it with --trust")
