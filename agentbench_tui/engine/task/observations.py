"""The counted observations of one execution as columns, read from its rows or from kept columns."""

from __future__ import annotations

from collections import Counter
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from agentbench_tui.analysis.sample import count_distinct
from agentbench_tui.engine.task.observation_columns import COLUMNS, kept_columns
from agentbench_tui.model.answer import UNMEASURED
from agentbench_tui.store.answer_columns import (
    ColumnFacts,
    clusters_of_cases,
    figures_of,
    observation_rows,
)
from agentbench_tui.store.answer_counts import answer_counts, failure_counts

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable

    from numpy.typing import NDArray

    from agentbench_tui.store.answer_counts import AnswerCounts

    Floats = NDArray[np.float64]

_CHUNK = 2000
"""Rows in memory as Python objects at a time; the columns themselves cost 8 bytes a value."""


class _Columns(Protocol):
    """Source of an execution's columns."""

    def __len__(self) -> int: ...
    def column(self, name: str) -> NDArray[Any]: ...
    def facts(self, name: str) -> ColumnFacts: ...


class Observations:
    """The counted observations of one execution, by columns; NaN for unknown numbers.

    Failures of the grader or harness are not counted. Stored columns are read at each access, so
    that only the needed ones are in memory.
    """

    def __init__(self, connection: sqlite3.Connection, execution_key: int) -> None:
        self._connection = connection
        self._key = execution_key
        kept = kept_columns(connection, execution_key)
        self._columns: _Columns = kept or _Rows(connection, execution_key, self._counted)

    def _counted(self) -> int:
        return self.counts.observed - sum(self.kinds[kind] for kind in UNMEASURED)

    @cached_property
    def counts(self) -> AnswerCounts:
        """Return the counts of all observations, counted or not."""
        return answer_counts(self._connection, self._key)

    @cached_property
    def kinds(self) -> Counter[str]:
        """Failure kind → observations that ended with it, counted or not."""
        failed = self.counts.failed
        return Counter(failure_counts(self._connection, self._key) if failed else {})

    def __len__(self) -> int:
        return len(self._columns)

    @property
    def case(self) -> NDArray[np.int64]:
        """Key of the case."""
        return self._columns.column("case")

    @property
    def repeat(self) -> NDArray[np.int32]:
        return self._columns.column("repeat")

    @cached_property
    def answered(self) -> NDArray[np.bool_]:
        """Return whether there is an answer, right or wrong."""
        return self._columns.column("answered")

    @cached_property
    def right(self) -> NDArray[np.bool_]:
        return self._columns.column("right")

    @property
    def e2e_ms(self) -> Floats:
        return self._columns.column("e2e_ms")

    @property
    def waiting_ms(self) -> Floats:
        return self._columns.column("waiting_ms")

    @property
    def ttft_ms(self) -> Floats:
        return self._columns.column("ttft_ms")

    @property
    def input_tokens(self) -> Floats:
        return self._columns.column("input_tokens")

    @property
    def output_tokens(self) -> Floats:
        return self._columns.column("output_tokens")

    @property
    def cost_usd(self) -> Floats:
        return self._columns.column("cost_usd")

    @property
    def credit(self) -> Floats:
        return self._columns.column("credit")

    def figures(self, name: str, place: int | None = None) -> Floats:
        """Return the values of a metric that the benchmark defines; NaN for those without a value.

        `place` is the number within each pair, for a ratio of sums.
        """
        rows = figures_of(self._connection, self._key, name, place)
        return np.fromiter(rows, np.float64, len(self))

    def known(self, name: str) -> int:
        """Return the number of known values of a column."""
        return self._columns.facts(name).known

    def known_answered(self, name: str) -> int:
        """Return the number of known values of a column among answers that did not fail."""
        return self._columns.facts(name).known_answered

    @cached_property
    def unit(self) -> NDArray[np.int64]:
        """Return the independent unit: the case, or its declared cluster."""
        return _units(self._connection, self._key, self.case)

    @cached_property
    def _repeats_units(self) -> bool:
        return 1 < count_distinct(self.unit) < len(self.unit)

    def clusters(self, chosen: NDArray[np.bool_] | None = None) -> NDArray[np.int64] | None:
        """Return the unit of each (chosen) observation, for `estimate`; None if each unit has
        one observation, or there is only one unit: it then makes no difference.
        """
        if not self._repeats_units:
            return None
        return self.unit if chosen is None else self.unit[chosen]


class _Rows:
    """All columns, from a row for each answer."""

    def __init__(
        self, connection: sqlite3.Connection, execution_key: int, counted: Callable[[], int]
    ) -> None:
        chunks = observation_rows(connection, execution_key, _CHUNK)
        rows = next(chunks, [])
        # Few need not be counted first: of a thousand agents that would take as long as reading.
        self._count = len(rows) if len(rows) < _CHUNK else counted()
        self._table: dict[str, NDArray[Any]] = {
            name: np.empty(self._count, kind) for name, kind in COLUMNS.items()
        }
        done = 0
        while rows:
            for column, values in zip(self._table.values(), zip(*rows, strict=True), strict=True):
                column[done : done + len(rows)] = values
            done += len(rows)
            rows = next(chunks, [])

    def __len__(self) -> int:
        return self._count

    def column(self, name: str) -> NDArray[Any]:
        return self._table[name]

    def facts(self, name: str) -> ColumnFacts:
        unknown = np.isnan(self._table[name])
        known = self._count - int(np.count_nonzero(unknown))
        answered = int(np.count_nonzero(self._table["answered"] & ~unknown)) if known else 0
        return ColumnFacts(self._count, known, answered)


def _units(
    connection: sqlite3.Connection, execution_key: int, cases: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Cases by number, those of a cluster by one (negative) number together."""
    rows = clusters_of_cases(connection, execution_key)
    if not rows:
        return cases
    numbers: dict[str, int] = {}
    unit_of = {case: numbers.setdefault(name, -1 - len(numbers)) for case, name in rows}
    return np.fromiter((unit_of.get(case, case) for case in cases.tolist()), np.int64, len(cases))
