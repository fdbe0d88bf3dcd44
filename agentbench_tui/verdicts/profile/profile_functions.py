"""Divides the time of an experiment's call by function, from cProfile."""

from __future__ import annotations

import pstats
from pathlib import Path
from typing import TypeAlias

from msgspec.structs import replace

from agentbench_tui.contracts.profile import (
    Bottleneck,
    OptimizationOpportunity,
    ProfiledFunction,
    ProfileDocument,
)
from agentbench_tui.model.text.plain_number import counted

_Function: TypeAlias = tuple[str, int, str]
"""File, line and name."""

SHOWN = 10
_LEAST_SHARE = 0.1
"""Share of the call from which on a function's own time is a bottleneck."""


def with_functions(document: ProfileDocument, cprofile: Path) -> ProfileDocument:
    """Return the profile with what a file of cProfile data adds to it."""
    functions = read_functions(cprofile)
    large = [one for one in functions if one.share >= _LEAST_SHARE]
    bottlenecks = document.bottlenecks
    if large:  # the whole call is not a place to optimize
        bottlenecks = tuple(
            one for one in bottlenecks if one.location != "answer, whole" or one.kind == "tail"
        )
    return replace(
        document,
        cprofile=str(cprofile),
        functions=tuple(functions),
        bottlenecks=(*bottlenecks, *map(_bottleneck, large)),
        optimization_opportunities=(
            *document.optimization_opportunities,
            *map(_opportunity, large),
        ),
    )


def read_functions(path: Path) -> list[ProfiledFunction]:
    """Return the functions with the most own time in a file of cProfile data."""
    entries: dict[_Function, tuple[int, int, float, float, object]]
    entries = pstats.Stats(str(path)).stats  # type: ignore[attr-defined]
    total = sum(own for _, _, own, _, _ in entries.values())
    rows = [
        ProfiledFunction(
            location=name if file == "~" else f"{name} ({Path(file).name}:{line})",
            calls=calls,
            own_ms=1e3 * own,
            share=own / total if total else 0.0,
            cumulative_ms=1e3 * cumulative,
        )
        for (file, line, name), (_, calls, own, cumulative, _) in entries.items()
    ]
    return sorted(rows, key=lambda row: -row.own_ms)[:SHOWN]


def _bottleneck(one: ProfiledFunction) -> Bottleneck:
    often = one.calls > 1
    return Bottleneck(
        kind="function",
        location=one.location,
        impact_ms=one.own_ms,
        cause=f"{100 * one.share:.0f}% of the profiled call is this function's own time,"
        f" in {counted(one.calls, 'call')}",
        optimization_suggestion="call it less often, or once for many"
        if often
        else "look into it, or do without it",
    )


def _opportunity(one: ProfiledFunction) -> OptimizationOpportunity:
    """Return the most that is saved without the own time of a function."""
    return OptimizationOpportunity(
        category="code",
        of="profiled call",
        potential_improvement=f"less time in {one.location}",
        estimated_impact=one.share,
        implementation_effort="medium",
    )
