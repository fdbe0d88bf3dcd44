"""Threads for blocking agents: an abandoned call never delays the end of the program.

The standard library's pool waits for its threads at exit; an agent that hangs would hang
agentbench. These are daemon threads, and one that is stuck in a canceled call is replaced.
"""

from __future__ import annotations

import asyncio
import contextvars
import threading
from collections.abc import Callable
from queue import SimpleQueue
from typing import Any

from agentbench_tui.model.process_exit import one_process

_MOST_STUCK = 64
"""Number of abandoned calls that may still be running; beyond it, the pool accepts no more."""

_Outcome = tuple[Any, BaseException | None]
_Job = tuple[Callable[[], Any], asyncio.Future[_Outcome]]
_Inbox = SimpleQueue[_Job | None]


class PoolExhausted(Exception):
    """Too many abandoned calls are still running."""


class DaemonPool:
    """Runs at most `size` calls at once, each in a thread that is reused.

    Belongs to one event loop, where all its bookkeeping is done.
    """

    def __init__(self, size: int, name: str) -> None:
        self._places = asyncio.Semaphore(size)
        self._name = name
        self._free: list[_Inbox] = []
        self._stuck = 0
        self._closed = False

    async def run(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """Return the result of `function`, or raise its exception.

        Canceling abandons the thread. Raises PoolExhausted if 64 abandoned calls are still
        running.
        """
        if self._stuck >= _MOST_STUCK:
            raise PoolExhausted(f"{self._stuck} calls that were given up still run")
        async with self._places:
            context = contextvars.copy_context()
            future: asyncio.Future[_Outcome] = asyncio.get_running_loop().create_future()
            inbox = self._free.pop() if self._free else self._new_thread()
            inbox.put((lambda: context.run(function, *arguments), future))
            try:
                result, error = await future
            finally:
                if future.cancelled():
                    self._stuck += 1
        if error is not None:
            raise error
        return result

    def close(self) -> None:
        """End the threads; those in a call end after it."""
        self._closed = True
        for inbox in self._free:
            inbox.put(None)
        self._free.clear()

    def _new_thread(self) -> _Inbox:
        inbox: _Inbox = SimpleQueue()
        loop = asyncio.get_running_loop()
        threading.Thread(
            target=self._serve, args=(inbox, loop), name=self._name, daemon=True
        ).start()
        return inbox

    def _serve(self, inbox: _Inbox, loop: asyncio.AbstractEventLoop) -> None:
        while (job := inbox.get()) is not None:
            call, future = job
            outcome: _Outcome
            try:
                with one_process():
                    outcome = (call(), None)
            except BaseException as error:  # noqa: BLE001 (an agent's SystemExit is its failure)
                outcome = (None, error)
            try:
                loop.call_soon_threadsafe(self._hand_over, inbox, future, outcome)
            except RuntimeError:  # the loop is closed: nobody waits any more
                return

    def _hand_over(
        self, inbox: _Inbox, future: asyncio.Future[_Outcome], outcome: _Outcome
    ) -> None:
        # The outcome travels as a value: a future refuses StopIteration.
        if future.cancelled():
            self._stuck -= 1
            inbox.put(None)
            return
        future.set_result(outcome)
        if self._closed:
            inbox.put(None)
        else:
            self._free.append(inbox)
