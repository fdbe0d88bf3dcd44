"""A game with an external player: its clock runs regardless of calls."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from agentbench_tui.market.outside import rpc
from agentbench_tui.market.play.actions import MethodError
from agentbench_tui.model.errors import did_you_mean

if TYPE_CHECKING:
    from agentbench_tui.market.play.game import Game
    from agentbench_tui.market.world.stage import Stage

OBSERVE = "observe"
END_TURN = "endTurn"
_EARLY_S = 0.002
"""A turn that ended in time advances this long before its deadline, so that it does not count as
lost.
"""
State = dict[str, Any]


class Match:
    """One game and the turns of an agent that calls from outside."""

    def __init__(self, game: Game, stage: Stage) -> None:
        """`stage` is for baselines that know the truth; it is not passed on."""
        self.game = game
        self.stage = stage
        self.over = asyncio.Event()
        self._timer: asyncio.TimerHandle | None = None

    def observe(self, *, more: bool = False) -> State:
        """Return the observation of the current tick; the turn's clock starts.

        `more` as in `Game.call`.
        """
        game = self.game
        state = {
            "tick": game.tick,
            "ticks": game.world.ticks,
            "over": game.is_over,
            "observation": game.observation(more=more),
        }
        self._arm()
        return state

    async def end_turn(self, tick: int | None = None, *, more: bool = False) -> State:
        """End the turn of `tick`, by default the current one; return the next observation.

        A turn lost in the meantime is already over. In real time, waits for the next tick.
        """
        game = self.game
        is_meant = not game.has_untold_loss if tick is None else tick == game.tick
        if is_meant and not (game.is_over or game.is_cut_off):
            ended = game.tick
            game.end_turn()
            await self._until_due()
            if game.tick == ended:
                game.advance()
        return self.observe(more=more)

    async def handle(self, method: str, params: dict[str, Any], more: bool = False) -> Any:
        """Execute one method, for `rpc.respond`. Raises RpcError."""
        try:
            if method == OBSERVE:
                _refuse(params, ())
                return self.observe(more=more)
            if method == END_TURN:
                return await self.end_turn(_tick(params), more=more)
            return self._call(method, params, more)
        finally:
            if not more:
                self.game.hand_over()  # also after what was refused here

    def _call(self, method: str, params: dict[str, Any], more: bool) -> Any:
        try:
            return self.game.call(method, params, more=more)
        except MethodError as error:
            raise rpc.RpcError(**error.document()) from None
        finally:
            self._arm()

    def close(self) -> None:
        """Stop the clock."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    async def _until_due(self) -> None:
        """In real time: wait until just before the end of the current turn."""
        game = self.game
        if game.config.pace.mode == "real-time" and game.due is not None:
            await asyncio.sleep(max(0.0, game.due - game.config.now() - _EARLY_S))

    def _arm(self) -> None:
        """Schedule a check at the deadline of the current turn."""
        self.close()
        game = self.game
        if game.is_over:
            self.over.set()
        elif game.due is not None:
            wait_s = max(0.0, game.due - game.config.now()) + _EARLY_S / 2
            self._timer = asyncio.get_running_loop().call_later(wait_s, self._expire)

    def _expire(self) -> None:
        self.game.expire()
        self._arm()


def _tick(params: dict[str, Any]) -> int | None:
    """For endTurn: return the turn to end. Raises RpcError."""
    _refuse(params, ("tick",))
    tick = params.get("tick")
    if tick is not None and (not isinstance(tick, int) or isinstance(tick, bool)):
        raise rpc.RpcError(rpc.INVALID_PARAMS, "tick must be a whole number", {"path": "tick"})
    return tick


def _refuse(params: dict[str, Any], known: tuple[str, ...]) -> None:
    for name in params:
        if name not in known:
            raise rpc.RpcError(
                rpc.INVALID_PARAMS,
                f'there is no parameter "{name[:64]}"{did_you_mean(name[:64], known)}',
                {"path": name[:64]},
            )
