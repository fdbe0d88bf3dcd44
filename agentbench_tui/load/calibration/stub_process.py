"""Stub servers in separate processes, for the duration of a calibration."""

from __future__ import annotations

import asyncio
import os
from typing import TYPE_CHECKING, Self, TypeVar

import msgspec

from agentbench_tui.load.calibration.stub import HOST
from agentbench_tui.process.environment import python_module
from agentbench_tui.process.line_child import LineChild

if TYPE_CHECKING:
    from types import TracebackType


class StubTruth(msgspec.Struct, frozen=True):
    """Measurements that a stub reports at its end."""

    requests: int
    """Answered since the last beginning."""
    service_p50_us: float | None
    """From knowing of a request to sending its answer."""
    service_p99_us: float | None


Said = TypeVar("Said", int, StubTruth)


class Stubs:
    """Running stubs; an async context manager that ends all of them."""

    def __init__(self, count: int, chunks: int | None) -> None:
        self._query = "" if chunks is None else f"?chunks={chunks}"
        self._count = count
        self._stubs: list[_Stub] = []
        self.urls: list[str] = []
        """URL of each stub."""

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

    def begin(self) -> None:
        """Restrict the reports to requests from now on."""
        for stub in self._stubs:
            stub.begin()

    async def end(self) -> list[StubTruth]:
        """Return the final report of each stub."""
        for stub in self._stubs:
            stub.end()
        return await asyncio.gather(*(stub.line(StubTruth) for stub in self._stubs))

    async def _close(self) -> None:
        await asyncio.gather(*(stub.close() for stub in self._stubs))


class _Stub:
    """One stub process, read line by line."""

    def __init__(self) -> None:
        """Start the stub. Raises AgentFailure."""
        command = python_module("agentbench_tui.load.calibration.stub")
        self._child = LineChild(command, os.environ, "the stub for calibration")

    async def line(self, kind: type[Said]) -> Said:
        """Return the next line, JSON of that kind. Raises AgentFailure if there is none."""
        return msgspec.json.decode(await self._child.line(), type=kind)

    def begin(self) -> None:
        """Reset the measurements."""
        self._child.process.write(b"\n")

    def end(self) -> None:
        """End the input, so that the stub writes its report."""
        self._child.process.write(b"", close=True)

    async def close(self) -> None:
        """End the stub in any state."""
        await self._child.process.close()
