"""Fields of stored cases, to group results by and to look for dependence between cases."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import msgspec

from agentbench_tui.model.case_fields import LONGEST_VALUE, Fields, fields_of

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable


def case_fields(
    connection: sqlite3.Connection, dataset_keys: Iterable[int]
) -> dict[int, dict[int, Fields]]:
    """Dataset key → case key → the fields of the case (see `model.case_fields`).

    Every case of the datasets is there, also one without any field.
    """
    keys = sorted(set(dataset_keys))
    found: dict[int, dict[int, Fields]] = {key: {} for key in keys}
    cursor = connection.execute(
        "SELECT dataset_key, key, json_extract(body, '$.cluster'),"
        " json_extract(body, '$.metadata'), json_type(body, '$.expected'),"
        " CASE WHEN json_type(body, '$.expected') NOT IN ('object', 'array')"
        " THEN substr(json_extract(body, '$.expected'), 1, ?) END"
        " FROM cases WHERE dataset_key IN (SELECT value FROM json_each(?)) ORDER BY key",
        (LONGEST_VALUE + 1, json.dumps(keys)),
    )
    for dataset_key, key, cluster, metadata, kind, expected in cursor:
        decoded = {} if metadata is None else msgspec.json.decode(metadata)
        found[dataset_key][key] = fields_of(cluster, _scalar(kind, expected), decoded)
    return found


def _scalar(kind: str | None, text: Any) -> Any:
    """What SQLite gives as text or, for a truth value, as 0 or 1."""
    return kind == "true" if kind in {"true", "false"} else text
