"""State of a run so far, from a viewer's updates. Bounded for runs of any length.

It does not depend on widgets or an app; `live_view` converts it for display.
"""

from __future__ import annotations

import json
import math
from collections import Counter, deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from agentbench_tui.analysis.histogram import Histogram
from agentbench_tui.model.kinds import DEFAULT, Kind, kind_named
from agentbench_tui.store.viewer import seconds_of
from agentbench_tui.tui.pages.live.recent_latency import RecentLatency

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from agentbench_tui.store.viewer import Row, Update

Latency = Literal["e2e", "ttft", "itl", "queue"]
LATENCIES: tuple[Latency, ...] = ("e2e", "ttft", "itl", "queue")
_COLUMN: dict[Latency, str] = {
    "e2e": "e2e_histogram",
    "ttft": "ttft_histogram",
    "itl": "itl_histogram",
    "queue": "queue_histogram",
}
KEPT_S = 900
"""Seconds of which the course is kept, one second a place."""
_EVENTS_KEPT = 200
_GAUGES_KEPT = 60
"""Readings of each gauge."""
_KINDS_KEPT = 40
_NOT_COUNTED = frozenset({"warmup", "retry"})
"""Stages whose failures are no failures of an answer."""
_TICK_S = 1.0
"""How often a run writes a tick, at most; it writes none while nothing happens."""
_LATE_S = 0.5
"""How late a tick may be. One that follows later describes the time since an unwritten one."""
_SKIPPED_S = 2
"""Seconds for which the number of in-flight requests holds without a report."""


@dataclass(slots=True)
class Second:
    """Events of one second of the run; a tick that spans two seconds is divided by time."""

    answered: float = 0.0
    failed: float = 0.0
    sent: float = 0.0
    tokens: float = 0.0
    in_flight: int | None = None
    """Number at its end; None if unknown, as in a replay."""
    waiting: int | None = None
    """Requests that are due but wait for an in-flight slot."""


@dataclass(slots=True)
class Course:
    """The last seconds of a run, including those without events."""

    seconds: deque[Second] = field(default_factory=lambda: deque(maxlen=KEPT_S))
    last: int = 0
    """Which second, of those since 1970, the last place is."""
    _from: float = math.inf
    """Start of what the ticks describe, in seconds since 1970."""
    _until: float = -math.inf
    """End of what the ticks describe."""

    def add(self, start: float, end: float, counts: Second) -> None:
        """Count what happened between two moments, evenly, into the seconds between them.

        Older data are counted in the oldest second.
        """
        # A tick that ends with a second does not describe the next one.
        self.go_on(max(start, math.nextafter(end, -math.inf)))
        self._from, self._until = min(self._from, start), max(self._until, end)
        oldest = self.last - len(self.seconds) + 1
        for _ in range(min(oldest - math.floor(start), KEPT_S - len(self.seconds))):
            self.seconds.appendleft(Second())
            oldest -= 1
        for number in range(math.floor(start), math.ceil(end)):
            share = (min(end, number + 1) - max(start, number)) / (end - start)
            second = self.seconds[max(0, number - oldest)]
            second.answered += share * counts.answered
            second.failed += share * counts.failed
            second.sent += share * counts.sent
            second.tokens += share * counts.tokens

    def go_on(self, at: float) -> None:
        """Advance to this moment without events."""
        now = int(at)
        missing = 1 if not self.seconds else min(now - self.last, KEPT_S)
        known = self.seconds[-1] if self.seconds and missing <= _SKIPPED_S else Second()
        for _ in range(missing):
            self.seconds.append(Second(in_flight=known.in_flight, waiting=known.waiting))
        self.last = max(now, self.last)
        self._until = max(self._until, at)

    def rates(self) -> list[Second]:
        """Return the events per second: those of the first and last place, of which the ticks
        describe a part, are divided by the length of that part.
        """
        found = []
        for number, second in enumerate(self.seconds, self.last - len(self.seconds) + 1):
            covered = min(self._until, number + 1) - max(self._from, number)
            if not 0 < covered < 1:
                found.append(second)
                continue
            found.append(
                Second(
                    second.answered / covered,
                    second.failed / covered,
                    second.sent / covered,
                    second.tokens / covered,
                    second.in_flight,
                    second.waiting,
                )
            )
        return found


