"""Restricts tested code by an audit hook, and by Landlock if the kernel supports it.

Loaded by `program_child`, so it uses only the standard library.
"""

import os
import signal
import sys
from collections.abc import Callable

_DENIED = (
    "socket.",
    "subprocess.",
    "os.system",
    "os.exec",
    "os.fork",
    "os.posix_spawn",
    "os.spawn",
    "os.startfile",
    "os.kill",
    "pty.",
    "ctypes.",
    "signal.pthread_kill",
    "syslog.",
)
"""Audit events that are refused, by prefix: network, processes, native code."""
_CHANGES = {
    "os.chflags": ((0, None),),
    "os.chmod": ((0, 2),),
    "os.chown": ((0, 3),),
    "os.link": ((0, 2), (1, 3)),
    "os.mkdir": ((0, 2),),
    "os.remove": ((0, 1),),
    "os.removexattr": ((0, None),),
    "os.rename": ((0, 2), (1, 3)),
    "os.rmdir": ((0, 1),),
    "os.setxattr": ((0, None),),
    "os.symlink": ((0, None), (1, 2)),
    "os.truncate": ((0, None),),
    "os.utime": ((0, 3),),
    "shutil.rmtree": ((0, 1),),
}
"""Audit events that change files, refused outside the working folder: places of each path among
the arguments, and of the descriptor of the folder that it is relative to."""
_WRITES_UNSEEN = frozenset({"_dbm", "_gdbm", "_posixshmem", "readline"})
"""Modules that write files without an audit event. The standard library does without them."""
_SYSTEMS = frozenset({"x86_64", "aarch64", "riscv64", "ppc64le", "s390x"})
"""Machines on which the system calls of Landlock have the numbers below."""
_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_NO_NEW_PRIVILEGES = 38
_NATIVE = frozenset({"ctypes", "_ctypes"})
_WRITE_FILE, _TRUNCATE = 1 << 1, 1 << 14
_ANY_CHANGE = _WRITE_FILE | sum(1 << bit for bit in range(4, 13))
"""Landlock's rights to write, remove and create; to move and to truncate came later."""
_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND


def wall_in(folder: str) -> bool:
    """Make the kernel refuse this process changes outside `folder`, signals to others, TCP, and
    access to other processes (Landlock, Linux 5.13 and newer). Return False if unsupported.

    Audit events miss what native code does: SQLite's ATTACH, named pipes, TLS key logs.
    """
    if sys.platform != "linux" or os.uname().machine not in _SYSTEMS:
        return False
    try:
        import ctypes

        call = ctypes.CDLL(None, use_errno=True).syscall
        version = call(_CREATE_RULESET, None, ctypes.c_size_t(0), 1)
        if version < 1:
            return False
        changes = _ANY_CHANGE | (1 << 13 if version > 1 else 0) | (_TRUNCATE if version > 2 else 0)
        # Rights to files, to TCP and, scoped, to abstract sockets and signals.
        sets = [changes, *([3] if version > 3 else []), *([3] if version > 5 else [])]
        attributes = (ctypes.c_uint64 * len(sets))(*sets)
        size = ctypes.c_size_t(ctypes.sizeof(attributes))
        rules = call(_CREATE_RULESET, attributes, size, 0)
        is_walled = rules >= 0
        for path, rights in ((folder, changes), (os.devnull, changes & (_WRITE_FILE | _TRUNCATE))):
            place = os.open(path, os.O_PATH)
            rule = ctypes.create_string_buffer(
                rights.to_bytes(8, sys.byteorder) + place.to_bytes(4, sys.byteorder), 12
            )
            is_walled = is_walled and call(_ADD_RULE, rules, 1, rule, 0) == 0
            os.close(place)
        prctl = ctypes.CDLL(None).prctl
        is_walled = is_walled and prctl(_NO_NEW_PRIVILEGES, *map(ctypes.c_ulong, (1, 0, 0, 0))) == 0
        is_walled = is_walled and call(_RESTRICT_SELF, rules, 0) == 0
        if rules >= 0:
            os.close(rules)
    except (ImportError, OSError, AttributeError):
        return False
    else:
        return bool(is_walled)
    finally:
        # The tested code imports it again, which the guard refuses.
        for name in [name for name in sys.modules if name.partition(".")[0] in _NATIVE]:
            del sys.modules[name]


