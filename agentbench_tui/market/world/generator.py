"""Generates a world and its truth from a config. The same config gives the same bytes on any
machine.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from agentbench_tui.market.judging.hindsight import best_positions, best_purchase
from agentbench_tui.market.world import bits
from agentbench_tui.market.world.beliefs import draw_belief
from agentbench_tui.market.world.bits import Streams
from agentbench_tui.market.world.chats import open_groups, write_messages
from agentbench_tui.market.world.conditions import CONDITIONS
from agentbench_tui.market.world.feed import market_subject, perpetual_subject, write_posts
from agentbench_tui.market.world.perpetuals import draw_backdrop, draw_perpetual
from agentbench_tui.market.world.traders import draw_kind, draw_liquidity, trade
from agentbench_tui.market.world.truth import AuthorTruth, Truth
from agentbench_tui.market.world.world import (
    PER_MILLION,
    AgentDef,
    MarketDef,
    Rules,
    World,
    WorldConfig,
)
from agentbench_tui.market.world.world_file import encode_truth, sha256, world_id
from agentbench_tui.model.errors import UsageError, did_you_mean

if TYPE_CHECKING:
    from collections.abc import Sequence

    from agentbench_tui.market.world.beliefs import Belief
    from agentbench_tui.market.world.perpetuals import PerpPath
    from agentbench_tui.market.world.traders import Tape

SALT = re.compile("[0-9a-f]{32}")
MAX_TICKS = 100_000
_LIMITS = {"markets": 100, "perpetuals": 50, "agents": 1_000}

_QUESTIONS = (
    "Will the harbour bridge open before the summer?",
    "Will the central bank cut its rate at the next meeting?",
    "Will the probe land on the far side of the moon?",
    "Will the city elect a new mayor in the first round?",
    "Will the chip maker ship its new processor this quarter?",
    "Will the strike at the railways end this week?",
    "Will the home team win the final?",
    "Will the vaccine pass its last trial?",
    "Will the film earn more than it cost in its first week?",
    "Will the merger of the two airlines be allowed?",
)
_NAMES = ("Ada", "Bela", "Chidi", "Dana", "Emre", "Freya", "Goran", "Hana", "Ines", "Jonas")


def generate(
    config: WorldConfig, *, salt: str = "", suffix_seed: int | None = None, cut: int = 0
) -> tuple[World, Truth]:
    """Return the world of that config, and its truth.

    `salt`: hex digits that only the truth keeps. Nobody can recompute the world without them; a
    world without a salt is public, and its seed can be recovered from what agents see.

    With `suffix_seed`, all that is drawn at ticks from `cut` on comes from that seed instead: what
    is public before `cut` stays, what follows is another future. Raises UsageError for a config
    that makes no world.
    """
    check_config(config, salt)
    if suffix_seed is not None:
        _check_seed(suffix_seed)
    config = replace(config, salt_sha256=sha256(salt.encode()) if salt else "")
    streams = Streams(config.seed, suffix_seed, cut, bytes.fromhex(salt))
    conditions = CONDITIONS[config.conditions]
    ticks = config.ticks
    authors = tuple(_author(streams, agent) for agent in range(config.agents))
    kinds = [author.kind for author in authors]
    beliefs = [draw_belief(streams, place, ticks) for place in range(config.markets)]
    markets = tuple(_market(streams, place, belief) for place, belief in enumerate(beliefs))
    tapes = [
        trade(streams, place, beliefs[place], market.b, kinds, conditions.noise)
        for place, market in enumerate(markets)
    ]
    backdrop = draw_backdrop(streams, ticks, conditions)
    paths = [
        draw_perpetual(streams, place, config, conditions, backdrop)
        for place in range(config.perpetuals)
    ]
    subjects = [
        *(market_subject(place, markets[place], tape) for place, tape in enumerate(tapes)),
        *(perpetual_subject(place, path) for place, path in enumerate(paths)),
    ]
    groups, invitations = open_groups(streams, ticks, authors)
    truth = _truth(config, salt, authors, markets, beliefs, tapes, paths)
    world = World(
        id=truth.world_id,
        config=config,
        truth_sha256=sha256(encode_truth(truth)),
        rules=Rules(),
        markets=markets,
        perpetuals=tuple(path.definition for path in paths),
        agents=tuple(_agent(place) for place in range(config.agents)),
        flows=tuple(tuple(tape.flow) for tape in tapes),
        volumes=tuple(tuple(tape.volume) for tape in tapes),
        marks=tuple(tuple(path.mark) for path in paths),
        indexes=tuple(tuple(path.index) for path in paths),
        funding=tuple(tuple(path.funding) for path in paths),
        open_interest=tuple(tuple(path.open_interest) for path in paths),
        posts=write_posts(streams, ticks, subjects, authors, paths),
        groups=groups,
        invitations=invitations,
        messages=write_messages(streams, ticks, groups, subjects, authors),
    )
    return world, truth


def _truth(
    config: WorldConfig,
    salt: str,
    authors: tuple[AuthorTruth, ...],
    markets: Sequence[MarketDef],
    beliefs: Sequence[Belief],
    tapes: Sequence[Tape],
    paths: Sequence[PerpPath],
) -> Truth:
    known = tuple(zip(markets, beliefs, tapes, strict=True))
    return Truth(
        world_id=world_id(config),
        outcomes={market.id: belief.outcome for market, belief, _ in known},
        fair=tuple(_millionths(belief) for belief in beliefs),
        authors=authors,
        news=tuple(item for path in paths for item in path.news),
        optimal_actions=(
            *(best_purchase(market, tape, belief.outcome) for market, belief, tape in known),
            *(action for path in paths for action in best_positions(path)),
        ),
        salt=salt,
    )


def check_config(config: WorldConfig, salt: str = "") -> None:
    """Raise UsageError with the fault of the config or salt, and what is allowed."""
    _check_seed(config.seed)
    if salt and not SALT.fullmatch(salt):
        raise UsageError("a salt has 32 hex digits, 0 to 9 and a to f")
    if config.interval_ms < 1:
        raise UsageError("a world's interval is at least 1 millisecond")
    if not 1 <= config.ticks <= MAX_TICKS:
        raise UsageError(
            f"a world has 1 to {MAX_TICKS:,} ticks, not {config.ticks:,}: its duration of "
            f"{config.duration_s:,} s is cut into intervals of {config.interval_ms:,} ms"
        )
    if config.start_ms < 0:
        raise UsageError("a world starts at 0 milliseconds since 1970 or later")
    for name, most in _LIMITS.items():
        count = getattr(config, name)
        if not 0 <= count <= most:
            raise UsageError(f"a world has 0 to {most:,} {name}, not {count:,}")
    if config.markets + config.perpetuals == 0:
        raise UsageError("a world needs a market or a perpetual to trade")
    if config.conditions not in CONDITIONS:
        raise UsageError(
            f'no conditions "{config.conditions}"{did_you_mean(config.conditions, CONDITIONS)}: '
            f"there is {', '.join(CONDITIONS)}"
        )


def _check_seed(seed: int) -> None:
    if not 0 <= seed < 1 << 64:
        raise UsageError(f"a seed is a whole number from 0 to 2**64 - 1, not {seed}")


def _market(streams: Streams, place: int, belief: Belief) -> MarketDef:
    again = place // len(_QUESTIONS)
    question = _QUESTIONS[place % len(_QUESTIONS)] + (f" ({again + 1})" if again else "")
    return MarketDef(
        f"market-{place}", question, 0, belief.resolve_tick, draw_liquidity(streams, place)
    )


def _agent(place: int) -> AgentDef:
    again = place // len(_NAMES)
    name = _NAMES[place % len(_NAMES)] + (f" {again + 1}" if again else "")
    return AgentDef(f"agent-{place}", name)


def _author(streams: Streams, place: int) -> AuthorTruth:
    kind = draw_kind(streams, place)
    chance = float(bits.uniform(streams.fixed("reliability", place, 1))[0])
    # Who trades on information mostly tells the truth; others guess, or mislead a little.
    reliability = 0.75 + 0.2 * chance if kind == "informed" else 0.35 + 0.3 * chance
    return AuthorTruth(f"agent-{place}", kind, round(reliability * PER_MILLION))


def _millionths(belief: Belief) -> tuple[int, ...]:
    return tuple(np.rint(belief.fair * PER_MILLION).astype(np.int64).tolist())
