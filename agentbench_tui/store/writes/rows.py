"""Rows that are queued one at a time: the fields of each row type are a table's columns, in
order.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence


class RowWriter(Protocol):
    """Accepts rows to write, each with its statement."""

    def add(self, statement: str, row: Sequence[Any]) -> None:
        """Queue one row; rows of one statement are written together."""


def insert_into(table: str, row: type[NamedTuple], *more: str) -> str:
    """Return the statement that inserts rows of a type; `more`: columns before its own."""
    columns = (*more, *row._fields)
    marks = ",".join("?" * len(columns))
    return f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({marks})"  # noqa: S608  # ours