@dataclass(slots=True)
class Seen:
    """Ticks of one execution so far."""

    histograms: dict[Latency, Histogram] = field(
        default_factory=lambda: {latency: Histogram() for latency in LATENCIES}
    )
    observed: int = 0
    answered: int = 0
    correct: int = 0
    failed: int = 0
    sent: int = 0
    tokens: int = 0
    cost_usd: float = 0.0
    began_at: float | None = None
    last_at: float = 0.0
    repeats: set[int] = field(default_factory=set)
    """For a load, the finished repeats."""

    def start_of(self, tick: Row) -> float:
        """Return the start of what a tick describes, in seconds since 1970."""
        since_last = tick["at"] - self.last_at
        known = 0 < since_last <= _TICK_S + _LATE_S
        return self.last_at if known else tick["at"] - _TICK_S

    def take(self, tick: Row) -> None:
        """Add the tick."""
        for latency, column in _COLUMN.items():
            if packed := tick.get(column):
                self.histograms[latency].merge(Histogram.from_bytes(packed))
        self.observed += tick["observed"]
        self.answered += tick["answered"]
        self.correct += tick["correct"]
        self.failed += failed_of(tick)
        self.sent += tick["sent"]
        self.tokens += tick["tokens"]
        self.cost_usd += tick["cost_usd"]
        if self.began_at is None:
            self.began_at = tick["at"] - _TICK_S
        self.last_at = max(self.last_at, tick["at"])


def failed_of(tick: Row) -> int:
    """Return the failures in a tick: for a load as its workers count them, for a task observations
    without an answer.
    """
    failed: int = max(tick["failed"], 0)
    return failed or (0 if tick["sent"] else tick["observed"] - tick["answered"])


@dataclass(frozen=True, slots=True)
class Event:
    """A line of the log."""

    at: float
    role: Literal["text", "dim", "warn", "bad", "accent"]
    text: str


@dataclass(frozen=True, slots=True)
class Planned:
    """Plan of one execution."""

    kind: str
    benchmark: Mapping[str, Any]


