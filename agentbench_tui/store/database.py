"""Opens a database: its location, its schema version, connections of writers and viewers."""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing, contextmanager
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING

from agentbench_tui.model.errors import StoreError
from agentbench_tui.model.identity import new_id
from agentbench_tui.store.damage import note_opened
from agentbench_tui.store.faults import check_is_file, faults_named, not_text, unusable
from agentbench_tui.store.locking import WriteLock, is_leased, private_file

if TYPE_CHECKING:
    from collections.abc import Iterator

BUSY_TIMEOUT_S = 10.0


def migrations() -> list[tuple[int, str]]:
    """Return (version, SQL) of every forward migration, in order."""
    folder = resources.files("agentbench_tui.store") / "migrations"
    found = [(int(item.name[:4]), item) for item in folder.iterdir() if item.name.endswith(".sql")]
    return [
        (version, item.read_text(encoding="utf-8"))
        for version, item in sorted(found, key=lambda one: one[0])
    ]


SCHEMA_VERSION = 12
"""The newest schema this version knows; a test holds it to the newest migration."""


def create_or_migrate(path: Path) -> None:
    """Migrate the database at `path` to the newest schema, creating it if it does not exist.

    Each migration is one transaction under the write lock. A database of a newer schema or of
    another program, a file that is no database, or an older one that a run is being written to is
    refused untouched (StoreError).
    """
    check_is_file(path)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with faults_named(path):
            if path.exists() and schema_of(path) == SCHEMA_VERSION:
                return
            private_file(path)
            with closing(_open_for_writing(path)) as connection:
                _migrate(path, connection)
    except OSError as error:
        raise unusable(path, error) from error


def _migrate(path: Path, connection: sqlite3.Connection) -> None:
    lock = WriteLock(path)
    try:
        with lock.held():
            version = _checked_version(path, connection)
            if 0 < version < SCHEMA_VERSION:
                _check_no_run_is_live(path, connection)
            for number, sql in migrations():
                if number > version:
                    connection.executescript(
                        f"BEGIN IMMEDIATE;{sql}"  # noqa: S608  # our own SQL and id
                        f"INSERT OR IGNORE INTO meta VALUES ('workspace_id', '{new_id()}');"
                        f"PRAGMA user_version={number};COMMIT;"
                    )
    finally:
        lock.close()


def _check_no_run_is_live(path: Path, connection: sqlite3.Connection) -> None:
    """Refuse to migrate while a run is live, because its process knows only the old schema."""
    for (run_id,) in connection.execute("SELECT id FROM runs WHERE status='running'").fetchall():
        if is_leased(path, run_id):
            raise StoreError(
                f"{path}: run {run_id} of an older agentbench is still running; wait until it "
                "ends, or give another file with --db"
            )


def schema_of(path: Path) -> int:
    """Return the schema version of a database, 0 for an empty one. Raises StoreError for others."""
    with faults_named(path), closing(_open_to_read(path)) as connection:
        return _checked_version(path, connection)


def _checked_version(path: Path, connection: sqlite3.Connection) -> int:
    """Return the schema version, 0 for an empty database. Raises StoreError for a foreign one."""
    # In this order: whoever makes the database just now commits tables and version at once.
    try:
        tables = {row[0] for row in connection.execute("SELECT name FROM sqlite_master").fetchall()}
    except UnicodeDecodeError as error:
        # The message in which SQLite quotes a damaged schema is no text either.
        raise not_text(path) from error
    version: int = connection.execute("PRAGMA user_version").fetchone()[0]
    if tables and (version == 0 or not {"meta", "benchmark_executions"} <= tables):
        raise StoreError(f"{path}: a database of another program; give another file with --db")
    if version > SCHEMA_VERSION:
        raise StoreError(_too_new(path, version))
    return version


def _too_new(path: Path, version: int) -> str:
    return (
        f"{path}: written by a newer agentbench (schema {version}, this one knows "
        f"{SCHEMA_VERSION}); update agentbench or give another file with --db"
    )


def connect_to_write(path: Path) -> sqlite3.Connection:
    """Return a writing connection to an up-to-date database. Use it under the write lock only."""
    create_or_migrate(path)
    with faults_named(path):
        return _open_for_writing(path)


