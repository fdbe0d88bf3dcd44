"""Runs out of and into the store: delete, export to a file of their own, import from one."""

from __future__ import annotations

import hashlib
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agentbench_tui.model.errors import StoreError, UsageError
from agentbench_tui.model.identity import new_id
from agentbench_tui.store.database import SCHEMA_VERSION, connect_to_read, connect_to_write
from agentbench_tui.store.locking import Lease, WriteLock, is_leased
from agentbench_tui.store.writer import in_transaction

if TYPE_CHECKING:
    from collections.abc import Sequence

CHUNK = 2000
"""Rows of one transaction: about 20 ms, so that nobody waits for an import or a delete."""

_BY_EXECUTION = (
    "metrics", "gauge_summaries", "iterations", "messages", "attempts", "failures", "answers",
)  # fmt: skip
_BY_RUN = ("gauges", "prices", "live", "ticks", "wishes")
_EXECUTIONS = "SELECT 1 FROM benchmark_executions"
_UNUSED = {
    "datasets": f"hash NOT LIKE 'unfinished:%' AND NOT EXISTS ({_EXECUTIONS}"
    " WHERE dataset_key=datasets.key)",
    "benchmarks": f"NOT EXISTS ({_EXECUTIONS} e WHERE e.suite_hash=benchmarks.suite_hash)",
    "benchmark_suites": f"NOT EXISTS ({_EXECUTIONS} e WHERE e.suite_hash=benchmark_suites.hash)",
    "environments": "NOT EXISTS (SELECT 1 FROM runs WHERE environment_hash=environments.hash)",
}
"""Table → which of its rows nothing refers to any more."""
_NOT_EXPORTED = frozenset({"live", "wishes"})


def delete_run(database: Path, run_id: str) -> None:
    """Remove a run and everything that only it needs, in small transactions.

    Raises UsageError while the run goes on.
    """
    lease = Lease.take(database, run_id)
    if lease is None:
        raise UsageError(f"run {run_id} goes on; stop it before you delete it")
    connection = connect_to_write(database)
    lock = WriteLock(database)
    try:
        key = connection.execute("SELECT key FROM runs WHERE id=?", (run_id,)).fetchone()[0]
        for table in (*_BY_EXECUTION, *_BY_RUN):
            _delete_rows(connection, lock, table, key)
        _changed(connection, lock, "DELETE FROM runs WHERE key=?", (key,))
        _delete_unused(connection, lock)
    finally:
        connection.close()
        lock.close()
        lease.release()


def _delete_rows(connection: sqlite3.Connection, lock: WriteLock, table: str, run_key: int) -> None:
    columns = [row[1] for row in connection.execute(f"PRAGMA table_info({table})")]
    place = (
        "run_key=?"
        if "run_key" in columns
        else "execution_key IN (SELECT key FROM benchmark_executions WHERE run_key=?)"
    )
    keys = ", ".join(_primary_key(connection, table))
    statement = (
        f"DELETE FROM {table} WHERE ({keys}) IN"  # noqa: S608  # our own table names
        f" (SELECT {keys} FROM {table} WHERE {place} LIMIT {CHUNK})"
    )
    while _changed(connection, lock, statement, (run_key,)):
        pass


def _primary_key(connection: sqlite3.Connection, table: str) -> list[str]:
    rows = connection.execute(f"PRAGMA table_info({table})").fetchall()
    return [row[1] for row in sorted(rows, key=lambda row: row[5]) if row[5]]


def _delete_unused(connection: sqlite3.Connection, lock: WriteLock) -> None:
    """Datasets, suites and environments that no run refers to any more."""
    unused = connection.execute(f"SELECT key FROM datasets WHERE {_UNUSED['datasets']}")  # noqa: S608
    for (key,) in unused.fetchall():
        some_cases = f"SELECT key FROM cases WHERE dataset_key=? LIMIT {CHUNK}"  # noqa: S608
        statement = f"DELETE FROM cases WHERE key IN ({some_cases})"  # noqa: S608
        while _changed(connection, lock, statement, (key,)):
            pass
    for table, condition in _UNUSED.items():
        _changed(connection, lock, f"DELETE FROM {table} WHERE {condition}", ())  # noqa: S608


