"""`market:outsider`: an external agent that connects to the harness to play, by JSON-RPC or A2A.

The address is the same for all games of a session; the next game starts when the previous one is
over. The address is printed on standard error, since the agent has to be started separately.
"""

from __future__ import annotations

import asyncio
import sys
from typing import TYPE_CHECKING, Literal

from agentbench_tui.market.outside.rpc_server import RpcServer
from agentbench_tui.model.answer import AgentFailure, Answer, FailureKind

if TYPE_CHECKING:
    from agentbench_tui.market.outside.a2a_server import A2AServer
    from agentbench_tui.market.play.match import Match
    from agentbench_tui.model.answer import Request

Protocol = Literal["jsonrpc", "a2a"]


class Outsider:
    """A `seats.Seat` that waits for an agent to connect."""

    pids: tuple[int, ...] = ()
    peak_memory_mb: float | None = None
    cpu_seconds: float | None = None

    def __init__(self, protocol: Protocol, host: str, port: int) -> None:
        self._protocol = protocol
        self._host = host
        self._port = port
        self._server: RpcServer | A2AServer | None = None
        self._turn = asyncio.Lock()

    async def start(self) -> None:
        """Listen, and print the address. Raises AgentFailure if the port is unavailable."""
        server: RpcServer | A2AServer
        if self._protocol == "a2a":
            from agentbench_tui.market.outside.a2a_server import A2AServer

            server = A2AServer(None, self._host, self._port)
        else:
            server = RpcServer(self._host, self._port)
        try:
            await server.start()
        except OSError as error:
            place = f"{self._host}:{self._port}"
            reason = f"cannot listen on {place}: {error.strerror or error}"
            raise AgentFailure(FailureKind.HARNESS, reason) from None
        self._server = server
        sys.stderr.write(f"serving by {self._protocol} at {server.url}\n")
        sys.stderr.flush()

    async def play(self, match: Match, request: Request) -> Answer:  # noqa: ARG002  # Seat's
        """Serve the game until it is over; earlier games are served first."""
        assert self._server is not None
        async with self._turn:
            self._server.serve(match)
            await match.over.wait()
        return Answer(api_calls=0)

    async def answer(self, request: Request) -> Answer:  # noqa: ARG002  # Agent's
        """Not supported: the agent connects to play. Raises AgentFailure."""
        raise AgentFailure(FailureKind.AGENT, "market:outsider plays markets (`game: market`)")

    async def close(self) -> None:
        """Stop listening; current requests finish."""
        if self._server is not None:
            await self._server.close()
            self._server = None
