"""Two locks that let many processes use one file safely.

`WriteLock`: every write transaction and every checkpoint runs under it. SQLite before 3.51.3 can
corrupt a database when one connection checkpoints while another commits; this rules it out.
`Lease`: a run holds one while it lives; who can take it knows that the run's process is gone.
Both are flocks: the kernel frees them when the process ends, however it ends.

A process that forks shares its flocks with the child, so both are closed in a forked child. One
that was forked by other means than Python's may still hold a flock after the process that took it
has ended. A lease therefore names its process, and whoever finds that process gone takes it over;
the wait for the write lock is bounded.
"""

from __future__ import annotations

import fcntl
import functools
import os
import stat
import time
import weakref
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from agentbench_tui.model.clock import monotonic, unix_time
from agentbench_tui.model.errors import StoreError
from agentbench_tui.model.identity import is_name
from agentbench_tui.store.faults import unusable

if TYPE_CHECKING:
    from collections.abc import Iterator


_ATTEMPTS, _BETWEEN_S = 20, 0.0005
"""Retries for taking a lease: a process that only checks it holds it for microseconds."""
LONGEST_WAIT_S = 60.0
"""For the write lock. A transaction takes a tenth of a second at most."""
_LONGEST_PAUSE_S = 0.01
_NAMED_HOLDERS = 3
_ENDED = frozenset("ZX")
"""States of a process that has ended, but whose parent has not collected its status: proc(5)."""
_PRIVATE = 0o600
"""Default permissions of a database and the files next to it."""


class WriteLock:
    """An flock on `<database>.lock`, held for one transaction at a time."""

    def __init__(self, database: Path) -> None:
        try:
            self._descriptor = open_like(database, Path(f"{database}.lock"))
        except OSError as error:
            raise unusable(database, error) from error
        self.database = database
        _close_in_forked_children(self)

    @contextmanager
    def held(self) -> Iterator[None]:
        """Wait for the lock; release it at the end of the block.

        Raises StoreError after `LONGEST_WAIT_S`, with the processes that have the lock file open.
        """
        _wait_for_flock(self._descriptor, self.database, "its write lock")
        try:
            yield
        finally:
            fcntl.flock(self._descriptor, fcntl.LOCK_UN)

    def close(self) -> None:
        """Close the file, and with it the lock. Idempotent."""
        descriptor, self._descriptor = self._descriptor, -1
        if descriptor >= 0:
            os.close(descriptor)


def _wait_for_flock(descriptor: int, database: Path, lock: str) -> None:
    """Take the exclusive flock of an open file or folder.

    Raises StoreError after `LONGEST_WAIT_S`; `lock` is its name in the message.
    """
    deadline, pause_s = monotonic() + LONGEST_WAIT_S, _BETWEEN_S
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if monotonic() > deadline:
                break
            time.sleep(pause_s)
            pause_s = min(2 * pause_s, _LONGEST_PAUSE_S)
        else:
            return
    who = ", ".join(_processes_with(descriptor)) or "a process that cannot be seen from here"
    raise StoreError(
        f"{database}: another process has held {lock} for {LONGEST_WAIT_S:.0f} s ({who}); wait for "
        "it or end it, then try again"
    )


class LeaseHolder(msgspec.Struct, frozen=True):
    """The process of a run, as written into its row and its lease file."""

    boot_id: str
    pid: int
    since: float
    """Seconds since 1970; older control requests are ignored."""
    namespace: str = ""
    """PID namespace: containers on one machine have their own."""
    started: int = 0
    """When the process began, in clock ticks since the machine's start; 0 where it is unknown.
    Another process that gets the same number later has begun later."""

    @classmethod
    def here(cls) -> LeaseHolder:
        """Return this process as holder."""
        _, started = _state_and_start(os.getpid())
        return cls(boot_id(), os.getpid(), unix_time(), _pid_namespace(), started)

    @property
    def is_gone(self) -> bool:
        """Return whether the process has certainly ended; False if that is unknown."""
        if not self.namespace or (self.boot_id, self.namespace) != (boot_id(), _pid_namespace()):
            return False
        try:
            os.kill(self.pid, 0)
        except (ProcessLookupError, OverflowError):
            return True
        except PermissionError:
            pass  # The process of another user, which `/proc` may hide.
        state, started = _state_and_start(self.pid)
        return state in _ENDED or (started > 0 < self.started != started)


class Lease:
    """The exclusive right to write one run. Free again as soon as its process is gone."""

    def __init__(self, path: Path, descriptor: int) -> None:
        self._path = path
        self._descriptor = descriptor
        _close_in_forked_children(self)

    @classmethod
    def take(cls, database: Path, run_id: str, holder: LeaseHolder | None = None) -> Lease | None:
        """Take the lease of a run; return None while another process holds it.

        Raises StoreError, also for what is not the id of a run.
        """
        try:
            path = _lease_path(database, run_id)
            _make_folder_like(database, path.parent)
            with _folder_lock(database, path.parent):
                lease = cls._take(database, path)
                if lease is None and _is_abandoned(path):
                    path.unlink(missing_ok=True)
                    lease = cls._take(database, path)
                if lease is not None:
                    lease.write(holder or LeaseHolder.here())
        except OSError as error:
            raise unusable(database, error) from error
        return lease

    @classmethod
    def _take(cls, database: Path, path: Path) -> Lease | None:
        attempts = 0
        while True:
            descriptor = open_like(database, path)
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
        return cls(path, descriptor)

    def write(self, holder: LeaseHolder) -> None:
        """Record the process that holds it."""
        os.truncate(self._descriptor, 0)
        os.pwrite(self._descriptor, msgspec.json.encode(holder), 0)

    def release(self) -> None:
        """Release the lease. The file is removed first, so that no process locks a removed file."""
        if self._descriptor < 0:
            return
        with suppress(FileNotFoundError):
            self._path.unlink()
        self.close()

    def close(self) -> None:
        """Close the file without removing it."""
        descriptor, self._descriptor = self._descriptor, -1
        if descriptor >= 0:
            os.close(descriptor)


