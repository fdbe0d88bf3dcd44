"""One episode of a market world as the page Market shows it, at any of its ticks."""

from __future__ import annotations

import json
import math
import random
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from agentbench_tui.model.errors import StoreError

EXAMPLE_TICKS = 360
_SEED = 11


@dataclass(frozen=True, slots=True)
class Instrument:
    """A prediction market, whose price is a share, or a perpetual, whose price is in $."""

    id: str
    name: str
    kind: Literal["market", "perpetual"]
    prices: Sequence[float]
    """One a tick."""
    resolved_tick: int | None = None
    outcome: str = ""


@dataclass(frozen=True, slots=True)
class Holding:
    """A position after a change; an amount of 0 means that it was closed."""

    tick: int
    instrument: str
    side: str
    amount: float
    entry: float | None


@dataclass(frozen=True, slots=True)
class Said:
    """A post of the feed, or a message in a chat."""

    tick: int
    where: str
    who: str
    text: str


@dataclass(frozen=True, slots=True)
class Act:
    """One call of the agent; `ok` is false for a refused one."""

    tick: int
    method: str
    arguments: str
    ok: bool
    result: str


@dataclass(frozen=True, slots=True)
class EpisodeView:
    """Data of an episode; lists are in order of their ticks."""

    title: str
    agent: str
    ticks: int
    tick_s: float
    """Seconds of the world's time."""
    instruments: tuple[Instrument, ...]
    equity: Sequence[float]
    """In $, one a tick."""
    holdings: tuple[Holding, ...] = ()
    said: tuple[Said, ...] = ()
    acts: tuple[Act, ...] = ()
    example: bool = False
    """An example, to demonstrate the page."""
    simulated: bool = False
    ids: Mapping[str, Instrument] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "ids", {one.id: one for one in self.instruments})

    def positions(self, tick: int) -> list[Holding]:
        """Return the positions at the end of a tick."""
        held: dict[tuple[str, str], Holding] = {}
        for one in self.holdings[: bisect_right(self.holdings, tick, key=lambda one: one.tick)]:
            held[one.instrument, one.side] = one
        return [one for one in held.values() if one.amount]

    def said_until(self, tick: int, most: int) -> list[Said]:
        """Return the newest posts and messages, newest first."""
        end = bisect_right(self.said, tick, key=lambda one: one.tick)
        return [*self.said[max(0, end - most) : end]][::-1]

    def acts_until(self, tick: int, most: int) -> list[Act]:
        """Return the agent's last actions, the newest first."""
        end = bisect_right(self.acts, tick, key=lambda one: one.tick)
        return [*self.acts[max(0, end - most) : end]][::-1]

    def price(self, instrument: str, tick: int) -> float | None:
        """Return the price at the end of a tick; None if unknown."""
        one = self.ids.get(instrument)
        known = one is not None and 0 <= tick < len(one.prices)
        return one.prices[tick] if known and one is not None else None


def episode_view(
    document: Mapping[str, Any], agent: str, *, simulated: bool = False
) -> EpisodeView:
    """Return the view of a document of `verdicts.runs.market_episode`.

    Raises StoreError for an invalid one.
    """
    try:
        return EpisodeView(
            title=str(document["title"]),
            agent=agent,
            ticks=max(1, int(document["ticks"])),
            tick_s=float(document["tick_s"]),
            instruments=tuple(map(_instrument, document["instruments"])),
            equity=[*map(float, document["equity"])],
            holdings=tuple(map(_holding, document["holdings"])),
            said=tuple(map(_said, document["said"])),
            acts=tuple(map(_act, document["acts"])),
            simulated=simulated,
        )
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise StoreError(
            f"this episode cannot be shown: its record is damaged ({error!r})"
        ) from error


def _instrument(one: Mapping[str, Any]) -> Instrument:
    return Instrument(
        str(one["id"]),
        str(one["name"]),
        "perpetual" if one["kind"] == "perpetual" else "market",
        [*map(float, one["prices"])],
        one.get("resolved_tick"),
        str(one.get("outcome", "")),
    )


def _holding(one: Mapping[str, Any]) -> Holding:
    entry = one["entry"]
    return Holding(
        int(one["tick"]),
        str(one["instrument"]),
        str(one["side"]),
        float(one["amount"]),
        None if entry is None else float(entry),
    )


def _said(one: Mapping[str, Any]) -> Said:
    return Said(int(one["tick"]), str(one["where"]), str(one["who"]), str(one["text"]))


