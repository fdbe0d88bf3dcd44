"""Copies a run with everything that belongs to it from one database to another."""

from __future__ import annotations

import sqlite3
from typing import TYPE_CHECKING, Any

from agentbench_tui.model.errors import StoreError
from agentbench_tui.store.database import SCHEMA_VERSION
from agentbench_tui.store.removal import (
    BY_EXECUTION,
    BY_RUN,
    OF_RUN_ID,
    rows_at_once,
    unfinished_hash,
)
from agentbench_tui.store.transaction import in_transaction, open_to_write

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from agentbench_tui.store.locking import WriteLock

IMPORTED_IN_PART = "imported in part only; import it again"
"""The error of a run whose import has not come to its end."""
_NOT_EXPORTED = frozenset({"live", "wishes"})
_Rows = list[list[Any]]


class _Copy:
    """Copies rows from one database to another, renumbering their keys."""

    def __init__(self, source: sqlite3.Connection, target: sqlite3.Connection, lock: WriteLock):
        self._source = source
        self._target = target
        self._lock = lock
        self.renumbered: dict[str, dict[int, int]] = {"run_key": {}, "execution_key": {}}
        self.renumbered |= {"dataset_key": {}, "case_key": {}}

    def shared(self, table: str, where: str, values: Sequence[Any]) -> None:
        """Copy rows that are the same in every database (by hash or natural key)."""
        self._insert(table, where, values, verb="INSERT OR IGNORE INTO")

    def keyed(
        self, table: str, where: str, values: Sequence[Any], name: str, **meanwhile: str
    ) -> None:
        """Copy rows with new values of `key`, recorded in `renumbered[name]`.

        `meanwhile` are temporary values of these columns until all is copied.
        """
        for columns, rows in self._read(table, where, values):
            place = columns.index("key")
            names = columns[:place] + columns[place + 1 :]
            statement = f"{_insert_sql('INSERT INTO', table, names)} RETURNING key"
            old = [row.pop(place) for row in rows]
            for column, stand_in in meanwhile.items():
                for row in rows:
                    row[names.index(column)] = stand_in

            def insert(
                target: sqlite3.Connection, statement: str = statement, rows: _Rows = rows
            ) -> list[int]:
                return [target.execute(statement, row).fetchone()[0] for row in rows]

            new = in_transaction(self._target, self._lock, insert)
            self.renumbered[name].update(zip(old, new, strict=True))

    def rows(self, table: str, where: str, values: Sequence[Any]) -> None:
        """Copy rows of the run with new values of `seq`."""
        self._insert(table, where, values, verb="INSERT INTO")

    def finish(self) -> None:
        """Mark the copied run and its executions with their final status."""
        changes = [
            (f"UPDATE {table} SET {', '.join(f'{name}=?' for name in names)} WHERE key=?", row, new)  # noqa: S608
            for table, names, numbered in (
                ("runs", ("status", "error"), "run_key"),
                ("benchmark_executions", ("status",), "execution_key"),
            )
            for old, new in self.renumbered[numbered].items()
            for row in self._source.execute(
                f"SELECT {', '.join(names)} FROM {table} WHERE key=?",  # noqa: S608
                (old,),
            ).fetchall()
        ]

        def update(target: sqlite3.Connection) -> None:
            for statement, row, new in changes:
                target.execute(statement, (*row, new))

        in_transaction(self._target, self._lock, update)

    def name_dataset(self, key: int, dataset_hash: str) -> bool:
        """Name a dataset whose cases are all copied; return False if another process was faster."""
        statement = "UPDATE OR IGNORE datasets SET hash=? WHERE key=?"
        values = (dataset_hash, self.renumbered["dataset_key"][key])
        changed = in_transaction(
            self._target, self._lock, lambda c: c.execute(statement, values).rowcount
        )
        return changed > 0

    def _insert(self, table: str, where: str, values: Sequence[Any], verb: str) -> None:
        for columns, rows in self._read(table, where, values):
            if "seq" in columns:
                place = columns.index("seq")
                columns.pop(place)
                for row in rows:
                    row.pop(place)
            statement = _insert_sql(verb, table, columns)
            in_transaction(
                self._target,
                self._lock,
                lambda c, statement=statement, rows=rows: c.executemany(statement, rows),  # type: ignore[misc]
            )

    def _read(
        self, table: str, where: str, values: Sequence[Any]
    ) -> Iterator[tuple[list[str], _Rows]]:
        """Return columns and some rows at a time: those of a large run would not fit into
        memory.
        """
        cursor = self._source.execute(f"SELECT * FROM {table} WHERE {where}", values)  # noqa: S608
        names = [column[0] for column in cursor.description]
        while rows := [list(row) for row in cursor.fetchmany(rows_at_once(table))]:
            for place, column in enumerate(names):
                renumbered = self.renumbered.get(column)
                if renumbered is not None:
                    for row in rows:
                        if row[place] is not None:
                            row[place] = renumbered[row[place]]
            yield list(names), rows


