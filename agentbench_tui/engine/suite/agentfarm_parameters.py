"""Meaning of each parameter name of AgentFarm's specification files, by experiment.

Six of the experiments that AgentFarm's own files name do not exist there, so nothing defines what
their parameters mean; the others loop over lists of values inside one call. Here a list of values
is a sweep, and a parameter without a counterpart is accepted with a note that says why.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec


class Renamed(msgspec.Struct, frozen=True):
    """A parameter that has another name in agentbench; a list of values becomes a sweep."""

    to: str
    values: Mapping[Any, Any] = msgspec.field(default_factory=dict)
    """A value of the file → the value here; values that it does not hold stay as they are."""
    as_list: bool = False
    """True if the parameter here accepts the list itself."""


class Unused(msgspec.Struct, frozen=True):
    """A parameter without effect in agentbench."""

    reason: str
    only: tuple[Any, ...] = ()
    """The values for which that is true; empty for all. Others are refused as unknown."""


Rule = Renamed | Unused


class Translated(msgspec.Struct):
    """The parameters and the sweep of a file under agentbench's names."""

    parameters: dict[str, Any] = msgspec.field(default_factory=dict)
    sweep: dict[str, Any] = msgspec.field(default_factory=dict)
    places: dict[str, tuple[str, str]] = msgspec.field(default_factory=dict)
    """Parameter → key path in the file, for renamed or moved ones."""
    notes: list[str] = msgspec.field(default_factory=list)


_CPU = Unused("observations are always computed on the CPU", only=("cpu",))
_STRUCTURES = Renamed("structure", {"kd_tree": "kdtree", "spatial_hash": "hash_grid"})
_PATTERNS = {"random": "uniform"}
_ALWAYS_REPORTED = "this is always reported"

RULES: Mapping[str, Mapping[str, Rule]] = {
    "memory_db": {
        "parameters": Unused("every kind of storage is measured, as a separate variant"),
    },
    "observation_flow": {
        "fov_radius": Unused("agents see everything within `radius`; there is no field of view"),
        "device": _CPU,
    },
    "perception_metrics": {
        "agent_counts": Renamed("num_agents"),
        "radii": Renamed("radius"),
        "storage_modes": Renamed("storage_mode"),
        "use_bilinear_list": Renamed("bilinear"),
        "device": _CPU,
    },
    "pragma_profile": {
        "profiles": Renamed("profile"),
        "workloads": Renamed("workload"),
    },
    "redis_memory": {
        "cleanup_interval": Unused("each call prunes the memories once and times it (`cleanup_s`)"),
    },
    "spatial_comprehensive": {
        "algorithms": _STRUCTURES,
        "agent_counts": Renamed("entities"),
        "world_sizes": Renamed("world_size"),
        "query_radii": Renamed("radius"),
        "steps": Unused("a call builds the structure and queries it once; `iterations` repeat it"),
    },
    "spatial_index_profiler": {
        "algorithms": _STRUCTURES,
        "agent_counts": Renamed("entities"),
        "query_radius": Renamed("radius"),
        "query_types": Unused(
            "updates and range queries are measured; `spatial_comprehensive` measures nearest ones"
        ),
    },
    "spatial_memory_profiler": {
        "algorithms": _STRUCTURES,
        "agent_counts": Renamed("entities"),
        "world_sizes": Unused("a structure takes the same memory whatever the size of its world"),
        "data_structures": Unused("the points are always a numpy array"),
        "steps": Unused("a call builds `copies` structures; `iterations` repeat it"),
        "track_memory_usage": Unused(_ALWAYS_REPORTED),
        "track_garbage_collection": Unused("`left_bytes` always reports what is not freed"),
    },
    "spatial_performance_analyzer": {
        "algorithms": _STRUCTURES,
        "agent_counts": Renamed("sizes", as_list=True),
        "query_patterns": Renamed("distribution", _PATTERNS),
        "world_sizes": Unused("times depend on the points within the radius, set by `neighbours`"),
        "query_radii": Unused("the radius follows from `neighbours`, so that sizes compare"),
        "steps": Unused("a call asks `queries` questions of each size; `iterations` repeat it"),
        "analyze_complexity": Unused(_ALWAYS_REPORTED),
        "analyze_scalability": Unused(_ALWAYS_REPORTED),
        "analyze_memory_efficiency": Unused("`spatial_memory_profiler` measures memory"),
    },
    "system_profiler": {
        "monitor_cpu": Unused(_ALWAYS_REPORTED),
        "monitor_memory": Unused(_ALWAYS_REPORTED),
        "monitor_disk": Unused("the run's gauges always include the disk"),
        "monitor_network": Unused("the run's gauges always include the network"),
        "sampling_interval": Unused("the option `interval_ms` of the instrument psutil sets it"),
    },
}

_IN_MEMORY = "use_in_memory_db"
_PERSIST = "persist_db_on_completion"


def translate(experiment: str, params: Any, sweep: Any) -> Translated:
    """Return the `params` and the `sweep` of a file for `experiment`, under agentbench's names.

    Parameters without a rule, and values that are not tables, are passed on, to be checked with the
    suite.
    """
    rules = RULES.get(experiment, {})
    result = Translated()
    if isinstance(params, Mapping):
        for name, value in _with_storage(experiment, params, result).items():
            _translate(result, rules.get(name), ("params", name), value)
    if isinstance(sweep, Mapping):
        for name, value in sweep.items():
            _translate(result, rules.get(name), ("sweep", name), value)
    return result


def _translate(result: Translated, rule: Rule | None, place: tuple[str, str], value: Any) -> None:
    part, name = place
    if isinstance(rule, Unused) and (not rule.only or value in rule.only):
        result.notes.append(f"{part}.{name} has no effect: {rule.reason}")
        return
    if isinstance(rule, Renamed):
        name = rule.to
        result.places[name] = place
        value = _values(rule, value)
        if not rule.as_list and part == "params" and isinstance(value, list):
            part = "sweep" if len(value) > 1 else part
            value = value if len(value) != 1 else value[0]
    (result.sweep if part == "sweep" else result.parameters)[name] = value


def _values(rule: Renamed, given: Any) -> Any:
    """Return the value or distinct values under agentbench's names."""
    if not isinstance(given, list):
        return rule.values.get(given, given) if _is_name(given) else given
    named = [rule.values.get(value, value) if _is_name(value) else value for value in given]
    return [value for nth, value in enumerate(named) if value not in named[:nth]]


def _is_name(value: Any) -> bool:
    return isinstance(value, str)


def _with_storage(
    experiment: str, params: Mapping[str, Any], result: Translated
) -> Mapping[str, Any]:
    """Return `params` with `storage` in place of AgentFarm's two switches for it, if both are
    used.
    """
    if experiment != "system_profiler" or not {_IN_MEMORY, _PERSIST} & params.keys():
        return params
    switches: Sequence[Any] = (params.get(_IN_MEMORY, True), params.get(_PERSIST, False))
    if not all(isinstance(switch, bool) for switch in switches):
        return params
    in_memory, persists = switches
    storage = "disk" if not in_memory else "memory_persist" if persists else "memory"
    result.places["storage"] = ("params", _IN_MEMORY if _IN_MEMORY in params else _PERSIST)
    rest = {name: value for name, value in params.items() if name not in {_IN_MEMORY, _PERSIST}}
    return {**rest, "storage": storage}
