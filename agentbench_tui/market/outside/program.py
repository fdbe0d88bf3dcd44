"""A program that plays: JSON-RPC requests or batches, one a line, on its standard output; responses
on its standard input.
"""

from __future__ import annotations

import asyncio
import errno
import os
from typing import TYPE_CHECKING

from agentbench_tui.market.outside import rpc
from agentbench_tui.market.outside.barrier import CLOSED, OPEN, barrier, is_there
from agentbench_tui.market.outside.rpc_server import MOST_BYTES
from agentbench_tui.model.answer import AgentFailure, Answer, FailureKind
from agentbench_tui.process.child import Child, SpawnError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from agentbench_tui.market.outside.barrier import Start
    from agentbench_tui.market.play.match import Match
    from agentbench_tui.model.answer import Request

_EXIT_WAIT_S = 0.5
_CLOSE_GRACE_S = 1.0
MOST_UNREAD_BYTES = 1 << 20
"""Limit of a program's unanswered requests, and of its unread answers: above it, no further
request is read or answered until they are processed.
"""
_DENIED = os.strerror(errno.EACCES)


class ProcessSeat:
    """Starts a program for each game; it writes requests and reads responses."""

    def __init__(
        self,
        command: Sequence[str],
        environment: Mapping[str, str],
        cwd: str | None,
        memory_limit_mb: float | None,
    ) -> None:
        self._command = command
        self._environment = environment
        self._cwd = cwd
        self._memory_limit_mb = memory_limit_mb
        self._running: dict[int, Child] = {}
        self._ended_cpu_s = 0.0
        self._peak_memory_mb: float | None = None

    @property
    def pids(self) -> tuple[int, ...]:
        """Return the programs that are playing."""
        return tuple(self._running)

    @property
    def peak_memory_mb(self) -> float | None:
        """Return the largest peak of any single game's process tree."""
        now = [child.tree.peak_memory_mb for child in self._running.values()]
        peaks = [peak for peak in (*now, self._peak_memory_mb) if peak is not None]
        return max(peaks, default=None)

    @property
    def cpu_seconds(self) -> float | None:
        """Return the total of all games' process trees."""
        now = sum(child.tree.cpu_seconds for child in self._running.values())
        return self._ended_cpu_s + now

    async def start(self) -> None:
        """Do nothing: each game starts its own program."""

    async def close(self) -> None:
        """Do nothing: each game ends its own program."""

    async def play(self, match: Match, request: Request) -> Answer:  # noqa: ARG002  # Seat's
        """Serve the program's requests until the game is over."""
        with barrier(self._command, self._environment, match.stage.files) as start:
            await self._play(match, start)
        return Answer(api_calls=0, metadata={} if is_there() else {"notice": OPEN})

    async def _play(self, match: Match, start: Start) -> None:
        requests = _Requests()
        try:
            child = Child(
                start.command,
                environment=start.environment,
                cwd=self._cwd,
                memory_limit_mb=self._memory_limit_mb,
                on_output=requests.take,
                on_end=requests.end,
            )
        except SpawnError as error:
            raise AgentFailure(FailureKind.AGENT, str(error)) from None
        requests.source = child
        self._running[child.pid] = child
        try:
            await self._serve(child, requests, match)
        finally:
            child.tree.check_peak()
            self._peak_memory_mb = self.peak_memory_mb
            del self._running[child.pid]
            await child.close(_CLOSE_GRACE_S)
            self._ended_cpu_s += child.tree.cpu_seconds

    async def _serve(self, child: Child, requests: _Requests, match: Match) -> None:
        answering = asyncio.create_task(_answer_all(child, requests, match))
        over = asyncio.create_task(match.over.wait())
        try:
            await asyncio.wait({answering, over}, return_when=asyncio.FIRST_COMPLETED)
            if answering.done() and not answering.result():
                raise await self._gone(child, requests)
        finally:
            answering.cancel()
            over.cancel()

    async def _gone(self, child: Child, requests: _Requests) -> AgentFailure:
        if requests.too_long:
            fault = f"`{self._command[0]}` wrote a request of more than {MOST_BYTES:,} bytes"
            return AgentFailure(FailureKind.AGENT, fault)
        await child.exits_within(_EXIT_WAIT_S)
        if child.tree.over_limit is not None:
            return AgentFailure(FailureKind.LIMIT, f"memory: {child.tree.over_limit}")
        what = f"`{self._command[0]}` {child.ending()}, before the game was over"
        if is_there() and _DENIED in child.stderr_tail():
            what += f"; {CLOSED}"
        return AgentFailure(FailureKind.AGENT, what)


async def _answer_all(child: Child, requests: _Requests, match: Match) -> bool:
    """Answer a program's requests; return whether the game was over before the requests ended."""
    while not match.over.is_set():
        request = await requests.next()
        if request is None:
            return False
        response = await rpc.respond(request, match.handle)
        if response is not None:
            child.write(response + b"\n")
            if child.unsent_bytes > MOST_UNREAD_BYTES:
                await child.all_taken()
        await asyncio.sleep(0)  # others run too, however much was asked at once
    return True


class _Requests:
    """Splits a program's output into lines; None for the end, or for a line that is too long.

    A program that sends faster than it is answered has to wait, so that its requests do not pile up
    here.
    """

    def __init__(self) -> None:
        self.source: Child | None = None
        self.too_long = False
        self._lines: asyncio.Queue[bytes | None] = asyncio.Queue()
        self._waiting_bytes = 0
        self._paused = False
        self._buffer = bytearray()

    async def next(self) -> bytes | None:
        """The next line."""
        line = await self._lines.get()
        self._waiting_bytes -= len(line or b"")
        if self._paused and not self._waiting_bytes and self.source is not None:
            self._paused = False
            self.source.resume_output()
        return line

    def take(self, data: bytes) -> None:
        """Add output."""
        self._buffer += data
        *whole, rest = self._buffer.split(b"\n")
        self._buffer = bytearray(rest)
        for line in whole:
            if line.strip():
                self._waiting_bytes += len(line)
                self._lines.put_nowait(bytes(line))
        if len(rest) > MOST_BYTES:
            self.too_long = True
            self.end()
        if self._waiting_bytes > MOST_UNREAD_BYTES and self.source is not None:
            self._paused = True
            self.source.pause_output()

    def end(self) -> None:
        """Mark the end of the output."""
        self._lines.put_nowait(None)
