"""Verification finds what was changed in a world, and any dependence of the past on the future."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from agentbench_tui.market.world import verify as verification
from agentbench_tui.market.world.generator import generate
from agentbench_tui.market.world.truth import Truth
from agentbench_tui.market.world.verify import observed, verify
from agentbench_tui.market.world.world import Invitation, World, WorldConfig
from agentbench_tui.market.world.world_file import (
    encode_truth,
    load_truth,
    load_world,
    save_world,
    sha256,
    truth_path,
)

CONFIG = WorldConfig(duration_s=2_400, markets=3, perpetuals=2, agents=5)
WORLD, TRUTH = generate(CONFIG)


def failed(
    world: World, truth: Truth = TRUTH, *, futures: bool = False
) -> dict[str, tuple[str, ...]]:
    checks = verify(world, truth, futures=futures)
    return {check.name: check.problems for check in checks if check.problems}


def with_value(name: str, tick: int, value: int) -> World:
    """The world with one value of the first column of that name replaced."""
    first, *others = getattr(WORLD, name)
    changed = (*first[:tick], value, *first[tick + 1 :])
    return replace(WORLD, **{name: (changed, *others)})


def test_a_world_as_it_was_made_passes_every_check() -> None:
    checks = verify(WORLD, TRUTH)
    assert [check.name for check in checks] == [
        "columns",
        "hashes",
        "prices",
        "times",
        "names",
        "truth",
        "same bytes again",
        "prefix invariance",
    ]
    assert not any(check.problems for check in checks)


def test_files_of_many_markets_pass_as_well(tmp_path: Path) -> None:
    path = tmp_path / "world.json"
    save_world(*generate(WorldConfig(duration_s=300, markets=12, agents=2)), path)
    world = load_world(path)
    assert failed(world, load_truth(truth_path(path), world), futures=True) == {}


@pytest.mark.parametrize(
    ("world", "check", "sentence"),
    [
        (replace(WORLD, truth_sha256="0" * 64), "hashes", "whose sha256 the world holds"),
        (replace(WORLD, id="0" * 16), "hashes", "is not that of the config"),
        (with_value("flows", 5, 10**9), "prices", "price that is not between 0 and 1"),
        (with_value("flows", 40, 0), "prices", "is traded after its resolution"),
        (with_value("volumes", 5, 0), "prices", "moves more shares than were traded"),
        (with_value("marks", 5, 0), "prices", "not a positive multiple of its unit"),
        (with_value("marks", 5, 1), "prices", "not a positive multiple of its unit"),
        (with_value("funding", 5, 750_001), "prices", "funding rate beyond its cap"),
        (replace(WORLD, posts=WORLD.posts[::-1]), "times", "posts are not in the order of time"),
        (
            replace(WORLD, invitations=(Invitation("group-0", 41),)),
            "times",
            "invitations lie outside ticks 0 to 40",
        ),
        (
            replace(WORLD, markets=tuple(replace(m, resolve_tick=0) for m in WORLD.markets)),
            "times",
            "market-0 does not resolve",
        ),
        (
            replace(WORLD, markets=tuple(replace(m, id="market-0") for m in WORLD.markets)),
            "names",
            "two of the markets and perpetuals have one id",
        ),
        (
            replace(WORLD, agents=WORLD.agents[:1]),
            "names",
            "writes, but is not an agent of the world",
        ),
        (replace(WORLD, groups=()), "names", "is named, but is not a group of the world"),
        (with_value("indexes", 5, 10**4), "same bytes again", "makes another world"),
        (
            replace(WORLD, config=replace(CONFIG, seed=-1)),
            "same bytes again",
            "its config makes no world",
        ),
    ],
)
def test_what_was_changed_is_found(world: World, check: str, sentence: str) -> None:
    assert any(sentence in problem for problem in failed(world)[check])


def test_columns_that_do_not_fit_are_the_only_thing_told() -> None:
    broken = replace(WORLD, flows=WORLD.flows[:1])
    assert failed(broken) == {"columns": ("flows has 1 columns, not 3",)}


def committed(truth: Truth) -> World:
    """The world with the hash of a changed truth, as one who cheats would write it."""
    return replace(WORLD, truth_sha256=sha256(encode_truth(truth)))


def test_a_truth_that_is_changed_with_its_hash_is_found() -> None:
    turned = replace(TRUTH, outcomes={name: not yes for name, yes in TRUTH.outcomes.items()})
    problems = failed(committed(turned), turned)
    assert "does not end at its outcome" in problems["truth"][0]
    assert problems["same bytes again"][-1].startswith("this version makes another truth")


def test_a_truth_that_lacks_a_market_is_found() -> None:
    lacking = replace(TRUTH, outcomes={"market-0": True})
    assert "outcomes of the world's markets" in failed(committed(lacking), lacking)["truth"][0]


def test_a_truth_with_an_impossible_fair_value_is_found() -> None:
    fair = ((-1, *TRUTH.fair[0][1:]), *TRUTH.fair[1:])
    wrong = replace(TRUTH, fair=fair)
    assert "not always between 0 and 1" in failed(committed(wrong), wrong)["truth"][0]


@pytest.mark.parametrize("conditions", ["mixed", "crash", "volatile"])
@pytest.mark.parametrize("tick", [0, 7, 20, 39])
def test_another_future_leaves_the_same_past(conditions: str, tick: int) -> None:
    config = replace(CONFIG, conditions=conditions)
    world, truth = generate(config)
    other, other_truth = generate(config, suffix_seed=99, cut=tick + 1)
    assert observed(other, tick) == observed(world, tick)
    assert observed(other, world.ticks) != observed(world, world.ticks)
    for market in world.markets:
        if market.resolve_tick <= tick:
            assert other_truth.outcomes[market.id] == truth.outcomes[market.id]


def test_what_comes_next_is_drawn_anew_at_once() -> None:
    for tick in (3, 11):
        other, _ = generate(CONFIG, suffix_seed=99, cut=tick + 1)
        for name in ("flows", "marks", "indexes", "funding", "open_interest"):
            for column, same in zip(getattr(other, name), getattr(WORLD, name), strict=True):
                assert column[tick] == same[tick]
                assert column[tick + 1] != same[tick + 1]


def test_outcomes_still_open_differ_in_some_future() -> None:
    outcomes = [generate(CONFIG, suffix_seed=seed, cut=1)[1].outcomes for seed in range(12)]
    for market in WORLD.markets:
        assert {outcome[market.id] for outcome in outcomes} == {True, False}


def _early_posts(world: World, tick: int) -> World:
    moved = tuple(replace(post, tick=max(0, post.tick - tick)) for post in world.posts)
    return replace(world, posts=moved)


@pytest.mark.parametrize(
    "leak",
    [
        lambda world, truth: _early_posts(world, 3),
        lambda world, truth: replace(world, marks=tuple(c[1:] + c[-1:] for c in world.marks)),
        lambda world, truth: replace(
            world, markets=tuple(replace(m, b=m.b + truth.outcomes[m.id]) for m in world.markets)
        ),
    ],
    ids=["posts too early", "tomorrow's prices", "outcomes in b"],
)
def test_a_generator_that_leaks_the_future_is_caught(
    monkeypatch: pytest.MonkeyPatch, leak: Callable[[World, Truth], World]
) -> None:
    def leaky(
        config: WorldConfig, *, salt: str = "", suffix_seed: int | None = None, cut: int = 0
    ) -> tuple[World, Truth]:
        world, truth = generate(config, salt=salt, suffix_seed=suffix_seed, cut=cut)
        return leak(world, truth), truth

    monkeypatch.setattr(verification, "generate", leaky)
    problems = failed(leaky(CONFIG)[0], futures=True)
    assert "depends on what is drawn later" in problems["prefix invariance"][0]
