"""Location of a database during and after a run: in memory, and on network file systems.

A database on a network file system is worked on in a local copy. Next to the copy is a note with
its target, locked while the process lives: a copy whose note is not locked was left by a killed
process, and holds what that had measured.
"""

from __future__ import annotations

import fcntl
import os
import re
import shutil
import sqlite3
from contextlib import closing, suppress
from pathlib import Path

import msgspec

from agentbench_tui.model.errors import StoreError
from agentbench_tui.model.identity import new_id
from agentbench_tui.store.database import connect_to_read, default_database, real_path
from agentbench_tui.store.faults import check_is_file, unusable
from agentbench_tui.store.locking import Held, private_file

NETWORK_FILESYSTEMS = frozenset(
    {
        "nfs", "nfs4", "cifs", "smb3", "smbfs", "9p", "afs", "ceph", "lustre", "gpfs", "beegfs",
        "fhgfs", "orangefs", "pvfs2", "panfs", "wekafs", "gfs2", "ocfs2", "coda", "ncpfs", "davfs",
        "vboxsf", "prl_fs", "vmhgfs",
        *(f"fuse.{name}" for name in (
            "sshfs", "glusterfs", "ceph", "ceph-fuse", "s3fs", "rclone", "gcsfuse", "goofys",
            "mount-s3", "mountpoint-s3", "blobfuse", "blobfuse2", "juicefs", "mfs", "davfs",
            "seaweedfs", "vmhgfs-fuse", "grpcfuse", "osxfs", "gvfsd-fuse", "curlftpfs",
        )),
    }
)  # fmt: skip
"""Types of file systems that other machines serve, in /proc/self/mounts."""
_MOUNTS = Path("/proc/self/mounts")
_ESCAPED = re.compile(r"\\([0-7]{3})")
"""How a space, tab, line break or backslash is escaped there: proc_pid_mounts(5), fstab(5)."""
_NOTE = ".target"
"""Suffix of the note next to a local copy."""


class Location:
    """Where a run writes and where its database ends up.

    `:memory:` is a file in shared memory, and a path on a network file system is written locally:
    both are copied to `target` by `deliver()`, through SQLite's backup.
    """

    def __init__(
        self, working: Path, target: Path | None = None, *, temporary: bool = False
    ) -> None:
        self.working = working
        self.target = target
        """Destination of `deliver`; None if the working file is the final one."""
        self._before = None if target is None else _state(target)
        self._temporary = working if temporary else None
        self._copy: LocalCopy | None = None

    @classmethod
    def resolve(
        cls, database: str | None, persist: str | None = None, *, resume: bool = False
    ) -> Location:
        """Return the location from `--db` (or None for the user's default) and `--persist`.

        With `resume` the copy that a killed process left of a database on a network file system is
        used again.
        """
        if database == ":memory:":
            folder = Path("/dev/shm") if Path("/dev/shm").is_dir() else Path("/tmp")  # noqa: S108
            working = folder / f"agentbench-{os.getpid()}-{new_id()}.db"
            return cls(working, _new_file(persist) if persist else None, temporary=True)
        if persist:
            raise StoreError("--persist goes with --db :memory: only")
        path = real_path(Path(database) if database else default_database())
        if not is_on_network(path):
            return cls(path)
        if resume and (left := abandoned_copy(path)) is not None:
            return cls._of_copy(left)
        return cls._of_copy(_new_copy(path))

    @classmethod
    def _of_copy(cls, copy: LocalCopy) -> Location:
        location = cls(copy.path, copy.target, temporary=True)
        location._before = copy.before
        location._copy = copy
        return location

    def deliver(self) -> Path:
        """Copy the working file to its target, if it has one; return the path to read from
        now on.

        Raises StoreError, and the working file stays, when the target cannot be written, or was
        written by somebody else since it was copied.
        """
        if self.target is None:
            return self.working
        if _state(self.target) != self._before:
            raise StoreError(
                f"{self.target}: another process has written it in the meantime; everything is in "
                f"{self.working}"
            )
        partial = self.target.with_name(f".{self.target.name}.{new_id()}")
        try:
            self.target.parent.mkdir(parents=True, exist_ok=True)
            with (
                closing(connect_to_read(self.working)) as source,
                closing(sqlite3.connect(_private(partial, self.target))) as copy,
            ):
                source.backup(copy)
            # SQLite would replay a log that is not of this file, and damage it.
            for suffix in ("-wal", "-shm"):
                Path(f"{self.target}{suffix}").unlink(missing_ok=True)
            partial.replace(self.target)
        except (OSError, sqlite3.Error) as error:
            with suppress(OSError):
                partial.unlink(missing_ok=True)
            raise StoreError(
                f"{self.target}: cannot be written: {error}; everything is in {self.working}"
            ) from error
        return self.target

    def discard(self) -> None:
        """Remove a temporary working file; does nothing for an ordinary database."""
        if self._temporary is not None:
            for suffix in ("", "-wal", "-shm", ".lock"):
                Path(f"{self._temporary}{suffix}").unlink(missing_ok=True)
            shutil.rmtree(f"{self._temporary}.leases", ignore_errors=True)
        if self._copy is not None:
            self._copy.release()


