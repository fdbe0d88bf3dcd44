"""Files that an agent's program must not open, and how to start the program so that it cannot.

These are the truth of a world, the world's file with its future, and the database, whose cases
contain the seed of both; also command lines of other processes. If the kernel has no Landlock,
there is no barrier, and the episode says so.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from agentbench_tui.process import sealed

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

OPEN = (
    "without Landlock (Linux 5.13) programs of agents can open whatever you can: the files of"
    " worlds, their truth, and the database"
)
"""Note on an episode that was played without a barrier."""
CLOSED = (
    "files of worlds, their truth and the database are closed to agents, and nothing can be made"
    " right in folders on the way to them"
)
"""Explanation for a program that is denied a file."""
_LOG = "-wal"
_DESCRIPTORS = Path("/proc/self/fd")


class Start(NamedTuple):
    """Command and environment that start a program."""

    command: Sequence[str]
    environment: Mapping[str, str]


@cache
def is_there() -> bool:
    """Return whether this machine can deny files to programs."""
    return sealed.version() > 0


@contextmanager
def barrier(
    command: Sequence[str], environment: Mapping[str, str], files: Sequence[Path]
) -> Iterator[Start]:
    """Return how to start the program so that it can open neither `files` nor the database.

    Nothing can be created directly in folders on the path to closed files. A program that would
    create its temporary files there gets a separate folder within this context.
    """
    if not is_there():
        yield Start(command, environment)
        return
    closed = [*map(str, files), *_databases()]
    script = [sys.executable, "-I", "-S", sealed.__file__, *closed, "--", *command]
    usual = environment.get("TMPDIR") or tempfile.gettempdir()
    if os.path.realpath(usual) not in sealed.folders_to(closed):
        yield Start(script, environment)
        return
    folder = tempfile.mkdtemp(prefix="agentbench-agent-", dir=usual)
    try:
        yield Start(script, {**environment, "TMPDIR": folder})
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _databases() -> Iterator[str]:
    """Return the SQLite files that this process has open, with the files next to them.

    They are recognized by their logs: opening and closing one would release all of this process's
    locks on it (POSIX), including the run's lock on its own database.
    """
    for descriptor in _DESCRIPTORS.iterdir():
        try:
            path = str(descriptor.readlink())
        except OSError:  # closed since it was listed
            continue
        if Path(f"{path}{_LOG}").exists():
            yield from (f"{path}{end}" for end in ("", _LOG, "-shm"))
