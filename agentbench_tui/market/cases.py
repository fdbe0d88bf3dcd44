"""Cases of a benchmark that is played in market worlds: a case is one world and its pacing.

The input of a case is the config of its world, from which the player generates it, or the file of a
world; the agent sees only what the game reveals.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from agentbench_tui.market.world.stage import Pacing, WorldPlace, config_of
from agentbench_tui.market.world.world import WorldConfig
from agentbench_tui.model.errors import UsageError

_USUAL = WorldConfig()


def worlds(
    seed: int = _USUAL.seed,
    worlds: int = 1,
    duration: float = _USUAL.duration_s / 60,
    interval: float = _USUAL.interval_ms / 1000,
    markets: int = _USUAL.markets,
    perpetuals: int = _USUAL.perpetuals,
    agents: int = _USUAL.agents,
    conditions: str = _USUAL.conditions,
    pacing: Pacing | None = None,
) -> Iterator[dict[str, Any]]:
    """Yield one case for each of the seeds `seed`..`seed`+`worlds`-1; the name of a suite's data
    source.

    `duration` is in minutes, `interval` between two ticks in seconds. Raises UsageError.
    """
    for one in range(seed, seed + worlds):
        config = config_of(
            duration=duration,
            interval=interval,
            markets=markets,
            perpetuals=perpetuals,
            agents=agents,
            seed=one,
            conditions=conditions,
        )
        yield case_of(f"seed-{one}", WorldPlace(config=config), pacing or Pacing())


def case_of(case_id: str, place: WorldPlace, pacing: Pacing) -> dict[str, Any]:
    """Return the case of one world as a dataset record."""
    given: dict[str, Any] = {}
    if place.config is not None:
        given["config"] = place.config.document()
        if place.salt is not None:
            given["salt"] = place.salt
    else:
        given |= {"file": place.file, "sha256": place.sha256}
    pace = {name: value for name, value in asdict(pacing).items() if value is not None}
    return {"id": case_id, "input": given | ({"pacing": pace} if pace else {})}


def following(path: Path, worlds: int, pacing: Pacing) -> Iterator[dict[str, Any]]:
    """Yield cases of the seeds after a world file's seed, so that there are `worlds` cases in
    total.

    Raises UsageError.
    """
    from agentbench_tui.market.world.stage import open_file

    stage = open_file(path)
    config = stage.world.config
    for seed in range(config.seed + 1, config.seed + worlds):
        place = WorldPlace(config=replace(config, seed=seed), salt=stage.truth.salt)
        yield case_of(f"seed-{seed}", place, pacing)


def cases_of_files(paths: Sequence[Path], pacing: Pacing) -> list[dict[str, Any]]:
    """Return one case for each world file that `agentbench market generate` wrote.

    A case is named after its seed; worlds that share a seed after their ids too. Raises UsageError
    for a file that is no world, and for a world that is named twice.
    """
    from agentbench_tui.market.world.stage import open_file

    stages = [open_file(path) for path in paths]
    seeds = Counter(stage.world.config.seed for stage in stages)
    cases: dict[str, dict[str, Any]] = {}
    for path, stage in zip(paths, stages, strict=True):
        seed = stage.world.config.seed
        name = f"seed-{seed}" if seeds[seed] == 1 else f"seed-{seed}-{stage.world.id}"
        if name in cases:
            raise UsageError(f"{path} is a world that was named before: give it once")
        place = WorldPlace(file=str(path.resolve()), sha256=stage.sha256)
        cases[name] = case_of(name, place, pacing)
    return [*cases.values()]
