"""Public state of a world at one tick. Nothing here reads a column beyond that tick."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from agentbench_tui.market.world.world import MarketDef, World


class WorldView:
    """A world at `tick`. Markets are identified by their index in the world."""

    __slots__ = ("_world", "tick", "time_ms")

    def __init__(self, world: World, tick: int) -> None:
        if not 0 <= tick <= world.ticks:
            raise IndexError(f"there is no tick {tick}: the world has ticks 0 to {world.ticks}")
        self._world = world
        self.tick = tick
        self.time_ms = world.time_ms(tick)

    @property
    def markets(self) -> tuple[MarketDef, ...]:
        """Return the markets that opened at this tick or before, including resolved ones."""
        return tuple(market for market in self._world.markets if market.created <= self.tick)

    def is_open(self, market: int) -> bool:
        """Return whether the market is open for trading."""
        definition = self._world.markets[market]
        return definition.created <= self.tick < definition.resolve_tick

    def flow(self, market: int) -> int:
        """Return the net YES shares that others hold now, in thousandths of a share."""
        return self._world.flows[market][self.tick]
