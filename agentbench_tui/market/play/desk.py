"""The game's side of an agent's calls: the state at one tick, and a handler for each method.

It moves on by `step` alone. It knows outcomes only to pay what was won.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from agentbench_tui.market.play import quotes
from agentbench_tui.market.play.account import Account, PerpPosition
from agentbench_tui.market.play.actions import (
    INVALID_PARAMS,
    MARKET_CLOSED,
    UNKNOWN_POSITION,
    MethodError,
)
from agentbench_tui.market.play.episode import Forecast, Settlement
from agentbench_tui.market.play.quotes import dollars
from agentbench_tui.market.world.social import Social
from agentbench_tui.market.world.world import DOLLAR, SHARE_UNITS
from agentbench_tui.model.errors import did_you_mean

if TYPE_CHECKING:
    from agentbench_tui.market.play.record import Record
    from agentbench_tui.market.world.world import World

NO_PARAMS: dict[str, Any] = {}
FEED_LIMIT = 20
"""Default number of posts, and of messages of a group."""


class Desk:
    """State of the game. `handlers` take checked parameters and return the result or raise
    MethodError.
    """

    def __init__(self, world: World, outcomes: Mapping[str, bool], record: Record) -> None:
        self.world = world
        self.tick = 0
        self.account = Account(world)
        self.social = Social(world)
        self._outcomes = outcomes
        self._board = quotes.Board(world, outcomes)
        self._record = record
        self._markets = {market.id: place for place, market in enumerate(world.markets)}
        self._perps = {perp.ticker: place for place, perp in enumerate(world.perpetuals)}
        self._bs = [market.b for market in world.markets]
        self._view = world.at(0)
        self._predictions: list[dict[str, Any]] | None = None
        self._perpetuals: list[dict[str, Any]] | None = None
        self.handlers: dict[str, Callable[[dict[str, Any]], dict[str, Any]]] = {
            "a2a.getPredictions": self.predictions,
            "a2a.buyShares": self.buy_shares,
            "a2a.sellShares": self.sell_shares,
            "a2a.getPerpetuals": self.perpetuals,
            "a2a.openPosition": self.open_position,
            "a2a.closePosition": self.close_position,
            "a2a.getFeed": self.feed,
            "a2a.createPost": self.create_post,
            "a2a.getChats": self.chats,
            "a2a.joinGroup": self.join_group,
            "a2a.getBalance": self.balance,
            "a2a.getPortfolio": self.portfolio,
            "a2a.getPositions": self.positions,
            "a2a.getDashboard": self.dashboard,
            "a2a.getTrendingTags": self.trending_tags,
            "a2a.submitForecast": self.submit_forecast,
        }
        self._mark_columns()

    def observation(self) -> dict[str, Any]:
        """Return the observation of this tick as JSON; only posts and messages of this tick."""
        view = self._view
        return {
            "tick": self.tick,
            "ticks": self.world.ticks,
            "timestamp": view.time_ms,
            "intervalMs": self.world.config.interval_ms,
            "over": self.is_over,
            "account": self.dashboard(NO_PARAMS),
            **self.predictions({"status": "ALL"}),
            **self.perpetuals(NO_PARAMS),
            "posts": self.social.new_posts(view),
            "chats": self.social.news(view),
            "positions": self.positions(NO_PARAMS),
        }

    @property
    def is_over(self) -> bool:
        """Return whether the last tick has been reached."""
        return self.tick >= self.world.ticks

    def step(self) -> None:
        """Advance one tick: funding, liquidations, resolutions; the last tick closes every
        position.
        """
        self.tick += 1
        self._view = self.world.at(self.tick)
        self._predictions = self._perpetuals = None
        if self.account.perps:
            self._charge_funding()
            self._liquidate()
        for place, market in enumerate(self.world.markets):
            if market.resolve_tick == self.tick:
                self._settle(place, self._outcomes[market.id])
        if self.is_over:
            for position in list(self.account.perps.values()):
                self._end(position, "settled")
        self._mark_columns()

    def _charge_funding(self) -> None:
        for position in self.account.perps.values():
            place = position.perpetual
            if self.tick % self.world.perpetuals[place].funding_ticks == 0:
                rate = self.world.funding[place][self.tick]
                self.account.fund(position, self._mark(place), rate)

    def _liquidate(self) -> None:
        for position in list(self.account.perps.values()):
            if self.account.is_bankrupt(position, self._mark(position.perpetual)):
                self._end(position, "liquidated")

    def _end(self, position: PerpPosition, how: str) -> None:
        mark = self._mark(position.perpetual)
        self._record.perp_trades.append(self.account.close(self.tick, position, mark, how))

    def _settle(self, place: int, outcome: bool) -> None:
        self._record.resolutions.append((self.tick, place, outcome))
        holding = self.account.holdings[place]
        if holding.yes or holding.no:
            paid = self.account.settle(place, outcome)
            self._record.settlements.append(
                Settlement(self.tick, place, holding.yes, holding.no, outcome, paid)
            )

    def _mark_columns(self) -> None:
        count = len(self.account.perps) + sum(
            (holding.yes > 0) + (holding.no > 0) for holding in self.account.holdings
        )
        self._record.mark(self.account.cash, self._equity(), count)

    def _equity(self) -> int:
        flows = [flow[self.tick] for flow in self.world.flows]
        marks = [mark[self.tick] for mark in self.world.marks]
        return self.account.equity(flows, self._bs, marks)

    def _mark(self, perpetual: int) -> int:
        return self.world.marks[perpetual][self.tick]

    def _market(self, params: dict[str, Any]) -> int:
        name = params["marketId"]
        place = self._markets.get(name)
        if place is None or self.world.markets[place].created > self.tick:
            known = [market.id for market in self._view.markets]
            hint = did_you_mean(name, known)
            raise MethodError(INVALID_PARAMS, f'there is no market "{name}"{hint}', "marketId")
        return place

    def _open_market(self, params: dict[str, Any]) -> int:
        place = self._market(params)
        if not self._view.is_open(place):
            raise MethodError(MARKET_CLOSED, f"{params['marketId']} is resolved", "marketId")
        return place

    # One handler for each method, by its name after `a2a.`.

    def predictions(self, params: dict[str, Any]) -> dict[str, Any]:
        """Return prediction markets with a given status."""
        if self._predictions is None:
            holdings = self.account.holdings
            self._predictions = [
                self._board.prediction(place, self.tick, holdings[place].net)
                for place, market in enumerate(self.world.markets)
                if market.created <= self.tick
            ]
        status = params.get("status", "ACTIVE")
        if status == "ALL":
            return {"predictions": self._predictions}
        wanted = status == "RESOLVED"
        return {"predictions": [row for row in self._predictions if row["resolved"] is wanted]}

    def buy_shares(self, params: dict[str, Any]) -> dict[str, Any]:
        """Buy shares; the amount includes the fee."""
        place = self._open_market(params)
        outcome = 1 if params["outcome"] == "YES" else -1
        money = round(params["amount"] * DOLLAR)
        flow = self._view.flow(place)
        trade = self.account.buy(self.tick, place, outcome, money, flow, self._bs[place])
        self._record.trades.append(trade)
        self._predictions = None
        return {
            "shares": trade.shares / SHARE_UNITS,
            "avgPrice": round(dollars(trade.money) / (trade.shares / SHARE_UNITS), 6),
            "positionId": f"{params['marketId']}-{params['outcome'].lower()}",
            "fee": dollars(trade.fee),
        }

    def sell_shares(self, params: dict[str, Any]) -> dict[str, Any]:
        """Sell held shares."""
        place = self._open_market(params)
        holding = self.account.holdings[place]
        side = params.get("outcome")
        if side is None:
            if holding.yes and holding.no:
                raise MethodError(
                    INVALID_PARAMS, "outcome is missing: you hold both sides", "outcome"
                )
            side = "NO" if holding.no else "YES"
        outcome = 1 if side == "YES" else -1
        shares = round(params["shares"] * SHARE_UNITS)
        flow = self._view.flow(place)
        trade = self.account.sell(self.tick, place, outcome, shares, flow, self._bs[place])
        self._record.trades.append(trade)
        self._predictions = None
        return {
            "proceeds": dollars(-trade.money - trade.fee),
            "avgPrice": round(dollars(trade.money) / (trade.shares / SHARE_UNITS), 6),
            "fee": dollars(trade.fee),
        }

    def perpetuals(self, _params: dict[str, Any]) -> dict[str, Any]:
        """Return all perpetual futures."""
        if self._perpetuals is None:
            count = len(self.world.perpetuals)
            self._perpetuals = [self._board.perpetual(place, self.tick) for place in range(count)]
        return {"perpetuals": self._perpetuals}

    def open_position(self, params: dict[str, Any]) -> dict[str, Any]:
        """Open a position."""
        ticker = params["ticker"]
        place = self._perps.get(ticker)
        if place is None:
            hint = did_you_mean(ticker, self._perps)
            raise MethodError(INVALID_PARAMS, f'there is no ticker "{ticker}"{hint}', "ticker")
        side = 1 if params["side"] == "LONG" else -1
        size = round(params["size"] * DOLLAR)
        leverage = params.get("leverage", 1)
        position = self.account.open(self.tick, place, side, size, leverage, self._mark(place))
        return {
            "positionId": position.id,
            "entryPrice": dollars(position.entry),
            "margin": dollars(position.margin),
            "fee": dollars(position.fees),
        }

    def close_position(self, params: dict[str, Any]) -> dict[str, Any]:
        """Close a position."""
        name = params["positionId"]
        position = self.account.perps.get(name)
        if position is None:
            hint = did_you_mean(name, self.account.perps)
            raise MethodError(UNKNOWN_POSITION, f'no position "{name}" is open{hint}', "positionId")
        before = position.fees
        trade = self.account.close(self.tick, position, self._mark(position.perpetual), "closed")
        self._record.perp_trades.append(trade)
        return {
            "pnl": dollars(trade.pnl),
            "exitPrice": dollars(trade.exit),
            "fee": dollars(trade.fees - before),
        }

    def feed(self, params: dict[str, Any]) -> dict[str, Any]:
        """Return posts, newest first."""
        limit, offset = params.get("limit", FEED_LIMIT), params.get("offset", 0)
        return {"posts": self.social.feed(self._view, limit, offset)}

    def create_post(self, params: dict[str, Any]) -> dict[str, Any]:
        """Publish a post of the agent."""
        if "marketId" in params:
            self._market(params)
        subject = params.get("marketId", "")
        return {"postId": self.social.write(self._view, params["content"], subject)}

    def chats(self, params: dict[str, Any]) -> dict[str, Any]:
        """Return the groups that the agent is invited to."""
        return {"chats": self.social.chats(self._view, params.get("limit", FEED_LIMIT))}

    def join_group(self, params: dict[str, Any]) -> dict[str, Any]:
        """Join a group."""
        self.social.join(self._view, params["groupId"])
        return {"success": True}

    def balance(self, _params: dict[str, Any]) -> dict[str, Any]:
        """Return the money that can be spent."""
        return {"balance": dollars(self.account.cash)}

    def portfolio(self, _params: dict[str, Any]) -> dict[str, Any]:
        """Return balance, equity and positions."""
        equity = self._equity()
        return {
            "balance": dollars(self.account.cash),
            "equity": dollars(equity),
            "pnl": dollars(equity - self.world.rules.balance),
            "positions": self.positions(NO_PARAMS),
        }

    def positions(self, _params: dict[str, Any]) -> dict[str, Any]:
        """Return shares and open positions."""
        return {
            "predictionPositions": quotes.share_positions(self.world, self.account, self.tick),
            "perpPositions": quotes.perp_positions(self.world, self.account, self.tick),
        }

    def dashboard(self, _params: dict[str, Any]) -> dict[str, Any]:
        """Return a summary of the account."""
        equity = self._equity()
        limits = self.account.limits
        return {
            "balance": dollars(self.account.cash),
            "equity": dollars(equity),
            "totalPnl": dollars(equity - self.world.rules.balance),
            "activePositions": self._record.open_positions[-1],
            "tick": self.tick,
            "ticks": self.world.ticks,
            "limits": {
                "netSharesPerMarket": limits.shares / SHARE_UNITS,
                "notionalPerPerpetual": dollars(limits.notional),
            },
        }

    def trending_tags(self, _params: dict[str, Any]) -> dict[str, Any]:
        """Return subjects of recent posts."""
        return {"tags": self.social.tags(self._view)}

    def submit_forecast(self, params: dict[str, Any]) -> dict[str, Any]:
        """Record a stated probability."""
        place = self._open_market(params)
        self._record.forecasts.append(Forecast(self.tick, place, params["probability"]))
        return {"accepted": True}
