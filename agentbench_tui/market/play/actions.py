"""Methods of a game: one table that generates both checks and schemas.

Every interface (in process, JSON-RPC, tool calls, A2A) offers exactly this table. An invalid call
raises MethodError, with a JSON-RPC code and the path of the wrong parameter.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from agentbench_tui.model.errors import did_you_mean

INVALID_PARAMS = -32602
UNKNOWN_METHOD = -32601
INSUFFICIENT_BALANCE = -32010
MARKET_CLOSED = -32011
UNKNOWN_POSITION = -32012
RATE_LIMITED = -32013
POSITION_LIMIT = -32014
NOT_INVITED = -32015
TURN_LOST = -32016
GAME_OVER = -32017

ERROR_NAMES = {
    INVALID_PARAMS: "invalid_params",
    UNKNOWN_METHOD: "unknown_method",
    INSUFFICIENT_BALANCE: "insufficient_balance",
    MARKET_CLOSED: "market_closed",
    UNKNOWN_POSITION: "unknown_position",
    RATE_LIMITED: "rate_limited",
    POSITION_LIMIT: "position_limit",
    NOT_INVITED: "not_invited",
    TURN_LOST: "turn_lost",
    GAME_OVER: "game_over",
}
"""Meaning of each code; application codes avoid those that A2A reserves."""


class MethodError(Exception):
    """A refused call; the game is unchanged."""

    def __init__(self, code: int, message: str, path: str = "") -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.path = path
        """Name of the parameter at fault, or empty."""

    def data(self) -> dict[str, str]:
        """Return the `data` of a JSON-RPC error object."""
        named = {"reason": ERROR_NAMES[self.code]}
        return {**named, "path": self.path} if self.path else named

    def document(self) -> dict[str, Any]:
        """Return the JSON-RPC error object."""
        return {"code": self.code, "message": self.message, "data": self.data()}


@dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter of a method, and its allowed values."""

    name: str
    type: str
    """`string`, `number` or `integer`."""
    description: str
    required: bool = True
    choices: tuple[str, ...] = ()
    """Allowed strings in capitals; any case is understood."""
    above: float | None = None
    minimum: float | None = None
    maximum: float | None = None
    max_length: int = 64

    def schema(self) -> dict[str, Any]:
        """Return the JSON schema of the value."""
        schema: dict[str, Any] = {"type": self.type, "description": self.description}
        if self.choices:
            schema["enum"] = list(self.choices)
        elif self.type == "string":
            schema |= {"minLength": 1, "maxLength": self.max_length}
        for key, bound in (
            ("exclusiveMinimum", self.above),
            ("minimum", self.minimum),
            ("maximum", self.maximum),
        ):
            if bound is not None:
                schema[key] = bound
        return schema

    def check(self, value: object) -> Any:
        """Return the value as the game uses it. Raises MethodError with the parameter's name."""
        if self.type == "string":
            return self._text(value)
        return self._number(value)

    def _text(self, value: object) -> str:
        if not isinstance(value, str) or not value.strip():
            raise self._error(f"must be a string that is not empty, not {shown(value)}")
        if self.choices:
            if value.upper() not in self.choices:
                raise self._error(f"must be {' or '.join(self.choices)}, not {shown(value)}")
            return value.upper()
        if len(value) > self.max_length:
            raise self._error(f"has {len(value)} characters; at most {self.max_length} are taken")
        return value

    def _number(self, value: object) -> float:
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            raise self._error(f"must be a number, not {shown(value)}")
        try:
            as_float = float(value)
        except OverflowError:
            as_float = math.inf
        if not math.isfinite(as_float):
            raise self._error(f"must be a finite number, not {shown(value)}")
        if self.type == "integer" and value != int(value):
            raise self._error(f"must be a whole number, not {shown(value)}")
        if self.above is not None and value <= self.above:
            raise self._error(f"must be more than {self.above:g}, not {value:g}")
        if self.minimum is not None and value < self.minimum:
            raise self._error(f"must be {self.minimum:g} or more, not {value:g}")
        if self.maximum is not None and value > self.maximum:
            raise self._error(f"must be {self.maximum:g} or less, not {value:g}")
        return int(value) if self.type == "integer" else float(value)

    def _error(self, message: str) -> MethodError:
        return MethodError(INVALID_PARAMS, f"{self.name} {message}", self.name)


