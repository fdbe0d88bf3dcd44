"""Awaits user code in a task of its own, so that it cannot cancel the harness's task."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from typing import TypeVar

from agentbench_tui.model.breaking_off import BrokenOff, breakable
from agentbench_tui.model.process_exit import one_process

_Value = TypeVar("_Value")


async def in_own_task(value: Awaitable[_Value]) -> _Value:
    """Return the result of an awaitable of user code, awaited in a new task.

    User code can cancel the task that it runs in, as a timeout of its own does that fires too late.
    In the harness's task, that could not be distinguished from the end of a time limit or of the
    run, and the case would be lost. Here it is a CancelledError that `process_exit.passes` refuses.
    Canceling the caller cancels the new task.
    """
    result = await asyncio.create_task(_outcome(value))
    if isinstance(result, _Raised):
        raise result.error
    return result


class _Raised:
    def __init__(self, error: BaseException) -> None:
        self.error = error


@breakable
async def _outcome(value: Awaitable[_Value]) -> _Value | _Raised:
    """The result, or the exception: a task that raises KeyboardInterrupt or SystemExit would end
    the event loop.
    """
    try:
        with one_process():
            return await value
    except BrokenOff as error:
        return _Raised(error)
    except asyncio.CancelledError:
        raise
    except BaseException as error:  # noqa: BLE001 (the caller raises it)
        return _Raised(error)
