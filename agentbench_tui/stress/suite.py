"""A suite of kind stress, built from scenarios: one benchmark for each."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from agentbench_tui.stress.catalog import DEFAULTS

Block = dict[str, Any]

SUITE_ID = "stress"
ONLY_OF = {
    "faults": ("failure_recovery",),
    "memory_limit_mb": ("memory_pressure", "sustained_load"),
    "ballast_mb": ("memory_pressure",),
    "most_input_tokens": ("large_inputs",),
    "spikes": ("spike_load",),
    "retry_after_s": ("rate_limiting",),
}
"""Keys of `stress:` that only some scenarios use → those scenarios."""


def stress_suite(
    blocks: Mapping[str, Block], *, agents: list[Block], time_limit_ms: float | None, keys: Block
) -> Block:
    """Return a suite with a `stress:` block for each scenario; `keys` are additional keys of the
    suite.
    """
    limit = {} if time_limit_ms is None else {"constraints": {"time_limit_ms": time_limit_ms}}
    return {
        "suite_id": SUITE_ID,
        "name": "Stress",
        "category": "reliability",
        "description": "Put together by `agentbench stress`.",
        "agents": agents,
        # What is found has a score of its own, resilience; no dimension stands for it.
        "weights": {"accuracy": 0, "speed": 0, "efficiency": 0, "cost": 0, "reliability": 1},
        "benchmarks": [
            {
                "benchmark_id": name,
                "name": name.replace("_", " ").capitalize(),
                "description": f"{DEFAULTS[name].words[:1].upper()}{DEFAULTS[name].words[1:]}.",
                "kind": "stress",
                "test_type": "stress",
                **limit,
                "stress": block,
            }
            for name, block in blocks.items()
        ],
        **keys,
    }
