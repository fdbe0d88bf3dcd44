"""Seats of playing agents: the base class, a seat that cannot play, and the seat of an invited
agent.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, runtime_checkable

import msgspec

from agentbench_tui.market.outside.rpc_server import RpcServer
from agentbench_tui.model.answer import AgentFailure, Answer, Case, FailureKind

if TYPE_CHECKING:
    from agentbench_tui.market.play.match import Match
    from agentbench_tui.model.answer import Agent, Request


@runtime_checkable
class Seat(Protocol):
    """How one agent plays games, one after another or at the same time."""

    async def start(self) -> None:
        """Open what all games share. Raises AgentFailure."""

    async def play(self, match: Match, request: Request) -> Answer:
        """Play one game to its end; return an answer with token and cost usage, without data.

        Raises AgentFailure.
        """

    async def close(self) -> None:
        """End everything that was started."""

    @property
    def pids(self) -> tuple[int, ...]: ...

    @property
    def peak_memory_mb(self) -> float | None: ...

    @property
    def cpu_seconds(self) -> float | None: ...


class NoSeat:
    """Seat of an agent that cannot play: its start fails."""

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
        """Always raise AgentFailure."""
        raise self._failure

    async def play(self, match: Match, request: Request) -> Answer:  # noqa: ARG002  # Seat's
        """Never called, since `start` fails."""
        raise self._failure

    async def close(self) -> None:
        """Do nothing."""


class AgentSeat:
    """Base of seats that call an agent: it is started, ended and sampled as in any other
    benchmark.
    """

    def __init__(self, agent: Agent) -> None:
        self._agent = agent

    @property
    def pids(self) -> tuple[int, ...]:
        """Return the agent's processes."""
        return self._agent.pids

    @property
    def peak_memory_mb(self) -> float | None:
        """Return the agent's peak memory."""
        return self._agent.peak_memory_mb

    @property
    def cpu_seconds(self) -> float | None:
        """Return the agent's CPU time."""
        return self._agent.cpu_seconds

    async def start(self) -> None:
        """Start the agent. Raises AgentFailure."""
        await self._agent.start()

    async def close(self) -> None:
        """Close the agent."""
        await self._agent.close()


class InvitedSeat(AgentSeat):
    """An agent that receives the address of a game, and plays it over HTTP while it answers.

    Its input is an object with `rpc_url`. After its answer, the game continues without it.
    """

    def __init__(self, agent: Agent) -> None:
        super().__init__(agent)
        self._server = RpcServer()

    async def start(self) -> None:
        """Start the agent and the server that it plays at. Raises AgentFailure."""
        await super().start()
        try:
            await self._server.start()
        except OSError as error:
            reason = f"no address for the game: {error.strerror or error}"
            raise AgentFailure(FailureKind.HARNESS, reason) from None

    async def close(self) -> None:
        """Close the agent and the server."""
        await self._server.close()
        await super().close()

    async def play(self, match: Match, request: Request) -> Answer:
        """Invite the agent to a game; it holds its positions in turns that it does not use."""
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