def private_file(path: Path) -> None:
    """Create a file that only its owner can read, unless it exists."""
    with suppress(FileExistsError):
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, _PRIVATE))


def open_like(database: Path, path: Path) -> int:
    """Open or create a file next to a database, with the permissions of the database; return a
    descriptor.

    If a group may read and write the database (`chmod 660`), it may also take the locks.
    """
    mode = _mode_of(database)
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, mode)
    there = os.fstat(descriptor)
    if stat.S_IMODE(there.st_mode) != mode and there.st_uid == os.geteuid():
        os.fchmod(descriptor, mode)
    return descriptor


def _make_folder_like(database: Path, folder: Path) -> None:
    mode = _mode_of(database)
    # Who may read files in a folder has to be let into it.
    mode |= (mode & 0o444) >> 2
    folder.mkdir(exist_ok=True, mode=mode)
    there = folder.stat()
    if stat.S_IMODE(there.st_mode) & 0o777 != mode and there.st_uid == os.geteuid():
        folder.chmod(stat.S_IMODE(there.st_mode) & ~0o777 | mode)


def _mode_of(database: Path) -> int:
    try:
        return stat.S_IMODE(database.stat().st_mode) & 0o666
    except FileNotFoundError:
        return _PRIVATE


def is_leased(database: Path, run_id: str) -> bool:
    """Return whether a living process holds the run's lease. Read-only."""
    if not is_name(run_id):
        return False  # a damaged row
    path = _lease_path(database, run_id)
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except FileNotFoundError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        with suppress(FileNotFoundError), _folder_lock(database, path.parent):
            return not _is_abandoned(path)
    finally:
        os.close(descriptor)
    return False


def _lease_path(database: Path, run_id: str) -> Path:
    """Return the file of a run's lease. Raises StoreError for an id that could lead elsewhere."""
    if not is_name(run_id):
        raise StoreError(f"{database}: {run_id[:80]!r} is not the id of a run")
    return Path(f"{database}.leases") / run_id


@contextmanager
def _folder_lock(database: Path, folder: Path) -> Iterator[None]:
    """Prevent other processes from taking a lease of this database in the block.

    A lease file that is locked but still names its last holder would look abandoned, and of two
    processes that find one abandoned the slower would remove the file of the faster. It is not the
    write lock, because dead runs are marked, and their leases taken, under that. Raises StoreError
    when another process keeps it, which one that is stopped does.
    """
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    held = Held(descriptor)
    try:
        _wait_for_flock(descriptor, database, "the lock of all leases")
        yield
    finally:
        held.close()


def _is_abandoned(path: Path) -> bool:
    """Return whether the process named in a lease is gone although its flock is held."""
    try:
        return msgspec.json.decode(path.read_bytes(), type=LeaseHolder).is_gone
    except (OSError, msgspec.DecodeError):
        return False


def boot_id() -> str:
    """Return an id of this boot of this machine; empty if the system does not provide it."""
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    except OSError:
        return ""


@functools.cache
def _pid_namespace() -> str:
    try:
        return str(Path("/proc/self/ns/pid").readlink())
    except OSError:
        return ""


def _state_and_start(pid: int) -> tuple[str, int]:
    """Return the letter of a process's state, and its start in clock ticks since the machine's
    start.

    Empty and 0 where the system does not say. The time of day would not do: while a run goes on the
    clock may be set, as on a virtual machine that was paused.
    """
    try:
        fields = Path(f"/proc/{pid}/stat").read_text(errors="replace").rpartition(")")[2].split()
        return fields[0], int(fields[19])
    except (OSError, IndexError, ValueError):
        return "", 0


def _processes_with(descriptor: int) -> Iterator[str]:
    """Yield other processes that have the same file open, as `pid 12 (command line)`, up to a
    maximum.
    """
    import psutil

    count, wanted = 0, os.fstat(descriptor)
    for process in psutil.process_iter():
        if process.pid == os.getpid() or not _has_open(process.pid, wanted):
            continue
        with suppress(psutil.Error):
            yield f"pid {process.pid} ({' '.join(process.cmdline())[:80]})"
            count += 1
        if count == _NAMED_HOLDERS:
            return


def _has_open(pid: int, wanted: os.stat_result) -> bool:
    try:
        descriptors = list(Path(f"/proc/{pid}/fd").iterdir())
    except OSError:
        return False
    for descriptor in descriptors:
        with suppress(OSError):
            there = descriptor.stat()
            if (there.st_dev, there.st_ino) == (wanted.st_dev, wanted.st_ino):
                return True
    return False


class Held:
    """Any other flock, closed in a forked child too."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        _close_in_forked_children(self)

    def lock(self) -> None:
        """Wait for the lock and take it."""
        fcntl.flock(self._descriptor, fcntl.LOCK_EX)

    def close(self) -> None:
        """Release the lock."""
        descriptor, self._descriptor = self._descriptor, -1
        if descriptor >= 0:
            os.close(descriptor)


_open_locks: weakref.WeakSet[WriteLock | Lease | Held] = weakref.WeakSet()


def _close_in_forked_children(lock: WriteLock | Lease | Held) -> None:
    _register_at_fork()
    _open_locks.add(lock)


@functools.cache
def _register_at_fork() -> None:
    """Close flocks in forked children, which would otherwise hold them as long as they live."""
    os.register_at_fork(after_in_child=_close_inherited)


def _close_inherited() -> None:
    for lock in list(_open_locks):
        lock.close()
    _open_locks.clear()
