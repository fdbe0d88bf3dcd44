"""What `agentbench load --dry-run` shows: one line per load level."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from agentbench_tui.presentation.report import Column, Report, Section, Table

if TYPE_CHECKING:
    from agentbench_tui.contracts.plan import LoadPlanDocument

_COLUMNS = (
    Column("agent_id", "agent", names_row=True),
    Column("target", "target"),
    Column("parameters", "point"),
    Column("schedule", "schedule"),
    Column("repeats", "repeats", right=True),
    Column("seed", "seed", right=True),
)


def load_plan_report(plan: LoadPlanDocument) -> Report:
    """Return the loads of a plan, with their schedules in words."""
    table = Table(_COLUMNS, [*map(msgspec.structs.asdict, plan.executions)])
    return Report(table, [Section(tables=[table])])