def _open_for_writing(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(
        path, timeout=BUSY_TIMEOUT_S, isolation_level=None, check_same_thread=False
    )
    try:
        connection.execute("PRAGMA journal_mode=WAL")
        connection.execute("PRAGMA synchronous=NORMAL")
        connection.execute("PRAGMA foreign_keys=ON")
        connection.execute("PRAGMA wal_autocheckpoint=0")
        # Else the log keeps its greatest size, by which writers know when to checkpoint it.
        connection.execute("PRAGMA journal_size_limit=0")
    except BaseException:
        connection.close()
        raise
    return connection


def connect_to_read(path: Path) -> sqlite3.Connection:
    """Return a read-only connection in autocommit: every statement sees the newest commit.

    A database of an older schema is brought to the newest one first. Raises StoreError when that
    cannot be, and when there is no database or one of a newer schema.
    """
    check_is_file(path)
    if not path.exists():
        raise StoreError(f"{path}: no database there yet; `agentbench run` makes one")
    with faults_named(path):
        _update(path)
        connection = _open_to_read(path)
        try:
            if _checked_version(path, connection) == 0:
                raise StoreError(f"{path}: nothing in it yet; `agentbench run` fills it")
            note_opened(path, connection)
        except BaseException:
            connection.close()
            raise
    connection.row_factory = sqlite3.Row
    return connection


def keep_few_pages(connection: sqlite3.Connection) -> None:
    """Let a connection that stays open keep at most 512 KiB of the file in memory, not 2 MB.

    What it reads again is in the cache of the operating system.
    """
    connection.execute("PRAGMA cache_size=-512")


def data_version(connection: sqlite3.Connection) -> int:
    """Return a number that changes whenever another connection has committed."""
    return int(connection.execute("PRAGMA data_version").fetchone()[0])


def _update(path: Path) -> None:
    version = schema_of(path)
    if not 0 < version < SCHEMA_VERSION:
        return
    if not (os.access(path, os.W_OK) and os.access(path.parent, os.W_OK)):
        raise StoreError(
            f"{path}: written by an older agentbench (schema {version}, this one reads "
            f"{SCHEMA_VERSION}), and cannot be brought up to date where it lies; copy it to a "
            "folder that you may write to"
        )
    create_or_migrate(path)


@contextmanager
def reading(path: Path) -> Iterator[sqlite3.Connection]:
    """Open `connect_to_read` for a block; file errors in the block (a damaged page, a disk error)
    become StoreError.
    """
    with faults_named(path), closing(connect_to_read(path)) as connection:
        yield connection


def _open_to_read(path: Path) -> sqlite3.Connection:
    return sqlite3.connect(
        read_uri(path),
        uri=True,
        timeout=BUSY_TIMEOUT_S,
        isolation_level=None,
        check_same_thread=False,
    )


def read_uri(path: Path) -> str:
    """Return the URI of a read-only connection; `immutable` only if no process can be writing."""
    return f"{path.absolute().as_uri()}?mode=ro{'&immutable=1' if is_immutable(path) else ''}"


def is_immutable(path: Path) -> bool:
    """Return whether no process of this user can be writing the file."""
    return not os.access(path.parent, os.W_OK) and not Path(f"{path}-wal").exists()


def workspace_id(connection: sqlite3.Connection) -> str:
    """Return the UUID of the database, stored with every run, even after an import elsewhere."""
    row = connection.execute("SELECT value FROM meta WHERE key='workspace_id'").fetchone()
    return str(row[0])


def workspace_salt(connection: sqlite3.Connection) -> str:
    """Return 32 secret hex digits for games of this database; drawn at the first call.

    Needs a writing connection. Agents must not get them: what follows from a seed and this salt
    cannot be recomputed from the seed alone.
    """
    connection.execute(
        "INSERT OR IGNORE INTO meta VALUES ('workspace_salt', ?)", (os.urandom(16).hex(),)
    )
    row = connection.execute("SELECT value FROM meta WHERE key='workspace_salt'").fetchone()
    return str(row[0])


def real_path(path: Path) -> Path:
    """Return the file itself: an absolute path, because an agent may change the working folder,
    and without links, because the locks and the log are found by the file's name.
    """
    return Path(os.path.realpath(path))


def default_database() -> Path:
    """Return `AGENTBENCH_DB`, else `agentbench.db` in the user's data folder."""
    given = os.environ.get("AGENTBENCH_DB")
    if given:
        return real_path(Path(given))
    from platformdirs import user_data_path

    return real_path(user_data_path("agentbench") / "agentbench.db")
