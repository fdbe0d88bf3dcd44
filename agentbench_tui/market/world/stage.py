"""A world with its truth, ready to be played: made from its config, or read from its file."""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import lru_cache
from pathlib import Path
from typing import Any

import msgspec

from agentbench_tui.market.judging.metrics import Attainable, attainable
from agentbench_tui.market.world.generator import SALT, check_config, generate
from agentbench_tui.market.world.truth import Truth
from agentbench_tui.market.world.verify import verify
from agentbench_tui.market.world.world import World, WorldConfig
from agentbench_tui.market.world.world_file import (
    encode_world,
    load_truth,
    load_world,
    sha256,
    truth_path,
)
from agentbench_tui.model.errors import UsageError, did_you_mean

_KEPT = 16
"""Stages in memory: about as many as there are worlds in use at the same time."""


@dataclass(frozen=True, slots=True)
class Pacing:
    """Speed of the game; by default as fast as the agent ends its turns."""

    response_timeout_s: float | None = None
    """An agent that has not ended its turn by then loses it."""
    real_time: float | None = None
    """Seconds of the world in one second of the clock."""
    trajectory: bool | None = None
    """Whether the answer includes the steps of the episode, for training."""


@dataclass(frozen=True, slots=True)
class WorldPlace:
    """Source of a world: either its config or its file."""

    config: WorldConfig | None = None
    salt: str | None = None
    """32 hex digits; empty for a public world. Without it, a run uses its workspace's."""
    file: str = ""
    sha256: str = ""
    """Hash of the file when the case was created."""


@dataclass(frozen=True, slots=True, eq=False)
class Stage:
    """World of an episode; compared by identity."""

    world: World
    truth: Truth
    sha256: str
    """Hash of the world's bytes."""
    files: tuple[Path, ...] = ()
    """Files of world and truth, which no agent's process opens; none for a generated world."""


def config_of(*, duration: float, interval: float, **given: Any) -> WorldConfig:
    """Return the config of `duration` minutes, `interval` seconds, and other fields of
    WorldConfig.

    Raises UsageError for what no world can have.
    """
    seconds, milliseconds = round(duration * 60), round(interval * 1000)
    config = WorldConfig(duration_s=seconds, interval_ms=milliseconds, **given)
    check_config(config)
    return config


def read_input(given: Any) -> tuple[WorldPlace, Pacing]:
    """Return the world and pacing of a case's input. Raises UsageError."""
    if not isinstance(given, dict):
        raise UsageError("a case of the game market is an object with `config`, or `file`")
    known = {field.name for field in fields(WorldPlace)} | {"pacing"}
    unknown = [name for name in given if name not in known]
    if unknown:
        hint = did_you_mean(str(unknown[0]), known)
        raise UsageError(f'a case of the game market has no "{unknown[0]}"{hint}')
    try:
        pacing = msgspec.convert(given.get("pacing", {}), Pacing)
        place = msgspec.convert({n: v for n, v in given.items() if n != "pacing"}, WorldPlace)
    except msgspec.ValidationError as error:
        raise UsageError(f"the case is not one of the game market: {error}") from None
    if (place.config is None) == (not place.file):
        raise UsageError("a case of the game market has one of `config` and `file`")
    if place.salt and not SALT.fullmatch(place.salt):
        raise UsageError("`salt` of a case of the game market has 32 hex digits, or is empty")
    return place, pacing


def salted_input(given: dict[str, Any], salt: str) -> dict[str, Any]:
    """Return the input of a case, with `salt` if its world is generated and the case names no
    salt.
    """
    return given if "config" not in given or "salt" in given else {**given, "salt": salt}


@lru_cache(maxsize=_KEPT)
def open_stage(place: WorldPlace) -> Stage:
    """Return the world and its truth. Raises UsageError for files that do not match the case."""
    if place.config is not None:
        world, truth = generate(place.config, salt=place.salt or "")
        if place.config.salt_sha256 not in {"", world.config.salt_sha256}:
            raise UsageError("the case has another salt than the one its world was made with")
        return Stage(world, truth, sha256(encode_world(world)))
    stage = open_file(Path(place.file))
    if place.sha256 and stage.sha256 != place.sha256:
        raise UsageError(f"world {place.file} has changed since the benchmark was planned")
    return stage


@lru_cache(maxsize=_KEPT)
def attainable_of(stage: Stage) -> Attainable:
    """Return the attainable profit: the same for all its episodes."""
    return attainable(stage.world, stage.truth)


def open_file(path: Path) -> Stage:
    """Return the world in a file, with the truth file next to it. Raises UsageError, also if one
    was edited.
    """
    world = load_world(path)
    beside = truth_path(path)
    truth = load_truth(beside, world)
    problems = [text for check in verify(world, truth, futures=False) for text in check.problems]
    if problems:
        more = f" (and {len(problems) - 1} more)" if len(problems) > 1 else ""
        raise UsageError(
            f"world {path} is not as it was generated: {problems[0]}{more};"
            f" `agentbench market verify {path}` lists all problems;"
            " `agentbench market generate` makes it again"
        )
    return Stage(world, truth, sha256(encode_world(world)), (path.resolve(), beside.resolve()))
