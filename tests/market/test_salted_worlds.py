"""A public world gives its seed away; a salted one does not, and is played and checked alike."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from agentbench_tui.market.world.beliefs import resolve_tick
from agentbench_tui.market.world.bits import Streams
from agentbench_tui.market.world.generator import generate
from agentbench_tui.market.world.stage import open_file, open_stage, read_input
from agentbench_tui.market.world.verify import observed, verify
from agentbench_tui.market.world.world import World, WorldConfig
from agentbench_tui.market.world.world_file import encode_world, save_world
from agentbench_tui.model.errors import UsageError

SALT = "00112233445566778899aabbccddeeff"
CONFIG = WorldConfig(seed=1_234, interval_ms=6_000)
CANDIDATES = range(2_000)


def seeds_with_these_resolutions(world: World) -> list[int]:
    """The attack: seeds whose markets would resolve when those of the world do, which is public."""
    return [
        seed
        for seed in CANDIDATES
        if all(
            resolve_tick(Streams(seed), place, world.ticks) == market.resolve_tick
            for place, market in enumerate(world.markets)
        )
    ]


def test_the_seed_of_a_public_world_is_recovered_from_when_its_markets_resolve() -> None:
    world, truth = generate(CONFIG)
    (seed,) = seeds_with_these_resolutions(world)
    assert generate(replace(CONFIG, seed=seed))[1].outcomes == truth.outcomes


def test_the_seed_of_a_salted_world_is_not() -> None:
    world, _ = generate(CONFIG, salt=SALT)
    assert world.config.seed in CANDIDATES
    assert seeds_with_these_resolutions(world) == []


def test_every_digit_of_the_salt_makes_another_world() -> None:
    worlds = [generate(CONFIG, salt=salt)[0] for salt in ("", SALT, SALT[:-1] + "e")]
    assert len({observed(world, 1) for world in worlds}) == 3
    assert len({world.id for world in worlds}) == 3


def test_the_salt_is_in_the_truth_alone(tmp_path: Path) -> None:
    world, truth = generate(CONFIG, salt=SALT)
    assert truth.salt == SALT
    assert SALT.encode() not in encode_world(world)
    save_world(world, truth, tmp_path / "world.json")
    assert json.loads((tmp_path / "world.truth.json").read_text())["salt"] == SALT
    assert open_file(tmp_path / "world.json").world == world


def test_verification_makes_the_world_again_with_its_salt() -> None:
    world, truth = generate(CONFIG, salt=SALT)
    assert [check.problems for check in verify(world, truth) if check.problems] == []
    other = replace(truth, salt=SALT[::-1])
    problems = [problem for check in verify(world, other) for problem in check.problems]
    assert any("salt in the truth" in problem for problem in problems)


def test_a_case_names_a_salt_of_32_hex_digits_that_fits_its_config() -> None:
    config = CONFIG.document()
    place, _ = read_input({"config": config, "salt": SALT})
    assert open_stage(place).world == generate(CONFIG, salt=SALT)[0]
    with pytest.raises(UsageError, match="32 hex digits"):
        read_input({"config": config, "salt": "secret"})
    place, _ = read_input({"config": {**config, "salt_sha256": "0" * 64}, "salt": SALT})
    with pytest.raises(UsageError, match="another salt"):
        open_stage(place)
