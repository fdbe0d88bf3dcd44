"""Detects whether the measured code reads the parameters that a run varies."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import msgspec

from agentbench_tui.experiments.settings import equal_variants
from agentbench_tui.store.queries.experiments import effective_settings, ended_executions

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Container, Iterable, Sequence

    from agentbench_tui.model.suite import Benchmark


@dataclass(slots=True)
class ParameterUse:
    """Parameters of an execution, and those that were read in any of its repeats."""

    key: int
    variant: str
    told: dict[str, Any] | None = None
    """The settings that were read back; None if nothing was measured."""
    unread: frozenset[str] = frozenset()
    """Names of parameters with their requested values that were not read."""

    def add(self, metadata: dict[str, Any]) -> None:
        """Add a repeat's first iteration."""
        differs = metadata["otherwise"]
        unread = frozenset(
            name for name in metadata.get("unread", ()) if not differs.get(name, False)
        )
        self.unread = unread if self.told is None else self.unread & unread
        self.told = metadata["effective"]

    def settings(self) -> dict[str, Any]:
        """Return the settings that can make a difference."""
        return {name: value for name, value in (self.told or {}).items() if name not in self.unread}


def parameter_use_of(connection: sqlite3.Connection, keys: Iterable[int]) -> list[ParameterUse]:
    """Return the parameter use of these executions, in plan order."""
    found: dict[int, ParameterUse] = {}
    for key, _, variant, text in effective_settings(connection, keys):
        one = found.setdefault(key, ParameterUse(key, variant))
        if text is not None:
            one.add(msgspec.json.decode(text))
    return [*found.values()]


def last_of(
    connection: sqlite3.Connection, place: tuple[int, str, str], keys: Container[int]
) -> list[ParameterUse]:
    """Return every execution of a benchmark (run's key, suite's hash, id) if all but those with
    these keys have ended; else none.
    """
    ended = ended_executions(connection, *place)
    if not all(has_ended or key in keys for key, has_ended in ended.items()):
        return []
    return parameter_use_of(connection, ended)


def variants_without_effect(group: Sequence[ParameterUse]) -> dict[int, str]:
    """Return, by execution, why it was useless: its variants differ only in parameters that were
    never read.
    """
    measured = {one.variant: one for one in group if one.told is not None}
    alike: dict[str, str] = equal_variants(
        {name: one.settings() for name, one in measured.items()},
        lambda names: f"nothing reads {_listed(_differing([measured[one] for one in names]))}",
    )
    return {measured[name].key: why for name, why in alike.items()}


def unused_sweep(benchmark: Benchmark, all_points: Sequence[ParameterUse]) -> str | None:
    """Say why a sweep had no effect: no point has read a swept parameter."""
    swept = benchmark.sweep.parameters if benchmark.sweep is not None else {}
    names = _differing(all_points).intersection(_never_read(swept, all_points))
    if not names:
        return None
    return f"points of the sweep are effectively equal: nothing reads {_listed(names)}"


def unused_settings(benchmark: Benchmark, all_points: Sequence[ParameterUse]) -> str | None:
    """Describe parameters that are set for all and never read."""
    swept = benchmark.sweep.parameters if benchmark.sweep is not None else {}
    names = _never_read(benchmark.parameters.keys() - swept.keys(), all_points)
    return f"{benchmark.benchmark_id}: nothing reads {_listed(names)}" if names else None


def _never_read(names: Iterable[str], executions: Sequence[ParameterUse]) -> set[str]:
    measured = [one for one in executions if one.told is not None]
    return {name for name in names if measured and all(name in one.unread for one in measured)}


def _differing(executions: Sequence[ParameterUse]) -> set[str]:
    """Return unread parameters whose values differ."""
    measured = [one for one in executions if one.told is not None]
    return {
        name
        for name in set().union(*(one.unread for one in measured))
        if any((one.told or {}).get(name) != (measured[0].told or {}).get(name) for one in measured)
    }


def _listed(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in sorted(names))
