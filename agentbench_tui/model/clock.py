"""The clocks of agentbench, unreachable for the code that it measures.

An agent or a scorer in our process may replace the functions of `time` and the class `datetime`, at
import or by a library for tests. Libraries that freeze time also replace every reference that a
loaded module holds. The functions here come from an instance of the module `time` of our own: they
are other objects, at the same cost. This module is imported before any code of the user's. Whatever
measures, or stores a time, reads these clocks.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import asyncio


def _own_time() -> Any:
    spec = importlib.util.find_spec("time")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


_own: Any = _own_time()

perf_counter: Callable[[], float] = _own.perf_counter
perf_counter_ns: Callable[[], int] = _own.perf_counter_ns
monotonic: Callable[[], float] = _own.monotonic
process_time: Callable[[], float] = _own.process_time
thread_time: Callable[[], float] = _own.thread_time
unix_time: Callable[[], float] = _own.time
"""Seconds since 1970, as `time.time`."""
unix_time_ns: Callable[[], int] = _own.time_ns


def utc_now() -> str:
    """Return the time as the store writes it: `2026-01-31T12:00:00.000Z`."""
    seconds, milliseconds = divmod(unix_time_ns() // 1_000_000, 1000)
    return f"{_own.strftime('%Y-%m-%dT%H:%M:%S', _own.gmtime(seconds))}.{milliseconds:03}Z"


def bind(loop: asyncio.AbstractEventLoop) -> None:
    """Make the timers of a loop, and so all deadlines, use agentbench's clock."""
    import asyncio

    if isinstance(loop, asyncio.BaseEventLoop):  # others read the system's clock themselves
        setattr(loop, "time", monotonic)  # noqa: B010  # a method, which is replaced here only