@dataclass(frozen=True, slots=True)
class Method:
    """One method of the game."""

    name: str
    description: str
    parameters: tuple[Parameter, ...]
    result: str
    """The result object in words."""
    changes: bool
    """Whether a call is an action, rather than a query."""

    def schema(self) -> dict[str, Any]:
        """Return the JSON schema of the parameters, as an object."""
        return {
            "type": "object",
            "properties": {each.name: each.schema() for each in self.parameters},
            "required": [each.name for each in self.parameters if each.required],
            "additionalProperties": False,
        }

    def check(self, params: object) -> dict[str, Any]:
        """Return the checked parameters, without omitted ones. Raises MethodError."""
        if params is None:
            params = {}
        if not isinstance(params, Mapping):
            raise MethodError(INVALID_PARAMS, "parameters must be an object with named members")
        checked = {}
        for parameter in self.parameters:
            value = params.get(parameter.name)
            if value is not None:
                checked[parameter.name] = parameter.check(value)
            elif parameter.required:
                raise MethodError(INVALID_PARAMS, f"{parameter.name} is missing", parameter.name)
        if len(checked) != len(params):
            self._refuse_unknown(params)
        return checked

    def _refuse_unknown(self, params: Mapping[object, object]) -> None:
        names = [parameter.name for parameter in self.parameters]
        for key, value in params.items():
            if key not in names and value is not None:
                shown = str(key)[:64]
                hint = did_you_mean(shown, names)
                raise MethodError(
                    INVALID_PARAMS, f'{self.name} has no parameter "{shown}"{hint}', shown
                )


def shown(value: object, characters: int = 40) -> str:
    """Return received text, shortened to this many characters."""
    try:
        text = repr(value)
    except RecursionError:
        text = "what is nested too deeply"
    except ValueError:  # Python writes no whole number of more than 4,300 digits
        text = "a number too long to write"
    return text if len(text) <= characters else f"{text[: characters - 3]}..."


def _text(name: str, description: str, *, required: bool = True, longest: int = 64) -> Parameter:
    return Parameter(name, "string", description, required, max_length=longest)


def _whole(name: str, description: str, lowest: int, highest: int) -> Parameter:
    return Parameter(name, "integer", description, False, minimum=lowest, maximum=highest)


MOST_MONEY = 1e9
MARKET = _text("marketId", "Id of a prediction market, such as market-0.")
AMOUNT = Parameter("amount", "number", "Dollars to spend.", above=0.0, maximum=MOST_MONEY)
OUTCOME = Parameter("outcome", "string", "The side of the market.", choices=("YES", "NO"))
SHARES = Parameter("shares", "number", "Shares to sell.", above=0.0, maximum=MOST_MONEY)
HELD = Parameter(
    "outcome", "string", "The side to sell; needed when both are held.", False, ("YES", "NO")
)
SIDE = Parameter("side", "string", "LONG gains when the price rises.", choices=("LONG", "SHORT"))
SIZE = Parameter("size", "number", "Notional in dollars.", above=0.0, maximum=MOST_MONEY)
LEVERAGE = Parameter(
    "leverage",
    "integer",
    "Notional over margin; 1 if left out, and at most what getPerpetuals tells.",
    False,
    minimum=1,
    maximum=1_000,
)
STATUS = Parameter("status", "string", "ACTIVE if left out.", False, ("ACTIVE", "RESOLVED", "ALL"))
PROBABILITY = Parameter("probability", "number", "How likely YES is.", minimum=0.0, maximum=1.0)

