"""Runs out of and into the store: export to a file of their own, import from one."""

from __future__ import annotations

import hashlib
import os
import sqlite3
import stat
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agentbench_tui.model.clock import utc_now
from agentbench_tui.model.errors import StoreError, UsageError
from agentbench_tui.store.database import (
    SCHEMA_VERSION,
    create_or_migrate,
    migrations,
    read_uri,
    reading,
    schema_of,
)
from agentbench_tui.store.faults import check_is_file, faults_named, unusable
from agentbench_tui.store.locking import Lease, WriteLock, is_leased
from agentbench_tui.store.partial import BESIDE, partial_file
from agentbench_tui.store.removal import (
    BY_EXECUTION,
    BY_RUN,
    OF_RUN_ID,
    delete_rows,
    remove_unfinished,
    removing,
    rows_at_once,
    unfinished_hash,
)
from agentbench_tui.store.soundness import Soundness
from agentbench_tui.store.writer import in_transaction, open_to_write

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

IMPORTED_IN_PART = "imported in part only; import it again"
"""The error of a run whose import has not come to its end."""
_NOT_EXPORTED = frozenset({"live", "wishes"})


def export_run(database: Path, run_id: str, target: Path, *, force: bool = False) -> str:
    """Write one run to an SQLite file of its own; the sha256 of the file.

    `TARGET.sha256` is written beside it, in the form that `sha256sum -c` reads. A link of either
    name is replaced, never followed. Raises UsageError while the run goes on, and for files that
    are in the way; then nothing is written.
    """
    if is_leased(database, run_id):
        raise UsageError(f"run {run_id} goes on; export it when it has ended")
    check = _digest_file(target)
    for path in (target, check):
        _check_replaceable(path, database, force=force)
    try:
        with partial_file(target) as partial, partial_file(check) as partial_check:
            with reading(database) as source:
                key = source.execute("SELECT key FROM runs WHERE id=?", (run_id,)).fetchone()[0]
                _copy_run(source, key, partial)
            with faults_named(target):
                _make_plain_file(partial)
            digest = _sha256(partial)
            told = digest.encode() + b"  " + os.fsencode(target.name) + b"\n"
            partial_check.write_bytes(told)
            partial.replace(target)
            partial_check.replace(check)
    except OSError as error:
        raise unusable(target, error) from error
    return digest


def _digest_file(path: Path) -> Path:
    """The file beside an exported one that holds its sha256."""
    return path.with_name(f"{path.name}.sha256")


def _check_replaceable(path: Path, database: Path, *, force: bool) -> None:
    """Raise UsageError for a path that an export must not write, or only with `force`."""
    if _belongs_to(path, database):
        raise UsageError(f"{path}: is a file of the database itself; export to another file")
    try:
        mode = path.lstat().st_mode
    except FileNotFoundError:
        return
    except (OSError, ValueError) as error:
        raise unusable(path, OSError(*error.args)) from None
    if not (stat.S_ISREG(mode) or stat.S_ISLNK(mode)):
        what = "a folder" if stat.S_ISDIR(mode) else "not a regular file"
        raise UsageError(f"{path}: is {what}; export to another file")
    if not force:
        raise UsageError(f"{path}: exists; give --force to replace it")


def _belongs_to(path: Path, database: Path) -> bool:
    """Whether it is the database, or a file or folder that SQLite or the locks keep beside it.

    Also one that is not there now: the next writer would take it for its own.
    """
    given = os.path.realpath(path)
    for home in (str(database), os.path.realpath(database)):
        for ending in BESIDE:  # SQLite follows a link to the database, the locks do not
            own = home + ending
            if os.path.realpath(own) in (given, str(Path(given).parent)):
                return True
            with suppress(OSError, ValueError):
                if path.samefile(own):
                    return True
    return False


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


@dataclass(frozen=True, slots=True)
class Imported:
    """What became of the runs of a file."""

    new: tuple[str, ...]
    """Ids of those that were copied."""
    refused: tuple[str, ...]
    """A line on each damaged one, with what is wrong."""


