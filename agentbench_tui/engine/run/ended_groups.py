"""Groups that have been measured and whose executions are still to be closed and summed up.

A group that took long is finished at once. Short ones of one benchmark, such as the points of a
sweep, are finished together, since each time takes two transactions and a reading connection. They
are finished before a group of another benchmark begins, so that nothing runs while it is measured.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from agentbench_tui.engine.run.closing import close_execution, end_executions
from agentbench_tui.model.clock import monotonic

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Mapping

    from agentbench_tui.engine.run.context import RunContext
    from agentbench_tui.engine.run.finish import Ended
    from agentbench_tui.engine.run.plan import Group
    from agentbench_tui.model.suite import Suite

LONGEST_WAIT_S = 0.25
"""From the beginning of a group; until then its executions are stored as running."""
MOST_TOGETHER = 50
"""Executions of one transaction: about 20 ms."""


class EndedGroups:
    """Finishes groups, several at a time."""

    def __init__(self, context: RunContext, suites: Mapping[str, Suite]) -> None:
        self._context = context
        self._suites = suites
        """By hash."""
        self._waiting: list[Ended] = []
        self._since = 0.0
        """When the first group that waits began, by `monotonic`."""
        self._place: tuple[str, str] | None = None
        """Suite and benchmark of the waiting executions."""
        self._timer: asyncio.TimerHandle | None = None
        self._late: asyncio.Task[None] | None = None
        """Finishes groups while a later one is measured that takes longer than they did."""

    async def make_way(self, group: Group) -> None:
        """Finish the groups that wait, unless the one about to begin is of their benchmark: it is
        taken to be as short."""
        place = group.suite_hash, str(group.benchmark["benchmark_id"])
        if place != self._place:
            await self.finish()
        self._place = place

    async def add(self, group: Group, began: float) -> None:
        """Finish a group, come to its end or not, that began at that time of `monotonic`, now or
        soon."""
        # It brings numpy in, for which a window that measures has no time.
        from agentbench_tui.engine.run.finish import Ended, baseline_first

        suite, benchmark = self._suites[group.suite_hash], group.resolved()
        if not self._waiting:
            self._since = began
        self._waiting += [
            Ended(self._context.execution_keys[execution.id], benchmark, suite)
            for execution in baseline_first(group.executions, suite.baseline)
        ]
        left_s = self._since + LONGEST_WAIT_S - monotonic()
        if len(self._waiting) >= MOST_TOGETHER or self._context.stop.is_set or left_s <= 0:
            await self.finish()
        elif self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(left_s, self._begin_late)

    async def finish(self) -> None:
        """Finish the waiting executions. Raises StoreError."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        late, self._late = self._late, None
        if late is not None:
            await late
        await self._finish_waiting()

    def _begin_late(self) -> None:
        late, self._timer = self._late, None
        if late is not None and not late.done():
            loop = asyncio.get_running_loop()
            self._timer = loop.call_later(LONGEST_WAIT_S, self._begin_late)
        elif late is None or not (late.cancelled() or late.exception()):
            self._late = asyncio.create_task(self._finish_waiting())
        # Else `finish` raises what went wrong.

    async def _finish_waiting(self) -> None:
        waiting, self._waiting = self._waiting, []
        if waiting:
            from agentbench_tui.engine.run.finish import finish_executions

            writer = self._context.writer
            await writer.apply(lambda c: end_executions(c, [one.key for one in waiting]))
            await finish_executions(writer, waiting, self._close)

    def _close(self, connection: sqlite3.Connection, key: int) -> None:
        context = self._context
        close_execution(connection, key, context.progress_of(key), context.stop)
