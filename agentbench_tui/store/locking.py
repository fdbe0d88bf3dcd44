"""The two locks that make one file safe for many processes.

`WriteLock`: every write transaction and every checkpoint runs under it. SQLite before 3.51.3 can
corrupt a database when one connection checkpoints while another commits; this rules it out.
`Lease`: a run holds one while it lives; who can take it knows that the run's process is gone.
Both are flocks: the kernel frees them when the process ends, however it ends.
"""

from __future__ import annotations

import fcntl
import os
import time
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from agentbench_tui.store.faults import unusable

if TYPE_CHECKING:
    from collections.abc import Iterator


_ATTEMPTS, _BETWEEN_S = 20, 0.0005
"""To take a lease: whoever only asks whether it is free holds it meanwhile, for microseconds."""


class WriteLock:
    """An flock on `<database>.lock`, taken for one transaction at a time."""

    def __init__(self, database: Path) -> None:
        name = f"{database}.lock"
        try:
            self._descriptor = os.open(name, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        except OSError as error:
            raise unusable(database, error) from error
        self.database = database

    @contextmanager
    def held(self) -> Iterator[None]:
        """Block until the lock is ours; give it back at the end."""
        fcntl.flock(self._descriptor, fcntl.LOCK_EX)
        try:
            yield
        finally:
            fcntl.flock(self._descriptor, fcntl.LOCK_UN)

    def close(self) -> None:
        os.close(self._descriptor)


class LeaseHolder(msgspec.Struct, frozen=True):
    """Who runs a run, as written into its row and its lease file."""

    boot_id: str
    pid: int
    since: float
    """Seconds since 1970; viewers' wishes older than this are ignored."""


class Lease:
    """The right to write one run. Free again as soon as its process is gone."""

    def __init__(self, path: Path, descriptor: int) -> None:
        self._path = path
        self._descriptor = descriptor

    @classmethod
    def take(cls, database: Path, run_id: str, holder: LeaseHolder | None = None) -> Lease | None:
        """The lease of a run, or None while another process holds it. Raises StoreError."""
        try:
            return cls._take(database, run_id, holder)
        except OSError as error:
            raise unusable(database, error) from error

    @classmethod
    def _take(cls, database: Path, run_id: str, holder: LeaseHolder | None) -> Lease | None:
        folder = Path(f"{database}.leases")
        folder.mkdir(exist_ok=True)
        path = folder / run_id
        attempts = 0
        while True:
            descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                os.close(descriptor)
                attempts += 1
                if attempts == _ATTEMPTS:
                    return None
                time.sleep(_BETWEEN_S)
                continue
            # Its last holder may have unlinked the file between our open and our flock.
            with suppress(FileNotFoundError):
                if path.stat().st_ino == os.fstat(descriptor).st_ino:
                    break
            os.close(descriptor)
        if holder is not None:
            os.truncate(descriptor, 0)
            os.pwrite(descriptor, msgspec.json.encode(holder), 0)
        return cls(path, descriptor)

    def release(self) -> None:
        """Give the lease back. The file goes first, so that nobody locks a file that is gone."""
        with suppress(FileNotFoundError):
            self._path.unlink()
        os.close(self._descriptor)


def is_leased(database: Path, run_id: str) -> bool:
    """Whether a living process holds the run's lease. Changes nothing."""
    path = Path(f"{database}.leases") / run_id
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except FileNotFoundError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(descriptor)
    return False


def boot_id() -> str:
    """Identifies this start of this machine; empty where the system does not say."""
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    except OSError:
        return ""