def import_runs(database: Path, source_path: Path, soundness: Soundness | None = None) -> Imported:
    """Copy every sound run of an exported file into the database.

    The file is untrusted: its schema has to be that of agentbench, and each row is checked by
    `soundness` before it is copied. A `.sha256` file beside it is checked. Runs that are already
    there, or just being written, are left alone; what an import that was killed has left is
    replaced. Raises StoreError, UsageError.
    """
    soundness = soundness or Soundness({})
    if not source_path.exists():
        raise UsageError(f"{source_path}: no such file")
    check_is_file(source_path)
    _check_digest(source_path)
    new: list[str] = []
    refused: list[str] = []
    _check_schema(source_path)
    remove_unfinished(database)
    with _of_newest_schema(source_path, database) as path, reading(path) as source:
        source.execute("PRAGMA trusted_schema=OFF")
        runs = source.execute("SELECT key, id, status FROM runs ORDER BY key").fetchall()
        damaged = soundness.damaged(source)
        for key, run_id, status in runs:
            if key in damaged:
                refused.append(f"run {str(run_id)[:80]}: {damaged[key][1]}")
                continue
            if status == "running":
                raise UsageError(f"{source_path}: run {run_id} has not ended; export it first")
            lease = Lease.take(database, run_id)
            if lease is None:
                continue
            try:
                if _make_way(database, run_id):
                    _copy_run(source, key, database, imported_at=utc_now())
                    new.append(run_id)
            except sqlite3.IntegrityError as error:
                # Sound by itself, but not beside what is there, such as an execution's id.
                _make_way(database, run_id)
                refused.append(f"run {run_id}: does not fit into {database}: {error}")
            finally:
                lease.release()
    return Imported(tuple(new), tuple(refused))


def _check_schema(source_path: Path) -> None:
    """Raise StoreError unless tables, indexes and views are exactly those of a version of ours.

    Triggers, views and generated columns of a crafted file would run while it is read or migrated.
    """
    version = schema_of(source_path)
    with (
        faults_named(source_path),
        closing(sqlite3.connect(read_uri(source_path), uri=True)) as source,
        closing(sqlite3.connect(":memory:")) as ours,
    ):
        for number, sql in migrations():
            if number <= version:
                ours.executescript(sql)
        objects = "SELECT type, name, tbl_name, sql FROM sqlite_master"
        there, wanted = (set(one.execute(objects).fetchall()) for one in (source, ours))
    for differing, what in (
        (there - wanted, "is not one of agentbench's"),
        (wanted - there, "is missing"),
    ):
        if differing:
            kind, name = min((str(one[0]), str(one[1])) for one in differing)
            raise StoreError(f"{source_path}: its {kind} {name[:80]!r} {what}")


@contextmanager
def _of_newest_schema(source_path: Path, database: Path) -> Iterator[Path]:
    """The file itself, or a copy of an older one that is brought up to date."""
    if schema_of(source_path) in {0, SCHEMA_VERSION}:
        yield source_path
        return
    with partial_file(database) as copy:
        with (
            faults_named(source_path),
            closing(sqlite3.connect(read_uri(source_path), uri=True)) as source,
            closing(sqlite3.connect(copy)) as target,
        ):
            source.backup(target)
        create_or_migrate(copy)
        yield copy


def _check_digest(source_path: Path) -> None:
    check = _digest_file(source_path)
    try:
        if check.is_file():
            with check.open("rb") as stream:
                expected = stream.read(64)
            if expected != _sha256(source_path).encode():
                raise StoreError(f"{source_path}: its sha256 is not the one in {check.name}")
    except OSError as error:
        raise unusable(source_path, error) from error


def _make_way(database: Path, run_id: str) -> bool:
    """Remove what is there of a run in part; False when the whole run is there."""
    with removing(database) as (target, lock):
        known = target.execute("SELECT key, error FROM runs WHERE id=?", (run_id,)).fetchone()
        if known is None:
            return True
        if known[1] != IMPORTED_IN_PART:
            return False
        delete_rows(target, lock, known[0])
        return True


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
        """Rows that are the same in every database (by hash or natural key)."""
        self._insert(table, where, values, verb="INSERT OR IGNORE INTO")

    def keyed(
        self, table: str, where: str, values: Sequence[Any], name: str, **meanwhile: str
    ) -> None:
        """Rows whose `key` is numbered anew; the new numbers go to `renumbered[name]`.

        `meanwhile`: what stands in these columns until all is copied.
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
        """Rows that belong to the run, `seq` numbered anew."""
        self._insert(table, where, values, verb="INSERT INTO")

    def finish(self) -> None:
        """All is there: let the run and its executions say how they ended."""
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
        """All cases of a dataset are there; False when another process was quicker."""
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
        """Columns and some rows at a time: of a large run all would not fit into memory."""
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


def _copy_run(source: sqlite3.Connection, run_key: int, target_path: Path, **changes: str) -> None:
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


assert SCHEMA_VERSION == 8, "teach _copy_run the new tables"
