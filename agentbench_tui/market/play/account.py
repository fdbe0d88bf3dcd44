"""The tested agent's money and positions in whole micro-dollars, and its counterparty.

Money only moves between four pockets: the agent's cash, the market maker of the prediction markets,
the exchange of the perpetual futures (which holds margins), and fees. Their sum never changes.
Rounding is always against the agent: a purchase gives whole thousandths of a share, the part below
which stays with the maker; everything else is rounded by less than a micro-dollar.
"""

from __future__ import annotations

from dataclasses import dataclass

from agentbench_tui.market.play.actions import (
    INSUFFICIENT_BALANCE,
    INVALID_PARAMS,
    POSITION_LIMIT,
    MethodError,
)
from agentbench_tui.market.play.episode import PerpTrade, ShareTrade
from agentbench_tui.market.world import lmsr
from agentbench_tui.market.world.world import DOLLAR, PER_BILLION, PER_MILLION, SHARE_UNITS, World

UNIT_VALUE = DOLLAR // SHARE_UNITS
"""Payment for a thousandth of a winning share, micro-dollars."""


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits on position size, low enough that no sequence of profits can overflow a balance.

    Half of the starting balance is for prediction markets and a quarter for margins at the highest
    leverage, each in equal parts; the last quarter is for fees and losses on the way.
    """

    shares: int
    """Of each prediction market: YES minus NO shares, positive or negative, in thousandths."""
    notional: int
    """Of each perpetual: sum of the sizes of open positions, micro-dollars."""

    @classmethod
    def of(cls, world: World) -> Limits:
        """Return the limits of that world; they are public, since they follow from its rules and
        markets.
        """
        rules = world.rules
        dollars = rules.balance // 2 // max(1, len(world.markets)) // DOLLAR
        margin = rules.balance // 4 // max(1, len(world.perpetuals))
        return cls(dollars * SHARE_UNITS, margin * rules.max_leverage // DOLLAR * DOLLAR)


@dataclass(slots=True)
class Holding:
    """Shares of one market, in thousandths, with their cost."""

    yes: int = 0
    no: int = 0
    yes_cost: int = 0
    no_cost: int = 0

    @property
    def net(self) -> int:
        """Contribution of the agent to the market's flow."""
        return self.yes - self.no

    def of(self, outcome: int) -> int:
        """Shares of YES (1) or NO (-1)."""
        return self.yes if outcome > 0 else self.no

    def change(self, outcome: int, shares: int, cost: int) -> None:
        """Add shares and their cost; both are negative for a sale."""
        if outcome > 0:
            self.yes += shares
            self.yes_cost += cost
        else:
            self.no += shares
            self.no_cost += cost


@dataclass(slots=True)
class PerpPosition:
    """An open position in a perpetual future."""

    id: str
    perpetual: int
    side: int
    size: int
    leverage: int
    entry: int
    margin: int
    """Held by the exchange; funding is added to and taken from it."""
    opened: int
    fees: int
    funding: int = 0

    def notional(self, mark: int) -> int:
        """Return the value at that mark price in micro-dollars."""
        return self.size * mark // self.entry

    def gain(self, mark: int) -> int:
        """Return the profit from the price change since the position was opened, in
        micro-dollars, rounded down.
        """
        return self.side * self.size * (mark - self.entry) // self.entry

    def equity(self, mark: int) -> int:
        """Return the payout on closing, before the fee."""
        return self.margin + self.gain(mark)


