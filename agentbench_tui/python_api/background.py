"""The thread with an event loop in which runs that Python code starts are carried out.

A notebook's own loop runs already, and one loop cannot run inside another. There is one such loop
for the process, which stays: HTTP clients that an async agent keeps open from one run to the next
belong to the loop that they were first used on.
"""

from __future__ import annotations

import asyncio
import atexit
import os
import signal
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import Future
from contextlib import AbstractContextManager, nullcontext
from typing import Any, TypeVar

from agentbench_tui.process.event_loop import SharedLoop

Value = TypeVar("Value")

_INTERRUPTS = 2
"""Interrupts that a run takes: one to end after what is in flight, one to end at once."""


class LoopThread:
    """A daemon thread that runs an event loop until it is closed."""

    def __init__(self) -> None:
        self.process = os.getpid()
        self._ready = threading.Event()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._end: asyncio.Event | None = None
        self._thread = threading.Thread(target=self._run, name="agentbench", daemon=True)
        self._thread.start()
        self._ready.wait()

    def submit(self, work: Coroutine[Any, Any, Value]) -> Future[Value]:
        """Begin the work on the loop."""
        assert self._loop is not None
        return asyncio.run_coroutine_threadsafe(work, self._loop)

    def close(self) -> None:
        """End the loop and wait for its thread."""
        if self.process == os.getpid() and self._loop is not None and self._end is not None:
            self._loop.call_soon_threadsafe(self._end.set)
            self._thread.join()

    def _run(self) -> None:
        with asyncio.Runner(loop_factory=SharedLoop) as runner:
            runner.run(self._until_closed())

    async def _until_closed(self) -> None:
        self._loop, self._end = asyncio.get_running_loop(), asyncio.Event()
        self._ready.set()
        await self._end.wait()


class Interrupts:
    """Ends a run from another thread, as Ctrl-C ends one of the command line."""

    def __init__(self) -> None:
        self.count = 0
        self._lock = threading.Lock()
        self._heard: Callable[[], object] | None = None

    def listen(self, heard: Callable[[int], None]) -> AbstractContextManager[object]:
        """Receive interrupts on the running loop; those that came before are received now."""
        loop = asyncio.get_running_loop()
        with self._lock:
            self._heard = lambda: loop.call_soon_threadsafe(heard, signal.SIGINT)
            for _ in range(self.count):
                self._heard()
        return nullcontext()

    def send(self) -> None:
        """Let in-flight requests finish and end the run; when sent again, end it at once."""
        with self._lock:
            self.count += 1
            if self._heard is not None and self.count <= _INTERRUPTS:
                self._heard()


_lock = threading.Lock()
_thread: list[LoopThread] = []
"""The thread of this process; none before the first run."""


def loop_thread() -> LoopThread:
    """Return the thread of this process, which is started when it is first needed."""
    with _lock:
        if not _thread or _thread[-1].process != os.getpid():  # threads do not survive a fork
            _thread[:] = [LoopThread()]
        return _thread[-1]


def close_loop_thread() -> None:
    """End the thread; the next run starts another."""
    with _lock:
        while _thread:
            _thread.pop().close()


atexit.register(close_loop_thread)


def wait_for(future: Future[Value], interrupts: Interrupts) -> Value:
    """Wait for a run in this thread.

    An interrupt ends the run in order, and is raised again when it has ended; the second ends it at
    once, and a third is raised without waiting.
    """
    interrupted: KeyboardInterrupt | None = None
    while True:
        try:
            value = future.result()
        except KeyboardInterrupt as interrupt:
            if interrupts.count >= _INTERRUPTS or future.done():
                raise
            interrupted = interrupt
            interrupts.send()
            continue
        if interrupted is not None:
            raise interrupted
        return value


async def wait_for_async(future: Future[Value], interrupts: Interrupts) -> Value:
    """Wait for a run on the caller's loop. Cancellation ends the run in order before it is raised;
    cancelled again, the run is ended at once."""
    waiting = asyncio.wrap_future(future)
    cancelled: asyncio.CancelledError | None = None
    while True:
        try:
            value = await asyncio.shield(waiting)
        except asyncio.CancelledError as error:
            if waiting.done():
                raise
            cancelled = error
            interrupts.send()
            continue
        if cancelled is not None:
            raise cancelled
        return value