def _act(one: Mapping[str, Any]) -> Act:
    return Act(
        int(one["tick"]),
        str(one["method"]),
        _words(one["arguments"]),
        bool(one["ok"]),
        str(one["result"]),
    )


def _words(arguments: Mapping[str, Any]) -> str:
    return ", ".join(f"{name}={json.dumps(value)}" for name, value in arguments.items())


def demo() -> EpisodeView:
    """Return an example: wandering prices, and an agent that buys what rises. Nothing was
    measured.
    """
    draw = random.Random(_SEED)  # noqa: S311  # an example, no secret
    markets = [
        _example_market(draw, f"m{at}", name, right)
        for at, (name, right) in enumerate(
            (("rain on Friday", True), ("bridge opens in May", False), ("team A wins", True))
        )
    ]
    perpetuals = [
        _example_perpetual(draw, name, start)
        for name, start in (("EXA-PERP", 120.0), ("DEMO-PERP", 40.0))
    ]
    instruments = (*markets, *perpetuals)
    holdings, acts = _example_trades(instruments)
    return EpisodeView(
        "example world",
        "example-agent",
        EXAMPLE_TICKS,
        60.0,
        instruments,
        _example_equity(instruments, holdings),
        holdings,
        _example_talk(draw, instruments),
        acts,
        example=True,
    )


def _example_market(draw: random.Random, of: str, name: str, right: bool) -> Instrument:
    odds, prices = draw.uniform(-0.8, 0.8), []
    for tick in range(EXAMPLE_TICKS):
        odds += draw.gauss((0.012 if right else -0.012) * tick / EXAMPLE_TICKS, 0.11)
        prices.append(1 / (1 + math.exp(-odds)))
    return Instrument(of, name, "market", prices)


def _example_perpetual(draw: random.Random, name: str, start: float) -> Instrument:
    price, prices = start, []
    for _ in range(EXAMPLE_TICKS):
        price *= math.exp(draw.gauss(0.0002, 0.006))
        prices.append(price)
    return Instrument(name, name, "perpetual", prices)


def _example_trades(
    instruments: Sequence[Instrument],
) -> tuple[tuple[Holding, ...], tuple[Act, ...]]:
    """Buy each instrument in turn, then sell each, and so on; every fourth call is refused."""
    holdings, acts = [], []
    for at, tick in enumerate(range(20, EXAMPLE_TICKS, 25)):
        one = instruments[at % len(instruments)]
        market, buys = one.kind == "market", at // len(instruments) % 2 == 0
        amount = 0.0 if not buys else 100.0 if market else 2.0
        what = ("buyShares" if buys else "sellShares") if market else (
            "openPosition" if buys else "closePosition"
        )  # fmt: skip
        ok, price = at % 4 != 2, one.prices[tick]
        result = f"filled at {price:.2f}" if ok else "-32602: amount: more than the cash there is"
        arguments = f'instrument="{one.id}", amount={amount:g}'
        acts.append(Act(tick, f"a2a.{what}", arguments, ok, result))
        if ok:
            side = "yes" if market else "long"
            holdings.append(Holding(tick, one.id, side, amount, price if amount else None))
    return tuple(holdings), tuple(acts)


def _example_equity(instruments: Sequence[Instrument], holdings: Sequence[Holding]) -> list[float]:
    """Return 1,000 $ plus the gains of the positions."""
    by_id, equity, held = {one.id: one for one in instruments}, [1000.0], dict[str, float]()
    for tick in range(1, EXAMPLE_TICKS):
        gain = sum(
            amount * (by_id[name].prices[tick] - by_id[name].prices[tick - 1])
            for name, amount in held.items()
        )
        equity.append(equity[-1] + gain)
        held |= {one.instrument: one.amount for one in holdings if one.tick == tick}
    return equity


def _example_talk(draw: random.Random, instruments: Sequence[Instrument]) -> tuple[Said, ...]:
    said = []
    for tick in range(3, EXAMPLE_TICKS, 9):
        one = draw.choice(instruments)
        where = draw.choice(("feed", "feed", "chat: traders"))
        rises = one.prices[tick] > one.prices[max(0, tick - 9)]
        way = "goes up, I stay in" if rises else "falls, careful"
        said.append(Said(tick, where, f"trader-{draw.randint(1, 6)}", f"{one.name} {way}"))
    return tuple(said)
