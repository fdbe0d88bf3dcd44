"""Memory that the C library keeps after it was freed: returned to the system where glibc can.

A server that computes in threads and then waits would otherwise hold the most that it ever needed.
"""

from __future__ import annotations

import ctypes
from contextlib import suppress
from functools import cache
from typing import Any

_ARENA_MAX = -8
"""`M_ARENA_MAX` of glibc's malloc.h."""


@cache
def _library() -> Any:
    return ctypes.CDLL(None)


def share_one_arena() -> None:
    """Let all threads that start from now on allocate from one pool of memory.

    Threads that hold Python's lock take turns anyway. Nothing happens on other C libraries.
    """
    with suppress(AttributeError, OSError, TypeError):
        _library().mallopt(_ARENA_MAX, 1)


def return_freed_memory() -> None:
    """Return freed memory to the system. Nothing happens on other C libraries."""
    with suppress(AttributeError, OSError, TypeError):
        _library().malloc_trim(0)
