"""The columns of large executions, stored next to their rows: their names and format.

A column is its values in little-endian order, compressed with zlib if that makes it smaller. Cases
are identified by their index in the dataset, which an import does not change, as the difference
from the previous index.
"""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING, Any

import numpy as np

from agentbench_tui.model.errors import StoreError
from agentbench_tui.store.answer_columns import (
    OBSERVATION_COLUMNS,
    ColumnFacts,
    KeptColumn,
    column_content,
    columns_kept,
)
from agentbench_tui.store.datasets import dataset_of_execution, keys_of_dataset

if TYPE_CHECKING:
    import sqlite3

    from numpy.typing import NDArray

    from agentbench_tui.engine.task.observations import Observations

KEPT_FROM = 5_000
"""Number of observations from which on an execution's columns are stored: reading the rows of
fewer takes about 10 ms.
"""
_DAMAGED = "the kept columns of a run are damaged; `agentbench rescore RUN` makes them again"
_SMALLER = 0.9
"""Share of its size above which a column is not packed."""


_KINDS: dict[str, type] = {
    "case": np.int64, "repeat": np.int32, "answered": np.bool_, "right": np.bool_
}  # fmt: skip
"""Types of the columns that are no float64."""
COLUMNS: dict[str, type] = {name: _KINDS.get(name, np.float64) for name in OBSERVATION_COLUMNS}
"""Column of an execution's observations → type of its values."""


def packed_columns(
    connection: sqlite3.Connection, execution_key: int, seen: Observations
) -> list[KeptColumn]:
    """Return the columns to store for an execution; none for one with few observations."""
    if len(seen) < KEPT_FROM:
        return []
    keys = _keys(connection, execution_key)
    columns = []
    for name, kind in COLUMNS.items():
        values: NDArray[Any] = getattr(seen, name)
        known = len(values), len(values)
        if name == "case":
            values = np.diff(np.searchsorted(keys, values), prepend=np.int64(0))
        elif kind is np.float64:
            known = seen.known(name), seen.known_answered(name)
        facts = ColumnFacts(len(values), *known)
        columns.append(KeptColumn(name, facts, _packed(values.astype(_order(kind)))))
    return columns


class KeptColumns:
    """The stored columns of an execution, each read when it is first used."""

    def __init__(
        self, connection: sqlite3.Connection, execution_key: int, facts: dict[str, ColumnFacts]
    ) -> None:
        self._connection = connection
        self._key = execution_key
        self._facts = facts

    def __len__(self) -> int:
        return self._facts["case"].n

    def facts(self, name: str) -> ColumnFacts:
        return self._facts[name]

    def column(self, name: str) -> NDArray[Any]:
        kind = COLUMNS[name]
        if kind is np.float64 and not self._facts[name].known:
            return np.full(len(self), np.nan)
        content = column_content(self._connection, self._key, name)
        if content is None:
            raise StoreError("answers changed while they were read; call it again")
        values: NDArray[Any] = _unpacked(content, _order(kind), len(self))
        if name != "case":
            return np.asarray(values, kind)
        keys: NDArray[Any] = _keys(self._connection, self._key)[np.cumsum(values)]
        return keys


def kept_columns(connection: sqlite3.Connection, execution_key: int) -> KeptColumns | None:
    """Return the columns of an execution, or None if none are stored."""
    facts = columns_kept(connection, execution_key)
    if not facts.keys() >= COLUMNS.keys():
        return None
    return KeptColumns(connection, execution_key, facts)


def _keys(connection: sqlite3.Connection, execution_key: int) -> NDArray[np.int64]:
    """The keys of the dataset's cases, in their order."""
    keys = keys_of_dataset(connection, dataset_of_execution(connection, execution_key))
    if isinstance(keys, range):
        return np.arange(keys.start, keys.stop)
    return np.array(keys, np.int64)


def _order(kind: type) -> np.dtype[Any]:
    return np.dtype(kind).newbyteorder("<")


def _packed(values: NDArray[Any]) -> bytes:
    plain = values.tobytes()
    packed = zlib.compress(plain, 1)
    return packed if len(packed) <= _SMALLER * len(plain) else plain


def _unpacked(content: bytes, kind: np.dtype[Any], count: int) -> NDArray[Any]:
    size = count * kind.itemsize
    try:
        plain = content if len(content) == size else zlib.decompress(content)
    except zlib.error as error:
        raise StoreError(_DAMAGED) from error
    if len(plain) != size:
        raise StoreError(_DAMAGED)
    return np.frombuffer(plain, kind)
