"""Runs the proxy in a separate process for the duration of a block."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Self, TypeVar
from urllib.parse import urlsplit

from agentbench_tui.process.environment import child_environment, python_module
from agentbench_tui.process.line_child import LineChild
from agentbench_tui.stress.faults.listener import HOST
from agentbench_tui.stress.faults.proxy_target import ProxyTarget
from agentbench_tui.stress.faults.script import (
    Clear,
    Counts,
    Listening,
    Schedule,
    Start,
    Tell,
    ToProxy,
    decode_from_proxy,
    line,
)

if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import TracebackType

    from agentbench_tui.stress.faults.fault import Fault

Said = TypeVar("Said", Listening, Counts)


class FaultProxy:
    """A proxy in front of one target; an async context manager that leaves no process behind.

    Every method that tells it something returns when that is in force, with the counts of then.
    Each raises AgentFailure (`harness`) when the process is gone or silent.
    """

    def __init__(self, url: str) -> None:
        """`url`: http, https or `tcp://HOST:PORT`. Raises UsageError."""
        self._url = url
        self._target = ProxyTarget.of(url)
        self._turn = asyncio.Lock()
        self._listening: Listening | None = None

    @property
    def port(self) -> int:
        """Return the port on 127.0.0.1."""
        assert self._listening is not None, "the proxy is entered first"
        return self._listening.port

    def through(self, url: str) -> str:
        """Return a URL of the target with host and port replaced by the proxy's."""
        return urlsplit(url)._replace(netloc=f"{HOST}:{self.port}").geturl()

    @property
    def pid(self) -> int:
        """Process id."""
        return self._child.process.pid

    @property
    def cpu_s(self) -> float:
        """Return the user and system CPU time of the process so far."""
        return self._child.process.tree.cpu_seconds

    async def __aenter__(self) -> Self:
        """Start the proxy. Raises AgentFailure."""
        command = python_module("agentbench_tui.stress.faults.proxy", self._url)
        self._child = LineChild(command, child_environment(), "the fault proxy")
        try:
            self._listening = await self._line(Listening)
        except BaseException:
            await asyncio.shield(self._child.process.close())
            raise
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self._child.process.close()

    async def schedule(self, faults: Sequence[Fault]) -> Counts:
        """Add faults to the script that begins with the next `start`; they are numbered from 0
        across all scripts. Raises UsageError for faults that this target does not support.
        """
        self._target.check(faults)
        return await self._tell(Schedule(tuple(faults)))

    async def start(self, at_ns: int) -> Counts:
        """Begin the script at that time of `perf_counter_ns`, which may be in the past."""
        return await self._tell(Start(at_ns))

    async def clear(self, numbers: Sequence[int] | None = None) -> Counts:
        """End faults now, or all if no numbers are given; pending ones never begin."""
        return await self._tell(Clear(None if numbers is None else tuple(numbers)))

    async def counts(self) -> Counts:
        """Return the counts so far."""
        return await self._tell(Tell())

    async def end(self) -> Counts:
        """Reset every connection, end the proxy, and return the final counts."""
        async with self._turn:
            self._child.process.write(b"", close=True)
            return await self._line(Counts)

    async def _tell(self, message: ToProxy) -> Counts:
        async with self._turn:
            self._child.process.write(line(message))
            return await self._line(Counts)

    async def _line(self, kind: type[Said]) -> Said:
        said = decode_from_proxy(await self._child.line())
        assert isinstance(said, kind), "one answer to each message, in turn"
        return said
