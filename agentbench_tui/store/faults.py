"""Messages for errors of SQLite and the file system about a database.

A full disk, a damaged file or a folder without permissions is a StoreError with one line that names
the file. Any other SQLite error is a bug in agentbench and is not converted.
"""

from __future__ import annotations

import sqlite3
import stat
from contextlib import contextmanager
from typing import TYPE_CHECKING

from agentbench_tui.model.errors import ENVIRONMENT_ERRORS, StoreError, Unmeasured

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_UNREADABLE = {sqlite3.SQLITE_CORRUPT: "it is damaged", sqlite3.SQLITE_NOTADB: "it is another file"}
_CIRCUMSTANCES = {
    sqlite3.SQLITE_PERM: "the file's rights do not allow it",
    sqlite3.SQLITE_READONLY: "it, or its folder, is read-only",
    sqlite3.SQLITE_FULL: "the disk is full",
    sqlite3.SQLITE_IOERR: "the disk reports an error",
    sqlite3.SQLITE_CANTOPEN: "it, or a file next to it, cannot be opened or created",
    sqlite3.SQLITE_BUSY: "another program holds it",
    sqlite3.SQLITE_NOLFS: "it is larger than the file system allows",
}
"""Primary result code (https://www.sqlite.org/rescode.html) → its meaning."""

_DISK = {sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR}
"""Failures of the disk, which no option of the command avoids: not usage errors."""


@contextmanager
def faults_named(path: Path) -> Iterator[None]:
    """Convert SQLite's errors about an unusable database at `path` to StoreError."""
    try:
        yield
    except sqlite3.Error as error:
        code = getattr(error, "sqlite_errorcode", 0) & 0xFF
        if str(error).startswith("Could not decode to UTF-8"):  # SQLite itself did not mind
            raise not_text(path) from error
        if code in _UNREADABLE:
            raise StoreError(
                f"{path}: not a readable SQLite database ({error}: {_UNREADABLE[code]}); "
                "give another file with --db"
            ) from error
        if code in _CIRCUMSTANCES:
            store_error = StoreError(f"{path}: {_CIRCUMSTANCES[code]} ({error})")
            if code in _DISK:
                store_error.exit_code = Unmeasured.exit_code
            raise store_error from error
        raise


def not_text(path: Path) -> StoreError:
    """Return the error for a database with text that is not UTF-8."""
    return StoreError(
        f"{path}: it is damaged, a text in it is not UTF-8; give another file with --db"
    )


def unusable(path: Path, error: OSError) -> StoreError:
    """Return a StoreError for the system's error about `path`, or a file next to it."""
    store_error = StoreError(f"{path}: cannot be used: {(error.strerror or str(error)).lower()}")
    if error.errno in ENVIRONMENT_ERRORS:
        store_error.exit_code = Unmeasured.exit_code
    return store_error


def check_is_file(path: Path) -> None:
    """Raise StoreError if the path exists and is not a regular file."""
    try:
        mode = path.stat().st_mode
    except FileNotFoundError:
        if path.is_symlink():
            raise StoreError(f"{path}: a link to a file that is not there") from None
        return
    except (OSError, ValueError) as error:
        raise unusable(path, OSError(*error.args)) from None
    if not stat.S_ISREG(mode):
        what = "a folder" if stat.S_ISDIR(mode) else "not a regular file"
        raise StoreError(f"{path}: {what}; give a database file with --db")
