"""Stored cases: fields for grouping results, and inputs for detecting dependence between cases."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import msgspec

from agentbench_tui.model.case_fields import LONGEST_VALUE, Fields, fields_of

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable

END = 4_000
"""Characters of the beginning and of the end of a long input that are given."""


def case_fields(
    connection: sqlite3.Connection, dataset_keys: Iterable[int]
) -> dict[int, dict[int, Fields]]:
    """Return the fields of cases (see `model.case_fields`), by dataset key and case key.

    Every case of the datasets is there, also one without any field.
    """
    keys = sorted(set(dataset_keys))
    found: dict[int, dict[int, Fields]] = {key: {} for key in keys}
    cursor = connection.execute(
        f"SELECT c.dataset_key, c.key, {_FIELDS} FROM cases c"  # noqa: S608  # ours
        " WHERE c.dataset_key IN (SELECT value FROM json_each(?)) ORDER BY c.key",
        (LONGEST_VALUE + 1, json.dumps(keys)),
    )
    for dataset_key, key, *row in cursor:
        found[dataset_key][key] = _fields(*row)
    return found


def fields_of_cases(connection: sqlite3.Connection, keys: Iterable[int]) -> dict[int, Fields]:
    """Return the fields of cases by case key."""
    cursor = connection.execute(
        f"SELECT c.key, {_FIELDS} FROM json_each(?) wanted"  # noqa: S608  # ours
        " CROSS JOIN cases c ON c.key=wanted.value",
        (LONGEST_VALUE + 1, json.dumps([*keys])),
    )
    return {key: _fields(*row) for key, *row in cursor}


_FIELDS = (
    "json_extract(c.body, '$.cluster'), json_extract(c.body, '$.metadata'),"
    " json_type(c.body, '$.expected'),"
    " CASE WHEN json_type(c.body, '$.expected') NOT IN ('object', 'array')"
    " THEN substr(json_extract(c.body, '$.expected'), 1, ?) END"
)


def _fields(cluster: Any, metadata: str | None, kind: str | None, expected: Any) -> Fields:
    decoded = {} if metadata is None else msgspec.json.decode(metadata)
    return fields_of(cluster, _scalar(kind, expected), decoded)


def _scalar(kind: str | None, text: Any) -> Any:
    """Convert SQLite's text, or its 0 or 1 for a truth value."""
    return kind == "true" if kind in {"true", "false"} else text


def case_texts(connection: sqlite3.Connection, keys: Iterable[int]) -> dict[int, str]:
    """Return case key → its input as text, JSON if it is not text.

    An input of more than 8,000 characters is cut to its first and last 4,000.
    """
    rows = connection.execute(
        "SELECT key, CASE WHEN length(given) <= 2 * ? THEN given"
        " ELSE substr(given, 1, ?) || substr(given, -?) END"
        " FROM (SELECT c.key, json_extract(c.body, '$.input') AS given FROM json_each(?) wanted"
        "  CROSS JOIN cases c ON c.key=wanted.value)",
        (END, END, END, json.dumps([*keys])),
    )
    return {key: "" if given is None else str(given) for key, given in rows}


def input_lengths(connection: sqlite3.Connection, keys: Iterable[int]) -> dict[int, int | None]:
    """Return the number of characters of each case's input, as text or JSON."""
    rows = connection.execute(
        "SELECT key, length(json_extract(body, '$.input')) FROM cases"
        " WHERE key IN (SELECT value FROM json_each(?))",
        (json.dumps([*keys]),),
    )
    return dict(map(tuple, rows.fetchall()))
