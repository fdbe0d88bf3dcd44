"""Answers of both sides by columns, for locating a change of level within them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from agentbench_tui.store.queries.answers import measured_answers
from agentbench_tui.store.queries.cases import input_lengths

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Sequence

    from agentbench_tui.analysis.sample import Floats, Integers
    from agentbench_tui.verdicts.regression.finding import Finding
    from agentbench_tui.verdicts.regression.history import Point

Bools = NDArray[np.bool_]

_MOST_RUNS = 5
"""The runs of a side that are read: the newest, those next to the change."""
_COLUMNS = ("e2e_ms", "ttft_ms", "credit", "output_tokens", "cost_usd")
_COLUMN_OF = {
    "accuracy": "credit",
    "reliability": "answered",
    "e2e_ms": "e2e_ms",
    "ttft_ms": "ttft_ms",
    "output_tokens": "output_tokens",
    "cost_usd_per_task": "cost_usd",
}


@dataclass(frozen=True)
class Answers:
    """The counted observations of some runs; unknown values are NaN."""

    case: Integers
    repeat: Integers
    """Numbered over all runs."""
    is_first: Bools
    """Whether it is in the first pass over the cases in its repeat, else its first answer: a
    cold start.
    """
    values: dict[str, Floats]

    def of(self, metric: str) -> Floats | None:
        """Return the values behind a metric; None if it is not based on single answers."""
        name = _COLUMN_OF.get(metric.partition(".")[0])
        return None if name is None else self.values[name]

    def by_case(self, metric: str) -> dict[int, float]:
        """Return, by case, the median of its known values; for credit and answered the mean.

        Empty for what does not stand on single answers.
        """
        column = self.of(metric)
        if column is None or np.isnan(column).all():
            return {}
        known = ~np.isnan(column)
        order = np.argsort(self.case[known], kind="stable")
        cases, starts = np.unique(self.case[known][order], return_index=True)
        middle = np.mean if metric in {"accuracy", "reliability"} else np.median
        parts = np.split(column[known][order], starts[1:])
        return {case: float(middle(part)) for case, part in zip(cases.tolist(), parts, strict=True)}


class AnswerColumns:
    """Reads the answers of findings, every run once."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._read: dict[tuple[int, ...], Answers] = {}

    def sides(self, finding: Finding) -> tuple[Answers, Answers] | None:
        """Return the old and the new side; None for loads, which have no answers by case."""
        if not finding.old or not finding.new or not finding.new[-1].kind.judges_answers:
            return None
        return self._of(finding.old), self._of(finding.new)

    def input_lengths(self, cases: Sequence[int]) -> Floats:
        """Return the number of characters of these cases' inputs."""
        found = input_lengths(self._connection, cases)
        return np.array([found.get(case) or 0 for case in cases], np.float64)

    def _of(self, points: Sequence[Point]) -> Answers:
        keys = tuple(key for point in points[-_MOST_RUNS:] for key in point.keys)
        found = self._read.get(keys)
        if found is None:
            found = self._read[keys] = _read(self._connection, keys)
        return found


def _read(connection: sqlite3.Connection, keys: Sequence[int]) -> Answers:
    rows = measured_answers(connection, keys)
    table = np.array(rows, np.float64).reshape(len(rows), 6 + len(_COLUMNS))
    execution, case, repeat, iteration, sent, answered = table[:, :6].T
    _, number = np.unique(np.stack([execution, repeat]), axis=1, return_inverse=True)
    number = number.reshape(-1).astype(np.int64)
    values = dict(zip(_COLUMNS, table[:, 6:].T, strict=True))
    has_answer = answered == 1
    for name in ("e2e_ms", "ttft_ms"):
        values[name] = np.where(has_answer, values[name], np.nan)
    if not np.isnan(values["credit"]).all():
        values["credit"] = np.where(has_answer, np.nan_to_num(values["credit"]), 0.0)
    values["answered"] = answered
    return Answers(case.astype(np.int64), number, _first(number, iteration, sent), values)


def _first(repeat: Integers, iteration: Floats, sent: Floats) -> Bools:
    first = np.zeros(len(repeat), np.bool_)
    for number in np.unique(repeat):
        own = repeat == number
        passes = iteration[own]
        if passes.min() < passes.max():
            first[own] = passes == passes.min()
        else:
            first[own] = sent[own] == sent[own].min()
    return first
