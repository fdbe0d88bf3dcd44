"""Small worlds made by hand, with numbers that one can follow on paper."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from agentbench_tui.market.world.truth import Truth
from agentbench_tui.market.world.world import (
    DOLLAR,
    AgentDef,
    Group,
    Invitation,
    MarketDef,
    Message,
    PerpDef,
    Post,
    Rules,
    World,
    WorldConfig,
)


def tiny_world(
    flows: Sequence[Sequence[int]] = ((0, 0, 0, 0),),
    *,
    b: int = 100,
    resolve: Sequence[int] | None = None,
    marks: Sequence[Sequence[float]] = ((100.0, 100.0, 100.0, 100.0),),
    funding: Sequence[int] | None = None,
    funding_ticks: int = 2,
    rules: Rules | None = None,
    posts: tuple[Post, ...] = (),
    groups: tuple[Group, ...] = (),
    invitations: tuple[Invitation, ...] = (),
    messages: tuple[Message, ...] = (),
) -> World:
    """Markets with these flows (whole shares), perpetuals with these marks (dollars), by tick."""
    ticks = len((*flows, *marks)[0]) - 1
    ends = resolve or [ticks] * len(flows)
    prices = tuple(tuple(round(mark * DOLLAR) for mark in column) for column in marks)
    rates = tuple(funding or [0] * (ticks + 1))
    return World(
        id="0123456789abcdef",
        config=WorldConfig(duration_s=ticks, interval_ms=1_000, markets=len(flows)),
        truth_sha256="",
        rules=rules or Rules(),
        markets=tuple(
            MarketDef(f"market-{place}", f"Question {place}?", 0, end, b)
            for place, end in enumerate(ends)
        ),
        perpetuals=tuple(PerpDef(f"P{place}", 1, funding_ticks) for place in range(len(marks))),
        agents=(AgentDef("agent-0", "Ada"),),
        flows=tuple(tuple(flow * 1_000 for flow in column) for column in flows),
        volumes=tuple(tuple([0] * (ticks + 1)) for _ in flows),
        marks=prices,
        indexes=prices,
        funding=tuple(rates for _ in marks),
        open_interest=tuple(tuple([0] * (ticks + 1)) for _ in marks),
        posts=posts,
        groups=groups,
        invitations=invitations,
        messages=messages,
    )


def truth_of(world: World, *outcomes: bool, fair: float = 0.5) -> Truth:
    """A truth with these outcomes; fair values stay at `fair` until the resolution."""
    columns = [
        tuple(
            round(fair * 1e6) if tick < market.resolve_tick else int(outcome) * 1_000_000
            for tick in range(world.ticks + 1)
        )
        for market, outcome in zip(world.markets, outcomes, strict=True)
    ]
    names = {market.id: outcome for market, outcome in zip(world.markets, outcomes, strict=True)}
    return Truth(world.id, names, tuple(columns), (), (), ())


class FakeClock:
    """Seconds that pass only when told to."""

    def __init__(self) -> None:
        self.now_s = 0.0

    def __call__(self) -> float:
        """The time."""
        return self.now_s

    def wait(self, seconds: float) -> None:
        """Let time pass."""
        self.now_s += seconds


def post(tick: int, subject: str, lean: Any, author: str = "agent-0") -> Post:
    """A post that leans on a subject."""
    return Post(f"post-{tick}-{subject}", tick, author, "words", subject, lean, 0, 0)
