"""Worlds are the same bytes everywhere, streams do not disturb each other, and limits are told."""

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentbench_tui.market.world import lmsr
from agentbench_tui.market.world.conditions import CONDITIONS
from agentbench_tui.market.world.generator import generate
from agentbench_tui.market.world.verify import verify
from agentbench_tui.market.world.world import SHARE_UNITS, Post, World, WorldConfig
from agentbench_tui.market.world.world_file import encode_truth, encode_world, sha256
from agentbench_tui.model.errors import UsageError

SMALL = WorldConfig(duration_s=3_600, markets=3, perpetuals=2, agents=4)


def said_of(world: World, subject: str) -> list[tuple[int, str, str]]:
    return [(p.tick, p.author, p.content) for p in world.posts if p.subject == subject]


@pytest.mark.parametrize(
    ("config", "world_hash", "truth_hash"),
    [
        (
            WorldConfig(),
            "8279c7db1ebb2d0e1bdae41c42a56201744c163f65297acb82dc152e89e944bb",
            "547df5c6d5c6d743dcbc560c7aa2526e4e0595153e87d5049e13711eb5be5956",
        ),
        (
            WorldConfig(seed=0, interval_ms=1_000),
            "6ffc35892056427838296321b10bf3245fb5d7aa3e2cb864ae1c803ff8dd7d15",
            "3663db045ba2e4f5984024adfb78d90b3db655b5ba6b238763c9dfe3ae43ea89",
        ),
        (
            WorldConfig(seed=2**64 - 1, conditions="crash", perpetuals=9),
            "c4367f1f0194fcdca640e672965735ccd8440b75b3de2f77d98dfb225654e421",
            "23424dbe0a33bbea0a0dce5def4d771280462a3c2153b9b35952bbfb04f860e3",
        ),
    ],
)
def test_the_same_config_gives_the_same_bytes_on_any_machine(
    config: WorldConfig, world_hash: str, truth_hash: str
) -> None:
    # Equal under Python 3.11 to 3.13, numpy 1.26 to 2.5, with and without AVX and FMA.
    world, truth = generate(config)
    assert sha256(encode_world(world)) == world_hash
    assert sha256(encode_truth(truth)) == truth_hash == world.truth_sha256


def test_a_world_of_1800_ticks_is_below_a_megabyte() -> None:
    world, _ = generate(WorldConfig(interval_ms=1_000))
    assert world.ticks == 1_800
    assert len(encode_world(world)) < 1_000_000


def test_the_id_tells_configs_apart() -> None:
    configs = [SMALL, replace(SMALL, seed=0), replace(SMALL, markets=2)]
    assert len({generate(config)[0].id for config in configs}) == 3


@settings(max_examples=10)
@given(
    st.builds(
        WorldConfig,
        duration_s=st.integers(1, 120),
        interval_ms=st.just(1_000),
        markets=st.integers(1, 6),
        perpetuals=st.integers(0, 4),
        agents=st.integers(0, 6),
        seed=st.integers(0, 2**64 - 1),
        conditions=st.sampled_from(sorted(CONDITIONS)),
    )
)
def test_any_config_makes_a_world_that_is_verified(config: WorldConfig) -> None:
    world, truth = generate(config)
    assert [check for check in verify(world, truth) if check.problems] == []


def test_a_further_market_changes_no_other_market_and_no_perpetual() -> None:
    fewer, fewer_truth = generate(SMALL)
    more, more_truth = generate(replace(SMALL, markets=5))
    assert more.markets[:3] == fewer.markets
    assert more.flows[:3] == fewer.flows
    assert more.volumes[:3] == fewer.volumes
    assert (more.marks, more.funding) == (fewer.marks, fewer.funding)
    assert more_truth.fair[:3] == fewer_truth.fair
    for subject in ("market-0", "market-2", "BTC"):
        assert said_of(more, subject) == said_of(fewer, subject)
    assert said_of(more, "market-4")


