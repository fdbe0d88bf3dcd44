"""`agentbench doctor`: whether this machine is suitable for measurements, and what to do if not."""

from __future__ import annotations

import click
import msgspec

from agentbench_tui.cli.console.output import (
    database_option,
    database_path,
    format_option,
    print_rows,
)
from agentbench_tui.presentation.report import Column

_COLUMNS = (
    Column("status", ""),
    Column("name", "check"),
    Column("finding", "finding"),
    Column("advice", "advice", lambda value: value or ""),
)


@click.command(short_help="Check whether this machine is fit to measure on.")
@database_option
@format_option()
def doctor(database: str | None, form: str) -> int:
    """Check clock, cores, limits, governor, GPU, terminal, disk, database and optional extras.

    Exits with 1 if a check fails, and with 0 if there are only warnings.

    \b
    agentbench doctor
    """
    from agentbench_tui.instruments.doctor import diagnose

    rows = [msgspec.to_builtins(check) for check in diagnose(database_path(database))]
    print_rows(rows, _COLUMNS, form, {"schema": "agentbench.doctor/1", "checks": rows})
    return 1 if any(row["status"] == "fail" for row in rows) else 0
