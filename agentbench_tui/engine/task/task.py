"""The kind `task`: ask every case of a dataset, score each answer.

The agents of a group are asked in blocks of cases, and alternate in going first, so that drift of
the machine affects all of them equally. Only one agent is asked at a time.
"""

from __future__ import annotations

import asyncio
from functools import partial
from typing import TYPE_CHECKING

from agentbench_tui.engine.cases.casebook import CaseReader
from agentbench_tui.engine.games import find_game
from agentbench_tui.engine.run.session import CLOSE_LIMIT_S, Session
from agentbench_tui.engine.run.turns import in_turn
from agentbench_tui.engine.task.grading import make_scoring
from agentbench_tui.engine.task.recorder import Recorder
from agentbench_tui.model.answer import FailureKind
from agentbench_tui.model.errors import UsageError

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable, Mapping
    from typing import Any

    from pydantic import BaseModel

    from agentbench_tui.engine.run.context import RunContext
    from agentbench_tui.engine.run.plan import Group
    from agentbench_tui.engine.task.aggregate import Aggregate, Resources
    from agentbench_tui.engine.task.grading import Scoring
    from agentbench_tui.model.access import Access
    from agentbench_tui.model.agent import AgentSpec
    from agentbench_tui.model.suite import Benchmark
    from agentbench_tui.scoring.registry import NamedScorer

BLOCKS = 8
"""Into how many blocks the cases are cut when several agents are interleaved."""


def check(benchmark: Benchmark, base_dir: str) -> list[str]:  # noqa: ARG001  # the contract's signature
    """Return the problems of a task benchmark beyond its syntax."""
    problems = []
    if benchmark.load:
        problems.append("`load` belongs to benchmarks of kind load")
    if benchmark.experiment is not None:
        problems.append("`experiment` belongs to benchmarks of kind experiment")
    if benchmark.game is not None:
        try:
            problems += find_game(benchmark.game).check(benchmark)
        except UsageError as error:
            problems.append(str(error))
    return problems


def block() -> type[BaseModel] | None:
    """Return None: tasks have no field with their kind's name."""
    return None


def accesses(benchmark: Mapping[str, Any], base_dir: str) -> Iterable[Access]:  # noqa: ARG001
    """Nothing: what tasks name, other kinds may name too."""
    return ()


def aggregate(
    connection: sqlite3.Connection,
    execution_key: int,
    agent: AgentSpec,
    resources: Resources,
    benchmark: Benchmark,
) -> Aggregate:
    """Return the metrics of a stored execution."""
    from agentbench_tui.engine.task.aggregate import aggregate
    from agentbench_tui.engine.task.attempts import pass_within_attempts
    from agentbench_tui.engine.task.own_metrics import own_metrics

    result = aggregate(
        connection,
        execution_key,
        agent,
        resources,
        is_scored=bool(benchmark.scorers),
        own=partial(own_metrics, benchmark.scorers, benchmark.metrics),
    )
    if benchmark.game is not None:
        find_game(benchmark.game).add_metrics(connection, execution_key, result)
    within = pass_within_attempts(connection, execution_key, benchmark.iterations.measured)
    if within is not None:
        result.without_attempts()  # which are those at the answers that were not right alone
        result.metrics[within.name] = within
    return result


async def run(group: Group, context: RunContext) -> None:
    """Measure every execution of the group, all repeats."""
    benchmark = group.resolved()
    reader = CaseReader(context, context.dataset_keys[group.executions[0].id])
    scoring = make_scoring(benchmark, group.base_dir)
    try:
        await context.environment()
        for repeat in range(context.plan.repeats):
            await _run_repeat(repeat, group, benchmark, reader, scoring, context)
            if context.stop.is_set:
                return
    finally:
        for scorer in scoring.scorers:
            await _close_scorer(scorer, context)


async def _run_repeat(
    repeat: int,
    group: Group,
    benchmark: Benchmark,
    reader: CaseReader,
    scoring: Scoring,
    context: RunContext,
) -> None:
    whole = benchmark.iterations.measured * len(reader)
    sessions = [
        Session(execution, group, benchmark, reader, scoring, context)
        for execution in group.executions
        if context.committed(execution.id, repeat) < whole
    ]
    try:
        for session in sessions:
            await session.open()
        await _ask_all(sessions, benchmark, repeat, group.seed_of_turns, len(reader), context)
    finally:
        for session in sessions:
            await session.close()


async def _close_scorer(scorer: NamedScorer, context: RunContext) -> None:
    try:
        async with asyncio.timeout(CLOSE_LIMIT_S):
            await scorer.close()
    except Exception as error:  # noqa: BLE001  # what was scored is scored
        Recorder(context.writer, context.run_key, None).failure(
            "close", FailureKind.GRADER, f"{scorer.name} did not close: {error!r}"
        )


async def _ask_all(
    sessions: list[Session],
    benchmark: Benchmark,
    repeat: int,
    seed: int,
    count: int,
    context: RunContext,
) -> None:
    for session in in_turn(sessions, seed, repeat):
        await session.warm_up(benchmark.iterations.warmup, repeat)
    step = _block_size(count, benchmark.concurrency, len(sessions))
    for nth in range(benchmark.iterations.measured):
        going = [session for session in sessions if session.goes_on]
        if not going or context.stop.is_set:
            return
        for session in going:
            session.begin(repeat, nth)
        blocks = range(0, count, step)
        for block, start in enumerate(blocks, nth * len(blocks)):
            for session in in_turn(going, seed, repeat, block):
                await session.ask(repeat, nth, start, min(start + step, count))
        for session in going:
            session.end()


def _block_size(count: int, concurrency: int, agents: int) -> int:
    if agents == 1:
        return count
    # Each block ends with places that idle; a few rounds of all places keep that share small.
    return max(-(-count // BLOCKS), 4 * concurrency)
