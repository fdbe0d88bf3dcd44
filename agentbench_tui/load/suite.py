"""A suite of one benchmark of kind load, built from a schedule and a workload."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

Block = dict[str, Any]

SUITE_ID = "load"
DEFAULT_S = 10.0
"""Length of the window when nothing says it."""
DEFAULT_USERS = 1
"""Users of a closed loop when no schedule is given."""
_LISTS = frozenset({"steps", "workload"})
"""Keys of `load:` whose value is a list in itself."""


def swept_keys(block: Mapping[str, Any]) -> Block:
    """Return the keys of a `load:` block that have several values, one for each load level."""
    return {
        name: list(value)
        for name, value in block.items()
        if isinstance(value, list) and name not in _LISTS
    }


def load_suite(
    block: Mapping[str, Any], *, agents: list[Block], time_limit_ms: float | None, keys: Block
) -> Block:
    """Return the suite of a `load:` block; `keys` are additional keys of the suite.

    A list of rates or of users becomes a sweep.
    """
    swept = swept_keys(block)
    benchmark: Block = {"benchmark_id": "load", "name": "Load", "kind": "load"}
    if time_limit_ms is not None:
        benchmark["constraints"] = {"time_limit_ms": time_limit_ms}
    benchmark["load"] = {
        name: f"${{{name}}}" if name in swept else value for name, value in block.items()
    }
    if swept:
        benchmark["sweep"] = {"parameters": swept}
    return {
        "suite_id": SUITE_ID,
        "name": "Load",
        "category": "speed",
        "description": "Put together by `agentbench load`.",
        "agents": agents,
        # No rubric says which speed is good, so there is no overall score.
        "weights": {"accuracy": 0, "speed": 1, "efficiency": 0, "cost": 0, "reliability": 0},
        "benchmarks": [benchmark],
        **keys,
    }


def window_of(block: Mapping[str, Any], folder: Path) -> Block:
    """Return `duration_s` or `requests` for a block that has neither: the duration of its trace or
    shape, else `DEFAULT_S`. `folder` is the base of the trace's path. Raises UsageError.
    """
    if "duration_s" in block or "requests" in block:
        return {}
    if "trace" in block:
        from agentbench_tui.load.workload.trace import read_trace

        trace = read_trace(folder / block["trace"]["file"], unit=block["trace"].get("unit"))
        return {"requests": len(trace.offsets_s)}
    return {"duration_s": _own_length(block)}


def _own_length(block: Mapping[str, Any]) -> float:
    if "ramp" in block:
        return float(block["ramp"]["over_s"])
    if "steps" in block:
        return float(sum(step["for_s"] for step in block["steps"]))
    if "spike" in block:
        # As long after it as before: whether the server recovers shows there.
        return float(2 * block["spike"]["at_s"] + block["spike"]["for_s"])
    if "sine" in block:
        return float(block["sine"]["period_s"])
    return DEFAULT_S
