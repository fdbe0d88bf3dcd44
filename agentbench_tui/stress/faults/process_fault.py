"""Stops and kills the processes of a target, and always continues stopped ones.

A process is identified by pid and start mark, so that a later one with its pid is never affected.
Stopped processes continue when the block ends, also by an exception or a cancellation; if this
process is killed, a small guard process notices the end of its input and continues them.
"""

from __future__ import annotations

import asyncio
import os
import signal
from contextlib import suppress
from typing import TYPE_CHECKING, Self

from agentbench_tui.model.answer import AgentFailure, FailureKind
from agentbench_tui.process.adoption import send_signal
from agentbench_tui.process.child import Child, SpawnError
from agentbench_tui.process.environment import child_environment, python_module
from agentbench_tui.process.snapshot import ProcessInfo, family, read_process
from agentbench_tui.stress.faults.stop_guard import ALL_GO_ON, Key, as_line, let_go_on

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable
    from types import TracebackType

SWEEP_S = 0.02
"""While the target is stopped, its new processes are stopped at this interval: a program that is
started for each request is a new process each time.
"""
_LIMIT_S = 30.0
"""Time limit for the guard to start, and to answer."""
_EXIT_WAIT_S = 1.0


def tree_of(roots: Iterable[int]) -> dict[int, ProcessInfo]:
    """Return the living processes of these trees by pid, including the roots."""
    found: dict[int, ProcessInfo] = {}
    for pid in roots:
        root = read_process(pid)
        if root is not None:
            found |= {pid: root, **family(pid)}
    return {pid: info for pid, info in found.items() if not info.zombie}


class ProcessFault:
    """Stops or kills a target's process trees; an async context manager."""

    def __init__(self, roots: Callable[[], Collection[int]]) -> None:
        """`roots` returns the current root processes of the target; never one of agentbench's
        own.
        """
        self._roots = roots
        self._stopped: set[Key] = set()
        self._sweep: asyncio.Task[None] | None = None
        self._told = self._repeated = 0
        self._heard = asyncio.Event()
        self._ended = False

    @property
    def stopped(self) -> int:
        """Return the number of stopped processes."""
        return len(self._stopped)

    async def __aenter__(self) -> Self:
        """Start the guard. Raises AgentFailure (`harness`)."""
        try:
            self._guard = Child(
                python_module("agentbench_tui.stress.faults.stop_guard"),
                environment=child_environment(),
                on_output=self._hear,
                on_end=self._end,
            )
        except SpawnError as error:
            raise AgentFailure(FailureKind.HARNESS, str(error)) from error
        try:
            await self._tell([ALL_GO_ON])
        except BaseException:
            await asyncio.shield(self._guard.close())
            raise
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._let_go()
        await asyncio.shield(self._guard.close())

    async def stop(self) -> int:
        """Send SIGSTOP to all processes, and to new ones until `resume`; return how many were
        stopped now.

        Raises AgentFailure (`harness`) when the guard is gone: nothing is stopped without it.
        """
        await self._stop_new()
        if self._sweep is None:
            self._sweep = asyncio.get_running_loop().create_task(self._keep_stopped())
        return len(self._stopped)

    async def resume(self) -> None:
        """Continue all of them."""
        self._let_go()
        await self._tell([ALL_GO_ON])

    def kill(self) -> int:
        """Send SIGKILL to all processes; return how many there were."""
        return sum(send_signal(info, signal.SIGKILL) for info in self._members())

    def _members(self) -> list[ProcessInfo]:
        members = tree_of(self._roots())
        if os.getpid() in members:
            raise ValueError("our own process is among those of the target")
        return list(members.values())

    async def _stop_new(self) -> None:
        """Stop processes until a reading shows no new one: a process may fork until it stops."""
        while new := [info for info in self._members() if info.key not in self._stopped]:
            await self._tell([as_line(info.key) for info in new])
            # From here on there is no place at which a cancellation could come between.
            for info in new:
                send_signal(info, signal.SIGSTOP)
                self._stopped.add(info.key)

    async def _keep_stopped(self) -> None:
        with suppress(AgentFailure):  # the guard is gone: nothing more is stopped
            while True:
                await asyncio.sleep(SWEEP_S)
                await self._stop_new()

    def _let_go(self) -> None:
        if self._sweep is not None:
            self._sweep.cancel()
            self._sweep = None
        let_go_on(self._stopped)
        self._stopped.clear()

    async def _tell(self, lines: list[str]) -> None:
        """Send lines to the guard; return when it has repeated them, so that they are known to be
        read.
        """
        data = "".join(f"{line}\n" for line in lines).encode()
        self._guard.write(data)
        self._told += len(data)
        wanted = self._told
        with suppress(TimeoutError):
            async with asyncio.timeout(_LIMIT_S):
                while self._repeated < wanted and not self._ended:
                    self._heard.clear()
                    await self._heard.wait()
        if self._repeated < wanted:
            await self._guard.exits_within(_EXIT_WAIT_S)
            raise AgentFailure(
                FailureKind.HARNESS, f"the guard of stopped processes {self._guard.ending()}"
            )

    def _hear(self, data: bytes) -> None:
        self._repeated += len(data)
        self._heard.set()

    def _end(self) -> None:
        self._ended = True
        self._heard.set()
