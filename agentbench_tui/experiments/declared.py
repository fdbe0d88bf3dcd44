"""Better directions of returned numbers, as declared by the experiment's class and stored
by a run.

It is stored with the settings of the first iteration of each repeat, so that a run can be judged
where the code that it measured is not at hand.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Literal

import msgspec

from agentbench_tui.experiments.units import unit_of
from agentbench_tui.model.figures.metric import METRICS, Metric
from agentbench_tui.store.queries.experiments import declared_directions

if TYPE_CHECKING:
    import sqlite3

Better = Literal["lower", "higher"]


def declared_of(connection: sqlite3.Connection, execution_key: int) -> dict[str, Metric]:
    """Return the better direction of each name, as declared by the execution's experiment."""
    found = declared_directions(connection, execution_key)
    return {} if found is None else directed(msgspec.json.decode(found))


def directed(better: Mapping[str, Better]) -> dict[str, Metric]:
    """Return metrics for a comparison; names of agentbench metrics become `reported.NAME`."""
    found = {}
    for name, direction in better.items():
        stored = name if name.partition(".")[0] not in METRICS else f"reported.{name}"
        found[stored] = Metric(stored, unit_of(name), direction, "What an experiment returned.")
    return found
