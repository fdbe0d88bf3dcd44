"""Alarms of a run in progress: what its operator should look at now, and since when.

Thresholds come from the suite: a gate on `reliability` limits the failures, gates on percentiles of
latencies and the SLO of a load limit the times. Without a gate, 10% failures are too many.
"""

from __future__ import annotations

import re
from collections import defaultdict, deque
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal, NamedTuple, get_args

import msgspec

from agentbench_tui.analysis.histogram import Histogram
from agentbench_tui.analysis.intervals.interval import wilson
from agentbench_tui.instruments.gauges import LITTLE_DISK_MB
from agentbench_tui.instruments.overhead import NOISY_PSI_PERCENT, NOISY_RUN_QUEUE_SHARE
from agentbench_tui.load.slo import metric_of, share_of
from agentbench_tui.model.errors import AgentbenchError
from agentbench_tui.model.gate import parse_gate
from agentbench_tui.store.queries.gauges import readings_after
from agentbench_tui.store.queries.progress import reported_states
from agentbench_tui.store.queries.runs import Row, executions_of
from agentbench_tui.store.queries.ticks import OutcomeTick, outcome_ticks_after

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable, Sequence

AlarmKind = Literal["failures", "stalled", "slo", "disk", "gpu", "noise"]
KINDS: tuple[AlarmKind, ...] = get_args(AlarmKind)
"""Most urgent first."""
USUAL_FAILURE_LIMIT = 0.1
"""Share of failures that alarms without a gate on `reliability`."""
WINDOW_S = 10.0
"""Seconds of answers and readings that an alarm looks back at."""
_LEAST_FAILURES = 3
_STALLED_FACTOR, _STALLED_FROM_S = 3.0, 5.0
"""A request stalls if it takes so many times the p95 so far, and at least so long."""
_STALLED_UNKNOWN_S = 60.0
"""The least time of a stalled request while there are too few answers for a p95."""
_NEEDED_P95 = 59
_LATENCY_GATE = re.compile(r"(ttft_ms|e2e_ms)\.p\d+(\.\d+)?")


@dataclass(frozen=True, slots=True)
class Alarm:
    """One condition of a run in progress."""

    kind: AlarmKind
    run_id: str
    since: float
    """When it began, in seconds since 1970."""
    subject: str = ""
    """The agent, or the number of the GPU."""
    name: str = ""
    """The limited metric, such as `ttft_ms.p95`, or why a GPU is throttled."""
    value: float = 0.0
    """Share of failures or of requests within the limit, seconds without an answer, MB of free
    disk, share of time that the harness waited for a core."""
    limit: float = 0.0
    """What the value is compared with."""
    threshold: float = 0.0
    """The limit of a latency in ms; the pressure on the cores in percent."""

    @property
    def key(self) -> tuple[str, ...]:
        """Return what makes it the same alarm in the next reading."""
        return self.run_id, self.kind, self.subject, self.name


class _Outcome(NamedTuple):
    at: float
    good: float
    done: int


class _Window:
    """Outcomes of the last seconds."""

    def __init__(self) -> None:
        self._outcomes: deque[_Outcome] = deque()

    def add(self, at: float, good: float, done: int) -> tuple[float, int]:
        """Add a tick, and return the good ones and all in the window that ends with it."""
        self._outcomes.append(_Outcome(at, good, done))
        while self._outcomes[0].at <= at - WINDOW_S:
            self._outcomes.popleft()
        return sum(one.good for one in self._outcomes), sum(one.done for one in self._outcomes)


@dataclass(slots=True)
class _Limits:
    """What the suite promises of one execution."""

    failures: float = USUAL_FAILURE_LIMIT
    latencies: dict[str, float] = field(default_factory=dict)
    """`ttft_ms`, `e2e_ms.p95` → milliseconds."""


class _Load(msgspec.Struct):
    slo: dict[str, float] = {}


class _Benchmark(msgspec.Struct):
    load: _Load | None = None


class _Execution(msgspec.Struct):
    id: str


class _Group(msgspec.Struct):
    benchmark: _Benchmark
    executions: list[_Execution]
    suite_hash: str = ""


class _Document(msgspec.Struct):
    gates: list[str] = []


class _Suite(msgspec.Struct):
    hash: str
    document: _Document


class _Plan(msgspec.Struct):
    groups: list[_Group]
    suites: list[_Suite] = []


