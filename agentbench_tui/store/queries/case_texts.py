"""Inputs of stored cases, to look for those that share a template or a passage."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import sqlite3

END = 4_000
"""Characters of the beginning and of the end of a long input that are given."""


def case_texts(connection: sqlite3.Connection, dataset_key: int) -> dict[int, str]:
    """Case key → its input as text, JSON where it is not text.

    Of an input of more than 8,000 characters the first and the last 4,000.
    """
    rows = connection.execute(
        "SELECT key, CASE WHEN length(given) <= 2 * ? THEN given"
        " ELSE substr(given, 1, ?) || substr(given, -?) END"
        " FROM (SELECT key, json_extract(body, '$.input') AS given FROM cases WHERE dataset_key=?)",
        (END, END, END, dataset_key),
    )
    return {key: "" if given is None else str(given) for key, given in rows}
