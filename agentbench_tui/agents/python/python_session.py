"""A session with a `python:` agent, in the process that calls it.

Imported where nothing large may be: in the process of an agent whose memory is limited, too.
"""

from __future__ import annotations

import asyncio
import functools
import inspect
from collections.abc import Callable
from typing import Any

from agentbench_tui.agents.python.daemon_pool import DaemonPool, PoolExhausted
from agentbench_tui.agents.python.python_source import Origin, TargetNotFound, describe, load
from agentbench_tui.agents.python.session_objects import awaited_on
from agentbench_tui.agents.reply import answer_of, failure_of
from agentbench_tui.model.answer import AgentFailure, Answer, FailureKind, Request
from agentbench_tui.model.breaking_off import breakable
from agentbench_tui.model.process_exit import in_one_process, one_process, passes
from agentbench_tui.model.user_task import in_own_task
from agentbench_tui.process.supervision import note_call


class PythonAgent:
    """Calls one function for each request."""

    pids: tuple[int, ...] = ()
    peak_memory_mb: float | None = None
    cpu_seconds: float | None = None

    def __init__(
        self,
        origin: Origin,
        *,
        inline: bool,
        concurrency: int,
        name: str = "python",
        loop: asyncio.AbstractEventLoop | None = None,
    ) -> None:
        self._name = name
        self._loop = loop
        """Event loop of the user's coroutines; None for the caller's loop."""
        self._origin = origin
        self._inline = inline
        self._concurrency = concurrency
        self._pool: DaemonPool | None = None
        self._session: Any = None
        self._answer: Callable[[Any], Any] | None = None
        self._is_async = False
        self._wants_request = False

    async def start(self) -> None:
        """Import the module, create the class and call its `start`. Raises AgentFailure."""
        self._pool = DaemonPool(self._concurrency, name=f"agent {self._origin.name}")
        try:
            found = await self._call(load, self._origin)
        except TargetNotFound as error:
            raise AgentFailure(FailureKind.AGENT, str(error)) from None
        if inspect.isclass(found):
            found = await self._guarded(found)
        method = getattr(found, "answer", None)
        if callable(method):
            self._session = found
            starter = getattr(found, "start", None)
            if callable(starter):
                await self._guarded(starter)
        function = method if callable(method) else found
        self._wants_request = _wants_request(function)
        self._is_async = _is_async(function)
        self._answer = function

    @breakable
    async def answer(self, request: Request) -> Answer:
        """Return the function's answer. An exception is a failure of kind `agent`."""
        function = self._answer
        assert function is not None
        given = request if self._wants_request else request.case.input
        note_call(f"agent {self._name}, case {request.case.id}")
        if not self._is_async:
            return self._read(await self._guarded(function, given))
        try:
            value = await in_own_task(awaited_on(self._loop, function(given)))
        except AgentFailure as failure:
            raise failure_of(failure) from None
        except BaseException as error:  # noqa: BLE001 (an agent's SystemExit is its failure)
            raise self._failure(error) from None
        return self._read(value)

    async def close(self) -> None:
        """Call the class's `close`; threads of abandoned calls end when their calls do."""
        closer = getattr(self._session, "close", None)
        self._session = None
        try:
            if callable(closer):
                await self._guarded(closer)
        finally:
            if self._pool is not None:
                self._pool.close()

    @breakable
    async def _guarded(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """Return the result of user code, awaited if necessary. Raises AgentFailure."""
        try:
            value = await self._call(function, *arguments)
            if not inspect.isawaitable(value):
                return value
            return await in_one_process(awaited_on(self._loop, value))
        except AgentFailure as failure:
            raise failure_of(failure) from None
        except BaseException as error:  # noqa: BLE001 (an agent's SystemExit is its failure)
            raise self._failure(error) from None

    def _read(self, value: Any) -> Answer:
        """Convert what the function returned. Methods of its own classes are user code, too."""
        try:
            with one_process():
                return answer_of(value)
        except AgentFailure:
            raise
        except BaseException as error:  # noqa: BLE001 (a method that raises SystemExit has failed)
            raise self._failure(error) from None

    async def _call(self, function: Callable[..., Any], *arguments: Any) -> Any:
        if self._inline or _is_async(function):
            with one_process():
                return function(*arguments)
        assert self._pool is not None
        try:
            return await self._pool.run(function, *arguments)
        except KeyboardInterrupt as error:  # no signal comes to its thread: it raised that itself
            raise AgentFailure(FailureKind.AGENT, describe(error)) from None

    def _failure(self, error: BaseException) -> BaseException:
        """Return the failure for an exception of user code."""
        if passes(error):
            return error
        if isinstance(error, PoolExhausted):
            return AgentFailure(FailureKind.AGENT, str(error))
        return AgentFailure(FailureKind.AGENT, describe(error))


def _is_async(function: Callable[..., Any]) -> bool:
    while isinstance(function, functools.partial):
        function = function.func
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(
        getattr(function, "__call__", None)  # noqa: B004 (the method itself is wanted)
    )


def _wants_request(function: Callable[..., Any]) -> bool:
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):  # built-in functions have no signature
        return False
    if not parameters:
        return False
    first = parameters[0]
    annotation = first.annotation
    words = annotation if isinstance(annotation, str) else getattr(annotation, "__name__", "")
    return first.name == "request" or annotation is Request or words.endswith("Request")