def _changed(
    connection: sqlite3.Connection, lock: WriteLock, statement: str, values: tuple[Any, ...]
) -> int:
    """Carry out one statement in a transaction; how many rows it changed."""
    return in_transaction(connection, lock, lambda c: c.execute(statement, values).rowcount)


def export_run(database: Path, run_id: str, target: Path, *, force: bool = False) -> str:
    """Write one run to an SQLite file of its own; the sha256 of the file.

    `TARGET.sha256` is written beside it, in the form that `sha256sum -c` reads. Raises UsageError
    while the run goes on.
    """
    if is_leased(database, run_id):
        raise UsageError(f"run {run_id} goes on; export it when it has ended")
    if target.exists() and not force:
        raise UsageError(f"{target}: exists; give --force to replace it")
    partial = target.with_name(f".{target.name}.{new_id()}")
    try:
        with closing(connect_to_read(database)) as source:
            key = source.execute("SELECT key FROM runs WHERE id=?", (run_id,)).fetchone()[0]
            _copy_run(source, key, partial)
        _make_plain_file(partial)
        digest = _sha256(partial)
        partial.replace(target)
    except sqlite3.DatabaseError as error:
        raise StoreError(f"{target}: cannot export: {error}") from error
    finally:
        for suffix in ("", "-wal", "-shm", ".lock"):
            Path(f"{partial}{suffix}").unlink(missing_ok=True)
    target.with_name(f"{target.name}.sha256").write_text(f"{digest}  {target.name}\n")
    return digest


def _make_plain_file(path: Path) -> None:
    """One file without a write-ahead log, so that its hash says everything."""
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        connection.execute("PRAGMA journal_mode=DELETE")
        # Its process is gone, or the run would not be exported.
        connection.execute("UPDATE runs SET status='interrupted' WHERE status='running'")
        connection.execute("VACUUM")


def _sha256(path: Path) -> str:
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def import_runs(database: Path, source_path: Path) -> list[str]:
    """Copy every run of an exported file into the database; the ids of those that were new.

    A `.sha256` file beside it is checked. Runs that are already there are left alone.
    """
    check = source_path.with_name(f"{source_path.name}.sha256")
    if check.is_file():
        expected = check.read_text().split()[:1]
        if expected != [_sha256(source_path)]:
            raise StoreError(f"{source_path}: its sha256 is not the one in {check.name}")
    new: list[str] = []
    with closing(connect_to_read(source_path)) as source:
        runs = source.execute("SELECT key, id, status FROM runs ORDER BY key").fetchall()
        for key, run_id, status in runs:
            if status == "running":
                raise UsageError(f"{source_path}: run {run_id} has not ended; export it first")
            if database.exists():
                with closing(connect_to_read(database)) as target:
                    known = target.execute("SELECT 1 FROM runs WHERE id=?", (run_id,)).fetchone()
                if known:
                    continue
            _copy_run(source, key, database)
            new.append(run_id)
    return new


