"""The target's server, started, killed and restarted by agentbench."""

from __future__ import annotations

import asyncio
import shlex
import signal
import sys
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, Self

from agentbench_tui.http.wire import Origin
from agentbench_tui.model.answer import AgentFailure, FailureKind
from agentbench_tui.model.errors import UsageError
from agentbench_tui.process.child import Child, SpawnError
from agentbench_tui.process.environment import child_environment, python_module
from agentbench_tui.process.snapshot import read_process, snapshot
from agentbench_tui.stress.budget import Stopped
from agentbench_tui.stress.faults.stop_guard import ALL_GO_ON as NONE
from agentbench_tui.stress.faults.stop_guard import as_line
from agentbench_tui.stress.stand.reachability import is_reachable

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from types import TracebackType

    from agentbench_tui.model.answer import Agent

START_LIMIT_S = 120.0
"""From the start of the command until its port takes connections: models take time to load."""
_TRY_EVERY_S = 0.02
_GRACE_S = 2.0
_EXIT_WAIT_S = 0.5


class Owned(Protocol):
    """A server that can be killed and restarted: a `Served`, or that of a `mock` agent."""

    @property
    def pids(self) -> tuple[int, ...]:
        """Return its running processes."""

    @property
    def over_limit(self) -> str | None:
        """Return `used X MB of Y MB` after the server was killed for its memory; None again after
        `restart`.
        """

    def limit_memory(self, memory_limit_mb: float | None) -> None:
        """Set or remove the memory limit of its process tree in MB of 10^6 bytes, now and for later
        starts.
        """

    async def kill(self) -> None:
        """Send SIGKILL to all its processes; return when they are gone."""

    async def restart(self) -> None:
        """Restart it at the same address, once it is gone. Raises AgentFailure."""


class Served:
    """A server started by a command; an async context manager that leaves no process behind."""

    def __init__(
        self,
        command: str,
        url: str,
        *,
        base_dir: str = "",
        environment: Mapping[str, str] | None = None,
        memory_limit_mb: float | None = None,
        why_end: Callable[[], str | None] = lambda: None,
    ) -> None:
        """`command` is split as in a shell, but not run by one; `{python}` is the running
        interpreter.

        `url` is its future address; only host and port count. `environment` is added to that of
        every child process. `why_end` returns the reason if waiting for it should end. Raises
        UsageError.
        """
        self._words = words_of(command)
        self._url, self._origin = url, Origin.of(url)
        self._folder = str(Path(base_dir).resolve())
        self._environment = {**child_environment(), **(environment or {})}
        self._memory_limit_mb = memory_limit_mb
        self._why_end = why_end
        self._child: Child | None = None
        self._guard: Child | None = None
        """Ends the server if this process is killed."""

    @property
    def pids(self) -> tuple[int, ...]:
        """See `Owned`."""
        if self._child is None:
            return ()
        members = self._child.tree.members(snapshot())
        return tuple(info.pid for info in members if not info.zombie)

    @property
    def over_limit(self) -> str | None:
        """See `Owned`."""
        return None if self._child is None else self._child.tree.over_limit

    @property
    def ending(self) -> str | None:
        """Return how its program ended, such as `exited with code 3: …`; None while it runs."""
        if self._child is None or not self._child.exited.is_set():
            return None
        return self._child.ending()

    def limit_memory(self, memory_limit_mb: float | None) -> None:
        """See `Owned`."""
        self._memory_limit_mb = memory_limit_mb
        if self._child is not None:
            self._child.tree.memory_limit_mb = memory_limit_mb

    async def kill(self) -> None:
        """See `Owned`."""
        if self._child is not None:
            await self._child.tree.kill()
            await self._child.exits_within(_GRACE_S)

    async def restart(self) -> None:
        """See `Owned`."""
        await self._close()
        await self._start()

    async def __aenter__(self) -> Self:
        """Start it and wait until its port accepts connections.

        Raises AgentFailure, UsageError when another program listens there, and `Stopped`.
        """
        if await is_reachable(self._url):
            raise UsageError(
                f"something listens on port {self._origin.port} of {self._origin.host} already: "
                f"end it, so that `{self._words[0]}` can be started there"
            )
        try:
            self._guard = Child(
                python_module("agentbench_tui.stress.faults.end_guard"),
                environment=child_environment(),
                on_output=_ignore,
                on_end=_ended,
            )
        except SpawnError as error:
            raise AgentFailure(FailureKind.HARNESS, str(error)) from error
        try:
            await self._start()
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
        await asyncio.shield(self._end())

    async def _end(self) -> None:
        await self._close()
        if self._guard is not None:
            await self._guard.close()

    async def _start(self) -> None:
        try:
            self._child = Child(
                self._words,
                environment=self._environment,
                cwd=self._folder,
                memory_limit_mb=self._memory_limit_mb,
                on_output=_ignore,
                on_end=_ended,
            )
        except SpawnError as error:
            raise AgentFailure(FailureKind.AGENT, str(error)) from error
        info = read_process(self._child.pid)
        if info is not None and self._guard is not None:
            self._guard.write(f"{as_line(info.key)}\n".encode())
        try:
            await self._await_port(self._child)
        except BaseException:
            await asyncio.shield(self._close())
            raise

    async def _await_port(self, child: Child) -> None:
        with suppress(TimeoutError):
            async with asyncio.timeout(START_LIMIT_S):
                while not await is_reachable(self._url):
                    if (reason := self._why_end()) is not None:
                        raise Stopped(reason)
                    if await child.exits_within(_TRY_EVERY_S):
                        ending = child.ending()
                        raise AgentFailure(FailureKind.AGENT, f"`{self._words[0]}` {ending}")
                return
        raise AgentFailure(
            FailureKind.TIMEOUT,
            f"`{self._words[0]}` does not listen on port {self._origin.port} of "
            f"{self._origin.host} after {START_LIMIT_S:g} s",
        )

    async def _close(self) -> None:
        if self._child is not None:
            self._child.tree.signal_all(signal.SIGTERM)  # servers do not read their input
            await self._child.exits_within(_GRACE_S)
            await self._child.close()
        if self._guard is not None:
            self._guard.write(f"{NONE}\n".encode())


def owned_by(agent: Agent | None, served: Served | None) -> Owned | None:
    """Return the target's server if agentbench may end and restart it; otherwise None."""
    from agentbench_tui.agents.mock.agent import MockAgent

    if served is not None:
        return served
    return agent.server if isinstance(agent, MockAgent) else None


def words_of(command: str) -> Sequence[str]:
    """Split a command that starts a server into words. Raises UsageError."""
    try:
        words = [word.replace("{python}", sys.executable) for word in shlex.split(command)]
    except ValueError as error:
        raise UsageError(f"`serve`: `{command}`: {error}") from None
    if not words:
        raise UsageError("`serve` names no program: write the command that starts the server")
    return words


def _ignore(output: bytes) -> None:
    """Discard its output; the child process keeps the end of standard error."""


def _ended() -> None:
    """Report the end to users of the server."""
