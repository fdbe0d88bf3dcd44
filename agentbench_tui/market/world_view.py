"""What is public at one tick of a world. Nothing here reads a column beyond that tick."""

from __future__ import annotations

from bisect import bisect_right
from operator import attrgetter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from agentbench_tui.market.world import Group, MarketDef, Message, Post, World

_tick_of = attrgetter("tick")
_created = attrgetter("created")


class WorldView:
    """A world up to `tick`. Indexes of markets and perpetuals are their places in the world."""

    __slots__ = ("_world", "tick", "time_ms")

    def __init__(self, world: World, tick: int) -> None:
        if not 0 <= tick <= world.ticks:
            raise IndexError(f"there is no tick {tick}: the world has ticks 0 to {world.ticks}")
        self._world = world
        self.tick = tick
        self.time_ms = world.time_ms(tick)

    @property
    def markets(self) -> tuple[MarketDef, ...]:
        """Markets that opened at this tick or before, resolved ones too."""
        return tuple(market for market in self._world.markets if market.created <= self.tick)

    def is_open(self, market: int) -> bool:
        """Whether the market can be traded now."""
        definition = self._world.markets[market]
        return definition.created <= self.tick < definition.resolve_tick

    def flow(self, market: int) -> int:
        """Net YES shares that others hold now, in thousandths of a share."""
        return self._world.flows[market][self.tick]

    def volume(self, market: int) -> int:
        """Shares that others traded until now, in thousandths of a share."""
        return self._world.volumes[market][self.tick]

    def mark(self, perpetual: int) -> int:
        """Mark price now, micro-dollars."""
        return self._world.marks[perpetual][self.tick]

    def index(self, perpetual: int) -> int:
        """Index price now, micro-dollars."""
        return self._world.indexes[perpetual][self.tick]

    def funding(self, perpetual: int) -> int:
        """Rate that longs would pay shorts now, parts per billion of the notional."""
        return self._world.funding[perpetual][self.tick]

    def open_interest(self, perpetual: int) -> int:
        """Notional of others' positions now, whole dollars."""
        return self._world.open_interest[perpetual][self.tick]

    def flow_history(self, market: int, length: int) -> tuple[int, ...]:
        """The last `length` flows, oldest first, the one of this tick last."""
        return self._world.flows[market][max(0, self.tick + 1 - length) : self.tick + 1]

    def mark_history(self, perpetual: int, length: int) -> tuple[int, ...]:
        """The last `length` mark prices, oldest first, the one of this tick last."""
        return self._world.marks[perpetual][max(0, self.tick + 1 - length) : self.tick + 1]

    def posts(self, limit: int, offset: int = 0) -> tuple[Post, ...]:
        """`limit` posts before the newest `offset` ones, newest first."""
        end = bisect_right(self._world.posts, self.tick, key=_tick_of) - offset
        return self._world.posts[max(0, end - limit) : max(0, end)][::-1]

    def new_posts(self) -> tuple[Post, ...]:
        """Posts of this very tick, in their order."""
        posts = self._world.posts
        start = bisect_right(posts, self.tick - 1, key=_tick_of)
        return posts[start : bisect_right(posts, self.tick, key=_tick_of)]

    def groups(self) -> tuple[Group, ...]:
        """Groups that exist now."""
        groups = self._world.groups
        return groups[: bisect_right(groups, self.tick, key=_created)]

    def invited(self, group: str) -> bool:
        """Whether the tested agent has been invited to that group by now."""
        return any(
            invitation.group == group and invitation.tick <= self.tick
            for invitation in self._world.invitations
        )

    def messages(self, group: str) -> tuple[Message, ...]:
        """All that was written in that group until now, oldest first; the game asks who reads."""
        messages = self._world.messages
        end = bisect_right(messages, self.tick, key=_tick_of)
        return tuple(message for message in messages[:end] if message.group == group)
