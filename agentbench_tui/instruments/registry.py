"""Instruments by name, as listed under `instruments` in a suite.

`timing` and the gauges are always on; naming `psutil` or `gpu` sets their sampling interval.
`cprofile`, `pyinstrument`, `tracemalloc` and `memray` profile Python code that the harness itself
calls, so they belong to experiments, where each has a separate pass. So does `perf`, which counts
around every measured iteration. Others are `python:module:function` or `python:file.py:function`,
or come from entry points of the group `agentbench.instruments`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from importlib import metadata
from typing import Any

from agentbench_tui.model.errors import did_you_mean
from agentbench_tui.model.kinds import kind_named
from agentbench_tui.model.text.plain_number import plain

ENTRY_POINTS = "agentbench.instruments"
PYTHON = "python:"
"""Prefix of the name of an instrument in Python code."""
DEFAULT_INTERVAL_MS = 1000.0
SHORTEST_INTERVAL_MS = 10.0

_OPTIONS: dict[str, dict[str, float]] = {
    "timing": {},
    "psutil": {"interval_ms": SHORTEST_INTERVAL_MS},
    "gpu": {"interval_ms": SHORTEST_INTERVAL_MS},
    "cprofile": {"top_n": 1},
    "pyinstrument": {"interval_ms": 0.1},
    "tracemalloc": {"top_n": 1},
    "memray": {},
    "perf": {},
}
"""Instrument → option → its smallest value."""
BUILT_IN = frozenset(_OPTIONS)
"""Names that no plug-in and no Python code takes."""
GPU_DETAILS = ("pcie", "processes")
"""Options of `gpu`, true or false: samples that are too expensive by default."""
_UNHEEDED: dict[str, dict[str, float]] = {"psutil": {"max_samples": 1}}
"""Options of AgentFarm's specifications, which are experiments: they are accepted, and have no
effect.
"""
PROFILERS = frozenset({"cprofile", "pyinstrument", "tracemalloc", "memray"})
GAUGES = frozenset({"psutil", "gpu"})
"""Those whose `interval_ms` says how often the gauges are read."""
OF_CODE = PROFILERS | {"perf"}
"""Instruments that require the code to run in a thread of the harness."""


def check_instrument(spec: str | Mapping[str, Any], kind: str) -> list[str]:
    """Return every problem of one `instruments` entry of a benchmark of that kind, one line
    each.
    """
    if isinstance(spec, Mapping) and len(spec) != 1:
        return [f"an instrument is one name with its options, not {sorted(map(str, spec))}"]
    name, options = (spec, {}) if isinstance(spec, str) else next(iter(spec.items()))
    if str(name).startswith(PYTHON):
        wrong = f"{name} belongs to a benchmark of kind experiment, not {kind}"
        return [] if kind_named(kind).measures_code else [wrong]
    if name not in _OPTIONS:
        known = [*_OPTIONS, *metadata.entry_points(group=ENTRY_POINTS).names]
        if name in known:
            return []
        hint = did_you_mean(str(name), known) or f"; there are {', '.join(known)}"
        return [f'there is no instrument "{name}"{hint}']
    if name in OF_CODE and not kind_named(kind).measures_code:
        return [f"{name} profiles experiments; agents run in programs of their own"]
    if not isinstance(options or {}, Mapping):
        return [f"{name}: options are a table of names and values, not {options!r}"]
    return [
        problem
        for option, value in (options or {}).items()
        for problem in _check_option(str(name), str(option), value, kind)
    ]


def unheeded(instruments: Iterable[str | Mapping[str, Any]]) -> list[str]:
    """Return the accepted options without effect, `INSTRUMENT: OPTION`."""
    return [
        f"{name}: {option}"
        for spec in instruments
        if isinstance(spec, Mapping)
        for name, options in spec.items()
        for option in options or {}
        if option in _UNHEEDED.get(name, {})
    ]


def _check_option(name: str, option: str, value: Any, kind: str) -> list[str]:
    known = _OPTIONS[name]
    if name == "gpu" and option in GPU_DETAILS:
        wrong = f"{name}: `{option}` is true or false, not {value!r}"
        return [] if isinstance(value, bool) else [wrong]
    if kind_named(kind).measures_code:
        known = {**known, **_UNHEEDED.get(name, {})}
    if option not in known:
        near = did_you_mean(option, [*known, *(GPU_DETAILS if name == "gpu" else ())])
        return [f"{name}: there is no option `{option}`{near}"]
    if isinstance(value, bool) or not isinstance(value, int | float) or not value >= known[option]:
        return [
            f"{name}: `{option}` must be a number of at least {plain(known[option])}, not {value!r}"
        ]
    return []


def sampling_interval_s(instruments: Iterable[str | Mapping[str, Any]]) -> float:
    """Return the seconds between two readings: the shortest requested by `psutil` or `gpu`, else 1.
    `interval_ms` of any other instrument is separate.
    """
    asked = [
        float(spec[name]["interval_ms"])
        for spec in instruments
        if isinstance(spec, Mapping)
        for name in GAUGES & spec.keys()
        if "interval_ms" in (spec[name] or {})
    ]
    return min(asked, default=DEFAULT_INTERVAL_MS) / 1000


def gpu_details(instruments: Iterable[str | Mapping[str, Any]]) -> frozenset[str]:
    """Return the additional samples of GPUs, of `GPU_DETAILS`: all that any entry requests."""
    return frozenset(
        name
        for spec in instruments
        if isinstance(spec, Mapping)
        for name, is_wanted in (spec.get("gpu") or {}).items()
        if is_wanted is True
    )
