"""Output of `agentbench stress --dry-run`: one line per scenario."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from agentbench_tui.cli.console.reports import print_report
from agentbench_tui.contracts.plan import PlannedScenario, StressPlanDocument
from agentbench_tui.presentation.numbers import chosen_duration
from agentbench_tui.presentation.stress.plan import stress_plan_report, stress_plan_summary

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
    scenarios = tuple(_planned(group, execution) for group, execution in plan.executions())
    document = StressPlanDocument(executions=scenarios)
    print_report(stress_plan_report(document), form, document)
    if form == "table":
        click.echo(stress_plan_summary(document), err=True)
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


def _planned(group: Group, execution: ExecutionPlan) -> PlannedScenario:
    from agentbench_tui.stress.planned_windows import planned_windows
    from agentbench_tui.stress.spec import StressSpec

    spec = StressSpec.model_validate(group.resolved().stress)
    parts, usual_s, longest_s = planned_windows(spec)
    return PlannedScenario(
        scenario=spec.scenario,
        agent_id=execution.agent.id,
        target=execution.agent.target,
        time_scale=spec.time_scale,
        windows=tuple(part.words for part in parts),
        usual_s=usual_s,
        longest_s=longest_s,
        most_rate=spec.most_rate,
        most_concurrency=spec.most_concurrency,
        most_input_tokens=spec.most_input_tokens,
        max_requests=spec.max_requests,
        max_bytes=spec.max_bytes,
        seed=group.seed,
    )