def _state(path: Path) -> tuple[int, int, int] | None:
    """Return values that change when a file is written or replaced; None if it does not exist."""
    try:
        now = path.stat()
    except OSError:
        return None
    return now.st_ino, now.st_size, now.st_mtime_ns


def _new_file(name: str) -> Path:
    path = real_path(Path(name))
    check_is_file(path)
    if path.exists():
        raise StoreError(f"{path}: already exists; --persist writes a new file")
    return path


class _Note(msgspec.Struct, frozen=True):
    """Content of the note next to a local copy."""

    target: str
    before: tuple[int, int, int] | None
    """State of the target when it was copied."""


class LocalCopy:
    """A local copy of a database on a network file system, and the lock of the process that uses
    it.
    """

    def __init__(self, path: Path, note: _Note, descriptor: int) -> None:
        self.path = path
        self.target = Path(note.target)
        self.before = note.before
        self._held = Held(descriptor)

    def unlock(self) -> None:
        """Release the copy without changes."""
        self._held.close()

    def release(self) -> None:
        """Remove the note; the copy has been removed already, or is kept by hand."""
        with suppress(OSError):
            _note_of(self.path).unlink()
        self._held.close()


def is_on_network(path: Path) -> bool:
    """Return whether a path is on a network file system, where SQLite's locks are unreliable."""
    return filesystem_of(path) in NETWORK_FILESYSTEMS


def abandoned_copy(target: Path) -> LocalCopy | None:
    """Return the newest copy of a database that a killed process left, locked by this process; None
    if there is none. Release it if it is not used.
    """
    copies = sorted(_copies_folder().glob(f"*{_NOTE}"), reverse=True)  # ids are sorted by time
    for note_path in copies:
        descriptor = _locked(note_path)
        if descriptor is None:
            continue
        try:
            note = msgspec.json.decode(note_path.read_bytes(), type=_Note)
            path = note_path.with_name(note_path.name.removesuffix(_NOTE))
            if note.target == str(target) and path.exists():
                return LocalCopy(path, note, descriptor)
        except (OSError, msgspec.DecodeError):
            pass
        os.close(descriptor)
    return None


def _new_copy(target: Path) -> LocalCopy:
    local = _copies_folder() / f"{new_id()}.db"
    note_path, note = _note_of(local), _Note(str(target), _state(target))
    descriptor: int | None = None
    try:
        local.parent.mkdir(parents=True, exist_ok=True)
        private_file(note_path)
        descriptor = _locked(note_path)
        assert descriptor is not None, "no other process knows of it yet"
        # The log of a process that was killed holds what it committed last.
        for suffix in ("", "-wal"):
            if Path(f"{target}{suffix}").exists():
                private_file(Path(f"{local}{suffix}"))
                shutil.copyfile(f"{target}{suffix}", f"{local}{suffix}")
        # Last: a note without content is that of a copy which is not whole, and never resumed.
        note_path.write_bytes(msgspec.json.encode(note))
    except OSError as error:
        for path in (local, Path(f"{local}-wal"), note_path):
            with suppress(OSError):
                path.unlink()
        if descriptor is not None:
            os.close(descriptor)
        raise unusable(target, error) from error
    return LocalCopy(local, note, descriptor)


def _copies_folder() -> Path:
    from platformdirs import user_cache_path

    return user_cache_path("agentbench")


def _note_of(copy: Path) -> Path:
    return copy.with_name(copy.name + _NOTE)


def _locked(path: Path) -> int | None:
    """Return a descriptor that holds the lock of a note; None while another process does."""
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(descriptor)
        return None
    return descriptor


def _private(partial: Path, target: Path) -> Path:
    """Create a file with the permissions of the one that it will replace, else for its
    owner only.
    """
    private_file(partial)
    with suppress(OSError):
        partial.chmod(target.stat().st_mode & 0o777)
    return partial


def filesystem_of(path: Path) -> str | None:
    """Return the type of the file system that holds `path` (`ext4`, `nfs4`, …); None if unknown."""
    try:
        mounts = _MOUNTS.read_bytes()
    except OSError:
        return None
    resolved = path.absolute()
    best, kind = "", None
    for line in mounts.split(b"\n"):
        _, point, filesystem, *_ = map(os.fsdecode, (*line.split(b" "), b"", b"", b""))
        point = _ESCAPED.sub(lambda found: chr(int(found[1], 8)), point)
        if point and len(point) >= len(best) and resolved.is_relative_to(point):
            best, kind = point, filesystem
    return kind
