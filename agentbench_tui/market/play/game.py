"""One agent plays one world, tick by tick.

    game = Game(world, truth.outcomes)
    while not game.is_over:
        game.observation()
        game.call("a2a.buyShares", {"marketId": "market-0", "outcome": "YES", "amount": 25})
        game.advance()
    episode = game.episode()

The game runs in the harness; agents reach it through `call` alone. At the last tick every open
position is closed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from agentbench_tui.market.play.actions import (
    GAME_OVER,
    METHODS,
    RATE_LIMITED,
    TURN_LOST,
    Method,
    MethodError,
    find_method,
)
from agentbench_tui.market.play.clock import LOCK_STEP, Pace, Turns
from agentbench_tui.market.play.desk import NO_PARAMS, Desk
from agentbench_tui.market.play.record import Record
from agentbench_tui.model.clock import perf_counter

if TYPE_CHECKING:
    from agentbench_tui.market.play.account import Account
    from agentbench_tui.market.play.episode import Episode
    from agentbench_tui.market.world.world import World, WorldConfig
    from agentbench_tui.model.answer import Message


@dataclass(frozen=True, slots=True)
class GameConfig:
    """Pace and limits of the game; the world defines everything else."""

    pace: Pace = LOCK_STEP
    max_calls_per_tick: int = 256
    """Calls beyond it are refused until the next tick."""
    max_calls: int | None = None
    """Calls of a game that are kept, those beyond it are refused; None for what its world needs."""
    now: Callable[[], float] = perf_counter
    """A monotonic clock in seconds."""


class Game:
    """One game. Not thread-safe."""

    def __init__(
        self, world: World, outcomes: Mapping[str, bool], config: GameConfig | None = None
    ) -> None:
        self.world = world
        self.config = config or GameConfig()
        self._clock = self.config.now
        self._turns = Turns(self.config.pace, world.config.interval_ms)
        self._most_calls = self.config.max_calls or most_calls_of(world.config)
        self._record = Record(world, self.config.pace.mode, self._most_calls)
        self._desk = Desk(world, outcomes, self._record)
        self._handlers = self._desk.handlers
        self._calls_left = self.config.max_calls_per_tick
        self._ended = False
        """Whether the agent ended the current turn in time."""
        self._untold = False
        self._cut_off = False
        """Whether the rest of a refused call's batch belongs to a lost turn."""

    @property
    def tick(self) -> int:
        """Return the current tick, 0..ticks."""
        return self._desk.tick

    @property
    def is_over(self) -> bool:
        """Return whether the last tick has been reached."""
        return self._desk.is_over

    @property
    def account(self) -> Account:
        """Balances and positions."""
        return self._desk.account

    @property
    def due(self) -> float | None:
        """Return when the current turn expires, on the game's clock; None for never."""
        return self._turns.due

    @property
    def is_cut_off(self) -> bool:
        """Return whether the rest of a batch is refused because one of its calls belonged to an
        expired turn.
        """
        return self._cut_off

    @property
    def has_untold_loss(self) -> bool:
        """Return whether the agent has not yet been notified of an expired turn."""
        return self._untold

    def hand_over(self) -> None:
        """Start the agent's turn; `observation` and `call` do so as well."""
        self._cut_off = False
        self._record.hand_over(self._clock())

    def observation(self, *, more: bool = False) -> dict[str, Any]:
        """Return the observation of this tick as JSON and start the turn's clock. `more` as in
        `call`.
        """
        observation = self._desk.observation()
        now = self._clock()
        self._turns.hand_over(self.tick, now)
        self._untold = False
        if not more:
            self._cut_off = False
            self._record.hand_over(now)
        return observation

    def call(
        self, method: str, params: Mapping[str, Any] | None = None, *, more: bool = False
    ) -> dict[str, Any]:
        """Execute one call of the agent and record it. Raises MethodError.

        `more`: the agent sent further calls along with it, which it thus does not have to think of.
        The first call after a lost turn is refused, with all that comes along with it: the agent
        meant them for a turn that is over.
        """
        clock, record = self._clock, self._record
        now = clock()
        waited = record.waited(now)
        due = self._turns.due
        tick = self._desk.tick
        checked: object = params
        try:
            late = due is not None and now > due and not self._ended
            if late:
                self._lose_turns(now)
            if late or self._untold or self._cut_off:
                self._untold, self._cut_off = False, more
                raise MethodError(TURN_LOST, f"the turn is over: it is tick {self.tick} now")
            self._admit()
            known = METHODS[method] if method in self._handlers else find_method(method)
            checked = known.check(params) if params else _without(known)
            result = self._handlers[method](checked)
        except MethodError as error:
            record.refused(tick, method, checked, error, waited)
            if not more:
                record.hand_over(clock())
            raise
        record.answered(tick, known, checked, waited, result)
        if not more:
            record.hand_over(clock())
        return result

    def end_turn(self) -> None:
        """End the agent's turn at this tick; a real-time driver calls it before it waits."""
        now = self._clock()
        self._record.end_turn(now)
        due = self._turns.due
        self._ended = self._ended or due is None or now <= due

    def advance(self) -> None:
        """End the agent's turn and advance to the next tick. Nothing happens after the last one.

        A turn that ends after its deadline is lost; in real time, so are the ticks that passed in
        the meantime.
        """
        if self.is_over:
            return
        self.end_turn()
        if self._ended:
            self._step()
            self._turns.next(self.tick)
        else:
            self._lose_turns(self._clock())

    def expire(self) -> bool:
        """Advance if the current turn is overdue, and count the turn as expired.

        Return whether it was.
        """
        now = self._clock()
        if self.is_over or self._ended or not self._is_late(now):
            return False
        self._lose_turns(now)
        return True

    def note(self, message: Message) -> None:
        """Keep a message of the conversation with a model, for the trajectory."""
        self._record.messages.append((self.tick, message))

    def episode(self) -> Episode:
        """Return the record. Raises ValueError while the game is not over."""
        if not self.is_over:
            raise ValueError(f"the game is at tick {self.tick} of {self.world.ticks}")
        return self._record.episode(self._desk.social.joined)

    def _is_late(self, now: float) -> bool:
        return self._turns.due is not None and now > self._turns.due

    def _lose_turns(self, now: float) -> None:
        while not self.is_over and self._is_late(now):
            self._record.timeouts.append(self.tick)
            self._record.end_turn(now)
            self._step()
            self._turns.next(self.tick)
        if not self.is_over:
            self._untold = True
            self._turns.hand_over(self.tick, now)

    def _admit(self) -> None:
        if self.is_over:
            raise MethodError(GAME_OVER, "the game is over")
        if self._record.is_full:
            raise MethodError(
                RATE_LIMITED, f"at most {self._most_calls:,} calls of a game are answered"
            )
        if self._calls_left <= 0:
            raise MethodError(
                RATE_LIMITED, f"at most {self.config.max_calls_per_tick} calls a tick are answered"
            )
        self._calls_left -= 1

    def _step(self) -> None:
        self._calls_left = self.config.max_calls_per_tick
        self._ended = False
        self._desk.step()


def most_calls_of(config: WorldConfig) -> int:
    """Return the number of calls of a game that are kept: one per tick and instrument, and some
    more.
    """
    return max(200_000, config.ticks * (16 + config.markets + config.perpetuals))


def _without(method: Method) -> dict[str, Any]:
    """Return the parameters of a call without arguments."""
    if method.parameters and method.parameters[0].required:
        return method.check(None)
    return NO_PARAMS
