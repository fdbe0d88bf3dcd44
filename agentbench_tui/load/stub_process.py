"""Stub servers in processes of their own, for as long as a calibration takes."""

from __future__ import annotations

import asyncio
import os
import sys
from contextlib import suppress
from typing import TYPE_CHECKING, Self, TypeVar

import msgspec

from agentbench_tui.load.stub import HOST, StubTruth
from agentbench_tui.model.answer import AgentFailure, FailureKind
from agentbench_tui.process.child import Child, SpawnError

if TYPE_CHECKING:
    from types import TracebackType

_LIMIT_S = 30.0
"""How long a stub may take to start, and to end."""
_EXIT_WAIT_S = 1.0

Said = TypeVar("Said", int, StubTruth)


class Stubs:
    """Running stubs; an async context manager that leaves none behind."""

    def __init__(self, count: int, chunks: int | None) -> None:
        self._query = "" if chunks is None else f"?chunks={chunks}"
        self._count = count
        self._stubs: list[_Stub] = []
        self.urls: list[str] = []
        """Where each answers."""

    async def __aenter__(self) -> Self:
        try:
            self._stubs.extend(_Stub() for _ in range(self._count))
            ports = await asyncio.gather(*(stub.line(int) for stub in self._stubs))
        except BaseException:
            await self._close()
            raise
        self.urls = [f"http://{HOST}:{port}/v1/chat/completions{self._query}" for port in ports]
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self._close()

    async def end(self) -> list[StubTruth]:
        """What each says at its end."""
        for stub in self._stubs:
            stub.end()
        return await asyncio.gather(*(stub.line(StubTruth) for stub in self._stubs))

    async def _close(self) -> None:
        await asyncio.gather(*(stub.close() for stub in self._stubs))


class _Stub:
    """One stub process, heard line by line."""

    def __init__(self) -> None:
        """Start it. Raises AgentFailure."""
        self._said = b""
        self._heard = asyncio.Event()
        self._ended = False
        try:
            self._child = Child(
                [sys.executable, "-m", "agentbench_tui.load.stub"],
                environment=os.environ,
                on_output=self._hear,
                on_end=self._end,
            )
        except SpawnError as error:
            raise AgentFailure(FailureKind.HARNESS, str(error)) from error

    async def line(self, kind: type[Said]) -> Said:
        """Its next line, JSON of that kind. Raises AgentFailure when there is none."""
        with suppress(TimeoutError):
            async with asyncio.timeout(_LIMIT_S):
                while b"\n" not in self._said and not self._ended:
                    self._heard.clear()
                    await self._heard.wait()
        line, end, self._said = self._said.partition(b"\n")
        if not end:
            # Its output is closed a moment before it is gone with an exit code.
            await self._child.exits_within(_EXIT_WAIT_S)
            raise AgentFailure(
                FailureKind.HARNESS, f"the stub for calibration {self._child.ending()}"
            )
        return msgspec.json.decode(line, type=kind)

    def end(self) -> None:
        """End its input, so that it says its last line."""
        self._child.write(b"", close=True)

    async def close(self) -> None:
        """End it, whatever it does."""
        await self._child.close()

    def _hear(self, data: bytes) -> None:
        self._said += data
        self._heard.set()

    def _end(self) -> None:
        self._ended = True
        self._heard.set()