def _insert_sql(verb: str, table: str, columns: Sequence[str]) -> str:
    return f"{verb} {table} ({', '.join(columns)}) VALUES ({', '.join('?' * len(columns))})"


def copy_run(source: sqlite3.Connection, run_key: int, target_path: Path, **changes: str) -> None:
    """Copy a run with everything that belongs to it; `changes` are columns of its row."""
    executions = "SELECT {} FROM benchmark_executions WHERE run_key=?"
    run = (run_key,)
    target, lock = open_to_write(target_path)
    copy = _Copy(source, target, lock)
    try:
        suites = f"IN ({executions.format('suite_hash')})"
        agents = f"IN ({executions.format('agent_id')})"
        copy.shared("benchmark_suites", f"hash {suites}", run)
        copy.shared("benchmarks", f"suite_hash {suites}", run)
        copy.shared("agents", f"id {agents}", run)
        copy.shared("agent_versions", f"agent_id {agents}", run)
        copy.shared("environments", "hash IN (SELECT environment_hash FROM runs WHERE key=?)", run)
        _copy_datasets(copy, source, target, run_key)
        copy.keyed(
            "runs",
            "key=?",
            run,
            "run_key",
            status="running",
            error=IMPORTED_IN_PART,
            **changes,
        )
        copy.keyed("benchmark_executions", "run_key=?", run, "execution_key", status="running")
        for table in BY_EXECUTION:
            copy.rows(table, f"execution_key IN ({executions.format('key')})", run)
        copy.rows("failures", "run_key=? AND execution_key IS NULL", run)
        for table in BY_RUN:
            if table not in _NOT_EXPORTED:
                copy.rows(table, "run_key=?", run)
        for table, where in OF_RUN_ID.items():
            copy.shared(table, where, run)
        copy.finish()
    finally:
        target.close()
        lock.close()


def _copy_datasets(
    copy: _Copy, source: sqlite3.Connection, target: sqlite3.Connection, run_key: int
) -> None:
    rows = source.execute(
        "SELECT DISTINCT d.key, d.hash, r.id FROM datasets d"
        " JOIN benchmark_executions e ON e.dataset_key=d.key JOIN runs r ON r.key=e.run_key"
        " WHERE r.key=?",
        (run_key,),
    ).fetchall()
    find = "SELECT key FROM datasets WHERE hash=?"
    for key, dataset_hash, run_id in rows:
        known = target.execute(find, (dataset_hash,)).fetchone()
        if known is None:
            name = unfinished_hash(run_id, dataset_hash)
            copy.keyed("datasets", "key=?", (key,), "dataset_key", hash=name)
            copy.keyed("cases", "dataset_key=?", (key,), "case_key")
            if copy.name_dataset(key, dataset_hash):
                copy.rows("case_hashes", "dataset_key=?", (key,))
                continue
            known = target.execute(find, (dataset_hash,)).fetchone()
        copy.renumbered["dataset_key"][key] = known[0]
        copy.renumbered["case_key"] |= _matching_cases(source, key, target, known[0])


def _matching_cases(
    source: sqlite3.Connection, source_key: int, target: sqlite3.Connection, target_key: int
) -> dict[int, int]:
    statement = "SELECT case_id, key FROM cases WHERE dataset_key=?"
    there = dict(map(tuple, target.execute(statement, (target_key,)).fetchall()))
    here = source.execute(statement, (source_key,)).fetchall()
    if {case_id for case_id, _ in here} - there.keys():
        raise StoreError("a dataset of the same hash is there with other cases; it is damaged")
    return {key: there[case_id] for case_id, key in here}


assert SCHEMA_VERSION == 12, "teach copy_run the new tables"
