"""The stored form of an episode: described in `verdicts.runs.market_episode`, bounded in size.

Prices of a long episode are kept at `MOST_MARKS` of its ticks, evenly spaced; actions between two
of them are listed at the first. Every call is kept, unless there are more than `MOST_ACTS` of them
or they fill more than `MOST_PACKED`: then every n-th, and `acts_every` is that n. It contains
nothing of the truth except the agent's payments.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import msgspec

from agentbench_tui.market.packing import PACKED, shortened
from agentbench_tui.market.play.actions import METHODS
from agentbench_tui.market.world import lmsr
from agentbench_tui.market.world.world import DOLLAR, SHARE_UNITS

if TYPE_CHECKING:
    from agentbench_tui.market.judging.metrics import Metrics
    from agentbench_tui.market.play.episode import Call, Episode
    from agentbench_tui.market.world.stage import Stage
    from agentbench_tui.market.world.world import World

SCHEMA = "agentbench.episode/1"
MOST_MARKS = 400
MOST_ACTS = 40_000
MOST_SAID = 5_000
MOST_PACKED = 1_200_000
"""Characters of all that is packed; an answer may have about four million."""
_TEXT = 200
"""Maximum characters of a post, and of a result."""
_encode = msgspec.json.Encoder().encode


def document_of(stage: Stage, episode: Episode, metrics: Metrics) -> dict[str, Any]:
    """Return the document as plain data."""
    world = stage.world
    config = world.config
    step = max(1, -(-world.ticks // (MOST_MARKS - 1)))
    marks = sorted({*range(0, world.ticks + 1, step), world.ticks})

    def place(tick: int) -> int:
        return bisect_right(marks, tick) - 1

    said = _said(world, episode)
    bulk = {
        "instruments": [*_markets(world, episode, marks), *_perpetuals(world, marks)],
        "equity": [episode.equity[tick] / DOLLAR for tick in marks],
        "holdings": _last_of_each_mark(
            [{**one, "tick": place(one["tick"])} for one in _holdings(world, episode)]
        ),
        "said": [
            {
                "tick": place(tick),
                "world_tick": tick,
                "where": where,
                "who": who,
                "text": text[:_TEXT],
            }
            for tick, where, who, text in said[-MOST_SAID:]
        ],
    }
    return {
        "schema": SCHEMA,
        "title": f"seed {config.seed}, {config.conditions}, {world.ticks} ticks",
        "world": {"id": world.id, "sha256": stage.sha256, **config.document()},
        "pace": episode.pace,
        "ticks": len(marks),
        "tick_s": config.interval_ms / 1000 * step,
        "calls": len(episode.calls) + episode.dropped_calls,
        "heard": len(said),
        "metrics": metrics.values,
        "missing": metrics.missing,
        **_with_acts(bulk, [_act(call, place(call.tick)) for call in episode.calls]),
    }


def _with_acts(bulk: dict[str, Any], acts: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Return all actions, or every n-th if the document would be too long."""
    every = max(1, -(-len(acts) // MOST_ACTS))
    while True:
        kept = shortened({**bulk, "acts_every": every, "acts": acts[::every]})
        if len(kept.get(PACKED, "")) <= MOST_PACKED or every >= len(acts):
            return kept
        every *= 2


def _markets(world: World, episode: Episode, marks: Sequence[int]) -> Iterator[dict[str, Any]]:
    steps: dict[int, list[tuple[int, int]]] = defaultdict(list)
    for trade in episode.trades:
        held = steps[trade.market][-1][1] if steps[trade.market] else 0
        steps[trade.market].append((trade.tick, held + trade.outcome * trade.shares))
    results = {market: outcome for _, market, outcome in episode.resolutions}
    for number, market in enumerate(world.markets):
        own = steps[number]
        prices = []
        for tick in marks:
            nth = bisect_right(own, tick, key=lambda one: one[0])
            mine = own[nth - 1][1] if nth else 0
            net = (world.flows[number][tick] + mine) / SHARE_UNITS
            price = lmsr.price(net, market.b)
            if tick >= market.resolve_tick and number in results:
                price = float(results[number])
            prices.append(round(price, 4))
        row: dict[str, Any] = {
            "id": market.id,
            "name": market.question,
            "kind": "market",
            "prices": prices,
            "resolved_tick": bisect_left(marks, market.resolve_tick),
        }
        if number in results:
            row["outcome"] = "yes" if results[number] else "no"
        yield row


def _perpetuals(world: World, marks: Sequence[int]) -> Iterator[dict[str, Any]]:
    for number, perpetual in enumerate(world.perpetuals):
        prices = [world.marks[number][tick] / DOLLAR for tick in marks]
        ticker = perpetual.ticker
        yield {"id": ticker, "name": ticker, "kind": "perpetual", "prices": prices}


def _holdings(world: World, episode: Episode) -> list[dict[str, Any]]:
    """Every change of a position: amount and mean price of entry after it, by tick."""
    changes: list[tuple[int, str, str, float, float]] = []
    for trade in episode.trades:
        side = "yes" if trade.outcome > 0 else "no"
        name, shares = world.markets[trade.market].id, trade.shares / SHARE_UNITS
        changes.append((trade.tick, name, side, shares, trade.money / DOLLAR))
    for one in episode.settlements:
        name = world.markets[one.market].id
        for side, shares in (("yes", one.yes), ("no", one.no)):
            if shares:
                changes.append((one.tick, name, side, -shares / SHARE_UNITS, 0.0))
    for perp in episode.perp_trades:
        name = world.perpetuals[perp.perpetual].ticker
        side = "long" if perp.side > 0 else "short"
        units = perp.size / perp.entry
        changes.append((perp.opened, name, side, units, perp.size / DOLLAR))
        changes.append((perp.closed, name, side, -units, 0.0))
    changes.sort(key=lambda one: one[0])
    held: dict[tuple[str, str], tuple[float, float]] = {}
    rows = []
    for tick, name, side, amount, paid in changes:
        before, cost = held.get((name, side), (0.0, 0.0))
        after = before + amount
        if amount < 0:
            cost = cost * max(0.0, after) / before if before else 0.0
        else:
            cost += paid
        if after < 1e-9:
            after, cost = 0.0, 0.0
        held[name, side] = (after, cost)
        entry = cost / after if after else None
        rows.append(
            {"tick": tick, "instrument": name, "side": side, "amount": after, "entry": entry}
        )
    return rows


def _last_of_each_mark(changes: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    last = {(one["tick"], one["instrument"], one["side"]): one for one in changes}
    return [*last.values()]


def _said(world: World, episode: Episode) -> list[tuple[int, str, str, str]]:
    """Return posts, and messages of the groups that the agent had joined by then."""
    names = {agent.id: agent.name for agent in world.agents}
    joined = {group: tick for tick, group in episode.joined}
    groups = {group.id: group.name for group in world.groups}
    said = [
        (post.tick, "feed", names.get(post.author, post.author), post.content)
        for post in world.posts
    ]
    said += [
        (one.tick, f"chat: {groups[one.group]}", names.get(one.author, one.author), one.content)
        for one in world.messages
        if joined.get(one.group, world.ticks + 1) <= one.tick
    ]
    said.sort(key=lambda one: one[0])
    return said


def _act(call: Call, place: int) -> dict[str, Any]:
    if call.code:
        result = f"{call.code}: {call.message}"
    else:
        result = "" if call.result is None else _encode(call.result).decode()
    known = METHODS.get(call.method)
    return {
        "tick": place,
        "world_tick": call.tick,
        "method": call.method,
        "arguments": call.params,
        "ok": call.code == 0,
        "changes": known is not None and known.changes,
        "result": result[:_TEXT],
    }
