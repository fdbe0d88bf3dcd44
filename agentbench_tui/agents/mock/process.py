"""The practice server in a separate process."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Self
from urllib.parse import urlsplit

from agentbench_tui.agents.mock.options import MockOptions
from agentbench_tui.model.answer import AgentFailure, FailureKind
from agentbench_tui.process.child import Child, SpawnError
from agentbench_tui.process.environment import child_environment, python_module

_START_TIMEOUT_S = 30.0
_CLOSE_GRACE_S = 2.0
_EXIT_WAIT_S = 0.5


class MockServer:
    """A server that runs until `close`, or until its parent process ends.

    Use `async with await start_server(…) as server`, or close it yourself.
    """

    def __init__(
        self,
        options: MockOptions,
        truth_file: Path | None,
        requests_log: Path | None,
        memory_limit_mb: float | None,
        *,
        keeps_truth: bool = True,
    ) -> None:
        """Use `start_server` for a server that listens."""
        self._told = {
            "options": options.plain(),
            "truth": None if truth_file is None else str(truth_file),
            "requests_log": None if requests_log is None else str(requests_log),
            "keeps_truth": keeps_truth,
        }
        self._memory_limit_mb = memory_limit_mb
        self._port = 0
        self._ended_cpu_s = 0.0
        self._ended_peak_mb: float | None = None

    @property
    def url(self) -> str:
        """Return `http://127.0.0.1:PORT/v1`."""
        return f"http://127.0.0.1:{self._port}/v1"

    @property
    def pid(self) -> int:
        """Return the process id, which changes with `restart`."""
        return self._child.pid

    @property
    def pids(self) -> tuple[int, ...]:
        """Return the process while it runs."""
        return () if self._child.exited.is_set() else (self._child.pid,)

    @property
    def peak_memory_mb(self) -> float | None:
        """Return the peak resident memory in MB of 10^6 bytes; None before a reading."""
        peaks = (self._child.tree.peak_memory_mb, self._ended_peak_mb)
        return max((peak for peak in peaks if peak is not None), default=None)

    @property
    def cpu_seconds(self) -> float:
        """Return user and system CPU time so far."""
        return self._ended_cpu_s + self._child.tree.cpu_seconds

    @property
    def over_limit(self) -> str | None:
        """Return `used X MB of Y MB` after it was killed for its memory; None again after
        `restart`.
        """
        return self._child.tree.over_limit

    def limit_memory(self, memory_limit_mb: float | None) -> None:
        """Set or remove the limit, now and for later starts."""
        self._memory_limit_mb = memory_limit_mb
        self._child.tree.memory_limit_mb = memory_limit_mb

    async def kill(self) -> None:
        """Send SIGKILL, like a crash; return when it is gone. Its files are not written."""
        await self._child.tree.kill()
        await self._child.exits_within(_CLOSE_GRACE_S)

    async def restart(self) -> None:
        """Restart it on the same port, once it is gone. Raises AgentFailure."""
        await self.close()
        self._ended_cpu_s = self.cpu_seconds
        self._ended_peak_mb = self.peak_memory_mb
        await self.start()

    async def start(self) -> None:
        """Start it; called once, by `start_server`. Raises AgentFailure."""
        first_line: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        output = bytearray()

        def take(data: bytes) -> None:
            output.extend(data)
            line, newline, _ = output.partition(b"\n")
            if newline and not first_line.done():
                first_line.set_result(line.decode())

        def end() -> None:
            if not first_line.done():
                first_line.set_result("")

        told = json.dumps({**self._told, "port": self._port})
        try:
            self._child = Child(
                python_module("agentbench_tui.agents.mock.serving", told),
                environment=child_environment(),
                memory_limit_mb=self._memory_limit_mb,
                on_output=take,
                on_end=end,
            )
        except SpawnError as error:
            raise AgentFailure(FailureKind.AGENT, str(error)) from error
        line = ""
        try:
            line = await asyncio.wait_for(first_line, _START_TIMEOUT_S)
            if not line:
                await self._child.exits_within(_EXIT_WAIT_S)
                raise AgentFailure(FailureKind.AGENT, f"the practice server {self._child.ending()}")
        except TimeoutError:
            raise AgentFailure(
                FailureKind.TIMEOUT, f"the practice server did not start in {_START_TIMEOUT_S:g} s"
            ) from None
        finally:
            if not line:
                await asyncio.shield(self._child.close())
        self._port = urlsplit(line.rpartition(" ")[2]).port or 0

    async def close(self) -> None:
        """End it and write its files. Idempotent."""
        await self._child.close(_CLOSE_GRACE_S)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()


async def start_server(
    options: MockOptions,
    *,
    truth_file: Path | None = None,
    requests_log: Path | None = None,
    memory_limit_mb: float | None = None,
    keeps_truth: bool = True,
) -> MockServer:
    """Return a server on a free port of 127.0.0.1 once it listens. Raises AgentFailure.

    Without `keeps_truth` it remembers no request that is over, and neither file has any.
    """
    server = MockServer(options, truth_file, requests_log, memory_limit_mb, keeps_truth=keeps_truth)
    await server.start()
    return server
