"""Games that cases of a task are played in, found by name. The engine imports none of them.

A game is a module with `player(agent, spec)`: the agent as one that answers a case by playing the
world that the case describes to its end, and `check(benchmark)`: what is wrong with a benchmark
that is played, in sentences.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Protocol, cast

from agentbench_tui.model.errors import UsageError, did_you_mean

if TYPE_CHECKING:
    from agentbench_tui.model.agent import AgentSpec
    from agentbench_tui.model.answer import Agent
    from agentbench_tui.model.suite import Benchmark

GAMES = {"market": "agentbench_tui.market.player"}


class Game(Protocol):
    """How cases of one game are checked and played."""

    def check(self, benchmark: Benchmark) -> list[str]: ...

    def player(self, agent: Agent, spec: AgentSpec) -> Agent:
        """An agent whose answer to a case is the whole episode; it starts and closes `agent`."""


def find_game(name: str) -> Game:
    """The game of that name. Raises UsageError with the nearest name."""
    if name not in GAMES:
        raise UsageError(
            f'no game "{name}"{did_you_mean(name, GAMES)}: there is {", ".join(GAMES)}'
        )
    return cast("Game", import_module(GAMES[name]))
