"""The event loop that user code runs on but cannot stop."""

from __future__ import annotations

import asyncio
import sys
from asyncio import base_events
from collections.abc import Coroutine
from types import CodeType
from typing import Any, TypeVar

from agentbench_tui.model.interpreter_state import restore

_Value = TypeVar("_Value")
_ENDS_A_RUN: CodeType = base_events._run_until_complete_cb.__code__  # type: ignore[attr-defined]
"""Function that stops a loop once its work is done."""


class SharedLoop(asyncio.SelectorEventLoop):
    """asyncio's loop, shared with user code."""

    def stop(self) -> None:
        """Stop the loop at the end of its work. Raises RuntimeError for any other caller, because
        all agents and cases would be abandoned.
        """
        if sys._getframe(1).f_code is not _ENDS_A_RUN:
            raise RuntimeError("the event loop is shared with agentbench, and cannot be stopped")
        super().stop()

    def call_exception_handler(self, context: dict[str, Any]) -> None:
        """Report an error that nothing awaits, but not one that broken built-in functions caused:
        what the command prints at its end names them.
        """
        if not restore():
            super().call_exception_handler(context)


def run_shared(work: Coroutine[Any, Any, _Value]) -> _Value:
    """Do what `asyncio.run` does, on a `SharedLoop`."""
    with asyncio.Runner(loop_factory=SharedLoop) as runner:
        try:
            return runner.run(work)
        except BaseException:
            restore()  # before all tasks are canceled, for which asyncio uses built-in functions
            raise
