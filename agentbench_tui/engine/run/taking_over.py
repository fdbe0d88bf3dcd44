"""What a rerun takes over from the run that it continues, before it asks anything.

Each step can be repeated: a rerun that was killed takes over the rest when it is resumed.
"""

from __future__ import annotations

from functools import partial
from itertools import product
from typing import TYPE_CHECKING

from agentbench_tui.model.errors import UsageError
from agentbench_tui.store import reruns
from agentbench_tui.store.datasets import case_keys
from agentbench_tui.store.locking import Lease
from agentbench_tui.store.queries.executions import find_execution

if TYPE_CHECKING:
    from agentbench_tui.engine.run.context import RunContext
    from agentbench_tui.engine.run.plan import Continued, ExecutionPlan, Plan
    from agentbench_tui.store.reruns import Place


async def take_over(context: RunContext) -> None:
    """Copy the answers that the executions of a rerun keep.

    Raises UsageError if the earlier run was deleted, or is just being changed.
    """
    keys = context.execution_keys
    waiting = [
        (keys[execution.id], continued)
        for _, execution, continued in continuing(context.plan)
        if not reruns.is_taken_over(context.reader, keys[execution.id])
    ]
    if not waiting:
        return
    earlier_run = context.plan.rerun_of
    # Nobody deletes it, or scores it again, while it is read.
    lease = Lease.take(context.database, earlier_run)
    if lease is None:
        raise UsageError(f"run {earlier_run} is being changed; try again when that has ended")
    try:
        for key, continued in waiting:
            await _take_over_execution(context, key, continued)
    finally:
        lease.release()


def continuing(plan: Plan) -> list[tuple[int, ExecutionPlan, Continued]]:
    """The executions of a rerun with the measured passes over their cases and what they continue;
    none of any other run."""
    return [
        (group.benchmark["iterations"]["measured"], execution, execution.continued)
        for group, execution in plan.executions()
        if execution.continued is not None
    ]


async def _take_over_execution(context: RunContext, key: int, continued: Continued) -> None:
    target = (context.run_key, key)
    earlier = find_execution(context.reader, continued.execution_id)
    if earlier is None:
        raise UsageError(
            f"run {context.plan.rerun_of} was deleted before its answers were taken over; delete "
            f"run {context.plan.run_id} as well"
        )
    keeps = continued.attempt == 1
    if keeps:
        asked = _places(context, earlier, continued)
        last: int | None = 0
        while last is not None:
            page = partial(
                reruns.copy_page, target=target, earlier_key=earlier, after=last, asked=asked
            )
            last = await context.writer.apply(page)
    planned, stored = reruns.planned_of(context.reader, earlier)
    whole = planned if continued.asks_rest else stored
    finish = partial(
        reruns.finish_taking_over,
        target=target,
        earlier_key=earlier,
        planned=whole if keeps else len(continued.asked),
        keeps=keeps,
    )
    await context.writer.apply(finish)


def _places(context: RunContext, execution_key: int, continued: Continued) -> list[Place]:
    """Return what is asked, by the keys of cases: an execution and the one that it continues have
    the same."""
    wanted = {case_id for case_id, _, _ in continued.asked}
    keys = reruns.keys_of_cases(context.reader, execution_key, wanted)
    return [(keys[case_id], repeat, nth) for case_id, repeat, nth in continued.asked]


def leave_out_the_rest(context: RunContext) -> None:
    """Count as done what a rerun does not ask, in addition to what is stored."""
    for passes, execution, continued in continuing(context.plan):
        if continued.asks_rest:
            continue
        key = context.execution_keys[execution.id]
        cases = case_keys(context.reader, context.dataset_keys[execution.id])
        everything = product(cases, range(context.plan.repeats), range(passes))
        context.done[key] |= {*everything}.difference(_places(context, key, continued))


def spend_what_was_asked(context: RunContext) -> None:
    """Count toward the budget what earlier processes of a rerun spent: the kept answers were paid
    for by the earlier run."""
    kept: dict[int, set[Place]] = {}
    for _, execution, continued in continuing(context.plan):
        key = context.execution_keys[execution.id]
        kept[key] = context.done[key].difference(_places(context, key, continued))
        earlier = find_execution(context.reader, continued.execution_id)
        if continued.asks_rest and earlier is not None:
            observations = reruns.observations_of(context.reader, earlier)
            kept[key] &= {(one.case_key, one.repeat, one.iteration) for one in observations}
    for spent in reruns.spent_on(context.reader, context.run_key):
        if spent.place not in kept[spent.execution_key]:
            context.budget.spend(spent.cost_usd, spent.tokens)
