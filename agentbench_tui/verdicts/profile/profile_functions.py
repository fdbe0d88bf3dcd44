"""Divides the time of an experiment's call by function, from cProfile."""

from __future__ import annotations

import pstats
from pathlib import Path
from typing import Any

from agentbench_tui.model.text.plain_number import counted

Document = dict[str, Any]

SHOWN = 10
_LEAST_SHARE = 0.1
"""Share of the call from which on a function's own time is a bottleneck."""


def read_functions(path: Path) -> list[Document]:
    """Return the functions with the most own time in a file of cProfile: `location`, `calls`,
    `own_ms`, `share` of the profiled call, and `cumulative_ms`.
    """
    entries: dict[tuple[str, int, str], tuple[Any, ...]] = pstats.Stats(str(path)).stats  # type: ignore[attr-defined]
    total = sum(entry[2] for entry in entries.values())
    rows = [
        {
            "location": name if file == "~" else f"{name} ({Path(file).name}:{line})",
            "calls": entry[1],
            "own_ms": 1e3 * entry[2],
            "share": entry[2] / total if total else 0.0,
            "cumulative_ms": 1e3 * entry[3],
        }
        for (file, line, name), entry in entries.items()
    ]
    return sorted(rows, key=lambda row: -row["own_ms"])[:SHOWN]


def bottlenecks_of(functions: list[Document]) -> list[Document]:
    """Return the functions whose own time is at least a tenth of the call, in the form of phases'
    bottlenecks.
    """
    return [
        {
            "kind": "function",
            "location": one["location"],
            "impact_ms": one["own_ms"],
            "cause": f"{100 * one['share']:.0f} % of the profiled call is this function's own time,"
            f" in {counted(one['calls'], 'call')}",
            "optimization_suggestion": "call it less often, or once for many"
            if one["calls"] > 1
            else "look into it, or do without it",
        }
        for one in functions
        if one["share"] >= _LEAST_SHARE
    ]


def opportunities_of(functions: list[Document]) -> list[Document]:
    """Return the maximum saving if the own time of each bottleneck were removed."""
    return [
        {
            "category": "code",
            "of": "profiled call",
            "potential_improvement": f"less time in {one['location']}",
            "estimated_impact": one["share"],
            "implementation_effort": "medium",
        }
        for one in functions
        if one["share"] >= _LEAST_SHARE
    ]
