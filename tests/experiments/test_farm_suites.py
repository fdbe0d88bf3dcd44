"""The suites of infrastructure: every file is sound, and runs at smoke size."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from measuring import measured, rows

from agentbench_tui.engine.run.planning import RunOptions, make_plan
from agentbench_tui.engine.suite.loading import load_suite, suite_of_data

FOLDER = Path(__file__).parents[2] / "suites" / "infrastructure"
NAMES = (
    "comprehensive_profiling_sweep",
    "database_profiler_baseline",
    "memory_db_baseline",
    "observation_baseline",
    "observation_profiler_baseline",
    "observation_sweep",
    "perception_metrics_baseline",
    "pragma_profile_baseline",
    "pragma_profile_sweep",
    "redis_memory_baseline",
    "run_db_baseline",
    "spatial_comprehensive_baseline",
    "spatial_index_profiler_baseline",
    "spatial_memory_profiler_baseline",
    "spatial_performance_analyzer_baseline",
    "system_profiler_baseline",
)
_LOOKING: dict[str, Any] = {"num_agents": 3, "steps": 2, "radius": 2}
SMOKE: dict[str, dict[str, Any]] = {
    "database_profiler": {"records": 20, "batch_size": 10},
    "memory_db": {"num_agents": 3, "num_steps": 2},
    "observation_flow": _LOOKING,
    "observation_profiler": _LOOKING,
    "perception_metrics": _LOOKING,
    "pragma_profile": {"num_records": 20, "db_size_mb": 0.05},
    "redis_memory": {"num_agents": 2, "memory_entries": 5, "backend": "embedded"},
    "spatial_comprehensive": {"entities": 40, "radius_queries": 3, "nearest_queries": 2},
    "spatial_index_profiler": {"entities": 40, "steps": 2, "moves": 3, "queries": 2},
    "spatial_memory_profiler": {"entities": 40, "copies": 1, "structure": "hash_grid"},
    "spatial_performance_analyzer": {"sizes": [20, 40], "queries": 2},
    "system_profiler": {"num_agents": 3, "steps": 2},
}
"""Experiment → parameters with which it does a little of everything."""


def smoke(name: str) -> list[dict[str, Any]]:
    """The benchmarks of a file, as they are but small."""
    return [
        {
            "benchmark_id": f"{name}-{nth}",
            "kind": "experiment",
            "experiment": one.experiment,
            "parameters": {**_first(one), **SMOKE[one.experiment or ""]},
            "iterations": {"warmup": 0, "measured": 1},
        }
        for nth, one in enumerate(load_suite(FOLDER / f"{name}.yaml").suite.benchmarks)
    ]


def _first(benchmark: Any) -> dict[str, Any]:
    swept = benchmark.sweep.parameters if benchmark.sweep else {}
    return {**benchmark.parameters, **{key: values[0] for key, values in swept.items()}}


@pytest.mark.parametrize("name", NAMES)
def test_a_file_is_sound_at_full_size(name: str) -> None:
    loaded = load_suite(FOLDER / f"{name}.yaml")
    plan = make_plan([loaded], RunOptions())
    assert {one.kind for one in loaded.suite.benchmarks} == {"experiment"}
    assert len(plan.groups) >= len(loaded.suite.benchmarks)


async def test_every_file_runs_at_smoke_size(tmp_path: Path) -> None:
    # `run_db` starts a program each time: it has a test of its own.
    found = [one for name in NAMES if name != "run_db_baseline" for one in smoke(name)]
    # What several files have alike runs once.
    alike = {
        json.dumps([one["experiment"], one["parameters"]], sort_keys=True): one for one in found
    }
    benchmarks = list(alike.values())
    suite = suite_of_data({"suite_id": "smoke", "benchmarks": benchmarks}, tmp_path)
    plan = make_plan([suite], RunOptions(folder=tmp_path))
    outcome = await measured(plan, tmp_path)
    failed = rows(tmp_path, "SELECT stage, kind, detail FROM failures")
    assert failed == []
    assert outcome.status == "complete", rows(
        tmp_path, "SELECT benchmark_id, agent_id, stop_reason FROM benchmark_executions"
    )
    assert {one["experiment"] for one in benchmarks} == set(SMOKE)
