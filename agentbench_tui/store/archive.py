"""Export of runs to separate files, and import from them."""

from __future__ import annotations

import hashlib
import os
import sqlite3
import stat
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from agentbench_tui.model.clock import utc_now
from agentbench_tui.model.errors import StoreError, UsageError
from agentbench_tui.model.text.untrusted import one_line
from agentbench_tui.store.database import (
    SCHEMA_VERSION,
    create_or_migrate,
    migrations,
    read_uri,
    reading,
    schema_of,
)
from agentbench_tui.store.faults import check_is_file, faults_named, unusable
from agentbench_tui.store.locking import Lease, is_leased
from agentbench_tui.store.partial import BESIDE, partial_file
from agentbench_tui.store.removal import (
    delete_rows,
    remove_unfinished,
    removing,
)
from agentbench_tui.store.run_copy import IMPORTED_IN_PART, copy_run
from agentbench_tui.store.soundness import Soundness

if TYPE_CHECKING:
    from collections.abc import Iterator


def export_run(database: Path, run_id: str, target: Path, *, force: bool = False) -> str:
    """Write one run to a separate SQLite file; return the sha256 of the file.

    `TARGET.sha256` is written next to it, in the format of `sha256sum -c`. A link of either name is
    replaced, never followed. Raises UsageError while the run is running, and if files exist; then
    nothing is written.
    """
    if is_leased(database, run_id):
        raise UsageError(f"run {run_id} is still running; export it when it has ended")
    check = _digest_file(target)
    for path in (target, check):
        _check_replaceable(path, database, force=force)
    try:
        with partial_file(target) as partial, partial_file(check) as partial_check:
            with reading(database) as source:
                key = source.execute("SELECT key FROM runs WHERE id=?", (run_id,)).fetchone()[0]
                copy_run(source, key, partial)
            with faults_named(target):
                _make_plain_file(partial)
            digest = _sha256(partial)
            told = digest.encode() + b"  " + os.fsencode(target.name) + b"\n"
            partial_check.write_bytes(told)
            # A kill in between leaves a file without a digest, never with that of another file.
            check.unlink(missing_ok=True)
            partial.replace(target)
            partial_check.replace(check)
    except OSError as error:
        raise unusable(target, error) from error
    return digest


def _digest_file(path: Path) -> Path:
    """Return the file next to an exported one that holds its sha256."""
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
    """Return whether it is the database, or a file or folder that SQLite or the locks keep next to
    it.

    Also if it does not exist at the moment: the next writer would use it as its own.
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
    """Make a single file without a write-ahead log, so that its hash covers everything."""
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
    """Outcome of importing the runs of a file."""

    new: tuple[str, ...]
    """Ids of the copied runs."""
    known: tuple[str, ...]
    """Ids of runs that were there already, or are just being written."""
    refused: tuple[str, ...]
    """One line per damaged run, with what is wrong."""


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
    known: list[str] = []
    refused: list[str] = []
    _check_schema(source_path)
    remove_unfinished(database)
    with _of_newest_schema(source_path, database) as path, reading(path) as source:
        source.execute("PRAGMA trusted_schema=OFF")
        runs = source.execute("SELECT key, id, status FROM runs ORDER BY key").fetchall()
        damaged = soundness.damaged(source)
        for key, run_id, status in runs:
            if key in damaged:
                refused.append(f"run {one_line(str(run_id), 80)}: {damaged[key][1]}")
                continue
            if status == "running":
                raise UsageError(f"{source_path}: run {run_id} has not ended; export it first")
            lease = Lease.take(database, run_id)
            if lease is None:
                known.append(run_id)
                continue
            try:
                if _make_way(database, run_id):
                    copy_run(source, key, database, imported_at=utc_now())
                    new.append(run_id)
                else:
                    known.append(run_id)
            except sqlite3.IntegrityError as error:
                # Sound by itself, but not beside what is there, such as an execution's id.
                _make_way(database, run_id)
                refused.append(f"run {run_id}: does not fit into {database}: {error}")
            finally:
                lease.release()
    return Imported(tuple(new), tuple(known), tuple(refused))


def _check_schema(source_path: Path) -> None:
    """Raise StoreError unless tables, indexes and views are exactly those of a version of
    agentbench.

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
    """Yield the file itself, or a migrated copy of an older one."""
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
            log = Path(f"{source_path}-wal")
            if log.exists() and log.stat().st_size:
                raise StoreError(
                    f"{log}: changes {source_path.name}, and {check.name} does not cover it; "
                    "remove the log to import what was exported"
                )
    except OSError as error:
        raise unusable(source_path, error) from error


def _make_way(database: Path, run_id: str) -> bool:
    """Remove a partial copy of the run; return False if the whole run exists."""
    with removing(database) as (target, lock):
        known = target.execute("SELECT key, error FROM runs WHERE id=?", (run_id,)).fetchone()
        if known is None:
            return True
        if known[1] != IMPORTED_IN_PART:
            return False
        delete_rows(target, lock, known[0])
        return True
