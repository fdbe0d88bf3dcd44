"""Hashes of stored cases' id, content and cluster, which identify equal cases."""

from __future__ import annotations

import sys
from array import array
from hashlib import blake2b
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import sqlite3

KEPT_FROM = 5_000
"""Number of cases from which on a dataset's hashes are stored: computing fewer takes about 20
ms.
"""
_CHUNK = 2_000
_SIZE = 8


class CaseHashes(NamedTuple):
    """64-bit hashes of a dataset's cases, in their order; equal for equal content."""

    identity: bytes
    """Hash of id and body."""
    content: bytes
    """Hash of the body without the id: equal for one question under several ids."""
    cluster: bytes
    """Hash of the declared cluster; 0 without one."""


def case_hashes(connection: sqlite3.Connection, dataset_key: int) -> CaseHashes:
    """Return the hashes of a dataset, stored or computed."""
    kept = _kept(connection, dataset_key)
    return made_hashes(connection, dataset_key) if kept is None else kept


def made_hashes(connection: sqlite3.Connection, dataset_key: int) -> CaseHashes:
    """Compute the hashes of a dataset from its cases."""
    cursor = connection.execute(
        "SELECT case_id, body, json_remove(body, '$.id'), CASE WHEN instr(body, '\"cluster\"')"
        " THEN json_extract(body, '$.cluster') END FROM cases WHERE dataset_key=? ORDER BY key",
        (dataset_key,),
    )
    columns = array("Q"), array("Q"), array("Q")
    while rows := cursor.fetchmany(_CHUNK):
        for case_id, body, content, cluster in rows:
            columns[0].append(_hash(f"{case_id}\0{body}"))
            columns[1].append(_hash(content))
            columns[2].append(0 if cluster is None else _hash(str(cluster)))
    if sys.byteorder == "big":
        for column in columns:
            column.byteswap()
    return CaseHashes(*(column.tobytes() for column in columns))


def has_hashes(connection: sqlite3.Connection, dataset_key: int) -> bool:
    """Return whether the hashes of a dataset are stored, or not needed because it has few cases."""
    return _count(connection, dataset_key) < KEPT_FROM or _kept(connection, dataset_key) is not None


def keep_hashes(connection: sqlite3.Connection, dataset_key: int, hashes: CaseHashes) -> None:
    """Store the hashes of a dataset."""
    connection.execute(
        "INSERT OR REPLACE INTO case_hashes VALUES (?,?,?,?)", (dataset_key, *hashes)
    )


def _kept(connection: sqlite3.Connection, dataset_key: int) -> CaseHashes | None:
    count = _count(connection, dataset_key)
    if count < KEPT_FROM:
        return None
    row = connection.execute(
        "SELECT identity, content, cluster FROM case_hashes WHERE dataset_key=?", (dataset_key,)
    ).fetchone()
    if row is None or any(len(column) != count * _SIZE for column in row):
        return None
    return CaseHashes(*map(bytes, row))


def _count(connection: sqlite3.Connection, dataset_key: int) -> int:
    row = connection.execute("SELECT cases FROM datasets WHERE key=?", (dataset_key,)).fetchone()
    return 0 if row is None else int(row[0])


def _hash(text: str) -> int:
    digest = blake2b(text.encode("utf-8", "surrogatepass"), digest_size=_SIZE).digest()
    return int.from_bytes(digest, "little") or 1
