"""The market as an agent of the official A2A protocol, so that A2A clients can play it.

Skills are operations, the same as of every interface. A client sends a message with one data part
`{"operation": …, "params": {…}}` and gets a message with one data part, `{"operation", "result"}`
or `{"operation", "error": {code, message, data}}`. `observe` gives the state of the current tick,
`endTurn` ends the turn. Needs the extra `a2a`.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from a2a.helpers.proto_helpers import get_data_parts, new_data_message
from a2a.server.agent_execution import AgentExecutor, RequestContext
from a2a.server.events import EventQueue
from a2a.server.request_handlers.default_request_handler_v2 import DefaultRequestHandlerV2
from a2a.server.routes.agent_card_routes import create_agent_card_routes
from a2a.server.routes.jsonrpc_routes import create_jsonrpc_routes
from a2a.server.tasks import InMemoryTaskStore
from a2a.types.a2a_pb2 import AgentCapabilities, AgentCard, AgentInterface, AgentSkill
from a2a.utils.errors import UnsupportedOperationError
from starlette.applications import Starlette

from agentbench_tui import __version__
from agentbench_tui.market.outside import rpc
from agentbench_tui.market.outside.a2a_agent import whole
from agentbench_tui.market.outside.rpc_server import url_of
from agentbench_tui.market.play.actions import GAME_OVER, METHODS
from agentbench_tui.market.play.match import END_TURN, OBSERVE

if TYPE_CHECKING:
    from uvicorn import Server

    from agentbench_tui.market.play.match import Match

_JSON = "application/json"
_CLOSE_S = 1.0
_OURS = {
    OBSERVE: "What there is to see at the current tick.",
    END_TURN: "Ends the turn; gives what there is to see at the next tick.",
}


class A2AServer:
    """Serves one match after another at one address."""

    def __init__(self, match: Match | None, host: str = "127.0.0.1", port: int = 0) -> None:
        """`match`: the first game, if it already exists; `port` 0 picks a free one."""
        self._executor = _Executor(match)
        self._host = host
        self._port = port
        self._server: Server | None = None
        self._task: asyncio.Task[None] | None = None
        self.url = ""
        """URL of the agent; its card is at `/.well-known/agent-card.json` under it."""

    async def start(self) -> None:
        """Listen; requests wait until serving begins. Raises OSError."""
        family = socket.AF_INET6 if ":" in self._host else socket.AF_INET
        listening = socket.create_server((self._host, self._port), family=family)
        # asyncio leaves it out for sockets that were made elsewhere: 40 ms a message.
        listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.url = url_of(self._host, listening.getsockname()[1])
        card = card_of(self.url)
        handler = DefaultRequestHandlerV2(self._executor, InMemoryTaskStore(), card)
        routes = [*create_agent_card_routes(card), *create_jsonrpc_routes(handler, "/")]
        self._server = _quiet_server(Starlette(routes=routes))
        self._task = asyncio.create_task(self._server.serve([listening]))

    def serve(self, match: Match) -> None:
        """Play this match from now on."""
        self._executor.match = match

    async def close(self) -> None:
        """Stop serving; current requests may finish shortly."""
        if self._server is not None and self._task is not None:
            self._server.should_exit = True
            await asyncio.wait({self._task}, timeout=_CLOSE_S)
            self._server.force_exit = True
            await self._task


def _quiet_server(app: Starlette) -> Server:
    """Return a server that leaves signals to the program that runs it."""
    from uvicorn import Config, Server  # brings in its command line's library

    class Quiet(Server):
        @contextmanager
        def capture_signals(self) -> Iterator[None]:
            """Capture no signals."""
            yield

    return Quiet(Config(app, log_config=None, lifespan="off"))


def card_of(url: str) -> AgentCard:
    """Return the market's agent card."""
    skills = [
        AgentSkill(id=name, name=name, description=text, tags=["market"])
        for name, text in _OURS.items()
    ]
    skills += [
        AgentSkill(
            id=method.name,
            name=method.name,
            description=f"{method.description} Gives {method.result}.",
            tags=["market", "action" if method.changes else "look"],
        )
        for method in METHODS.values()
    ]
    return AgentCard(
        name="agentbench market",
        description="A simulated world of prediction markets, perpetual futures, a feed and chats.",
        version=__version__,
        supported_interfaces=[
            AgentInterface(url=url, protocol_binding="JSONRPC", protocol_version="1.0")
        ],
        capabilities=AgentCapabilities(streaming=False),
        default_input_modes=[_JSON],
        default_output_modes=[_JSON],
        skills=skills,
    )


class _Executor(AgentExecutor):
    """Executes one operation per message."""

    def __init__(self, match: Match | None) -> None:
        self.match = match

    async def execute(self, context: RequestContext, event_queue: EventQueue) -> None:
        """Answer with one data message."""
        parts = [] if context.message is None else get_data_parts(context.message.parts)
        asked = whole(parts[0]) if parts and isinstance(parts[0], dict) else {}
        operation, params = asked.get("operation"), asked.get("params") or {}
        answer: dict[str, Any] = {"operation": operation}
        try:
            if not isinstance(operation, str) or not isinstance(params, dict):
                raise rpc.RpcError(
                    rpc.INVALID_REQUEST,
                    "a message has one data part: operation, and params, an object",
                )
            if self.match is None:
                raise rpc.RpcError(GAME_OVER, "no game is played here yet")
            answer["result"] = await self.match.handle(operation, params)
        except rpc.RpcError as error:
            answer["error"] = error.document()
        await event_queue.enqueue_event(
            new_data_message(answer, _JSON, context_id=context.context_id)
        )

    async def cancel(self, context: RequestContext, event_queue: EventQueue) -> None:  # noqa: ARG002  # the SDK's
        """Operations end immediately, so there is nothing to cancel."""
        raise UnsupportedOperationError
