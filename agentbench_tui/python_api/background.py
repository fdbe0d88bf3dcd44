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

TICK_S = 0.5
"""Seconds between two looks at how far a run is."""
_INTERRUPTS = 2
"""Interrupts that a run accepts: one to end after in-flight requests, one to end immediately."""


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

    @property
    def is_current(self) -> bool:
        """Whether the calling code runs on the loop."""
        return threading.current_thread() is self._thread

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


def wait_for(
    future: Future[Value], interrupts: Interrupts, tick: Callable[[], object] | None = None
) -> Value:
    """Wait for a run in this thread; `tick` is called every half second.

    An interrupt ends the run in order, and is raised again when it has ended; the second ends it at
    once, and a third is raised without waiting. So does what `tick` raises.
    """
    raised: BaseException | None = None
    while True:
        try:
            try:
                value = future.result(None if tick is None else TICK_S)
            except TimeoutError:
                if not future.done():
                    assert tick is not None
                    tick()
                    continue
                value = future.result()  # of the run itself, if it is an error
        except BaseException as error:  # raised when the run has ended
            if future.done() or interrupts.count >= _INTERRUPTS:
                if raised is None:
                    raise
                raise raised from None
            raised, tick = error, None
            interrupts.send()
            continue
        if raised is not None:
            raise raised
        return value


async def wait_for_async(
    future: Future[Value], interrupts: Interrupts, tick: Callable[[], object] | None = None
) -> Value:
    """Wait for a run on the caller's loop; `tick` is called every half second.

    Cancellation ends the run in order before it is raised; canceled again, the run is ended at
    once, and a third time is raised without waiting. So does what `tick` raises.
    """
    waiting = asyncio.wrap_future(future)
    raised: BaseException | None = None
    while not waiting.done():
        try:
            await asyncio.wait({waiting}, timeout=None if tick is None else TICK_S)
            if tick is not None and not waiting.done():
                tick()
        except BaseException as error:  # raised when the run has ended
            if interrupts.count >= _INTERRUPTS:
                raise
            raised, tick = raised or error, None
            interrupts.send()
    if raised is not None:
        waiting.exception()  # else it would be reported as never retrieved
        raise raised
    return waiting.result()
