"""Inputs of stored cases, to look for those that share a template or a passage."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable

END = 4_000
"""Characters of the beginning and of the end of a long input that are given."""


def case_texts(connection: sqlite3.Connection, keys: Iterable[int]) -> dict[int, str]:
    """Case key → its input as text, JSON where it is not text.

    Of an input of more than 8,000 characters the first and the last 4,000.
    """
    rows = connection.execute(
        "SELECT key, CASE WHEN length(given) <= 2 * ? THEN given"
        " ELSE substr(given, 1, ?) || substr(given, -?) END"
        " FROM (SELECT c.key, json_extract(c.body, '$.input') AS given FROM json_each(?) wanted"
        "  CROSS JOIN cases c ON c.key=wanted.value)",
        (END, END, END, json.dumps([*keys])),
    )
    return {key: "" if given is None else str(given) for key, given in rows}
