"""`market:NAME`: the built-in baselines, which play market worlds in this process.

They receive what every agent receives and are measured as agents, except `market:oracle`: it knows
the truth, shows the best that hindsight allows, and is never ranked with the others.
`market:outsider` is an agent that connects to an address of agentbench.
"""

from __future__ import annotations

import asyncio
from importlib.util import find_spec
from typing import TYPE_CHECKING, Annotated

from pydantic import Field

from agentbench_tui.agents.adapter import AgentOptions, OpenContext
from agentbench_tui.agents.target import parse_target
from agentbench_tui.market.baselines import BASELINES, make
from agentbench_tui.market.outside.outsider import Outsider, Protocol
from agentbench_tui.market.play.actions import RATE_LIMITED, TURN_LOST, MethodError
from agentbench_tui.model.answer import Agent, AgentFailure, Answer, FailureKind
from agentbench_tui.model.errors import MissingExtra, did_you_mean

if TYPE_CHECKING:
    from agentbench_tui.market.play.match import Match
    from agentbench_tui.model.agent import AgentSpec
    from agentbench_tui.model.answer import Request

OUTSIDER = "outsider"
_TURN_ENDS = frozenset({TURN_LOST, RATE_LIMITED})
_YIELD_EVERY = 64
"""Turns after which others may run, such as the clock of a deadline."""
__all__ = ("BASELINES", "BaselineAgent", "Options", "check", "open")


class Options(AgentOptions):
    """Options of `market:outsider`; baselines have none."""

    protocol: Protocol = "jsonrpc"
    """Protocol: `jsonrpc` over HTTP, or `a2a`."""
    host: str = "127.0.0.1"
    """Address to listen on."""
    port: Annotated[int, Field(ge=0, le=65_535)] = 0
    """0 for a free one."""


def check(spec: AgentSpec, options: Options) -> list[str]:
    """Return problems of the name, and options that only outsiders have."""
    name = parse_target(spec.target).rest
    if name == OUTSIDER:
        return _missing(options.protocol)
    if name in BASELINES:
        return [f"option `{option}` is one of market:{OUTSIDER}" for option in spec.options]
    known = ", ".join(BASELINES)
    return [f'no baseline "{name}"{did_you_mean(name, BASELINES)}; there are {known}']


def _missing(protocol: Protocol) -> list[str]:
    there = protocol == "jsonrpc" or (find_spec("a2a") and find_spec("uvicorn"))
    return [] if there else [str(MissingExtra("the A2A protocol", "a2a"))]


def open(spec: AgentSpec, options: Options, context: OpenContext) -> Agent:  # noqa: A001, ARG001
    """Return a session; for a baseline it is empty, because each game has a separate player."""
    name = parse_target(spec.target).rest
    if name == OUTSIDER:
        return Outsider(options.protocol, options.host, options.port)
    return BaselineAgent(name)


class BaselineAgent:
    """One baseline; a `seats.Seat` for games of markets."""

    pids: tuple[int, ...] = ()
    peak_memory_mb: float | None = None
    cpu_seconds: float | None = None

    def __init__(self, name: str) -> None:
        self._name = name

    async def start(self) -> None:
        """Do nothing: a baseline needs no connection."""

    async def close(self) -> None:
        """Do nothing: a baseline holds no resource."""

    async def answer(self, request: Request) -> Answer:  # noqa: ARG002  # Agent's
        """Always raise AgentFailure: a baseline plays games, it answers no questions."""
        raise AgentFailure(
            FailureKind.AGENT, f"market:{self._name} plays markets (`game: market`) and answers"
            " no questions",
        )  # fmt: skip

    async def play(self, match: Match, request: Request) -> Answer:
        """Play one game to its end: at full speed, or at the pace of real time."""
        game, stage = match.game, match.stage
        player = make(self._name, stage.world, stage.truth, request.seed)
        turns = 0
        while not game.is_over:
            turns, tick = turns + 1, game.tick
            try:
                player.act(game.observation(), game.call)
            except MethodError as error:
                # The rest of the turn is over, for whoever plays; other refusals are our faults.
                if error.code not in _TURN_ENDS:
                    raise
            if game.config.pace.mode == "real-time":
                await match.end_turn(tick)
            elif game.tick == tick:
                game.advance()
            if turns % _YIELD_EVERY == 0:
                await asyncio.sleep(0)
        return Answer(api_calls=0, simulated=self._name == "oracle")
