"""Repairs the three standard streams before their first use.

The parent may have closed them, and a terminal may support only ASCII.
"""

from __future__ import annotations

import codecs
import errno
import fcntl
import io
import os
import sys
from contextlib import suppress
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

_PLAIN = {"–": "-", "─": "-", "×": "x", "·": "*", "…": "...", "±": "+-", "≥": ">=", "≤": "<="}
"""ASCII replacements for agentbench's symbols."""
_HANDLER = "agentbench-plain"
_STDERR = 2


def make_usable() -> None:
    """Open closed streams on the null device, and let every character be written in some form."""
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            # The lowest number is taken, so that no file of ours is ever a standard stream. A
            # closed output is opened for reading only: what is written to it fails, as it would
            # have, and a result that nobody gets is no success.
            os.open(os.devnull, os.O_RDONLY if number == 1 else os.O_RDWR)
    sys.stdin = sys.stdin or open(0, closefd=False)  # noqa: SIM115  # it lasts as long as we
    sys.stdout = sys.stdout or stream_on(1)
    sys.stderr = _forgiving(sys.stderr or stream_on(2))
    codecs.register_error(_HANDLER, _plain)
    for stream in (sys.stdout, sys.stderr):
        with suppress(AttributeError, ValueError):  # a stream of someone who calls us
            stream.reconfigure(errors=_HANDLER)  # type: ignore[union-attr]


class _MessagesFile(io.FileIO):
    """Standard error that drops messages which cannot be written.

    Progress and notes are no reason to measure nothing and to print no result. A reader that
    closed its pipe still ends the program, as it ends any other.
    """

    def write(self, data: ReadableBuffer, /) -> int:
        """Write the data, or point the descriptor at the null device for good."""
        try:
            return super().write(data)
        except BrokenPipeError:
            raise
        except OSError:
            null = os.open(os.devnull, os.O_WRONLY)
            os.dup2(null, self.fileno())
            os.close(null)
            return memoryview(data).nbytes


def _forgiving(stream: TextIO) -> TextIO:
    """Return the stream without errors for a full disk; a replaced stream is returned unchanged."""
    try:
        if stream.fileno() != _STDERR or not isinstance(stream, io.TextIOWrapper):
            return stream
    except (OSError, ValueError):
        return stream
    raw = _MessagesFile(_STDERR, "w", closefd=False)
    return io.TextIOWrapper(
        io.BufferedWriter(raw), stream.encoding, stream.errors, line_buffering=True
    )


def is_closed_output(error: OSError) -> bool:
    """Return whether a write failed because standard output was closed when the program started."""
    if error.errno != errno.EBADF:
        return False
    with suppress(OSError):
        return fcntl.fcntl(1, fcntl.F_GETFL) & os.O_ACCMODE == os.O_RDONLY
    return False


def discard_unwritable() -> None:
    """Flush both output streams, and point one that cannot be written at the null device.

    A failed write stays in the buffer. Python tries again at exit and, when that fails, replaces
    the exit code by 120.
    """
    for stream, number in ((sys.stdout, 1), (sys.stderr, 2)):
        try:
            stream.flush()
        except OSError:
            null = os.open(os.devnull, os.O_WRONLY)
            os.dup2(null, number)
            os.close(null)
            with suppress(OSError):
                stream.flush()
        except ValueError:  # closed: Python does not flush it at exit either
            pass


def stream_on(number: int) -> TextIO:
    """Return a text stream on a descriptor, which stays open when the stream is closed."""
    encoding = getattr(sys.stderr, "encoding", None) or "utf-8"
    return open(number, "w", 1, encoding, "backslashreplace", closefd=False)


def knows_all_characters(stream: TextIO) -> bool:
    """Return whether every character that JSON may contain can be written to the stream."""
    return codecs.lookup(getattr(stream, "encoding", None) or "utf-8").name.startswith("utf")


def _plain(error: UnicodeError) -> tuple[str | bytes, int]:
    assert isinstance(error, UnicodeEncodeError)
    replaced, end = codecs.backslashreplace_errors(error)
    part = error.object[error.start : error.end]
    if any(character in _PLAIN for character in part):
        replaced = "".join(
            _PLAIN.get(one) or one.encode("ascii", "backslashreplace").decode() for one in part
        )
    return replaced, end