class _HostReading(msgspec.Struct):
    disk_free_mb: float | None = None
    run_queue_wait_ms_per_s: float | None = None
    psi_cpu_percent: float | None = None


class _GpuReading(msgspec.Struct):
    throttle_reasons: tuple[str, ...] | None = None


class _OldCase(msgspec.Struct):
    age_s: float


class _Reported(msgspec.Struct):
    in_flight: int = 0
    oldest: tuple[_OldCase, ...] = ()
    oldest_s: float | None = None
    pause_s: float | None = None

    @property
    def age_s(self) -> float | None:
        """Return the age of the oldest request in flight."""
        return max([*(one.age_s for one in self.oldest), self.oldest_s or 0.0]) or None


class AlarmReader:
    """Reads one run repeatedly; each time only new rows are read."""

    def __init__(self, run: Row) -> None:
        """`run`: the row of `runs`, with its plan."""
        self._run_key: int = run["key"]
        self._run_id: str = run["id"]
        self._limits = _limits_of(msgspec.json.decode(run["plan"], type=_Plan))
        self._executions: dict[int, Row] = {}
        self._last_tick = self._last_gauge = 0
        self._windows: dict[tuple[int, str], _Window] = defaultdict(_Window)
        self._times: dict[int, Histogram] = defaultdict(Histogram)
        self._last_answer_at: dict[int, float] = {}
        self._noise: deque[tuple[float, float]] = deque()
        self._open: dict[tuple[str, ...], Alarm] = {}

    def read(self, connection: sqlite3.Connection, now: float) -> list[Alarm]:
        """Return the alarms, most urgent first. `now`: seconds since 1970."""
        rows = executions_of(connection, self._run_key)
        self._executions = {row["key"]: row for row in rows}
        for tick in outcome_ticks_after(connection, self._run_key, self._last_tick):
            self._last_tick = tick.seq
            self._take_tick(tick)
        for seq, at, scope, reading in readings_after(connection, self._run_key, self._last_gauge):
            self._last_gauge = seq
            self._take_reading(at, scope, reading)
        self._take_live(reported_states(connection, self._run_key))
        self._close_those_without_news(now)
        return sorted(self._open.values(), key=lambda one: (KINDS.index(one.kind), one.key))

    def _set(self, alarm: Alarm, *, holds: bool) -> None:
        """Open the alarm, keep it open with the newest figures, or close it."""
        before = self._open.get(alarm.key)
        if not holds:
            self._open.pop(alarm.key, None)
        elif before is None:
            self._open[alarm.key] = alarm
        else:
            self._open[alarm.key] = replace(alarm, since=before.since)

    def _take_tick(self, tick: OutcomeTick) -> None:
        key = tick.execution_key
        row = self._executions.get(key)
        if row is None:
            return
        limits = self._limits.get(row["id"], _Limits())
        failed = tick.failed or (0 if tick.sent else tick.observed - tick.answered)
        done = tick.answered + failed
        self._last_answer_at[key] = tick.at
        failures, asked = self._windows[key, ""].add(tick.at, failed, done)
        share = failures / asked if asked else 0.0
        self._set(
            Alarm("failures", self._run_id, tick.at, row["agent_id"], row["benchmark_id"],
                  share, limits.failures),
            holds=failures >= _LEAST_FAILURES and share > limits.failures,
        )  # fmt: skip
        times = {"e2e_ms": Histogram.from_bytes(tick.e2e_histogram)}
        self._times[key].merge(times["e2e_ms"])
        if tick.ttft_histogram:
            times["ttft_ms"] = Histogram.from_bytes(tick.ttft_histogram)
        for name, limit_ms in limits.latencies.items():
            measured = times.get(metric_of(name))
            if measured is None:
                continue
            kept, due = self._windows[key, name].add(tick.at, _within(measured, limit_ms), done)
            needed = share_of(name)
            interval = wilson(min(round(kept), due), due) if due else None
            self._set(
                Alarm("slo", self._run_id, tick.at, row["agent_id"], name,
                      kept / due if due else 1.0, needed, limit_ms),
                holds=interval is not None and interval.high < needed,
            )  # fmt: skip

    def _take_reading(self, at: float, scope: str, packed: str) -> None:
        kind, _, number = scope.partition(":")
        if kind == "gpu":
            gpu = msgspec.json.decode(packed, type=_GpuReading)
            reasons = ", ".join(gpu.throttle_reasons or ())
            for one in [*self._open.values()]:  # another reason is another alarm
                if one.kind == "gpu" and one.subject == number and one.name != reasons:
                    del self._open[one.key]
            self._set(Alarm("gpu", self._run_id, at, number, reasons), holds=bool(reasons))
        elif kind == "host":
            self._take_host(at, msgspec.json.decode(packed, type=_HostReading))

    def _take_host(self, at: float, reading: _HostReading) -> None:
        free_mb = reading.disk_free_mb
        if free_mb is not None:
            self._set(
                Alarm("disk", self._run_id, at, value=free_mb, limit=LITTLE_DISK_MB),
                holds=free_mb < LITTLE_DISK_MB,
            )
        self._noise.append((at, reading.run_queue_wait_ms_per_s or 0.0))
        while self._noise[0][0] <= at - WINDOW_S:
            self._noise.popleft()
        waited = sum(wait for _, wait in self._noise) / len(self._noise) / 1e3
        pressure = reading.psi_cpu_percent or 0.0  # the kernel's mean of 10 s
        self._set(
            Alarm("noise", self._run_id, at, value=waited, limit=NOISY_RUN_QUEUE_SHARE,
                  threshold=pressure),
            holds=waited > NOISY_RUN_QUEUE_SHARE or pressure > NOISY_PSI_PERCENT,
        )  # fmt: skip

    def _take_live(self, states: Sequence[tuple[int, float, str]]) -> None:
        stalled: set[tuple[str, ...]] = set()
        for key, updated_at, packed in states:
            row = self._executions.get(key)
            state = msgspec.json.decode(packed, type=_Reported)
            age_s = state.age_s
            if row is None or age_s is None or state.pause_s or not state.in_flight:
                continue
            limit_s = self._stalled_from_s(key)
            alarm = Alarm(
                "stalled", self._run_id, updated_at - age_s, row["agent_id"],
                row["benchmark_id"], age_s, limit_s,
            )  # fmt: skip
            if age_s > limit_s:
                stalled.add(alarm.key)
                self._set(alarm, holds=True)
        for one in [*self._open.values()]:
            if one.kind == "stalled" and one.key not in stalled:
                del self._open[one.key]

    def _stalled_from_s(self, key: int) -> float:
        times = self._times[key]
        needed = 0.95 if len(times) >= _NEEDED_P95 else 1.0
        usual_s = (times.percentile(needed) or 0.0) / 1e3
        least_s = _STALLED_FROM_S if needed < 1 else _STALLED_UNKNOWN_S
        return max(least_s, _STALLED_FACTOR * usual_s)

    def _close_those_without_news(self, now: float) -> None:
        """Close alarms on answers of executions that have ended, or have none any more."""
        current = {
            (row["agent_id"], name)
            for key, row in self._executions.items()
            if row["status"] == "running" and now - self._last_answer_at.get(key, 0.0) <= WINDOW_S
            for name in (row["benchmark_id"], *self._limits.get(row["id"], _Limits()).latencies)
        }
        for one in [*self._open.values()]:
            if one.kind in {"failures", "slo"} and (one.subject, one.name) not in current:
                del self._open[one.key]


