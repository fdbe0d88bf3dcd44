"""The practice server in a process of its own, for whoever needs one to talk to."""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path
from typing import Self

from agentbench_tui.agents.mock.options import MockOptions
from agentbench_tui.model.answer import AgentFailure, FailureKind
from agentbench_tui.process.child import Child, SpawnError
from agentbench_tui.process.environment import child_environment

_START_TIMEOUT_S = 30.0
_CLOSE_GRACE_S = 2.0
_EXIT_WAIT_S = 0.5


class MockServer:
    """A server that runs until `close`, or until this process ends.

    Use `async with await start_server(…) as server`, or close it yourself.
    """

    def __init__(self, url: str, child: Child) -> None:
        self.url = url
        """`http://127.0.0.1:PORT/v1`."""
        self.pid = child.pid
        self._child = child

    @property
    def peak_memory_mb(self) -> float | None:
        """Highest resident memory, in MB of 10^6 bytes; None before a reading."""
        return self._child.tree.peak_memory_mb

    @property
    def cpu_seconds(self) -> float:
        """User and system time so far."""
        return self._child.tree.cpu_seconds

    async def close(self) -> None:
        """End it; its files are written then. Safe to call again."""
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
) -> MockServer:
    """A server on a free port of 127.0.0.1, once it listens. Raises AgentFailure."""
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

    told = {
        "options": options.plain(),
        "truth": None if truth_file is None else str(truth_file),
        "requests_log": None if requests_log is None else str(requests_log),
    }
    command = [sys.executable, "-m", "agentbench_tui.agents.mock.serving", json.dumps(told)]
    try:
        child = Child(
            command,
            environment=child_environment(),
            memory_limit_mb=memory_limit_mb,
            on_output=take,
            on_end=end,
        )
    except SpawnError as error:
        raise AgentFailure(FailureKind.AGENT, str(error)) from error
    line = ""
    try:
        line = await asyncio.wait_for(first_line, _START_TIMEOUT_S)
        if not line:
            await child.exits_within(_EXIT_WAIT_S)
            raise AgentFailure(FailureKind.AGENT, f"the practice server {child.ending()}")
    except TimeoutError:
        raise AgentFailure(
            FailureKind.TIMEOUT, f"the practice server did not start in {_START_TIMEOUT_S:g} s"
        ) from None
    finally:
        if not line:
            await asyncio.shield(child.close())
    return MockServer(line.rpartition(" ")[2], child)
