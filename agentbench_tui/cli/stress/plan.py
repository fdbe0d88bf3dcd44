"""Output of `agentbench stress --dry-run`: one line per scenario."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from agentbench_tui.cli.console.output import print_rows
from agentbench_tui.presentation.numbers import chosen_duration
from agentbench_tui.presentation.report import Column

if TYPE_CHECKING:
    from agentbench_tui.engine.run.plan import ExecutionPlan, Group, Plan
    from agentbench_tui.model.suite import Benchmark

_NOT_INCLUDED = (
    "Not included: starting the load generators before each window, and waiting for the last "
    "answers after it. On a busy machine, or with a small time scale, that can take longer than "
    "the windows themselves."
)


def print_stress_plan(plan: Plan, form: str) -> None:
    """Print the windows of each scenario with their expected and longest duration."""
    rows = [_row(group, execution) for group, execution in plan.executions()]
    columns: tuple[Column, ...] = (
        Column("scenario", "scenario", names_row=True),
        Column("agent_id", "agent"),
        Column("windows", "windows", "; ".join),
        Column("usual_s", "about", chosen_duration, right=True),
        Column("longest_s", "at most", chosen_duration, right=True),
    )
    if len({row["agent_id"] for row in rows}) == 1:
        columns = tuple(column for column in columns if column.key != "agent_id")
    print_rows(rows, columns, form, document={"schema": "agentbench.plan/1", "executions": rows})
    if form == "table":
        click.echo(_summary(rows), err=True)
        click.echo(_NOT_INCLUDED, err=True)


def check_plan(plan: Plan) -> None:
    """Raise UsageError if the plan would put stress on an unconfirmed host, and for repeats."""
    from agentbench_tui.stress.safety import check_consent

    if plan.repeats > 1:
        raise click.UsageError(
            "--runs: stress scenarios repeat decisive measurements automatically; for "
            "another run, start the command again"
        )
    check_consent(plan)


def plan_words(benchmark: Benchmark) -> str:
    """Return the scenario of a stress benchmark and how long it takes."""
    from agentbench_tui.stress.planned_windows import planned_windows
    from agentbench_tui.stress.spec import StressSpec

    spec = StressSpec.model_validate(benchmark.stress)
    _, usual_s, longest_s = planned_windows(spec)
    times = f"about {chosen_duration(usual_s)}, {chosen_duration(longest_s)} at most"
    return f"{spec.scenario}, {times}"


def _row(group: Group, execution: ExecutionPlan) -> dict[str, Any]:
    from agentbench_tui.stress.planned_windows import planned_windows
    from agentbench_tui.stress.spec import StressSpec

    spec = StressSpec.model_validate(group.resolved().stress)
    parts, usual_s, longest_s = planned_windows(spec)
    return {
        "scenario": spec.scenario,
        "agent_id": execution.agent.id,
        "target": execution.agent.target,
        "time_scale": spec.time_scale,
        "windows": [part.words for part in parts],
        "usual_s": usual_s,
        "longest_s": longest_s,
        "most_rate": spec.most_rate,
        "most_concurrency": spec.most_concurrency,
        "most_input_tokens": spec.most_input_tokens,
        "max_requests": spec.max_requests,
        "max_bytes": spec.max_bytes,
        "seed": group.seed,
    }


def _summary(rows: list[dict[str, Any]]) -> str:
    usual, longest = (
        chosen_duration(sum(row[key] for row in rows)) for key in ("usual_s", "longest_s")
    )
    scales = {row["time_scale"] for row in rows}
    scaled = f"; every duration × {scales.pop():g} (time scale)" if scales != {1.0} else ""
    count = f"{len(rows)} scenario{'' if len(rows) == 1 else 's'}"
    return f"{count}, about {usual}, {longest} at most{scaled}; nothing was run"