def test_a_further_perpetual_changes_no_market_and_no_other_perpetual() -> None:
    fewer, _ = generate(SMALL)
    more, _ = generate(replace(SMALL, perpetuals=4))
    assert more.flows == fewer.flows
    assert more.marks[:2] == fewer.marks
    assert more.indexes[:2] == fewer.indexes
    assert said_of(more, "ETH") == said_of(fewer, "ETH")


def test_a_further_agent_changes_no_outcome_no_perpetual_and_no_other_author() -> None:
    fewer, fewer_truth = generate(SMALL)
    more, more_truth = generate(replace(SMALL, agents=6))
    assert more_truth.authors[:4] == fewer_truth.authors
    assert more_truth.outcomes == fewer_truth.outcomes
    assert more_truth.fair == fewer_truth.fair
    assert more.marks == fewer.marks

    def turns(posts: tuple[Post, ...], newcomers: set[str]) -> list[tuple[int, str, str]]:
        return [(p.tick, p.author, p.subject) for p in posts if p.author not in newcomers]

    assert turns(more.posts, {"agent-4", "agent-5"}) == turns(fewer.posts, set())


def test_orders_move_prices_and_prices_stop_at_resolution() -> None:
    world, _ = generate(SMALL)
    for market, flows in zip(world.markets, world.flows, strict=True):
        prices = [lmsr.price(flow / SHARE_UNITS, market.b) for flow in flows]
        assert len(set(prices[: market.resolve_tick])) > 0.9 * market.resolve_tick
        assert len(set(prices[market.resolve_tick - 1 :])) == 1


def test_optimal_actions_are_the_best_in_hindsight() -> None:
    world, truth = generate(SMALL)
    purchases = [action for action in truth.optimal_actions if action.type == "buy_prediction"]
    for action, market, flows in zip(purchases, world.markets, world.flows, strict=True):
        side = 1 if truth.outcomes[market.id] else -1
        prices = [
            lmsr.price(side * flow / SHARE_UNITS, market.b) for flow in flows[: market.resolve_tick]
        ]
        assert action.side == ("YES" if side > 0 else "NO")
        assert action.value == pytest.approx((1.0 - min(prices)) * 1e6, abs=1)
        assert prices[action.tick] == min(prices)
    positions = [action for action in truth.optimal_actions if action.type == "open_perp"]
    assert positions
    for action in positions:
        marks = world.marks[[p.ticker for p in world.perpetuals].index(action.target)]
        sign = 1 if action.side == "LONG" else -1
        best = max(
            sign * (later / entry - 1.0)
            for tick, entry in enumerate(marks)
            for later in marks[tick:]
        )
        assert action.value == pytest.approx(best * 1e6, abs=1)
        gained = sign * (marks[action.until] / marks[action.tick] - 1.0)
        assert gained == pytest.approx(best, abs=1e-12)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"seed": -1}, "a seed is a whole number from 0 to 2"),
        ({"seed": 2**64}, "a seed is a whole number from 0 to 2"),
        ({"duration_s": 0}, "1 to 100,000 ticks, not 0"),
        ({"duration_s": 10**9}, "1 to 100,000 ticks, not"),
        ({"interval_ms": 0}, "interval is at least 1 millisecond"),
        ({"markets": -1}, "0 to 100 markets, not -1"),
        ({"perpetuals": 51}, "0 to 50 perpetuals, not 51"),
        ({"agents": 1_001}, "0 to 1,000 agents, not 1,001"),
        ({"markets": 0, "perpetuals": 0}, "needs a market or a perpetual"),
        ({"start_ms": -1}, "starts at 0 milliseconds since 1970 or later"),
        ({"conditions": "bul"}, 'did you mean "bull"'),
    ],
)
def test_a_config_that_makes_no_world_is_refused(change: dict[str, object], sentence: str) -> None:
    with pytest.raises(UsageError, match=sentence):
        generate(replace(SMALL, **change))  # type: ignore[arg-type]


def test_a_seed_of_the_future_has_the_same_limits() -> None:
    with pytest.raises(UsageError, match="a seed is a whole number"):
        generate(SMALL, suffix_seed=-1, cut=3)
