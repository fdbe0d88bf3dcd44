"""Games that cases of a task are played in, found by name. The engine imports none of them.

A game is a module with `player`: the agent as one that answers a case by playing the world that the
case describes to its end; `check` and `check_agent`: what is wrong with a benchmark that is played,
and with an agent, in sentences; `accesses`: the files that a case reads; and `add_metrics`: what
its episodes say beside the metrics of any task.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Protocol, cast

from agentbench_tui.model.errors import UsageError, did_you_mean

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable

    from agentbench_tui.engine.run.context import StopSignal
    from agentbench_tui.engine.task.aggregate import Aggregate
    from agentbench_tui.model.access import Access
    from agentbench_tui.model.agent import AgentSpec
    from agentbench_tui.model.answer import Agent, Case
    from agentbench_tui.model.suite import Benchmark

GAMES = {"market": "agentbench_tui.market.play.player"}


class Game(Protocol):
    """How cases of one game are checked and played."""

    def check(self, benchmark: Benchmark) -> list[str]: ...

    def check_agent(self, spec: AgentSpec) -> list[str]:
        """Check an agent that only plays this game, like `agents.registry.check_agent`."""

    def player(
        self, agent: Agent, spec: AgentSpec, memory_limit_mb: float | None, stop: StopSignal
    ) -> Agent:
        """An agent whose answer to a case is the whole episode; it starts and closes `agent`.

        The limit is that of the agent's own processes, in MB of 10^6 bytes. An episode may take
        hours: one that is interrupted by `stop` is soon canceled, and recorded as never asked.
        """

    def salted(self, case: Case, salt: str) -> Case:
        """Return the case with the database's secret salt, from which its world is generated;
        unchanged if it needs none.
        """

    def accesses(self, case: Case) -> Iterable[Access]:
        """Return what playing the case reads; see `engine.run.trust`."""

    def add_metrics(
        self, connection: sqlite3.Connection, execution_key: int, result: Aggregate
    ) -> None:
        """Add the figures of the stored episodes to an execution's metrics."""


def find_game(name: str) -> Game:
    """The game of that name. Raises UsageError with the nearest name."""
    if name not in GAMES:
        raise UsageError(
            f'no game "{name}"{did_you_mean(name, GAMES)}: there is {", ".join(GAMES)}'
        )
    return cast("Game", import_module(GAMES[name]))
