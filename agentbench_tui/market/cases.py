"""Cases of a benchmark that is played in market worlds: a case is one world and how it is paced.

The input of a case is the config of its world, from which the player makes it anew, or the file of
a world; what an agent gets to see of it comes from the game alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from agentbench_tui.market.stage import Pacing, WorldPlace, config_of
from agentbench_tui.market.world import WorldConfig

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
    """One case for each of the seeds `seed`..`seed`+`worlds`-1; the name of a suite's data source.

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
    """The case of one world, as a record of a dataset."""
    given: dict[str, Any] = {}
    if place.config is not None:
        given["config"] = asdict(place.config)
    else:
        given |= {"file": place.file, "sha256": place.sha256}
    pace = {name: value for name, value in asdict(pacing).items() if value is not None}
    return {"id": case_id, "input": given | ({"pacing": pace} if pace else {})}


def following(path: Path, worlds: int, pacing: Pacing) -> Iterator[dict[str, Any]]:
    """Cases of the seeds that follow the one of a world's file, so that there are `worlds` in all.

    Raises UsageError.
    """
    from agentbench_tui.market.world_file import load_world

    config = load_world(path).config
    for seed in range(config.seed + 1, config.seed + worlds):
        place = WorldPlace(config=replace(config, seed=seed))
        yield case_of(f"seed-{seed}", place, pacing)


def case_of_file(path: Path, pacing: Pacing) -> dict[str, Any]:
    """The case of a world that was written by `agentbench market generate`.

    Raises UsageError for a file that is no world.
    """
    from agentbench_tui.market.stage import open_file

    stage = open_file(path)
    place = WorldPlace(file=str(path.resolve()), sha256=stage.sha256)
    return case_of(f"seed-{stage.world.config.seed}", place, pacing)
