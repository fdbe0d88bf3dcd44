"""Place of a measurement: a benchmark of a suite, at one point of its sweep."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

Execution = dict[str, Any]
"""A row of `benchmark_executions`, `parameters` decoded."""


class Place(NamedTuple):
    """A benchmark of a suite at one point of a sweep, with its own cases or repeats."""

    suite_id: str
    benchmark_id: str
    parameters: str = "{}"
    """Parameters of the point: JSON with sorted keys, as in `benchmark_executions`."""

    @property
    def point(self) -> dict[str, Any]:
        """The parameters by name."""
        found: dict[str, Any] = json.loads(self.parameters)
        return found

    @property
    def words(self) -> str:
        """Return its name when the suite is clear from the context."""
        point = point_words(self.point)
        return f"{self.benchmark_id} ({point})" if point else self.benchmark_id

    def __str__(self) -> str:
        point = point_words(self.point)
        return f"{self.suite_id}/{self.benchmark_id}" + (f" at {point}" if point else "")


def point_words(parameters: Mapping[str, Any]) -> str:
    """Format a point of a sweep: `rate=5, concurrency=8`; empty if nothing was swept."""
    return ", ".join(f"{name}={value}" for name, value in parameters.items())


def place_of(row: Execution, but: Collection[str] = ()) -> Place:
    """Return the place of an execution, ignoring the values of some parameters."""
    if not row["parameters"]:
        return Place(row["suite_id"], row["benchmark_id"], "{}")
    point = {name: value for name, value in row["parameters"].items() if name not in but}
    parameters = msgspec.json.encode(point, order="sorted").decode()
    return Place(row["suite_id"], row["benchmark_id"], parameters)


def by_place(rows: Iterable[Execution], but: Collection[str] = ()) -> dict[Place, list[Execution]]:
    """Return the executions of each place, in order."""
    found: dict[Place, list[Execution]] = {}
    for row in rows:
        found.setdefault(place_of(row, but), []).append(row)
    return found


def latest_of_places(rows: Iterable[Execution]) -> list[Execution]:
    """Return the executions of the latest run at each place, from rows ordered oldest first;
    several if seeds were swept.
    """
    places = [(place_of(row), row) for row in rows]
    newest = {place: row["run_key"] for place, row in places}
    return [row for place, row in places if newest[place] == row["run_key"]]
