"""Columns of numbers of a large execution's answers, read at once instead of row by row.

Triggers remove the columns when an answer of the execution is added, changed or removed, so that
they never differ from the rows.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable, Iterator


_EXPRESSIONS = {
    "case": "case_key",
    "repeat": "repeat",
    "answered": "failure_kind IS NULL",
    "right": "correct IS 1",
    **{
        name: name
        for name in (
            "e2e_ms", "waiting_ms", "ttft_ms", "input_tokens", "output_tokens", "cost_usd",
            "credit",
        )
    },
}  # fmt: skip
OBSERVATION_COLUMNS = tuple(_EXPRESSIONS)
"""Columns that `observation_rows` returns for each observation, in that order."""


class ColumnFacts(NamedTuple):
    """Facts about a column without its values."""

    n: int
    known: int
    """Values that are known."""
    known_answered: int
    """Number of known values among answers that did not fail."""


class KeptColumn(NamedTuple):
    """One column with its values."""

    name: str
    facts: ColumnFacts
    content: bytes


def keep_columns(
    connection: sqlite3.Connection, execution_key: int, columns: Iterable[KeptColumn]
) -> None:
    """Store the columns of an execution in place of existing ones."""
    connection.execute("DELETE FROM answer_columns WHERE execution_key=?", (execution_key,))
    connection.executemany(
        "INSERT INTO answer_columns VALUES (?,?,?,?,?,?)",
        [(execution_key, one.name, *one.facts, one.content) for one in columns],
    )


def columns_kept(connection: sqlite3.Connection, execution_key: int) -> dict[str, ColumnFacts]:
    """Return the facts of each stored column by name; empty if there are none."""
    rows = connection.execute(
        "SELECT name, n, known, known_answered FROM answer_columns WHERE execution_key=?",
        (execution_key,),
    )
    return {name: ColumnFacts(*facts) for name, *facts in map(tuple, rows.fetchall())}


def column_content(connection: sqlite3.Connection, execution_key: int, name: str) -> bytes | None:
    """Return the stored values of a column; None if it is gone."""
    row = connection.execute(
        "SELECT content FROM answer_columns WHERE execution_key=? AND name=?",
        (execution_key, name),
    ).fetchone()
    return None if row is None else bytes(row[0])


def observation_rows(
    connection: sqlite3.Connection, execution_key: int, chunk: int
) -> Iterator[list[tuple[Any, ...]]]:
    """Yield `OBSERVATION_COLUMNS` of the counted observations of an execution in chunks, in commit
    order. Failures of the grader and the harness do not count.
    """
    cursor = connection.execute(
        f"SELECT {', '.join(_EXPRESSIONS.values())} FROM answers"  # noqa: S608  # ours
        " WHERE execution_key=? AND (failure_kind IS NULL"
        " OR failure_kind NOT IN ('grader', 'harness')) ORDER BY seq",
        (execution_key,),
    )
    while rows := cursor.fetchmany(chunk):
        yield rows


def figures_of(
    connection: sqlite3.Connection, execution_key: int, name: str, place: int | None = None
) -> Iterator[float]:
    """Yield a figure of each counted observation of an execution, in the order of
    `observation_rows`; NaN for one that an observation does not have as a number.

    With `place`, the figure is a list, and the number at this index is taken.
    """
    path = f'$."{name}"' if place is None else f'$."{name}"[{place}]'
    cursor = connection.execute(
        "SELECT CASE WHEN json_type(figures, ?1) IN ('integer', 'real')"
        " THEN json_extract(figures, ?1) END FROM answers WHERE execution_key=?2"
        " AND (failure_kind IS NULL OR failure_kind NOT IN ('grader', 'harness')) ORDER BY seq",
        (path, execution_key),
    )
    for (value,) in cursor:
        yield math.nan if value is None else value


_FIGURES_LOOKED_AT = 100


class FigureNames(NamedTuple):
    """The figures of an execution, by their first 100 answers with any."""

    numbers: frozenset[str]
    pairs: frozenset[str]
    """Those that are pairs of numbers, for a ratio of sums."""

    @classmethod
    def none(cls) -> FigureNames:
        return cls(frozenset(), frozenset())


def figure_names(connection: sqlite3.Connection, execution_key: int) -> FigureNames:
    """Return the names of the figures that the answers of an execution have."""
    rows = connection.execute(
        "SELECT DISTINCT f.key, f.type='array' FROM (SELECT figures FROM answers"
        " WHERE execution_key=? AND figures IS NOT NULL ORDER BY seq LIMIT ?) a,"
        " json_each(a.figures) f"
        " WHERE f.type IN ('integer', 'real', 'array')",
        (execution_key, _FIGURES_LOOKED_AT),
    )
    found = [tuple(row) for row in rows.fetchall()]
    return FigureNames(
        frozenset(name for name, is_pair in found if not is_pair),
        frozenset(name for name, is_pair in found if is_pair),
    )


def clusters_of_cases(connection: sqlite3.Connection, execution_key: int) -> list[tuple[int, str]]:
    """Return (case key, cluster) of those cases of an execution that have a cluster."""
    rows = connection.execute(
        "SELECT c.key, json_extract(c.body, '$.cluster') FROM benchmark_executions e"
        " JOIN cases c ON c.dataset_key=e.dataset_key WHERE e.key=?"
        " AND instr(c.body, '\"cluster\"') AND json_extract(c.body, '$.cluster') IS NOT NULL",
        (execution_key,),
    )
    return [(row[0], row[1]) for row in rows.fetchall()]
