"""The suite that `agentbench market run` builds: one benchmark with one case per world."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from agentbench_tui.cli.market.options import WORLD_NAMES
from agentbench_tui.cli.suite_parts import Block, agent_tables, run_keys
from agentbench_tui.model.errors import UsageError

if TYPE_CHECKING:
    from agentbench_tui.market.world.stage import Pacing

SUITE_ID = "market"
_DAY_MS = 86_400_000
"""Time limit of an episode: those of a model may take hours, and each turn has its own limit."""


def suite_of_options(given: dict[str, Any], folder: Path) -> Block:
    """Return the suite as plain data. Raises UsageError for options that contradict each other."""
    from agentbench_tui.market.outside.baseline_agent import BASELINES
    from agentbench_tui.market.world.stage import Pacing

    if given["response_timeout"] is not None and given["real_time"] is not None:
        raise UsageError("--response-timeout and --real-time exclude each other")
    targets = list(given["agents_to_run"])
    if given["baselines"]:
        targets += [
            f"{name}=market:{name}" for name in BASELINES if f"market:{name}" not in targets
        ]
    if not targets:
        raise UsageError("no agent to play; give --agent TARGET or --baselines")
    tables = agent_tables(targets, given, folder)
    _check_names(tables)
    pacing = Pacing(
        given["response_timeout"], given["real_time"], given["save_trajectories"] or None
    )
    cases = _cases(given, pacing)
    suite: Block = {
        "suite_id": SUITE_ID,
        "name": "Market",
        "category": "accuracy",
        "description": "Put together by `agentbench market run`.",
        "agents": tables,
        "weights": {"accuracy": 1, "speed": 0, "efficiency": 0, "cost": 0, "reliability": 0},
        "benchmarks": [
            {
                "benchmark_id": "market",
                "name": "Market world",
                "game": "market",
                "dataset": {"cases": cases},
                "scorers": [{"python:agentbench_tui.market.judging.scorer:attainment": {}}],
                "constraints": {"time_limit_ms": _DAY_MS},
                "iterations": {"warmup": 0, "measured": 1},
                "retries": 0,
            }
        ],
        **run_keys(given),
    }
    return suite


def _check_names(tables: list[Block]) -> None:
    """Check that agent ids are unique, since two functions may have the same name."""
    known: dict[str, str] = {}
    for table in tables:
        other = known.setdefault(table["id"], table["target"])
        if other is not table["target"]:
            raise UsageError(
                f'{other} and {table["target"]} would both be "{table["id"]}": name one of them,'
                f" --agent NAME={table['target']}"
            )


def _cases(given: dict[str, Any], pacing: Pacing) -> list[Block]:
    from agentbench_tui.market.cases import cases_of_files, following, worlds
    from agentbench_tui.market.world.world import WorldConfig

    files = [*given["files"], *given["benchmarks"]]
    if not files:
        seed = WorldConfig().seed if given["seed"] is None else given["seed"]
        config = {name: given[name] for name in WORLD_NAMES}
        return [*worlds(seed, given["worlds"], pacing=pacing, **config)]
    if given["worlds"] == 1:
        return cases_of_files(files, pacing)
    if len(files) > 1:
        raise UsageError(
            "--worlds works only with one FILE: it also plays the seeds after that of the file"
        )
    return [*cases_of_files(files, pacing), *following(files[0], given["worlds"], pacing)]
