"""What `agentbench stress --dry-run` shows: the windows and the duration of each scenario."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from agentbench_tui.model.text.plain_number import counted
from agentbench_tui.presentation.numbers import chosen_duration
from agentbench_tui.presentation.report import Column, Report, Section, Table

if TYPE_CHECKING:
    from agentbench_tui.contracts.plan import StressPlanDocument

_COLUMNS = (
    Column("scenario", "scenario", names_row=True),
    Column("agent_id", "agent"),
    Column("windows", "windows", "; ".join),
    Column("usual_s", "about", chosen_duration, right=True),
    Column("longest_s", "at most", chosen_duration, right=True),
)


def stress_plan_report(plan: StressPlanDocument) -> Report:
    """Return the scenarios of a plan with their expected and longest duration."""
    several = len({one.agent_id for one in plan.executions}) > 1
    columns = [one for one in _COLUMNS if several or one.key != "agent_id"]
    rows = [msgspec.structs.asdict(one) | {"windows": [*one.windows]} for one in plan.executions]
    return Report(Table(columns, rows), [Section(tables=[Table(columns, rows)])])


def stress_plan_summary(plan: StressPlanDocument) -> str:
    """Return how many scenarios a plan has, and how long they take together."""
    scenarios = plan.executions
    usual = chosen_duration(sum(one.usual_s for one in scenarios))
    longest = chosen_duration(sum(one.longest_s for one in scenarios))
    scales = {one.time_scale for one in scenarios}
    scaled = f"; every duration × {scales.pop():g} (time scale)" if scales != {1.0} else ""
    count = counted(len(scenarios), "scenario")
    return f"{count}, about {usual}, {longest} at most{scaled}; nothing was run"