def _limits_of(plan: _Plan) -> dict[str, _Limits]:
    """Return execution id → the limits of its suite and its load."""
    gates = {suite.hash: suite.document.gates for suite in plan.suites}
    found: dict[str, _Limits] = {}
    for group in plan.groups:
        limits = _Limits()
        _take_gates(limits, gates.get(group.suite_hash, ()))
        slo = group.benchmark.load.slo if group.benchmark.load is not None else {}
        limits.latencies |= {
            name: limit for name, limit in slo.items() if metric_of(name) in {"ttft_ms", "e2e_ms"}
        }
        found |= {execution.id: limits for execution in group.executions}
    return found


def _take_gates(limits: _Limits, gates: Iterable[str]) -> None:
    for text in gates:
        try:
            gate = parse_gate(text)
        except AgentbenchError:  # of an experiment that is not loaded here
            continue
        if isinstance(gate.threshold, str):
            continue
        if gate.name == "reliability" and gate.comparison in {">", ">="}:
            limits.failures = 1.0 - gate.threshold
        elif _LATENCY_GATE.fullmatch(gate.name) and gate.comparison in {"<", "<="}:
            limits.latencies[gate.name] = gate.threshold


def _within(times: Histogram, limit_ms: float) -> int:
    """Return how many values are at most the limit, to the width of a bucket, 1%."""
    return sum(count for low, high, count in times.buckets() if (low + high) / 2 <= limit_ms)
