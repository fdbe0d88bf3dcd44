"""Starts a program that cannot open certain files, by Linux' Landlock (5.13 and later).

`python sealed.py CLOSED… -- COMMAND` gives up the right to open the files CLOSED, and to look into
other processes by /proc, for good and for all descendants, and becomes COMMAND. Landlock knows what
is allowed alone, by hierarchies of files: so everything is but the closed files and the folders on
the way to them. Of these folders, files and folders that are there stay open; nothing can be made
or removed right in them. Tracing processes outside, /proc/PID/mem and /proc/PID/environ among it,
is refused by the kernel as well.

It runs as a script of its own and imports only the standard library, so that it costs some 20 ms;
nothing of it happens between fork and exec, where a program with threads must not do such things.
"""

from __future__ import annotations

import ctypes
import os
import stat
import struct
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

CANNOT_START = 127
"""Exit code if the program cannot be started, as in shells."""
_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_VERSION = 1
_PATH_BENEATH = 1
_NO_NEW_PRIVS = 38
_WRITE_FILE, _READ_FILE = 1 << 1, 1 << 2
_REMOVE_DIR, _REMOVE_FILE = 1 << 4, 1 << 5
_MAKE_DIR, _MAKE_REG, _MAKE_SYM = 1 << 7, 1 << 8, 1 << 12
_REFER, _TRUNCATE = 1 << 13, 1 << 14
_OF_FILES = _WRITE_FILE | _READ_FILE | _TRUNCATE
_FIRST = _WRITE_FILE | _READ_FILE | _REMOVE_DIR | _REMOVE_FILE | _MAKE_DIR | _MAKE_REG | _MAKE_SYM
_SINCE = ((2, _REFER), (3, _TRUNCATE))
"""Rights by the version that introduced them.

Moving a file to a less restricted place is never allowed.
"""
_PROC = "/proc"


def version() -> int:
    """Return Landlock's version; 0 if unavailable."""
    if sys.platform != "linux":
        return 0
    return max(0, _call(_CREATE_RULESET, None, 0, _VERSION))


def seal(closed: Iterable[str]) -> None:
    """Give up the right to open these files permanently. Raises OSError if that is impossible."""
    known = version()
    if not known:
        raise OSError("no Landlock")
    rights = _FIRST
    for since, right in _SINCE:
        rights |= right if known >= since else 0
    rules = _checked(_call(_CREATE_RULESET, struct.pack("=Q", rights), 8, 0))
    try:
        for path in open_paths(closed):
            _allow(rules, path, rights)
        _checked(ctypes.CDLL(None).prctl(_NO_NEW_PRIVS, 1, 0, 0, 0))
        _checked(_call(_RESTRICT_SELF, rules, 0))
    finally:
        os.close(rules)


def folders_to(closed: Iterable[str]) -> set[str]:
    """Return the folders on the path to these files, in which nothing can be created."""
    return {str(above) for path in closed for above in Path(path).resolve().parents}


def open_paths(closed: Iterable[str]) -> Iterator[str]:
    """Yield the hierarchies that together contain everything but the closed files and other
    processes.
    """
    barred = {str(Path(path).resolve()) for path in closed}
    folders = folders_to(barred) | {"/", _PROC}
    for folder in folders:
        try:
            entries = [*os.scandir(folder)]
        except OSError:  # it may not be looked into
            continue
        for entry in entries:
            # What a link leads to has a path of its own.
            if entry.path in folders or entry.path in barred or entry.is_symlink():
                continue
            if folder != _PROC or not entry.name.isdigit() or int(entry.name) == os.getpid():
                yield entry.path


def _allow(rules: int, path: str, rights: int) -> None:
    try:
        handle = os.open(path, os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError:  # gone since it was listed, or not ours to look at
        return
    try:
        mode = os.fstat(handle).st_mode
        if not stat.S_ISLNK(mode):
            given = rights if stat.S_ISDIR(mode) else rights & _OF_FILES
            # Refused for files that are no part of any hierarchy, such as sockets of the kernel.
            _call(_ADD_RULE, rules, _PATH_BENEATH, struct.pack("=Qi", given, handle), 0)
    finally:
        os.close(handle)


def _call(number: int, *arguments: int | bytes | None) -> int:
    library = ctypes.CDLL(None, use_errno=True)
    library.syscall.restype = ctypes.c_long
    given = [ctypes.c_long(one) if isinstance(one, int) else one for one in arguments]
    return int(library.syscall(ctypes.c_long(number), *given))


def _checked(result: int) -> int:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return result


def main(arguments: list[str]) -> int:
    """Restrict this process, and replace it by the program; returns only on failure."""
    end = arguments.index("--")
    closed, command = arguments[:end], arguments[end + 1 :]
    try:
        seal(closed)
        os.execvp(command[0], command)  # noqa: S606 (no shell is wanted)
    except OSError as error:
        sys.stderr.write(f"cannot start `{command[0]}`: {error.strerror or error}\n")
    return CANNOT_START


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
