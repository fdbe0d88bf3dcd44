"""An internal child process with a line protocol, read synchronously."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from agentbench_tui.model.answer import AgentFailure, FailureKind
from agentbench_tui.process.child import Child, SpawnError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_LIMIT_S = 30.0
"""Time limit for starting, and for each answer."""
_EXIT_WAIT_S = 1.0


class LineChild:
    """A running child, read line by line. The owner closes its process."""

    def __init__(self, command: Sequence[str], environment: Mapping[str, str], name: str) -> None:
        """Start the child; failures call it `name`. Raises AgentFailure (`harness`)."""
        self._name = name
        self._said = b""
        self._heard = asyncio.Event()
        self._ended = False
        try:
            self.process = Child(
                command,
                environment=environment,
                watched=False,
                on_output=self._hear,
                on_end=self._end,
            )
        except SpawnError as error:
            raise AgentFailure(FailureKind.HARNESS, str(error)) from error

    async def line(self) -> bytes:
        """Return its next line. Raises AgentFailure (`harness`) if it has ended or is silent."""
        try:
            async with asyncio.timeout(_LIMIT_S):
                while b"\n" not in self._said and not self._ended:
                    self._heard.clear()
                    await self._heard.wait()
        except TimeoutError:
            detail = f"{self._name} sent nothing within {_LIMIT_S:g} s"
            raise AgentFailure(FailureKind.HARNESS, detail) from None
        line, end, self._said = self._said.partition(b"\n")
        if not end:
            # Its output is closed a moment before it is gone with an exit code.
            await self.process.exits_within(_EXIT_WAIT_S)
            raise AgentFailure(FailureKind.HARNESS, f"{self._name} {self.process.ending()}")
        return line

    def _hear(self, data: bytes) -> None:
        self._said += data
        self._heard.set()

    def _end(self) -> None:
        self._ended = True
        self._heard.set()
