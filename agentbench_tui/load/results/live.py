"""Handles the workers' chunks in the coordinator: stores them and updates the live view."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from agentbench_tui.analysis.histogram import Histogram
from agentbench_tui.load.results.recent import Moment, RecentRates
from agentbench_tui.load.results.tick_figures import histograms
from agentbench_tui.load.schedule.steering import STRESS, Steering
from agentbench_tui.model.answer import FailureKind, Usage
from agentbench_tui.model.clock import monotonic, perf_counter_ns, unix_time
from agentbench_tui.store.writes.load import (
    LoadTickRow,
    SampleChunkRow,
    add_load_tick,
    add_sample_chunk,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from agentbench_tui.engine.run.context import RunContext
    from agentbench_tui.engine.task.recorder import Recorder
    from agentbench_tui.load.schedule.arrivals import Schedule
    from agentbench_tui.load.sending.protocol import Chunk, Spent

TICK_S = 1.0
Phase = Literal["starting", "window", "draining", "waiting", "calibrating"]
"""`waiting`: for its next repeat, while others have their turn."""


class _Counts(NamedTuple):
    """Counts at the last tick."""

    rows: int = 0
    answered: int = 0
    failed: int = 0
    sent: int = 0
    tokens: int = 0


class Live:
    """One running repeat of one execution (`engine.run.context.Ongoing`)."""

    def __init__(
        self,
        context: RunContext,
        execution_key: int,
        repeat: int,
        *,
        pids: Callable[[], tuple[int, ...]],
        arrivals: Schedule | None,
        recorder: Recorder,
        clean: Callable[[str], str],
        price: Callable[[Usage], float | None] | None,
        steering: Steering | None = None,
    ) -> None:
        """`arrivals`: those of an open loop.

        `price`: USD of one request by its tokens; None without a cost budget. `steering`: None if
        the load cannot be changed manually.
        """
        self._context = context
        self._key = execution_key
        self._repeat = repeat
        self._pids = pids
        self.steering = steering or Steering(None, fixed=STRESS)
        self._is_open = arrivals is not None
        self._recent = RecentRates(arrivals, self.steering.pace)
        self._recorder = recorder
        self._clean = clean
        self._price = price
        self._latest: dict[int, Chunk] = {}
        """By worker."""
        self._heard_at: dict[int, float] = {}
        """By worker, on `time.monotonic`, when that came."""
        self.rows = self.answered = self.failed = self._tokens = 0
        self._told = _Counts()
        self._began_at: float | None = None
        self._ends_at: float | None = None
        """Expected end of the window, on `time.time`."""
        self._requests: int | None = None
        self._ended: Phase | None = None
        self._begin_tick()

    def begin(self, began_ns: int, duration_s: float | None, requests: int | None) -> None:
        """Start the window at `began_ns` of `time.perf_counter_ns`; it ends after this time or
        number of requests, if known.
        """
        self._began_at = unix_time() + (began_ns - perf_counter_ns()) / 1e9
        if duration_s is not None:
            self._ends_at = self._began_at + duration_s
            self._recent.ends_s = duration_s
        self._requests = requests

    def cut(self) -> None:
        """Stop sending new requests."""
        self.steering.end()
        now = unix_time()
        self._ends_at = now if self._ends_at is None else min(self._ends_at, now)
        self._recent.end()

    def end(self, phase: Literal["waiting", "calibrating"] = "waiting") -> None:
        """End the load: the last answer has arrived, or was abandoned."""
        self.steering.end()
        self._ended = phase
        self.tick()

    @property
    def phase(self) -> Phase:
        """Current phase."""
        if self._ended is not None:
            return self._ended
        if self._began_at is None:
            return "starting"
        return "window" if self._ends_at is None or unix_time() < self._ends_at else "draining"

    def _begin_tick(self) -> None:
        self._e2e, self._ttft = Histogram(), Histogram()
        self._samples: list[bytes] = []
        self._gaps: list[bytes] = []

    @property
    def pids(self) -> tuple[int, ...]:
        """See `Ongoing`."""
        return () if self._ended is not None else self._pids()

    @property
    def sent(self) -> int:
        """Return the requests sent so far by all workers."""
        return sum(chunk.sent for chunk in self._latest.values())

    def hear(self, worker: int, chunk: Chunk) -> None:
        """Process a chunk: its samples go to the store, its figures to the next tick."""
        self._latest[worker] = chunk
        self._heard_at[worker] = monotonic()
        self.failed = sum(one.failed for one in self._latest.values())
        if self._requests is not None and self.sent >= self._requests:
            self.cut()
        if chunk.rows:
            self.rows += chunk.rows
            self.answered += chunk.answered
            row = SampleChunkRow(
                self._context.run_key, self._key, self._repeat, worker, chunk.rows,
                chunk.samples, chunk.gaps,
            )  # fmt: skip
            add_sample_chunk(self._context.writer, row)
            self._e2e.merge(Histogram.from_bytes(chunk.e2e_histogram))
            self._ttft.merge(Histogram.from_bytes(chunk.ttft_histogram))
            self._samples.append(chunk.samples)
            if chunk.gaps:
                self._gaps.append(chunk.gaps)
            self._tokens += chunk.tokens
            self._spend(chunk.spent)
        self._remember(chunk)
        for kind, detail in chunk.failures:
            self._recorder.failure(
                "answer", FailureKind(kind), self._clean(detail), (None, self._repeat, 0)
            )

    def _remember(self, newest: Chunk) -> None:
        """Store the totals of all workers for recent rates, at the mean of the times at which each
        worker measured by its own clock, regardless of when the report arrived. The load is divided
        evenly.
        """
        if newest.at_s > self._recent.ends_s:
            self._recent.end()
        at_s = sum(chunk.at_s for chunk in self._latest.values()) / len(self._latest)
        self._recent.take(Moment(at_s, self.sent, self.answered, self._tokens))

    def _spend(self, spent: Spent) -> None:
        """Count the cost against the run's caps. A chunk costs its mean request times their number:
        some prices grow with the length of a request.
        """
        count, cost = spent.requests, None
        if count and self._price is not None:
            mean = Usage(
                input_tokens=round(spent.input_tokens / count),
                output_tokens=round(spent.output_tokens / count),
                cached_tokens=round(spent.cached_tokens / count),
                cache_write_tokens=round(spent.cache_write_tokens / count),
                cache_write_1h_tokens=round(spent.cache_write_1h_tokens / count),
            )
            each = self._price(mean)
            cost = None if each is None else each * count
        self._context.budget.spend(cost, spent.input_tokens + spent.output_tokens)
        self._context.check_budget()

    def tick(self) -> None:
        """Write what happened since the last tick, if anything."""
        now = _Counts(self.rows, self.answered, self.failed, self.sent, self._tokens)
        before, self._told = self._told, now
        if now == before:
            return
        itl, queue = histograms(self._samples, self._gaps)
        row = LoadTickRow(
            run_key=self._context.run_key,
            execution_key=self._key,
            at=unix_time(),
            observed=now.rows - before.rows,
            answered=now.answered - before.answered,
            tokens=now.tokens - before.tokens,
            e2e_histogram=self._e2e.to_bytes(),
            sent=now.sent - before.sent,
            failed=now.failed - before.failed,
            ttft_histogram=self._ttft.to_bytes(),
            repeat=self._repeat,
            itl_histogram=itl,
            queue_histogram=queue,
        )
        add_load_tick(self._context.writer, row)
        self._begin_tick()

    def state(self) -> dict[str, Any]:
        """See `Ongoing`."""
        latest = [] if self._ended is not None else [*self._latest.values()]
        ages = [chunk.oldest_s for chunk in latest if chunk.oldest_s is not None]
        silent_since = None if self._ended is not None else self._silent_since()
        return {
            "in_flight": sum(chunk.in_flight for chunk in latest),
            "waiting": sum(chunk.waiting for chunk in latest),
            "sent": self.sent,
            "failed": self.failed,
            "observed": self.rows,
            "asked_per_s": self._recent.asked_per_s(),
            "sent_per_s": self._recent.sent_per_s(),
            "tokens_per_s": self._recent.tokens_per_s(),
            "oldest_s": max(ages, default=None),
            "silent_s": None if silent_since is None else monotonic() - silent_since,
            "repeat": self._repeat,
            "phase": self.phase,
            "began_at": self._began_at,
            "ends_at": self._ends_at,
            "users": self.steering.users,
            "pace": self.steering.pace.factor if self._can_pace else None,
        }

    def _silent_since(self) -> float | None:
        """Return the last report time of the most silent worker, on `time.monotonic`. A worker that
        has sent everything and has nothing in flight may be done, and then reports no more.
        """
        latest = self._latest.items()
        heard_at = (self._heard_at[at] for at, chunk in latest if chunk.in_flight or not chunk.sent)
        return min(heard_at, default=None)

    @property
    def _can_pace(self) -> bool:
        return self._is_open and self.steering.can_change

    def resize(self, most_in_flight: int) -> str | None:
        """See `Ongoing`: the users of a closed loop."""
        return self.steering.set_users(most_in_flight)

    def set_rate(self, factor: float) -> str | None:
        """See `Ongoing`."""
        return self.steering.set_pace(factor)

    def pause(self) -> str | None:
        """See `Ongoing`."""
        return "a load goes by the clock and cannot be paused; stop it, and `resume` it later"

    def cancel(self, case_id: str) -> int:  # noqa: ARG002  # Ongoing's signature
        """See `Ongoing`. Requests of a load have no case."""
        return 0
