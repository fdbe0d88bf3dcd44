"""Writes a file next to its target and replaces the target when it is complete.

Next to it is a mark that is locked while the process lives. A mark that is not locked was left by a
killed process: the next one that writes into the folder removes it and its file.
"""

from __future__ import annotations

import fcntl
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from agentbench_tui.model.identity import new_id
from agentbench_tui.store.locking import Held

_BEGINS = ".agentbench-"
_MARK = ".busy"
_FILES = ("", "-wal", "-shm", "-journal", ".lock")
_LEASES = ".leases"
BESIDE = (*_FILES, _LEASES)
"""Suffixes of a database and of the files that SQLite and the locks keep next to it."""


@contextmanager
def partial_file(target: Path) -> Iterator[Path]:
    """Yield the path of a new file in the folder of `target`, removed at the end unless it was
    renamed.

    Raises OSError when nothing can be written there.
    """
    _remove_abandoned(target.parent)
    partial = target.with_name(f"{_BEGINS}{new_id()}")
    mark = _mark_of(partial)
    held = Held(os.open(mark, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
    try:
        held.lock()
        yield partial
    finally:
        _remove(partial)
        held.close()


def _mark_of(partial: Path) -> Path:
    return partial.with_name(partial.name + _MARK)


def _remove_abandoned(folder: Path) -> None:
    for mark in folder.glob(f"{_BEGINS}*{_MARK}"):
        with suppress(OSError):
            descriptor = os.open(mark, os.O_RDWR | os.O_CLOEXEC)
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                _remove(mark.with_name(mark.name.removesuffix(_MARK)))
            finally:
                os.close(descriptor)


def _remove(partial: Path) -> None:
    for suffix in (*_FILES, _MARK):
        with suppress(OSError):
            Path(f"{partial}{suffix}").unlink()
    shutil.rmtree(f"{partial}{_LEASES}", ignore_errors=True)