class LiveState:
    """State of one run, as far as its viewer has reported."""

    def __init__(self) -> None:
        self.forget()
        self._plan_of = ""
        self.planned: dict[str, Planned] = {}
        """By execution id."""
        self.caps: tuple[float | None, int | None] = (None, None)
        """On USD and on tokens."""
        self.repeats = 1

    def forget(self) -> None:
        """Start again, as for a replay that goes back."""
        self.run: Row = {}
        self.executions: list[Row] = []
        self.live: dict[int, dict[str, Any]] = {}
        """Execution key → its last reported state."""
        self.live_at = 0.0
        """When that was, in seconds since 1970."""
        self.seen: dict[int, Seen] = {}
        self.course = Course()
        self.latency = RecentLatency(KEPT_S)
        """Of executions that send load."""
        self.kinds: Counter[str] = Counter()
        """Failure kind → number of its rows, without warm-up and retries; loads store only the
        first few rows.
        """
        self.gauges: dict[str, deque[dict[str, Any]]] = {}
        """By scope, oldest first."""
        self._failures: deque[Event] = deque(maxlen=_EVENTS_KEPT)
        self.wishes: list[Row] = []
        self.at = 0.0
        self.newest_key: int | None = None
        """Execution whose tick came last."""
        self.is_replay = False
        self.interrupted = False
        """Whether the run's process is gone although the store does not say so yet."""

    def take(self, update: Update) -> None:
        """Add new rows."""
        if update.restarted:
            self.forget()
        self.run, self.executions = update.run, update.executions
        self.at, self.is_replay, self.wishes = update.at, update.is_replay, update.wishes
        self._read_plan()
        self._take_live(update.live)
        for tick in update.new["ticks"]:
            self._take_tick(tick)
        for row in update.new["failures"]:
            self._take_failure(row)
        for row in update.new["iterations"]:
            if not row["warmup"]:
                self.seen.setdefault(row["execution_key"], Seen()).repeats.add(row["repeat"])
        for row in update.new["gauges"]:
            kept = self.gauges.setdefault(row["scope"], deque(maxlen=_GAUGES_KEPT))
            kept.append(json.loads(row["reading"]))
        if self.is_going_on and self.course.seconds:
            # Ticks of this second are still to come; of a run whose process is gone, none are.
            self.course.go_on(min(self.at, self.live_at) - 1.5)

    @property
    def is_going_on(self) -> bool:
        """Return whether the shown time is within the run."""
        return self.is_replay or (self.run.get("status") == "running" and not self.interrupted)

    @property
    def began_at(self) -> float | None:
        """Return the start in seconds since 1970."""
        return seconds_of(self.run["started_at"]) if self.run else None

    @property
    def ended_at(self) -> float | None:
        """Return the end; None while it is running, and if it was not recorded."""
        ended = self.run.get("ended_at")
        return seconds_of(ended) if ended else None

    @property
    def told_at(self) -> float | None:
        """Return when the run last reported, in seconds since 1970."""
        ticks = max((seen.last_at for seen in self.seen.values()), default=0.0)
        return max(ticks, self.live_at if self.live else 0.0) or self.began_at

    def kind_of(self, execution: Row) -> Kind:
        """Return the kind of its benchmark."""
        planned = self.planned.get(execution["id"])
        return kind_named(planned.kind if planned is not None else DEFAULT)

    @property
    def sends_load(self) -> bool:
        """Return whether any execution puts a target under load."""
        return any(self.kind_of(row).sends_load for row in self.executions)

    @property
    def is_sending_load(self) -> bool:
        """Return whether a running execution sends requests by the clock."""
        return any(
            row["key"] in self.live and self.kind_of(row).sends_load for row in self.executions
        )

    def has_ended(self, execution: Row) -> bool:
        """Return whether it had ended by the shown time."""
        if not self.is_replay:
            return execution["status"] not in {"running", "planned"}
        ended = execution["end_time"]
        return bool(ended) and seconds_of(ended) <= self.at

    def events(self) -> list[Event]:
        """Return failures, control requests with their answers and marks, in order."""
        return sorted([*self._failures, *self._wished()], key=lambda event: event.at)

    def marks(self) -> list[tuple[float, str]]:
        """Return (moment, note) of the viewers' marks, oldest first."""
        return [(row["at"], row["argument"] or "") for row in self.wishes if row["wish"] == "mark"]

    def failures_at(self) -> list[float]:
        """Return the moments of the failures in the log."""
        return [event.at for event in self._failures]

    def _wished(self) -> Iterator[Event]:
        for row in self.wishes:
            argument = f" {row['argument']}" if row["argument"] else ""
            if row["wish"] == "mark":
                yield Event(row["at"], "accent", f"mark{argument}")
                continue
            answer = row["answer"] or ("not answered yet" if self.is_going_on else "never answered")
            refused = answer.startswith(("refused", "ignored"))
            role: Literal["warn", "dim"] = "warn" if refused else "dim"
            yield Event(row["at"], role, f"{row['wish']}{argument}: {answer}")

    def _take_live(self, live: Mapping[int, Row]) -> None:
        self.live = {key: json.loads(row["state"]) for key, row in live.items()}
        self.live_at = max((row["updated_at"] for row in live.values()), default=self.at)
        if self.live and self.course.seconds:
            newest = self.course.seconds[-1]
            newest.in_flight = sum(one.get("in_flight", 0) for one in self.live.values())
            newest.waiting = sum(one.get("waiting", 0) for one in self.live.values())

    def _take_tick(self, tick: Row) -> None:
        seen = self.seen.setdefault(tick["execution_key"], Seen())
        counts = Second(tick["answered"], failed_of(tick), tick["sent"], tick["tokens"])
        self.course.add(seen.start_of(tick), tick["at"], counts)
        seen.take(tick)
        self.newest_key = tick["execution_key"]
        if self._sends_load(self.newest_key):
            self.latency.take(tick)

    def _sends_load(self, key: int) -> bool:
        return any(row["key"] == key and self.kind_of(row).sends_load for row in self.executions)

    def _take_failure(self, row: Row) -> None:
        is_counted = row["stage"] not in _NOT_COUNTED
        if is_counted and (row["kind"] in self.kinds or len(self.kinds) < _KINDS_KEPT):
            self.kinds[row["kind"]] += 1
        agents = {one["key"]: one["agent_id"] for one in self.executions}
        stage = "" if row["stage"] == "answer" else f"{row['stage']}: "
        who = agents.get(row["execution_key"], "run")
        text = f"{who}: {stage}{row['kind'].replace('_', ' ')}: {row['detail'][:300]}"
        self._failures.append(Event(seconds_of(row["at"]), "bad", text))

    def _read_plan(self) -> None:
        """Read the plan once: it is large, and does not change."""
        if self._plan_of == self.run["id"]:
            return
        self._plan_of = self.run["id"]
        plan = json.loads(self.run["plan"])
        self.planned = {
            execution["id"]: Planned(group["benchmark"]["kind"], group["benchmark"])
            for group in plan["groups"]
            for execution in group["executions"]
        }
        self.caps = plan.get("cost_limit_usd"), plan.get("token_limit")
        self.repeats = plan.get("repeats", 1)
