"""Spec files of the AgentFarm kind, read as they are and turned into a suite.

Such a file names one `experiment` and its `params`; it becomes a suite of one benchmark of kind
`experiment`. Differences that its authors would notice: a missing `seed` means 42, a random sweep
draws distinct points, and `parallelism` is used: times are no verdict then. `description` is ours.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from agentbench_tui.engine.position import KeyPath
from agentbench_tui.model.errors import did_you_mean

KEYS = (
    "experiment",
    "description",
    "params",
    "iterations",
    "instrumentation",
    "output_dir",
    "tags",
    "notes",
    "seed",
    "sweep",
    "strategy",
    "samples",
    "parallelism",
)
ITERATIONS = {"warmup": 0, "measured": 1}
"""What these files mean when they do not say; suites mean 3 and 5."""
UNTIMED = {"accuracy": 0, "speed": 0, "efficiency": 0, "cost": 0, "reliability": 1}
"""Weights of a suite whose points run side by side, so that times say nothing."""

_BENCHMARK: KeyPath = ("benchmarks", 0)
MOVES: tuple[tuple[KeyPath, KeyPath], ...] = (
    ((*_BENCHMARK, "sweep", "parameters"), ("sweep",)),
    ((*_BENCHMARK, "sweep", "strategy"), ("strategy",)),
    ((*_BENCHMARK, "sweep", "samples"), ("samples",)),
    ((*_BENCHMARK, "sweep"), ("sweep",)),
    ((*_BENCHMARK, "parameters"), ("params",)),
    ((*_BENCHMARK, "iterations"), ("iterations",)),
    ((*_BENCHMARK, "instruments"), ("instrumentation",)),
    ((*_BENCHMARK, "experiment"), ("experiment",)),
    (_BENCHMARK, ()),
)
"""Where a part of the suite stands in the file: longest prefix first."""


def is_agentfarm(data: Mapping[str, Any]) -> bool:
    """True for a file that names an experiment and has no benchmarks."""
    return "experiment" in data and "benchmarks" not in data


def to_suite(data: Mapping[str, Any], stem: str) -> dict[str, Any]:
    """The suite that a spec file means, as data; its values are judged as a suite's are.

    `stem` is the file's name without its suffix, and names the suite.
    """
    benchmark: dict[str, Any] = {
        "benchmark_id": _name(data["experiment"]),
        "kind": "experiment",
        "experiment": data["experiment"],
        "iterations": _iterations(data.get("iterations")),
    }
    if data.get("params") is not None:
        benchmark["parameters"] = data["params"]
    if data.get("instrumentation") is not None:
        benchmark["instruments"] = _instruments(data["instrumentation"])
    if data.get("sweep") is not None:
        benchmark["sweep"] = {"parameters": data["sweep"]} | {
            key: data[key] for key in ("strategy", "samples") if data.get(key) is not None
        }
    kept = ("description", "output_dir", "tags", "notes", "seed", "parallelism")
    suite = {key: data[key] for key in kept if data.get(key) is not None}
    if isinstance(at_once := data.get("parallelism"), int) and at_once > 1:
        suite["weights"] = UNTIMED
    return {"suite_id": _name(stem), "name": stem, "benchmarks": [benchmark], **suite}


def unknown_keys(data: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Each key that such a file does not have, and what to say of it."""
    return [
        (key, f'unknown key "{key}"{did_you_mean(key, KEYS)}') for key in data if key not in KEYS
    ]


def _iterations(given: Any) -> Any:
    return {**ITERATIONS, **given} if isinstance(given, dict) else given or ITERATIONS


def _instruments(given: Any) -> Any:
    """`{name: psutil, interval_ms: 50}` → `{psutil: {interval_ms: 50}}`."""
    if not isinstance(given, list):
        return given
    return [
        {str(item["name"]): {key: value for key, value in item.items() if key != "name"}}
        if isinstance(item, dict) and "name" in item
        else item
        for item in given
    ]


def _name(text: Any) -> str:
    """A name made of `text`, with `-` for what a name cannot hold."""
    clean = re.sub(r"[^A-Za-z0-9._-]+", "-", str(text)).lstrip("._-")[:64]
    return clean or "spec"
