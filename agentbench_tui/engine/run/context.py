"""State that the kinds of benchmarks share during a run."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Protocol

import msgspec

from agentbench_tui.engine.run.stopping import Budget, Progress

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable
    from pathlib import Path

    from agentbench_tui.engine.run.plan import Plan
    from agentbench_tui.scoring.prices import PriceTable
    from agentbench_tui.store.writer import Writer


class Ongoing(Protocol):
    """A running execution with an open session, for the live view, the gauges and control
    requests.
    """

    @property
    def pids(self) -> tuple[int, ...]:
        """Root processes of the agent's session."""

    def state(self) -> dict[str, Any]:
        """Return the content of its live row."""

    def resize(self, most_in_flight: int) -> str | None:
        """Change the concurrency on a control request; return why that is impossible, or None."""

    def set_rate(self, factor: float) -> str | None:
        """Change the rate, as a multiple of the plan's, on a control request; return why that is
        impossible, or None.
        """

    def pause(self) -> str | None:
        """Pause on a control request; return why that is impossible, or None."""

    def cancel(self, case_id: str) -> int:
        """Cancel a case on a control request; return how many observations that ended."""


class StopSignal:
    """Whether the run should end, and how quickly."""

    def __init__(self) -> None:
        self._requested = asyncio.Event()
        self.reason: str | None = None
        self.interrupted = False
        """True when a person or the system stopped the run, so that it is not `complete`."""

    def request(self, reason: str, *, interrupted: bool = False) -> None:
        """Start nothing new and let in-flight requests finish. The first reason is kept."""
        if self.reason is None:
            self.reason = reason
        self.interrupted = self.interrupted or interrupted
        self._requested.set()

    @property
    def is_set(self) -> bool:
        return self.reason is not None

    async def wait(self) -> None:
        """Until the run is to end."""
        await self._requested.wait()

    async def sleep(self, seconds: float) -> None:
        """Sleep so long, or until the run is to end."""
        with suppress(TimeoutError):
            await asyncio.wait_for(self._requested.wait(), seconds)


class RunContext(msgspec.Struct):
    """One run: its database, its budget, and whether it should continue."""

    plan: Plan
    writer: Writer
    database: Path
    reader: sqlite3.Connection
    """Reads the database, in the event loop."""
    run_key: int
    execution_keys: dict[str, int]
    """Execution id → key in the store."""
    dataset_keys: dict[str, int]
    """Execution id → key of the dataset in the store, for task benchmarks."""
    budget: Budget
    prices: PriceTable
    clock_start_ns: int
    environment: Callable[[], asyncio.Future[None]]
    """Returns a future that is done when the machine is stored.

    The first call starts the detection, which uses a core: await it before anything is measured, or
    afterwards.
    """
    stop: StopSignal = msgspec.field(default_factory=StopSignal)
    may_ask: asyncio.Event = msgspec.field(default_factory=asyncio.Event)
    """Cleared while the run is paused."""
    most_in_flight: int | None = None
    """The concurrency that a viewer wished for, if one did."""
    progress: dict[int, Progress] = msgspec.field(default_factory=dict)
    """By execution key."""
    active: dict[int, Ongoing] = msgspec.field(default_factory=dict)
    """Executions with an open session, by execution key."""
    done: dict[int, set[tuple[int, int, int]]] = msgspec.field(default_factory=dict)
    """When a run is resumed: execution key → (case key, repeat, iteration) already committed."""
    finished: set[int] = msgspec.field(default_factory=set)
    """When a run is resumed: executions that came to their end before."""
    agent_of: dict[int, str] = msgspec.field(default_factory=dict)
    """Execution key → agent id."""
    kept: dict[str, Any] = msgspec.field(default_factory=dict)
    """State that a kind keeps from one group to the next."""
    say: Callable[[str], None] = lambda _: None
    """Prints a line for the user immediately."""

    def committed(self, execution_id: str, repeat: int) -> int:
        """Return how many observations of one repeat were committed before this process started."""
        known = self.done.get(self.execution_keys[execution_id], set())
        return sum(place[1] == repeat for place in known)

    def progress_of(self, execution_key: int) -> Progress:
        return self.progress.setdefault(execution_key, Progress())

    def check_budget(self) -> None:
        """Stop the run when its cost or token cap is spent."""
        reason = self.budget.spent_reason
        if reason is not None:
            self.stop.request(reason)

    def process_roots(self) -> dict[str, tuple[int, ...]]:
        """Return agent id → root processes of its open sessions, for the sampler's thread."""
        roots: dict[str, tuple[int, ...]] = {}
        for key, ongoing in list(self.active.items()):
            agent = self.agent_of[key]
            roots[agent] = (*roots.get(agent, ()), *ongoing.pids)
        return roots