_TABLE = (
    Method(
        "a2a.getPredictions",
        "Prediction markets with their prices. A winning share pays 1 dollar at resolveAt.",
        (STATUS,),
        "{predictions: [{id, question, yesShares, noShares, yesPrice, noPrice, liquidity,"
        " totalVolume, createdAt, resolveAt, resolved, outcome}]}",
        changes=False,
    ),
    Method(
        "a2a.buyShares",
        "Buy shares of one side for an amount of money. The purchase moves the price.",
        (MARKET, OUTCOME, AMOUNT),
        "{shares, avgPrice, positionId, fee}",
        changes=True,
    ),
    Method(
        "a2a.sellShares",
        "Sell shares that you hold. The sale moves the price.",
        (MARKET, SHARES, HELD),
        "{proceeds, avgPrice, fee}",
        changes=True,
    ),
    Method(
        "a2a.getPerpetuals",
        "Perpetual futures with mark and index price, and the funding rate that longs pay shorts.",
        (),
        "{perpetuals: [{ticker, price, indexPrice, priceChange24h, openInterest, fundingRate,"
        " nextFundingTime, maxLeverage, takerFee}]}",
        changes=False,
    ),
    Method(
        "a2a.openPosition",
        "Open a leveraged position in a perpetual future at its mark price.",
        (_text("ticker", "Ticker of a perpetual future."), SIDE, SIZE, LEVERAGE),
        "{positionId, entryPrice, margin, fee}",
        changes=True,
    ),
    Method(
        "a2a.closePosition",
        "Close a position in a perpetual future at its mark price.",
        (_text("positionId", "As openPosition gave it."),),
        "{pnl, exitPrice, fee}: pnl is after fees and funding",
        changes=True,
    ),
    Method(
        "a2a.getFeed",
        "Posts of other agents and news, newest first. Authors differ in how often they are right.",
        (_whole("limit", "How many; 20 if left out.", 1, 200), _whole("offset", "0.", 0, 100_000)),
        "{posts: [{id, authorId, authorName, content, createdAt, likes, comments, subject, lean}]}",
        changes=False,
    ),
    Method(
        "a2a.createPost",
        "Publish a post.",
        (
            _text("content", "What to say.", longest=2_000),
            _text("marketId", "The market it is about.", required=False),
        ),
        "{postId}",
        changes=True,
    ),
    Method(
        "a2a.getChats",
        "Group chats that you were invited to; those that you joined with their newest messages.",
        (_whole("limit", "Messages of each group; 20 if left out.", 1, 200),),
        "{chats: [{id, name, memberCount, messageCount, lastActivity, invited, joined,"
        " messages: [{id, authorId, authorName, content, timestamp, subject, lean}]}]}",
        changes=False,
    ),
    Method(
        "a2a.joinGroup",
        "Join a group chat that you were invited to.",
        (_text("groupId", "As getChats gives it."),),
        "{success}",
        changes=True,
    ),
    Method(
        "a2a.getBalance",
        "Money that can be spent.",
        (),
        "{balance}",
        changes=False,
    ),
    Method(
        "a2a.getPortfolio",
        "Balance, positions and profit so far; positions are valued at what closing them gives.",
        (),
        "{balance, equity, pnl, positions}",
        changes=False,
    ),
    Method(
        "a2a.getPositions",
        "Shares held and open positions in perpetual futures.",
        (),
        "{predictionPositions: [{positionId, marketId, outcome, shares, avgPrice, value}],"
        " perpPositions: [{positionId, ticker, side, size, leverage, entryPrice, margin,"
        " unrealizedPnl, fundingPaid}]}",
        changes=False,
    ),
    Method(
        "a2a.getDashboard",
        "The state of your account in a few numbers.",
        (),
        "{balance, equity, totalPnl, activePositions, tick, ticks, limits}",
        changes=False,
    ),
    Method(
        "a2a.getTrendingTags",
        "What most posts of the last ticks are about.",
        (),
        "{tags: [{tag, posts}]}",
        changes=False,
    ),
    Method(
        "a2a.submitForecast",
        "State the probability that a market resolves YES. It holds until you state another.",
        (MARKET, PROBABILITY),
        "{accepted}",
        changes=True,
    ),
)

METHODS: dict[str, Method] = {method.name: method for method in _TABLE}


def find_method(name: object) -> Method:
    """The method of that name. Raises MethodError with the nearest name."""
    method = METHODS.get(name) if isinstance(name, str) else None
    if method is None:
        shown = str(name)[:64]
        hint = did_you_mean(shown, METHODS)
        raise MethodError(UNKNOWN_METHOD, f'there is no method "{shown}"{hint}')
    return method