class _Copy:
    """Copies rows from one database to another, renumbering their keys."""

    def __init__(self, source: sqlite3.Connection, target: sqlite3.Connection, lock: WriteLock):
        self._source = source
        self._target = target
        self._lock = lock
        self.renumbered: dict[str, dict[int, int]] = {"run_key": {}, "execution_key": {}}
        self.renumbered |= {"dataset_key": {}, "case_key": {}}

    def shared(self, table: str, where: str, values: Sequence[Any]) -> None:
        """Rows that are the same in every database (by hash or natural key)."""
        self._insert(table, where, values, verb="INSERT OR IGNORE INTO")

    def keyed(self, table: str, where: str, values: Sequence[Any], name: str) -> None:
        """Rows whose `key` is numbered anew; the new numbers go to `renumbered[name]`."""
        columns, rows = self._read(table, where, values)
        place = columns.index("key")
        for start in range(0, len(rows), CHUNK):
            chunk = rows[start : start + CHUNK]

            def insert(target: sqlite3.Connection, chunk: list[list[Any]] = chunk) -> None:
                for row in chunk:
                    fresh = row[:place] + row[place + 1 :]
                    names = columns[:place] + columns[place + 1 :]
                    new = target.execute(_insert_sql("INSERT INTO", table, names), fresh).lastrowid
                    assert new is not None
                    self.renumbered[name][row[place]] = new

            in_transaction(self._target, self._lock, insert)

    def rows(self, table: str, where: str, values: Sequence[Any]) -> None:
        """Rows that belong to the run, `seq` numbered anew."""
        self._insert(table, where, values, verb="INSERT INTO")

    def _insert(self, table: str, where: str, values: Sequence[Any], verb: str) -> None:
        columns, rows = self._read(table, where, values)
        if "seq" in columns:
            place = columns.index("seq")
            columns.pop(place)
            for row in rows:
                row.pop(place)
        statement = _insert_sql(verb, table, columns)
        for start in range(0, len(rows), CHUNK):
            chunk = rows[start : start + CHUNK]
            in_transaction(
                self._target,
                self._lock,
                lambda c, chunk=chunk: c.executemany(statement, chunk),  # type: ignore[misc]
            )

    def _read(
        self, table: str, where: str, values: Sequence[Any]
    ) -> tuple[list[str], list[list[Any]]]:
        cursor = self._source.execute(f"SELECT * FROM {table} WHERE {where}", values)  # noqa: S608
        columns = [column[0] for column in cursor.description]
        rows = [list(row) for row in cursor.fetchall()]
        for place, column in enumerate(columns):
            renumbered = self.renumbered.get(column)
            if renumbered is not None:
                for row in rows:
                    if row[place] is not None:
                        row[place] = renumbered[row[place]]
        return columns, rows


def _insert_sql(verb: str, table: str, columns: Sequence[str]) -> str:
    return f"{verb} {table} ({', '.join(columns)}) VALUES ({', '.join('?' * len(columns))})"


def _copy_run(source: sqlite3.Connection, run_key: int, target_path: Path) -> None:
    executions = "SELECT {} FROM benchmark_executions WHERE run_key=?"
    run = (run_key,)
    target = connect_to_write(target_path)
    lock = WriteLock(target_path)
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
        copy.keyed("runs", "key=?", run, "run_key")
        copy.keyed("benchmark_executions", "run_key=?", run, "execution_key")
        for table in _BY_EXECUTION:
            copy.rows(table, f"execution_key IN ({executions.format('key')})", run)
        copy.rows("failures", "run_key=? AND execution_key IS NULL", run)
        for table in _BY_RUN:
            if table not in _NOT_EXPORTED:
                copy.rows(table, "run_key=?", run)
    finally:
        target.close()
        lock.close()


def _copy_datasets(
    copy: _Copy, source: sqlite3.Connection, target: sqlite3.Connection, run_key: int
) -> None:
    rows = source.execute(
        "SELECT DISTINCT d.key, d.hash FROM datasets d"
        " JOIN benchmark_executions e ON e.dataset_key=d.key WHERE e.run_key=?",
        (run_key,),
    ).fetchall()
    for key, dataset_hash in rows:
        known = target.execute("SELECT key FROM datasets WHERE hash=?", (dataset_hash,)).fetchone()
        if known is None:
            copy.keyed("datasets", "key=?", (key,), "dataset_key")
            copy.keyed("cases", "dataset_key=?", (key,), "case_key")
        else:
            copy.renumbered["dataset_key"][key] = known[0]
            copy.renumbered["case_key"] |= _matching_cases(source, key, target, known[0])


def _matching_cases(
    source: sqlite3.Connection, source_key: int, target: sqlite3.Connection, target_key: int
) -> dict[int, int]:
    statement = "SELECT case_id, key FROM cases WHERE dataset_key=?"
    there = dict(map(tuple, target.execute(statement, (target_key,)).fetchall()))
    here = source.execute(statement, (source_key,)).fetchall()
    return {key: there[case_id] for case_id, key in here}


assert SCHEMA_VERSION == 1, "teach _copy_run the new tables"
