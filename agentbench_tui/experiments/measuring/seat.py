"""Runs a variant while it is measured: in a thread of this process, or in a fresh process.

A thread costs nothing to start and shares what the process has (imports, caches, memory). A fresh
process has none of what came before, so that repeats differ by all that makes processes differ
(layout of memory, hash seeds): slower, and the honest unit for verdicts on speed.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, Protocol, TypeVar

import msgspec

from agentbench_tui.agents.python.daemon_pool import DaemonPool
from agentbench_tui.agents.python.python_source import describe
from agentbench_tui.experiments.measuring.bench import Bench
from agentbench_tui.experiments.measuring.order import (
    Instrument,
    Opened,
    Order,
    Profiled,
    Reading,
    Warmed,
)
from agentbench_tui.model.answer import AgentFailure, FailureKind
from agentbench_tui.process.environment import python_module
from agentbench_tui.process.supervision import note_call
from agentbench_tui.process.worker import JsonLinesWorker

COMMAND = tuple(python_module("agentbench_tui.experiments.measuring.child"))
T = TypeVar("T")


class Seat(Protocol):
    """One variant in one repeat. Raises AgentFailure if its process is gone or too late."""

    async def open(self) -> Opened: ...
    async def warm_up(self, calls: int) -> Warmed: ...
    async def iterate(self, index: int) -> Reading: ...
    async def profile(self, instrument: Instrument) -> Profiled: ...
    async def close(self) -> str | None:
        """Tear down; return the error, if any."""
        ...

    async def end(self) -> None:
        """Release its thread, or kill its process; always completes."""
        ...

    @property
    def is_gone(self) -> bool:
        """Return whether it can no longer be called, until it is opened again."""
        ...

    @property
    def pids(self) -> tuple[int, ...]: ...

    @property
    def peak_memory_mb(self) -> float | None: ...


class ThreadSeat:
    """Runs in a separate thread of this process; it cannot be stopped during a call."""

    def __init__(self, order: Order) -> None:
        self._order = order
        self._bench = Bench(order)
        self._pool = DaemonPool(1, f"experiment {order.variant}")

    async def open(self) -> Opened:
        self._note("set-up")
        opened: Opened = await self._pool.run(self._bench.open)
        return opened

    async def warm_up(self, calls: int) -> Warmed:
        self._note("warm-up")
        warmed: Warmed = await self._pool.run(self._bench.warm_up, calls)
        return warmed

    async def iterate(self, index: int) -> Reading:
        self._note(f"iteration {index}")
        reading: Reading = await self._pool.run(self._bench.iterate, index)
        return reading

    async def profile(self, instrument: Instrument) -> Profiled:
        self._note(f"profiling by {instrument.name}")
        profiled: Profiled = await self._pool.run(self._bench.profile, instrument)
        return profiled

    async def close(self) -> str | None:
        self._note("tear-down")
        error: str | None = await self._pool.run(self._bench.close)
        return error

    def _note(self, step: str) -> None:
        note_call(f"experiment {self._order.slug}, {self._order.variant}, {step}")

    async def end(self) -> None:
        self._pool.close()

    @property
    def is_gone(self) -> bool:
        return False

    @property
    def pids(self) -> tuple[int, ...]:
        return ()

    @property
    def peak_memory_mb(self) -> float | None:
        return None


class ProcessSeat:
    """Runs in a new process, which is killed with its descendants when it is too late."""

    def __init__(self, order: Order, time_limit_s: float | None = None) -> None:
        self._order = order
        self._limit_s = time_limit_s
        self._worker = JsonLinesWorker(COMMAND, environment=_environment())
        self._is_gone = True

    async def open(self) -> Opened:
        self._is_gone = False
        return await self._ask("open", msgspec.to_builtins(self._order), Opened)

    async def warm_up(self, calls: int) -> Warmed:
        # One more, by which it is found how many make an iteration.
        limit_s = None if self._limit_s is None else (calls + 1) * self._limit_s
        return await self._ask("warm_up", calls, Warmed, limit_s)

    async def iterate(self, index: int) -> Reading:
        return await self._ask("iterate", index, Reading, self._limit_s)

    async def profile(self, instrument: Instrument) -> Profiled:
        return await self._ask("profile", msgspec.to_builtins(instrument), Profiled)

    async def close(self) -> str | None:
        try:
            if self.is_gone:  # with all that it had
                return None
            return await self._ask("close", None, str | None)  # type: ignore[arg-type]
        except AgentFailure as failure:
            return describe(failure)

    async def end(self) -> None:
        await self._worker.close()

    async def _ask(
        self, method: str, argument: Any, answer: type[T], limit_s: float | None = None
    ) -> T:
        if method != "open" and self.is_gone:
            raise AgentFailure(FailureKind.AGENT, "its process has ended")
        try:
            reply = await self._worker.call({"method": method, "argument": argument}, limit_s)
        except BaseException:  # killed, also where it was given up
            self._is_gone = True
            raise
        return msgspec.convert(reply["answer"], answer)

    @property
    def is_gone(self) -> bool:
        return self._is_gone or self._worker.pid is None

    @property
    def pids(self) -> tuple[int, ...]:
        return () if self._worker.pid is None else (self._worker.pid,)

    @property
    def peak_memory_mb(self) -> float | None:
        return self._worker.peak_memory_mb


def _environment() -> dict[str, str]:
    """Return this process's environment, since the measured code may need it, with the path of
    this package.
    """
    package_root = str(Path(__file__).resolve().parents[3])
    paths = filter(None, [package_root, os.environ.get("PYTHONPATH")])
    return {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}
