"""Reads small files named by a person, if they are regular and small."""

from __future__ import annotations

import os
import stat
from typing import TYPE_CHECKING

from agentbench_tui.model.errors import UsageError
from agentbench_tui.model.text.utf8 import bad_byte_of

if TYPE_CHECKING:
    from pathlib import Path

MAX_BYTES = 1 << 20


def read_small_text(path: Path, what: str) -> str:
    """Return the text of a UTF-8 file of at most 1 MiB. `what` begins the UsageError otherwise.

    A pipe or a device, which may never end, is not read.
    """
    try:
        # Without waiting for the other end of a pipe.
        with os.fdopen(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                raise UsageError(f"{what} {path} cannot be read: it is not a regular file")
            content = file.read(MAX_BYTES + 1)
        if len(content) > MAX_BYTES:
            raise UsageError(f"{what} {path} cannot be read: it is larger than {MAX_BYTES:,} bytes")
        if (bad := bad_byte_of(content)) is not None:
            raise UsageError(f"{what} {path} cannot be read: it is {bad}")
        return content.decode("utf-8-sig")
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise UsageError(f"{what} {path} cannot be read: {reason.lower()}") from None
