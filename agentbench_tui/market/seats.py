"""Where an agent sits that plays from a process of its own, or over HTTP: JSON-RPC either way."""

from __future__ import annotations

import asyncio
import errno
import os
from typing import TYPE_CHECKING, Protocol, runtime_checkable

import msgspec

from agentbench_tui.market import rpc
from agentbench_tui.market.barrier import CLOSED, OPEN, barrier, is_there
from agentbench_tui.market.rpc_server import MOST_BYTES, RpcServer
from agentbench_tui.model.answer import AgentFailure, Answer, Case, FailureKind
from agentbench_tui.process.child import Child, SpawnError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from agentbench_tui.market.barrier import Start
    from agentbench_tui.market.match import Match
    from agentbench_tui.model.answer import Agent, Request

_EXIT_WAIT_S = 0.5
_CLOSE_GRACE_S = 1.0
_DENIED = os.strerror(errno.EACCES)


@runtime_checkable
class Seat(Protocol):
    """How one agent plays games, one after another or at the same time."""

    async def start(self) -> None:
        """Open what all games share. Raises AgentFailure."""

    async def play(self, match: Match, request: Request) -> Answer:
        """Play one game to its end; the answer has what it took, and no data. Raises
        AgentFailure."""

    async def close(self) -> None:
        """End what was started."""

    @property
    def pids(self) -> tuple[int, ...]: ...

    @property
    def peak_memory_mb(self) -> float | None: ...

    @property
    def cpu_seconds(self) -> float | None: ...


class NoSeat:
    """Of an agent that stands in for an answer and cannot play: its start fails."""

    pids: tuple[int, ...] = ()
    peak_memory_mb: float | None = None
    cpu_seconds: float | None = None

    def __init__(self, scheme: str) -> None:
        self._failure = AgentFailure(
            FailureKind.AGENT,
            f"agents of scheme {scheme} answer questions and cannot play; market:hold is a"
            " baseline that can",
        )

    async def start(self) -> None:
        """Always fails."""
        raise self._failure

    async def play(self, match: Match, request: Request) -> Answer:  # noqa: ARG002  # Seat's
        """Never comes to it."""
        raise self._failure

    async def close(self) -> None:
        """Nothing to end."""


class ProcessSeat:
    """A program for each game: requests on its standard output, responses on its input."""

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
        """The programs that play now."""
        return tuple(self._running)

    @property
    def peak_memory_mb(self) -> float | None:
        """Of any one game's process tree."""
        now = [child.tree.peak_memory_mb for child in self._running.values()]
        peaks = [peak for peak in (*now, self._peak_memory_mb) if peak is not None]
        return max(peaks, default=None)

    @property
    def cpu_seconds(self) -> float | None:
        """Of all games' process trees."""
        now = sum(child.tree.cpu_seconds for child in self._running.values())
        return self._ended_cpu_s + now

    async def start(self) -> None:
        """Nothing: each game starts its own program."""

    async def close(self) -> None:
        """Nothing: each game ended its own program."""

    async def play(self, match: Match, request: Request) -> Answer:  # noqa: ARG002  # Seat's
        """Serve the program's requests until the game is over."""
        with barrier(self._command, self._environment, match.stage.files) as start:
            await self._play(match, start)
        return Answer(api_calls=0, metadata={} if is_there() else {"notice": OPEN})

    async def _play(self, match: Match, start: Start) -> None:
        reader = _Lines()
        try:
            child = Child(
                start.command,
                environment=start.environment,
                cwd=self._cwd,
                memory_limit_mb=self._memory_limit_mb,
                on_output=reader.take,
                on_end=reader.end,
            )
        except SpawnError as error:
            raise AgentFailure(FailureKind.AGENT, str(error)) from None
        self._running[child.pid] = child
        try:
            await self._serve(child, reader, match)
        finally:
            child.tree.check_peak()
            self._peak_memory_mb = self.peak_memory_mb
            del self._running[child.pid]
            await child.close(_CLOSE_GRACE_S)
            self._ended_cpu_s += child.tree.cpu_seconds

    async def _serve(self, child: Child, reader: _Lines, match: Match) -> None:
        over = asyncio.create_task(match.over.wait())
        try:
            while not match.over.is_set():
                line = asyncio.create_task(reader.lines.get())
                await asyncio.wait({line, over}, return_when=asyncio.FIRST_COMPLETED)
                if not line.done():
                    line.cancel()
                    return
                request = line.result()
                if request is None:
                    raise await self._gone(child, reader)
                response = await rpc.respond(request, match.handle)
                if response is not None:
                    child.write(response + b"\n")
        finally:
            over.cancel()

    async def _gone(self, child: Child, reader: _Lines) -> AgentFailure:
        if reader.too_long:
            fault = f"`{self._command[0]}` wrote a request of more than {MOST_BYTES:,} bytes"
            return AgentFailure(FailureKind.AGENT, fault)
        await child.exits_within(_EXIT_WAIT_S)
        if child.tree.over_limit is not None:
            return AgentFailure(FailureKind.LIMIT, f"memory: {child.tree.over_limit}")
        what = f"`{self._command[0]}` {child.ending()}, before the game was over"
        if is_there() and _DENIED in child.stderr_tail():
            what += f"; {CLOSED}"
        return AgentFailure(FailureKind.AGENT, what)


class _Lines:
    """Cuts what a program says into lines; the end, or a line without one, is None."""

    def __init__(self) -> None:
        self.lines: asyncio.Queue[bytes | None] = asyncio.Queue()
        self._buffer = bytearray()
        self.too_long = False

    def take(self, data: bytes) -> None:
        self._buffer += data
        *whole, rest = self._buffer.split(b"\n")
        self._buffer = bytearray(rest)
        for line in whole:
            if line.strip():
                self.lines.put_nowait(bytes(line))
        if len(rest) > MOST_BYTES:
            self.too_long = True
            self.end()

    def end(self) -> None:
        self.lines.put_nowait(None)


class InvitedSeat:
    """An agent that is told where a game is played, and plays it over HTTP while it answers.

    Its input is an object with `rpc_url`. When it has answered, the game goes on without it.
    """

    def __init__(self, agent: Agent) -> None:
        self._agent = agent
        self._server = RpcServer()

    @property
    def pids(self) -> tuple[int, ...]:
        """The agent's own."""
        return self._agent.pids

    @property
    def peak_memory_mb(self) -> float | None:
        """The agent's own."""
        return self._agent.peak_memory_mb

    @property
    def cpu_seconds(self) -> float | None:
        """The agent's own."""
        return self._agent.cpu_seconds

    async def start(self) -> None:
        """Start the agent, and the server that it plays at. Raises AgentFailure."""
        await self._agent.start()
        try:
            await self._server.start()
        except OSError as error:
            reason = f"no address for the game: {error.strerror or error}"
            raise AgentFailure(FailureKind.HARNESS, reason) from None

    async def close(self) -> None:
        """End both."""
        await self._server.close()
        await self._agent.close()

    async def play(self, match: Match, request: Request) -> Answer:
        """Invite the agent; turns that it does not take are turns in which it holds."""
        url = self._server.open(match)
        # Nothing of the case itself, whose id and config name the seed that the truth follows from.
        case = Case("market", {"game": "market", "rpc_url": url})
        try:
            answer = await self._agent.answer(msgspec.structs.replace(request, case=case))
            while not match.game.is_over:
                await match.end_turn()
        finally:
            self._server.forget(url)
        return answer