class Guard:
    """An audit hook that refuses network, processes, native code, changes outside a folder, and
    access to other processes. It works on every system, but sees only what Python reports.
    """

    def __init__(self, folder: str) -> None:
        """`folder` is an absolute path without symbolic links."""
        self._folder = folder
        self._own = f"/proc/{os.getpid()}"
        # Bound now, so that code which replaces these names in their modules changes nothing here.
        self._realpath = os.path.realpath
        self._readlink = os.readlink
        self._fsdecode = os.fsdecode
        self._knows_sqlite = False

    def __call__(self, event: str, arguments: tuple[object, ...]) -> None:
        """Raise PermissionError, or ImportError, for a refused operation."""
        if event == "open":
            self._check_open(arguments[0], arguments[2], None)
        elif event in _CHANGES:
            for path, folder in _CHANGES[event]:
                # Older versions of Python report no folder with some events.
                rest = () if folder is None else arguments[folder : folder + 1]
                self.check_change(event, arguments[path], *rest)
        elif event == "import" and arguments[0] in _WRITES_UNSEEN:
            raise ImportError(f"{arguments[0]} is not there for tested code")
        elif event == "sqlite3.connect":
            self._check_database(arguments[0])
        elif event == "import" and arguments[0] == "_sqlite3" and not self._knows_sqlite:
            self._knows_sqlite = True
            self._watch_databases()
        elif event.startswith(_DENIED):
            raise PermissionError(f"{event} is not allowed in tested code")

    def check_change(self, deed: str, path: object, folder: object = None) -> None:
        """Raise PermissionError unless the path is inside the working folder."""
        if not self._is_inside(self._place(path, folder)):
            raise PermissionError(f"{deed} is only allowed inside the working folder")

    def replace_calls(self) -> None:
        """Replace the functions of `os` that reach outside without an audit event that says so."""
        import posix

        def checked_open(
            path: object, flags: int, mode: int = 0o777, *, dir_fd: int | None = None
        ) -> int:
            if dir_fd is not None:
                self._check_open(path, flags, dir_fd)
            return call_open(path, flags, mode, dir_fd=dir_fd)  # type: ignore[arg-type]

        call_open = os.open
        replaced: dict[str, Callable[..., object]] = {"open": checked_open}
        for name in ("mkfifo", "mknod"):
            if hasattr(os, name):
                replaced[name] = self._checked(name, getattr(os, name))
        for name, function in replaced.items():
            os.supports_dir_fd.add(function)
            for module in (os, posix):
                setattr(module, name, function)
        for module in (signal, sys.modules["_signal"]):
            if hasattr(module, "pidfd_send_signal"):
                del module.pidfd_send_signal

    def _checked(self, name: str, call: Callable[..., object]) -> Callable[..., object]:
        def checked(path: object, *arguments: object, dir_fd: int | None = None) -> object:
            self.check_change(f"os.{name}", path, dir_fd)
            return call(path, *arguments, dir_fd=dir_fd)

        return checked

    def _check_open(self, path: object, flags: object, folder: object) -> None:
        if path is None or isinstance(path, int):  # a descriptor that is open already
            return
        place = self._place(path, folder)
        if isinstance(flags, int) and flags & _WRITING and not self._is_inside(place):
            raise PermissionError(f"may not write {path!r}: outside the working folder")
        if place is not None and place.startswith("/proc/"):
            owner = place.split("/")[2]
            # The environment of another process is among what its files say.
            if owner.isdigit() and not f"{place}/".startswith(f"{self._own}/"):
                raise PermissionError(f"may not read {path!r}: it is of another process")

    def _check_database(self, name: object) -> None:
        if not isinstance(name, str | bytes | os.PathLike):
            return
        text = self._fsdecode(name)
        if text.startswith("file:"):
            text = text[5:].partition("?")[0].partition("#")[0]
            # Of a URI with a host or with escapes, nothing is known.
            if text.startswith("//") or "%" in text:
                raise PermissionError("such a name of a database is not allowed in tested code")
        if text not in {"", ":memory:"}:
            self.check_change("sqlite3.connect", text)

    def _watch_databases(self) -> None:
        """Make each connection check files that it attaches.

        Called before `_sqlite3` is imported, which few programs do and which takes time.
        """
        import _sqlite3

        connect: Callable[..., _sqlite3.Connection] = _sqlite3.connect

        def watched(*arguments: object, **options: object) -> object:
            connection = connect(*arguments, **options)
            connection.set_authorizer(self._authorize)
            return connection

        vars(_sqlite3)["connect"] = watched

    def _authorize(self, action: int, name: str | None, *_others: object) -> int:
        if action == 24 and name is not None:  # ATTACH, also by VACUUM INTO
            self._check_database(name)
        return 0

    def _place(self, path: object, folder: object) -> str | None:
        """Return the target of a path; None if unknown."""
        if isinstance(path, int):
            return self._of_descriptor(path)
        text = self._fsdecode(path)  # type: ignore[arg-type]
        if isinstance(folder, int) and folder >= 0 and not text.startswith("/"):
            base = self._of_descriptor(folder)
            return None if base is None else self._realpath(f"{base}/{text}")
        return self._realpath(text)

    def _of_descriptor(self, number: int) -> str | None:
        try:
            return self._readlink(f"/proc/self/fd/{number}")
        except OSError:
            return None

    def _is_inside(self, place: str | None) -> bool:
        return place is not None and (
            place in {self._folder, os.devnull} or place.startswith((f"{self._folder}/", "/memfd:"))
        )
