"""Reads AgentFarm spec files unchanged and turns them into suites.

Such a file names one `experiment` and its `params`; it becomes a suite of one benchmark of kind
`experiment`. Differences that its authors would notice: a missing `seed` means 42, a random sweep
draws distinct points, and `parallelism` is used: times are no verdict then. `description` is ours.
`agentfarm_parameters` says what each parameter name does.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import msgspec

from agentbench_tui.engine.suite.agentfarm_parameters import translate
from agentbench_tui.engine.suite.position import KeyPath
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
"""Defaults in these files; suites have 3 and 5."""
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
"""Suite path → path in the file: the longest prefix first."""


def is_agentfarm(data: Mapping[str, Any]) -> bool:
    """Return whether a file names an experiment and has no benchmarks."""
    return "experiment" in data and "benchmarks" not in data


class FarmSuite(msgspec.Struct, frozen=True):
    """The suite that a spec file describes, as data; its values are validated like a suite's."""

    data: dict[str, Any]
    moves: tuple[tuple[KeyPath, KeyPath], ...]
    """Suite path → file path, longest prefix first."""
    notes: tuple[str, ...]
    """A sentence for each parameter of the file that has no effect."""


def to_suite(data: Mapping[str, Any], stem: str) -> FarmSuite:
    """Convert a spec file to a suite named `stem`, the file's name without suffix."""
    benchmark: dict[str, Any] = {
        "benchmark_id": _name(data["experiment"]),
        "kind": "experiment",
        "experiment": data["experiment"],
        "iterations": _iterations(data.get("iterations")),
    }
    params, sweep = data.get("params"), data.get("sweep")
    translated = translate(str(data["experiment"]), params, sweep)
    if params is not None:
        benchmark["parameters"] = translated.parameters if isinstance(params, Mapping) else params
    if data.get("instrumentation") is not None:
        benchmark["instruments"] = _instruments(data["instrumentation"])
    if isinstance(sweep, Mapping) or sweep is None:
        sweep = translated.sweep or sweep
    if sweep is not None:
        benchmark["sweep"] = {"parameters": sweep} | {
            key: data[key] for key in ("strategy", "samples") if data.get(key) is not None
        }
    kept = ("description", "output_dir", "tags", "notes", "seed", "parallelism")
    suite = {key: data[key] for key in kept if data.get(key) is not None}
    if isinstance(at_once := data.get("parallelism"), int) and at_once > 1:
        suite["weights"] = UNTIMED
    return FarmSuite(
        {"suite_id": _name(stem), "name": stem, "benchmarks": [benchmark], **suite},
        (*_renamed(translated.places), *MOVES),
        tuple(translated.notes),
    )


def _renamed(places: Mapping[str, KeyPath]) -> list[tuple[KeyPath, KeyPath]]:
    """Return the path in the file of a parameter with another name, or one that became a sweep."""
    return [
        ((*_BENCHMARK, *part, name), place)
        for name, place in places.items()
        for part in (("parameters",), ("sweep", "parameters"))
    ]


def unknown_keys(data: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return each unknown key of such a file, and a message about it."""
    return [
        (key, f'unknown key "{key}"{did_you_mean(key, KEYS)}') for key in data if key not in KEYS
    ]


def _iterations(given: Any) -> Any:
    return {**ITERATIONS, **given} if isinstance(given, dict) else given or ITERATIONS


def _instruments(given: Any) -> Any:
    """Convert `{name: psutil, interval_ms: 50}` to `{psutil: {interval_ms: 50}}`."""
    if not isinstance(given, list):
        return given
    return [
        {str(item["name"]): {key: value for key, value in item.items() if key != "name"}}
        if isinstance(item, dict) and "name" in item
        else item
        for item in given
    ]


def _name(text: Any) -> str:
    """Return a name derived from `text`, with `-` for invalid characters."""
    clean = re.sub(r"[^A-Za-z0-9._-]+", "-", str(text)).lstrip("._-")[:64]
    return clean or "spec"
