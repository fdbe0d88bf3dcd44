"""Numbers of the answers of a large execution, by column: read at once instead of row by row.

Triggers remove the columns when an answer of the execution is added, changed or removed, so that
they never differ from the rows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable


class ColumnFacts(NamedTuple):
    """What is known of a column without its values."""

    n: int
    known: int
    """Values that are known."""
    known_answered: int
    """Of these, those of answers that did not fail."""


class KeptColumn(NamedTuple):
    """One column with its values."""

    name: str
    facts: ColumnFacts
    content: bytes


def keep_columns(
    connection: sqlite3.Connection, execution_key: int, columns: Iterable[KeptColumn]
) -> None:
    """Keep the columns of an execution in place of those that are there."""
    connection.execute("DELETE FROM answer_columns WHERE execution_key=?", (execution_key,))
    connection.executemany(
        "INSERT INTO answer_columns VALUES (?,?,?,?,?,?)",
        [(execution_key, one.name, *one.facts, one.content) for one in columns],
    )


def columns_kept(connection: sqlite3.Connection, execution_key: int) -> dict[str, ColumnFacts]:
    """Name → what is known of each column that is kept; empty where none is."""
    rows = connection.execute(
        "SELECT name, n, known, known_answered FROM answer_columns WHERE execution_key=?",
        (execution_key,),
    )
    return {name: ColumnFacts(*facts) for name, *facts in map(tuple, rows.fetchall())}


def column_content(connection: sqlite3.Connection, execution_key: int, name: str) -> bytes | None:
    """The values of a column as they were kept; None where it is gone."""
    row = connection.execute(
        "SELECT content FROM answer_columns WHERE execution_key=? AND name=?",
        (execution_key, name),
    ).fetchone()
    return None if row is None else bytes(row[0])
