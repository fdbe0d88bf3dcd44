"""Verification of a world: its hashes, its invariants, and that its past does not depend on its
future.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING

from agentbench_tui.market.world import lmsr
from agentbench_tui.market.world.generator import check_config, generate
from agentbench_tui.market.world.perpetuals import FUNDING_CAP
from agentbench_tui.market.world.world import PER_MILLION, SHARE_UNITS
from agentbench_tui.market.world.world_file import (
    encode_truth,
    encode_world,
    sha256,
    shape_problems,
    world_id,
)
from agentbench_tui.model.errors import UsageError
from agentbench_tui.model.identity import canonical_json, derive_seed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from agentbench_tui.market.world.truth import Truth
    from agentbench_tui.market.world.world import Message, Post, World

_COLUMNS = ("flows", "volumes", "marks", "indexes", "funding", "open_interest")


@dataclass(frozen=True, slots=True)
class Check:
    """One check and its result."""

    name: str
    problems: tuple[str, ...]
    """Sentences; empty if it holds."""


def verify(
    world: World, truth: Truth, *, truth_sha256: str | None = None, futures: bool = True
) -> list[Check]:
    """Run every check of the world and its truth, in order; stop early if columns do not fit.

    `truth_sha256` is that of the truth's file; without it, of the bytes that one would have.
    Generating again and prefix invariance are only looked at if the config makes a world; the
    latter, which draws other futures and says more of the generator than of the file, can be left
    out.
    """
    columns = Check("columns", tuple(shape_problems(world)))
    if columns.problems:
        return [columns]
    checks: list[tuple[str, Callable[[World, Truth], Iterator[str]]]] = [
        ("hashes", partial(_hashes, digest=truth_sha256 or sha256(encode_truth(truth)))),
        ("prices", _prices),
        ("times", _times),
        ("names", _names),
        ("truth", _truth),
        ("same bytes again", _again),
    ]
    if futures:
        checks.append(("prefix invariance", _prefix_invariance))
    return [columns, *(Check(name, tuple(check(world, truth))) for name, check in checks)]


def observed(world: World, tick: int) -> bytes:
    """Return everything observable by `tick`, as canonical JSON."""
    seen = {name: [column[: tick + 1] for column in getattr(world, name)] for name in _COLUMNS}
    return canonical_json(
        {
            **seen,
            "rules": world.rules,
            "markets": world.markets,
            "perpetuals": world.perpetuals,
            "agents": world.agents,
            "posts": [post for post in world.posts if post.tick <= tick],
            "groups": [group for group in world.groups if group.created <= tick],
            "invitations": [item for item in world.invitations if item.tick <= tick],
            "messages": [message for message in world.messages if message.tick <= tick],
        }
    )


def _hashes(world: World, truth: Truth, digest: str) -> Iterator[str]:
    if digest != world.truth_sha256:
        yield "the truth is not the one whose sha256 the world holds"
    if truth.world_id != world.id:
        yield f"the truth is of world {truth.world_id}, not of {world.id}"
    if world.config.salt_sha256 != (sha256(truth.salt.encode()) if truth.salt else ""):
        yield "the salt in the truth is not the one whose sha256 is in the config"
    if world_id(world.config) != world.id:
        yield f"the id {world.id} is not that of the config, {world_id(world.config)}"


def _prices(world: World, _: Truth) -> Iterator[str]:
    for market, flows, volumes in zip(world.markets, world.flows, world.volumes, strict=False):
        if not all(0.0 < lmsr.price(flow / SHARE_UNITS, market.b) < 1.0 for flow in flows):
            yield f"{market.id} has a price that is not between 0 and 1"
        if any(flow != flows[-1] for flow in flows[market.resolve_tick :]):
            yield f"{market.id} is traded after its resolution"
        moves = zip(pairwise(flows), pairwise(volumes), strict=False)
        if any(abs(b - a) > later - earlier for (a, b), (earlier, later) in moves):
            yield f"{market.id} moves more shares than were traded"
    for perpetual, *columns in zip(world.perpetuals, world.marks, world.indexes, strict=False):
        if not all(price > 0 and price % perpetual.price_unit == 0 for c in columns for price in c):
            yield f"{perpetual.ticker} has a price that is not a positive multiple of its unit"
    for perpetual, rates in zip(world.perpetuals, world.funding, strict=False):
        if not all(-FUNDING_CAP <= rate <= FUNDING_CAP for rate in rates):
            yield f"{perpetual.ticker} has a funding rate beyond its cap"


def _times(world: World, _: Truth) -> Iterator[str]:
    times: dict[str, list[int]] = {
        "posts": [post.tick for post in world.posts],
        "messages": [message.tick for message in world.messages],
        "groups": [group.created for group in world.groups],
        "invitations": [invitation.tick for invitation in world.invitations],
    }
    for name, ticks in times.items():
        if ticks != sorted(ticks):
            yield f"{name} are not in the order of time"
        if not all(0 <= tick <= world.ticks for tick in ticks):
            yield f"{name} lie outside ticks 0 to {world.ticks}"
    for market in world.markets:
        if not 0 <= market.created < market.resolve_tick <= world.ticks:
            yield f"{market.id} does not resolve between its opening and tick {world.ticks}"


def _names(world: World, _: Truth) -> Iterator[str]:
    agents = {agent.id for agent in world.agents}
    groups = {group.id for group in world.groups}
    subjects = {market.id for market in world.markets} | {p.ticker for p in world.perpetuals}
    for kind, ids in (
        ("agents", [agent.id for agent in world.agents]),
        ("markets and perpetuals", [m.id for m in world.markets] + _tickers(world)),
        ("posts", [post.id for post in world.posts]),
        ("groups", [group.id for group in world.groups]),
        ("messages", [message.id for message in world.messages]),
    ):
        if len(set(ids)) != len(ids):
            yield f"two of the {kind} have one id"
    said: list[Post | Message] = [*world.posts, *world.messages]
    if strange := {item.author for item in said} - agents - {"news"}:
        yield f"{min(strange)} writes, but is not an agent of the world"
    if strange := {item.subject for item in said} - subjects - {""}:
        yield f"{min(strange)} is written of, but is not in the world"
    named = {item.group for item in world.invitations} | {item.group for item in world.messages}
    if strange := named - groups:
        yield f"{min(strange)} is named, but is not a group of the world"


def _tickers(world: World) -> list[str]:
    return [perpetual.ticker for perpetual in world.perpetuals]


def _truth(world: World, truth: Truth) -> Iterator[str]:
    if set(truth.outcomes) != {market.id for market in world.markets}:
        yield "the truth does not have exactly the outcomes of the world's markets"
        return
    for market, fair in zip(world.markets, truth.fair, strict=False):
        end = market.resolve_tick
        settled = PER_MILLION * truth.outcomes[market.id]
        if len(fair) != world.ticks + 1 or any(value != settled for value in fair[end:]):
            yield f"the fair value of {market.id} does not end at its outcome"
        if not all(0 <= value <= PER_MILLION for value in fair):
            yield f"the fair value of {market.id} is not always between 0 and 1"


def _again(world: World, truth: Truth) -> Iterator[str]:
    try:
        check_config(world.config, truth.salt)
    except UsageError as error:
        yield f"its config makes no world: {error}"
        return
    other, other_truth = generate(world.config, salt=truth.salt)
    if encode_world(other) != encode_world(world):
        parts = _differing(world, other)
        yield f"this version makes another world from its config and seed, in {parts}"
    if encode_truth(other_truth) != encode_truth(truth):
        parts = _differing(truth, other_truth)
        yield f"this version makes another truth from its config and seed, in {parts}"


def _differing(one: World | Truth, other: World | Truth) -> str:
    """Return the names of the parts that differ."""
    return ", ".join(n for n in one.__slots__ if getattr(one, n) != getattr(other, n))


def _prefix_invariance(world: World, truth: Truth) -> Iterator[str]:
    try:
        check_config(world.config, truth.salt)
    except UsageError:
        return
    for quarter in range(4):
        tick = world.ticks * quarter // 4
        another = derive_seed(world.config.seed, "future", tick)
        other, _truth = generate(world.config, salt=truth.salt, suffix_seed=another, cut=tick + 1)
        if observed(other, tick) != observed(world, tick):
            yield f"what is visible by tick {tick} depends on what is drawn later"
        # Else nothing would have been drawn anew. Shorter worlds may have nothing left to draw.
        if tick == 0 and world.ticks >= 4 and observed(other, 4) == observed(world, 4):
            yield "another future looks the same"
