"""Output of `--dry-run`: what a run would do."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from agentbench_tui.cli.console.output import print_prose, print_rows
from agentbench_tui.model.kinds import kind_named
from agentbench_tui.model.text.plain_number import counted
from agentbench_tui.model.text.untrusted import visible
from agentbench_tui.presentation.report import Column

if TYPE_CHECKING:
    from agentbench_tui.engine.run.plan import Plan
    from agentbench_tui.model.suite import Benchmark


def print_plan(plan: Plan, form: str) -> None:
    """Print what a run would do: the executions and their numbers of questions."""
    from agentbench_tui.engine.cases.casebook import each_dataset

    for remark in plan.remarks:
        print_prose(visible(remark), err=True)

    rows: list[dict[str, Any]] = []
    counts: dict[int, int] = {}
    for position, source in each_dataset(plan):
        with source:
            counts[position] = len(source)
    for position, group in enumerate(plan.groups):
        benchmark = group.resolved()
        cases = counts.get(position)
        by_clock = kind_named(benchmark.kind).sends_load
        for execution in group.executions:
            rounds = benchmark.iterations.measured * plan.repeats
            rows.append(
                {
                    "suite_id": group.suite_id,
                    "benchmark_id": benchmark.benchmark_id,
                    "agent_id": execution.agent.id,
                    "agent_version": execution.agent.version,
                    "target": execution.agent.target,
                    "parameters": group.parameters,
                    "seed": group.seed,
                    "cases": cases,
                    "repeats": plan.repeats,
                    "warmup": None if by_clock else benchmark.iterations.warmup,
                    "iterations": None if by_clock else benchmark.iterations.measured,
                    "observations": None if cases is None else cases * rounds,
                    "concurrency": None if by_clock else benchmark.concurrency,
                    "schedule": _schedule(benchmark),
                }
            )
    columns = [
        Column("suite_id", "suite", names_row=True),
        Column("benchmark_id", "benchmark", names_row=True),
        Column("agent_id", "agent", names_row=True),
        Column("target", "target"),
        Column("seed", "seed", right=True),
        Column("cases", "cases", right=True),
        Column("repeats", "repeats", right=True),
        Column("warmup", "warm-up", right=True),
        Column("iterations", "iterations", right=True),
        Column("observations", "asked", right=True),
        Column("concurrency", "at once", right=True),
    ]
    if any(row["schedule"] for row in rows):
        columns.append(Column("schedule", "load"))
    print_rows(rows, columns, form, document={"schema": "agentbench.plan/1", "executions": rows})
    say_traces(plan)
    if form == "table":
        total = sum(row["observations"] or 0 for row in rows)
        asked = f", {counted(total, 'question')}" if total else ""
        click.echo(f"{counted(len(rows), 'execution')}{asked}; nothing was run", err=True)


def say_traces(plan: Plan) -> None:
    """Print how long each recorded trace of a plan takes, and which part is replayed."""
    from agentbench_tui.load.schedule.shape import trace_words
    from agentbench_tui.load.spec import LoadSpec

    loads = [g for g in plan.groups if kind_named(g.benchmark["kind"]).runs_by_schedule]
    words = [
        trace_words(LoadSpec.model_validate(group.resolved().load), group.base_dir)
        for group in loads
    ]
    for line in dict.fromkeys(filter(None, words)):
        print_prose(line, err=True)


def _schedule(benchmark: Benchmark) -> str | None:
    """Return the schedule of a load, or the scenario of a stress and its duration."""
    words = kind_named(benchmark.kind).part("plan_words")
    return None if words is None else str(words(benchmark))
