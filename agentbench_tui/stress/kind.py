"""The kind `stress`: one scenario against one target, window after window.

A window is a repeat of the execution. Each execution is a scenario on one agent; those of a group
follow one another, so that only one target is under stress at a time.
"""

from __future__ import annotations

import os
from importlib import import_module
from typing import TYPE_CHECKING, Protocol, cast

from agentbench_tui.engine.task.recorder import Recorder
from agentbench_tui.model.answer import AgentFailure, FailureKind
from agentbench_tui.model.errors import UsageError
from agentbench_tui.model.text.secrets import redact
from agentbench_tui.model.text.untrusted import one_line
from agentbench_tui.store.queries.load import stored_repeats
from agentbench_tui.store.writes.load import forget_repeat
from agentbench_tui.store.writes.stress import remove_report

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable, Mapping, Sequence
    from typing import Any

    from pydantic import BaseModel

    from agentbench_tui.engine.run.context import RunContext
    from agentbench_tui.engine.run.plan import ExecutionPlan, Group
    from agentbench_tui.engine.suite.suite_problems import Finding
    from agentbench_tui.engine.task.aggregate import Aggregate, Resources
    from agentbench_tui.model.access import Access
    from agentbench_tui.model.agent import AgentSpec
    from agentbench_tui.model.suite import Benchmark
    from agentbench_tui.stress.reporter import Reporter
    from agentbench_tui.stress.spec import StressSpec
    from agentbench_tui.stress.stand.normal import Normal
    from agentbench_tui.stress.stand.stand import Stand

LONGEST_REASON = 300
"""Characters of a reason for which a scenario could not be measured."""


class ScenarioModule(Protocol):
    """A module of `stress.scenarios`."""

    async def run(
        self, stand: Stand, spec: StressSpec, normal: Normal, reporter: Reporter
    ) -> None: ...


def check(benchmark: Benchmark, base_dir: str) -> Sequence[str | Finding]:
    """Return the problems of a stress benchmark beyond its syntax."""
    from agentbench_tui.stress.validation import check_stress

    return check_stress(benchmark, base_dir)


def block() -> type[BaseModel]:
    """The model of `stress:`."""
    from agentbench_tui.stress.spec import StressSpec

    return StressSpec


def accesses(benchmark: Mapping[str, Any], base_dir: str) -> Iterable[Access]:
    """Return what the `stress:` block reads, runs and calls."""
    from agentbench_tui.stress.validation import accesses_of_stress

    return accesses_of_stress(benchmark.get("stress"), base_dir)


def aggregate(
    connection: sqlite3.Connection,
    execution_key: int,
    agent: AgentSpec,
    resources: Resources,  # noqa: ARG001  # the contract's signature
    benchmark: Benchmark,  # noqa: ARG001  # the contract's signature
) -> Aggregate:
    """Return the metrics of a stored scenario."""
    from agentbench_tui.stress.aggregate import aggregate_report

    return aggregate_report(connection, execution_key, agent)


async def run(group: Group, context: RunContext) -> None:
    """Run the scenario of every execution of the group."""
    if context.plan.repeats > 1:
        context.say("note: a stress scenario repeats its measurements itself and is run once")
    for execution in group.executions:
        context.progress_of(context.execution_keys[execution.id]).cut_short = True
    for execution in group.executions:
        key = context.execution_keys[execution.id]
        progress = context.progress_of(key)
        if context.stop.is_set:
            return
        await context.writer.apply(lambda c, key=key: _forget(c, key))  # type: ignore[misc]
        try:
            ended = await _scenario(group, execution, context)
        except (AgentFailure, UsageError) as failure:
            kind = failure.kind if isinstance(failure, AgentFailure) else FailureKind.AGENT
            detail = failure.detail if isinstance(failure, AgentFailure) else str(failure)
            Recorder(context.writer, context.run_key, key).failure("start", kind, detail)
            reason = one_line(redact(detail), LONGEST_REASON)
            progress.broken = f"the scenario could not be run: {reason}"
        else:
            progress.cut_short = not ended


async def _scenario(group: Group, execution: ExecutionPlan, context: RunContext) -> bool:
    """Run a scenario; return whether it ended by itself, including the loss of the target and
    used-up budgets. Raises AgentFailure and UsageError if nothing could be measured.
    """
    from agentbench_tui.stress.advice.advice import advise
    from agentbench_tui.stress.budget import Stopped
    from agentbench_tui.stress.report import ScenarioReport, ScoreFacts
    from agentbench_tui.stress.reporter import Reporter
    from agentbench_tui.stress.safety import require_consent
    from agentbench_tui.stress.spec import StressSpec
    from agentbench_tui.stress.stand.normal import measure_normal
    from agentbench_tui.stress.stand.opening import open_stand

    spec = StressSpec.model_validate(group.resolved().stress)
    require_consent(execution.agent, spec)
    report = ScenarioReport(
        scenario=spec.scenario,
        status="stopped",
        reason="the run was ended",  # until it says otherwise: a kill leaves it so
        time_scale=spec.time_scale,
        simulated=execution.agent.simulated,
    )
    reporter = Reporter(context.writer, context.execution_keys[execution.id], report)
    try:
        async with open_stand(context, group, execution, spec) as stand:
            if stand.is_here:
                report.observations["machine_cores"] = os.cpu_count() or 1
            normal = await measure_normal(stand, spec, reporter)
            await _module(spec.scenario).run(stand, spec, normal, reporter)
        if report.status == "stopped":
            report.status, report.reason = "complete", ""
    except Stopped as stopped:
        report.reason = str(stopped)
    except UsageError as error:
        if not report.windows:
            raise
        report.status, report.reason = "failed", one_line(str(error), LONGEST_REASON)
    except AgentFailure as failure:
        if not report.windows:
            raise
        if failure.kind is FailureKind.HARNESS:
            report.status = "failed"
        else:
            # It serves nothing from then on, however much it had served before.
            report.status, report.score = "target lost", ScoreFacts(value=0.0, worst_second=0.0)
        report.reason = one_line(redact(failure.detail), LONGEST_REASON)
    report.advice = advise([report])
    await reporter.save()
    return report.status != "stopped" or not context.stop.is_set


def _module(scenario: str) -> ScenarioModule:
    return cast("ScenarioModule", import_module(f"agentbench_tui.stress.scenarios.{scenario}"))


def _forget(connection: sqlite3.Connection, execution_key: int) -> None:
    """Delete what an interrupted run left behind: a scenario always starts from its beginning."""
    for repeat in stored_repeats(connection, execution_key):
        forget_repeat(connection, execution_key, repeat)
    remove_report(connection, execution_key)
