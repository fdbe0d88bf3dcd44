"""`a2a:URL`: a remote agent that speaks the official A2A protocol; the harness is its client.

`URL` is that of the agent, under which its card lies. A question is one message of text. In a game
of markets every tick is a message with one data part, `{"game": "market", "tick", "ticks",
"observation", "operations"}`; the agent answers with a data part `{"actions": [{"operation",
"params"}]}` (or with that JSON as text), is sent `{"game": "market", "results": […]}`, and so on
until it wants no further action. Needs the extra `a2a`.
"""

from __future__ import annotations

import asyncio
import json
import uuid
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from agentbench_tui.agents.adapter import AgentOptions, OpenContext
from agentbench_tui.agents.target import parse_target
from agentbench_tui.market.play.actions import METHODS, MethodError
from agentbench_tui.market.play.functions import MOST_CALLS, MOST_ROUNDS
from agentbench_tui.model.answer import Agent, AgentFailure, Answer, FailureKind
from agentbench_tui.model.errors import MissingExtra
from agentbench_tui.model.text.untrusted import one_line

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from a2a.client import Client
    from a2a.types.a2a_pb2 import Part, StreamResponse
    from httpx import AsyncClient

    from agentbench_tui.market.play.match import Match
    from agentbench_tui.model.agent import AgentSpec
    from agentbench_tui.model.answer import Request

_NOT_INSTALLED = str(MissingExtra("the A2A protocol", "a2a"))
_DETAIL_CHARACTERS = 300
_CONNECT_S = 10.0


class Options(AgentOptions):
    """Options of A2A agents; there are none."""


def check(spec: AgentSpec, options: Options) -> list[str]:  # noqa: ARG001  # the contract's
    """Return problems of the URL, and a missing extra."""
    from importlib.util import find_spec

    problems = []
    url = parse_target(spec.target).rest
    if urlsplit(url).scheme not in {"http", "https"} or not urlsplit(url).netloc:
        problems.append(f"`{spec.target}`: expected a2a:http://HOST:PORT/")
    if find_spec("a2a") is None:
        problems.append(_NOT_INSTALLED)
    return problems


def open(spec: AgentSpec, options: Options, context: OpenContext) -> Agent:  # noqa: A001, ARG001
    """Return a session with the remote agent, not yet started."""
    return RemoteAgent(parse_target(spec.target).rest)


class RemoteAgent:
    """One remote agent, for questions or games."""

    pids: tuple[int, ...] = ()
    peak_memory_mb: float | None = None
    cpu_seconds: float | None = None

    def __init__(self, url: str) -> None:
        self._url = url
        self._http: AsyncClient | None = None
        self._client: Client | None = None

    async def start(self) -> None:
        """Read the agent's card. Raises AgentFailure."""
        try:
            from a2a.client import ClientConfig, ClientFactory
            from httpx import AsyncClient, Timeout
        except ImportError:
            raise AgentFailure(FailureKind.AGENT, _NOT_INSTALLED) from None
        # It may think as long as it wants: cases and turns have limits of their own.
        self._http = AsyncClient(timeout=Timeout(None, connect=_CONNECT_S))
        try:
            factory = ClientFactory(ClientConfig(streaming=False, httpx_client=self._http))
            self._client = await factory.create_from_url(self._url)
        except Exception as error:
            raise _failure(self._url, error) from error

    async def close(self) -> None:
        """Close the connections."""
        if self._client is not None:
            await self._client.close()
        if self._http is not None:
            await self._http.aclose()

    async def answer(self, request: Request) -> Answer:
        """Return the agent's answer to the text of a case. Raises AgentFailure."""
        from a2a.helpers.proto_helpers import get_data_parts, get_text_parts, new_text_part

        parts = await self._send([new_text_part(request.text())], str(uuid.uuid4()))
        data = get_data_parts(parts)
        return Answer("\n".join(get_text_parts(parts)), data=data[0] if data else None)

    async def play(self, match: Match, request: Request) -> Answer:  # noqa: ARG002  # a Seat's
        """Drive the agent through one game. Raises AgentFailure."""
        game, asked = match.game, 0
        context = str(uuid.uuid4())
        while not game.is_over:
            tick = game.tick
            state = match.observe()
            told: dict[str, Any] = {"game": "market", **state, "operations": [*METHODS]}
            try:
                async with asyncio.timeout(_left(match)):
                    for _ in range(MOST_ROUNDS):
                        asked += 1
                        actions = await self._ask(told, context)
                        if not actions or game.tick != tick:
                            break
                        results = _carried_out(match, actions[:MOST_CALLS])
                        told = {"game": "market", "tick": tick, "results": results}
            except TimeoutError:
                game.expire()
            await match.end_turn(tick)
        return Answer(api_calls=asked)

    async def _ask(self, told: dict[str, Any], context: str) -> list[Any]:
        """Return the actions that the agent requests."""
        from a2a.helpers.proto_helpers import get_data_parts, get_text_parts, new_data_part

        parts = await self._send([new_data_part(told, "application/json")], context)
        for data in (*get_data_parts(parts), *map(_json, get_text_parts(parts))):
            if isinstance(data, dict) and isinstance(data.get("actions"), list):
                return list(data["actions"])
        return []

    async def _send(self, parts: list[Part], context: str) -> list[Part]:
        from a2a.helpers.proto_helpers import new_message
        from a2a.types.a2a_pb2 import Role, SendMessageRequest

        assert self._client is not None
        message = new_message(parts, context_id=context, role=Role.ROLE_USER)
        found: list[Part] = []
        try:
            async for event in self._client.send_message(SendMessageRequest(message=message)):
                found += _parts(event)
        except Exception as error:
            raise _failure(self._url, error) from error
        return found


def _left(match: Match) -> float | None:
    """Return the seconds until the current turn is lost."""
    game = match.game
    return None if game.due is None else max(0.0, game.due - game.config.now())


def _parts(event: StreamResponse) -> Iterable[Part]:
    if event.HasField("message"):
        yield from event.message.parts
    if event.HasField("task"):
        yield from event.task.status.message.parts
        for artifact in event.task.artifacts:
            yield from artifact.parts


def _carried_out(match: Match, actions: Sequence[Any]) -> list[dict[str, Any]]:
    """Return the results of the actions of one answer, or why they were refused."""
    tick, told = match.game.tick, []
    last = len(actions) - 1
    for nth, action in enumerate(actions):
        if match.game.tick != tick:
            break  # the turn is over, and what it saw no longer so
        told.append(_result(match, action, more=nth < last))
    return told


def _result(match: Match, action: Any, *, more: bool) -> dict[str, Any]:
    asked: Mapping[str, Any] = whole(action) if isinstance(action, dict) else {}
    operation = str(asked.get("operation", ""))
    try:
        result = match.game.call(operation, asked.get("params"), more=more)
    except MethodError as error:
        return {"operation": operation, "error": error.document()}
    return {"operation": operation, "result": result}


def whole(value: Any) -> Any:
    """Return the value with whole numbers as ints: A2A's data parts have only floats."""
    if isinstance(value, dict):
        return {name: whole(inner) for name, inner in value.items()}
    if isinstance(value, list):
        return [whole(inner) for inner in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _json(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):  # no JSON, or nested too deeply
        return None


def _failure(url: str, error: Exception) -> AgentFailure:
    reason = one_line(str(error) or type(error).__name__, _DETAIL_CHARACTERS)
    return AgentFailure(FailureKind.SERVER, f"{url}: {reason}")
