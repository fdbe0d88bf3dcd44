"""Holds memory of this machine for the duration of a block, always leaving some free."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import TYPE_CHECKING, Self

import msgspec

from agentbench_tui.model.answer import AgentFailure, FailureKind
from agentbench_tui.process.child import Child, SpawnError
from agentbench_tui.process.environment import child_environment, python_module
from agentbench_tui.stress.faults.host_memory import BYTES_PER_MB, read_host_memory

if TYPE_CHECKING:
    from types import TracebackType

_LIMIT_S = 120.0
"""Time limit for the ballast process to start, and to take the requested memory."""
_EXIT_WAIT_S = 0.5


class Held(msgspec.Struct, frozen=True):
    """Current size of the ballast."""

    wanted_bytes: int
    held_bytes: int
    available_bytes: int
    """Memory of the machine that is left."""

    @property
    def held_mb(self) -> float:
        return self.held_bytes / BYTES_PER_MB

    @property
    def available_mb(self) -> float:
        return self.available_bytes / BYTES_PER_MB


_decode = msgspec.json.Decoder(Held).decode


class Ballast:
    """A process that holds memory; an async context manager that releases all of it at the end.

    It never leaves the machine less than 1 GiB, nor less than 15%: there it stops growing, and it
    lets go when others take what is left. The limit of our control group counts as the machine.
    """

    def __init__(self, floor_bytes: int | None = None) -> None:
        """`floor_bytes`: leave at least this much memory, if it exceeds the default."""
        self._floor_bytes = max(read_host_memory().floor_bytes, floor_bytes or 0)
        self._held: asyncio.Future[Held | None] | None = None
        self._wanted_bytes = 0
        self._buffer = b""
        self._turn = asyncio.Lock()
        self.now = Held(0, 0, 0)
        """Most recent report of the process."""

    @property
    def pid(self) -> int:
        """Process id."""
        return self._child.pid

    async def __aenter__(self) -> Self:
        """Start the process, without memory. Raises AgentFailure (`harness`)."""
        try:
            self._child = Child(
                python_module("agentbench_tui.stress.faults.ballast_process",
                str(self._floor_bytes)), environment=child_environment(),
                on_output=self._hear,
                on_end=self._end,
            )  # fmt: skip
        except SpawnError as error:
            raise AgentFailure(FailureKind.HARNESS, str(error)) from error
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await asyncio.shield(self._child.close())

    async def hold(self, megabytes: float) -> Held:
        """Grow or shrink to this many MB of 10^6 bytes.

        Returns the size reached, which is smaller if the machine has too little memory. Raises
        AgentFailure (`harness`) if the process is gone.
        """
        async with self._turn:
            self._held = asyncio.get_running_loop().create_future()
            wanted_bytes = round(megabytes * BYTES_PER_MB)
            self._wanted_bytes = wanted_bytes
            self._child.write(b"%d\n" % wanted_bytes)
            if self._child.exited.is_set():
                self._end()
            with suppress(TimeoutError):
                async with asyncio.timeout(_LIMIT_S):
                    held = await self._held
                    if held is not None:
                        return held
            # Its output is closed a moment before it is gone with an exit code.
            await self._child.exits_within(_EXIT_WAIT_S)
            raise AgentFailure(FailureKind.HARNESS, f"the ballast {self._child.ending()}")

    def _hear(self, data: bytes) -> None:
        *lines, self._buffer = (self._buffer + data).split(b"\n")
        for line in lines:
            self.now = _decode(line)
            # It also speaks when it had to let go of some of what it was told before.
            answers = self.now.wanted_bytes == self._wanted_bytes
            if answers and self._held is not None and not self._held.done():
                self._held.set_result(self.now)

    def _end(self) -> None:
        if self._held is not None and not self._held.done():
            self._held.set_result(None)
