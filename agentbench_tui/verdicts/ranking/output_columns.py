"""Columns of observations that few questions need: calls, retries, and grades of the output."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from agentbench_tui.store.queries.answers import OUTPUT_COLUMNS, output_columns
from agentbench_tui.verdicts.evidence.task_evidence import TaskEvidence
from agentbench_tui.verdicts.ranking.scorecard import Scorecard

if TYPE_CHECKING:
    import sqlite3

    from agentbench_tui.verdicts.ranking.rankable import Rankable


def with_column_of(connection: sqlite3.Connection, card: Scorecard, by: Rankable) -> Scorecard:
    """Return the card with the column that the metric needs, if it is one of `OUTPUT_COLUMNS`."""
    if by.name not in OUTPUT_COLUMNS:
        return card
    evidence = {
        place: _with(connection, one, by.name) if isinstance(one, TaskEvidence) else one
        for place, one in card.evidence.items()
    }
    return Scorecard(card.contender, evidence)


def _with(connection: sqlite3.Connection, one: TaskEvidence, name: str) -> TaskEvidence:
    at = OUTPUT_COLUMNS.index(name)
    rows = [row for of in one.executions for row in output_columns(connection, of["key"])]
    column = np.array([row[at] for row in rows], np.float64)
    if np.isnan(column).all():
        return one
    return replace(one, values={**one.values, name: column})