class Account:
    """Balances and positions of one game. A trade that raises MethodError changes nothing."""

    def __init__(self, world: World) -> None:
        self.rules = world.rules
        self.limits = Limits.of(world)
        self.cash = world.rules.balance
        self.maker = 0
        self.exchange = 0
        self.fees = 0
        self.holdings = [Holding() for _ in world.markets]
        self.perps: dict[str, PerpPosition] = {}
        self._next_position = 1

    @property
    def total(self) -> int:
        """Return the total money of all pockets; it always equals the starting amount."""
        return self.cash + self.maker + self.exchange + self.fees

    def position_id(self) -> str:
        """Return the next id: `position-1`, `position-2`, …"""
        self._next_position += 1
        return f"position-{self._next_position - 1}"

    def buy(
        self, tick: int, market: int, outcome: int, money: int, flow: int, b: int
    ) -> ShareTrade:
        """Buy shares for `money`, fee included, of YES (1) or NO (-1)."""
        self._need(money)
        fee = _fee(money, self.rules.market_fee_ppm)
        holding = self.holdings[market]
        net = outcome * (flow + holding.net)
        bought = lmsr.shares_for(net / SHARE_UNITS, (money - fee) / DOLLAR, b)
        most = self.limits.shares - outcome * holding.net
        if not bought * SHARE_UNITS < most + 1:
            raise MethodError(
                POSITION_LIMIT,
                f"that is {bought:.2f} shares; the limit of {self.limits.shares / SHARE_UNITS:g} "
                f"net shares a market leaves {most / SHARE_UNITS:g}",
                "amount",
            )
        shares = int(bought * SHARE_UNITS)
        if shares == 0:
            raise MethodError(
                INVALID_PARAMS, "amount buys less than a thousandth of a share", "amount"
            )
        self.cash -= money
        self.maker += money - fee
        self.fees += fee
        holding.change(outcome, shares, money - fee)
        return ShareTrade(tick, market, outcome, shares, money - fee, fee)

    def sell(
        self, tick: int, market: int, outcome: int, shares: int, flow: int, b: int
    ) -> ShareTrade:
        """Sell shares, in thousandths, of YES (1) or NO (-1)."""
        holding = self.holdings[market]
        held = holding.of(outcome)
        if shares > held:
            raise MethodError(
                INSUFFICIENT_BALANCE,
                f"you hold {held / SHARE_UNITS:g} {'YES' if outcome > 0 else 'NO'} shares",
                "shares",
            )
        if shares == 0:
            raise MethodError(INVALID_PARAMS, "shares is less than a thousandth", "shares")
        if -outcome * holding.net + shares > self.limits.shares:
            raise MethodError(
                POSITION_LIMIT, "the other side would be over the limit of net shares", "shares"
            )
        net = outcome * (flow + holding.net) / SHARE_UNITS
        money = max(0, int(-lmsr.cost_of(net, -shares / SHARE_UNITS, b) * DOLLAR))
        fee = _fee(money, self.rules.market_fee_ppm)
        cost = (holding.yes_cost if outcome > 0 else holding.no_cost) * shares // held
        self.cash += money - fee
        self.maker -= money
        self.fees += fee
        holding.change(outcome, -shares, -cost)
        return ShareTrade(tick, market, outcome, -shares, -money, fee)

    def settle(self, market: int, outcome: bool) -> int:
        """Pay a dollar a winning share of a resolved market; returns the money."""
        holding = self.holdings[market]
        paid = (holding.yes if outcome else holding.no) * UNIT_VALUE
        self.cash += paid
        self.maker -= paid
        self.holdings[market] = Holding()
        return paid

    def open(
        self, tick: int, perpetual: int, side: int, size: int, leverage: int, mark: int
    ) -> PerpPosition:
        """Open a position: long (1) or short (-1), `size` micro-dollars of notional."""
        if leverage > self.rules.max_leverage:
            raise MethodError(
                INVALID_PARAMS,
                f"leverage must be {self.rules.max_leverage} or less, not {leverage}",
                "leverage",
            )
        if size == 0:
            raise MethodError(INVALID_PARAMS, "size is less than a micro-dollar", "size")
        used = sum(each.size for each in self.perps.values() if each.perpetual == perpetual)
        if used + size > self.limits.notional:
            left = (self.limits.notional - used) / DOLLAR
            raise MethodError(
                POSITION_LIMIT, f"the limit of notional leaves {left:.2f} dollars", "size"
            )
        margin = -(-size // leverage)
        fee = _fee(size, self.rules.perp_fee_ppm)
        self._need(margin + fee)
        self.cash -= margin + fee
        self.exchange += margin
        self.fees += fee
        name = self.position_id()
        position = PerpPosition(name, perpetual, side, size, leverage, mark, margin, tick, fee)
        self.perps[name] = position
        return position

    def close(self, tick: int, position: PerpPosition, mark: int, ended: str) -> PerpTrade:
        """Close a position. The agent cannot lose more than its margin: the exchange bears it."""
        worth = position.equity(mark)
        back = max(0, worth)
        fee = min(back, _fee(position.notional(mark), self.rules.perp_fee_ppm))
        self.cash += back - fee
        self.exchange -= back
        self.fees += fee
        del self.perps[position.id]
        return PerpTrade(
            position=position.id,
            perpetual=position.perpetual,
            side=position.side,
            size=position.size,
            leverage=position.leverage,
            opened=position.opened,
            closed=tick,
            entry=position.entry,
            exit=mark,
            gain=position.gain(mark) + back - worth,
            funding=position.funding,
            fees=position.fees + fee,
            ended=ended,
        )

    def fund(self, position: PerpPosition, mark: int, rate: int) -> None:
        """Pay funding of `rate` parts per billion into or from the margin; longs pay a positive
        rate.
        """
        amount = -position.side * position.notional(mark) * rate // PER_BILLION
        position.margin += amount
        position.funding += amount

    def is_bankrupt(self, position: PerpPosition, mark: int) -> bool:
        """Whether the equity is below the maintenance margin."""
        need = position.notional(mark) * self.rules.maintenance_ppm // PER_MILLION
        return position.equity(mark) < need

    def shares_value(self, market: int, flow: int, b: int) -> int:
        """Return the proceeds of selling all shares of a market now, without fees."""
        holding = self.holdings[market]
        pairs = min(holding.yes, holding.no) * UNIT_VALUE
        net = holding.net
        if net == 0:
            return pairs
        side = 1 if net > 0 else -1
        after = side * flow / SHARE_UNITS
        return pairs + max(0, int(lmsr.cost_of(after, abs(net) / SHARE_UNITS, b) * DOLLAR))

    def equity(self, flows: list[int], bs: list[int], marks: list[int]) -> int:
        """Return cash plus the proceeds of closing every position now, without fees."""
        total = self.cash
        for market, holding in enumerate(self.holdings):
            if holding.yes or holding.no:
                total += self.shares_value(market, flows[market], bs[market])
        for position in self.perps.values():
            total += max(0, position.equity(marks[position.perpetual]))
        return total

    def _need(self, money: int) -> None:
        if money > self.cash:
            raise MethodError(
                INSUFFICIENT_BALANCE,
                f"that needs {money / DOLLAR:.2f} dollars; the balance is {self.cash / DOLLAR:.2f}",
            )


def _fee(money: int, ppm: int) -> int:
    """Return the fee in micro-dollars, rounded up."""
    return -(-money * ppm // PER_MILLION)
