"""Plot data of a comparison's sides: the five scores, and the distribution of values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from agentbench_tui.model.figures.dimension import DIMENSIONS
from agentbench_tui.verdicts.evidence.task_evidence import TaskEvidence
from agentbench_tui.verdicts.score_means import mean_of_all

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Collection, Sequence

    from agentbench_tui.analysis.sample import Floats
    from agentbench_tui.verdicts.evidence.evidence import Evidence
    from agentbench_tui.verdicts.evidence.place import Execution, Place
    from agentbench_tui.verdicts.selection.side import Side

Document = dict[str, Any]

SPREAD = ("e2e_ms", "ttft_ms", "tpot_ms", "output_tokens", "input_tokens", "waiting_ms")
"""Metrics of single answers and requests, in the order in which they are offered."""


def dimension_scores(
    side: Side, places: Collection[Place] | None = None
) -> dict[str, float | None]:
    """Return the mean of each of the five scores over the side's executions, 0 to 1, on these
    places or on all that it shares; None unless all have one. A file has none.
    """
    rows = [
        row
        for place, evidence in side.evidence.items()
        if places is None or place in places
        for row in evidence.executions
    ]
    return {name: mean_of_all([row[f"{name}_score"] for row in rows]) for name in DIMENSIONS}


def spreads(
    connection: sqlite3.Connection, sides: Sequence[Side], place: Place
) -> dict[str, list[Floats]]:
    """Return the values of every side's answers at one place by metric, float64[n] per side.

    Only metrics of which at least one side has values; a side that was not measured there, or has
    none of the metric, has an empty array. Answers of the grader's or the harness's failures do
    not count. ms, or numbers of tokens.
    """
    of_sides = [
        {} if place not in side.evidence else _values(connection, side.evidence[place])
        for side in sides
    ]
    nothing = np.empty(0)
    return {
        name: [values.get(name, nothing) for values in of_sides]
        for name in SPREAD
        if any(len(values.get(name, nothing)) for values in of_sides)
    }


def _values(connection: sqlite3.Connection, evidence: Evidence) -> dict[str, Floats]:
    if isinstance(evidence, TaskEvidence):
        columns = {name: evidence.values[name] for name in SPREAD if name in evidence.values}
        return {name: _known(column) for name, column in columns.items()}
    parts = [_of_load(connection, row) for row in evidence.executions]
    return {name: np.concatenate([part[name] for part in parts]) for name in SPREAD if parts}


def _of_load(connection: sqlite3.Connection, row: Execution) -> dict[str, Floats]:
    from agentbench_tui.load.results.aggregate import read_windows
    from agentbench_tui.load.results.columns import read_columns
    from agentbench_tui.load.results.requests import Requests

    windows = read_windows(connection, row["key"])
    requests = Requests(read_columns(connection, row["key"], repeats=[*windows]), windows)
    counted = requests.counted
    columns = {
        "e2e_ms": requests.e2e_ms,
        "ttft_ms": requests.ttft_ms,
        "tpot_ms": requests.tpot_ms,
        "output_tokens": requests.output_tokens,
    }
    nothing = np.empty(0)
    return {name: _known(columns[name][counted]) if name in columns else nothing for name in SPREAD}


def _known(column: Floats) -> Floats:
    found: Floats = column[np.isfinite(column) & (column >= 0)]
    return found
