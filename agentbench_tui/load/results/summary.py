"""Summary of a load execution in addition to its metrics: measurement quality, counts, the
harness.

Computed from stored samples and windows, so that it can be computed again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
import numpy as np

from agentbench_tui.engine.run.closing import VERDICTS
from agentbench_tui.engine.task.aggregate import Aggregate
from agentbench_tui.instruments.overhead import Verdict
from agentbench_tui.load.calibration.verdict import LEAST_DRAWN, Facts, Limit, judge
from agentbench_tui.load.results.aggregate import statuses, total_of_workers
from agentbench_tui.load.results.columns import Flags, Floats
from agentbench_tui.load.results.connections import told_of_connections
from agentbench_tui.load.results.rates import LEAST_WAVES, Rates, asking_s, growth, rates_of
from agentbench_tui.load.results.requests import FIRST_TOKEN, Requests
from agentbench_tui.load.sending.sample import CANCELLED, UNFINISHED
from agentbench_tui.load.slo import metric_of
from agentbench_tui.model.text.plain_number import counted
from agentbench_tui.store.writes.load import remove_load_summary, write_load_summary

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable, Mapping, Sequence

    from agentbench_tui.load.results.window import Calibration
    from agentbench_tui.load.sending.protocol import Done


DRAWN_APART = 0.02
"""Relative deviation from the mean number of arrivals, below which it is not reported."""


class RequestCounts(msgspec.Struct, frozen=True, kw_only=True):
    """Requests of all repeats; rates are means of the repeats."""

    asked_per_s: float | None
    """None for a closed loop. For sessions only their first requests, here and in `sent_per_s`."""
    sent_per_s: float | None
    """In a closed loop all requests."""
    offered: int
    """Became due."""
    sent: int
    ok: int
    failed: dict[str, int]
    """By kind."""
    cancelled: int
    """Broken off by the plan."""
    unfinished: int
    """Still in flight when the drain after the window ended."""
    unsent: int
    """Became due and never got a place in flight."""
    connections: int | None
    """None, as the next three, if the target's own adapter does the transport."""
    resent: int | None
    sent_bytes: int | None
    received_bytes: int | None


class Harness(msgspec.Struct, frozen=True, kw_only=True):
    """CPU cost and delays of the load workers; unknown values are None."""

    overhead_p50_ms: float | None
    """From the calibration, as the next ones: time that the senders add to an answer."""
    overhead_p99_ms: float | None
    ceiling_per_s: float | None
    ceiling_low_per_s: float | None
    """The least of the windows that the ceiling is the most of."""
    calibrated_at: str | None
    calibrated_rate_per_s: float | None
    cpu_us_per_request: float | None
    """Senders' CPU time in the windows ÷ requests sent."""
    cpu_share: float | None
    """Share of a core, for the busiest sender."""
    workers: int
    realtime: bool
    """Whether they had real-time priority."""
    window_s: float
    """Total of all repeats, as are the following counts."""
    drained_s: float
    lateness_p50_ms: float | None
    """Lateness of a timer in the senders' loop, for the worst sender."""
    lateness_p99_ms: float | None
    lateness_max_ms: float | None
    late: int
    """Requests that left late though a place was free."""
    blocked: int
    """Requests that waited for a place in flight."""
    most_in_flight: int
    """Maximum over the repeats, for all senders together."""
    run_queue_wait_ms: float | None
    psi_cpu_percent: float | None
    gc_pause_ms: float
    gc_pause_max_ms: float
    peak_rss_mb: float
    """Total of all senders."""


class LoadSummary(msgspec.Struct, frozen=True, kw_only=True):
    """One row of `load_summaries`."""

    verdict: Verdict
    """The worst of the repeats'."""
    reasons: tuple[str, ...]
    limit: Limit
    """What limited the rate: `client` if so in any repeat, else `server`, else `none`."""
    warnings: tuple[str, ...]
    is_open: bool
    """Whether latencies count from the due time."""
    on_this_machine: bool
    """Whether the target shared this machine's cores."""
    slo: dict[str, float]
    slo_kept: dict[str, float] = {}
    """Limit → share of the due requests that kept it; without limits that cannot be judged."""
    repeats: int
    steady: tuple[tuple[float, float] | None, ...]
    """Steady part of each repeat's window, seconds since its start."""
    tokens_estimated: bool
    requests: RequestCounts
    harness: Harness


def write_summary(
    connection: sqlite3.Connection, execution_key: int, summary: LoadSummary | None
) -> None:
    """Replace the stored summary of an execution; None deletes it.

    Runs inside the writer's transaction.
    """
    remove_load_summary(connection, execution_key)
    if summary is None:
        return
    document = msgspec.json.encode(summary).decode()
    write_load_summary(connection, execution_key, summary.verdict, document)


def summarize(requests: Requests, result: Aggregate) -> LoadSummary:
    """Return the summary of an execution with at least one finished repeat.

    `result` is the aggregate of `requests`.
    """
    windows = requests.windows
    first = next(iter(windows.values()))
    nothing = np.zeros(len(requests), np.bool_)
    rates = {repeat: rates_of(requests, repeat, nothing) for repeat in windows}
    judgments = [
        judge(window, _facts(requests, repeat, rates[repeat])) for repeat, window in windows.items()
    ]
    counts = _counts(requests, result)
    limits = {judgment.limit for judgment in judgments}
    return LoadSummary(
        verdict=max((judgment.verdict for judgment in judgments), key=VERDICTS.index),
        reasons=_told([judgment.reasons for judgment in judgments]),
        limit=next((limit for limit in _LIMITS if limit in limits), "none"),
        warnings=(
            *_told([judgment.warnings for judgment in judgments]),
            *_drawn(requests, rates),
            *_short(requests, rates),
            *_no_rate(result),
            *told_of_connections(requests),
            *_resent(counts),
            *_without_content(requests),
            *_unjudged(requests, first.slo),
            *_left_out(counts),
        ),
        is_open=requests.is_open,
        on_this_machine=first.on_this_machine,
        slo=first.slo,
        slo_kept=_kept(requests, first.slo),
        repeats=len(windows),
        steady=tuple(
            None if one.steady is None else (one.steady.from_s, one.steady.to_s)
            for one in rates.values()
        ),
        tokens_estimated=requests.tokens_estimated,
        requests=counts,
        harness=_harness(requests),
    )


_LIMITS: tuple[Limit, ...] = ("client", "server", "none")


def _facts(requests: Requests, repeat: int, rates: Rates) -> Facts:
    own = requests.columns.repeat == repeat
    return Facts(
        sent_per_s=rates.sent,
        due_per_s=rates.due,
        answered_per_s=rates.request_throughput,
        grew_ms=_growth(requests, own & requests.begun) if requests.is_open else None,
        e2e_p50_ms=_median(requests.e2e_from_send_ms[own & requests.answered]),
        ttft_p50_ms=_median(requests.ttft_from_send_ms[own & requests.begun]),
    )


def _growth(requests: Requests, begun: Flags) -> tuple[float, float] | None:
    """See `Facts.grew_ms`."""
    found = growth(requests, begun)
    return None if found is None else (found.first, found.last)


def _median(values: Floats) -> float | None:
    known = values[~np.isnan(values)]
    return float(np.median(known)) if len(known) else None


def _told(of_repeats: Sequence[Iterable[str]]) -> tuple[str, ...]:
    """Return the sentences of all repeats, each once; if not all have it, with the first repeat
    that does.
    """
    where: dict[str, list[int]] = {}
    for number, sentences in enumerate(of_repeats, 1):
        for sentence in sentences:
            where.setdefault(sentence, []).append(number)
    return tuple(
        sentence if len(numbers) == len(of_repeats) else f"repeat {numbers[0]}: {sentence}"
        for sentence, numbers in where.items()
    )


def _drawn(requests: Requests, rates: Mapping[int, Rates]) -> list[str]:
    """Report how many arrivals a random schedule drew, or how long it took to draw its requests, if
    that deviates from the expectation.
    """
    asked = drawn = mean_s = took_s = 0.0
    for repeat, window in requests.windows.items():
        due = rates[repeat].due
        if window.stopped or not window.asked or not window.asked_per_s or due is None:
            return []
        asked += window.asked
        drawn += due * asking_s(window)
        mean_s += window.asked / window.asked_per_s
        took_s += asking_s(window)
    if not asked or drawn / asked < LEAST_DRAWN:
        return []
    if abs(drawn / asked - 1) >= DRAWN_APART:
        return [f"the arrivals are random: {drawn:,.0f} were drawn where {asked:,.0f} are the mean"]
    if abs(took_s / mean_s - 1) >= DRAWN_APART:
        times = f"{took_s:,.3g} s where {mean_s:,.3g} s"
        return [f"the arrivals are random: {asked:,.0f} came in {times} are the mean"]
    return []


def _short(requests: Requests, rates: Mapping[int, Rates]) -> list[str]:
    """Report that rates of a closed loop include its start and end, because it had no
    steady part.
    """
    for repeat, window in requests.windows.items():
        one = rates[repeat]
        if not window.is_open and one.steady is None and one.request_throughput:
            needed = f"{LEAST_WAVES} of each user are needed"
            instead = "rates are the mean number in flight ÷ the mean time of a request"
            return [f"too few answers for a steady part ({needed}): {instead}"]
    return []


def _no_rate(result: Aggregate) -> list[str]:
    """Report why there is no rate of answers."""
    rate = result.metrics["request_throughput_per_s"]
    return [f"completed/s is not known: {rate.reason}"] if rate.value is None else []


def _resent(counts: RequestCounts) -> list[str]:
    """Report that the server drops connections, which the final answers hide."""
    if not counts.resent:
        return []
    many = "request was" if counts.resent == 1 else "requests were"
    why = "the server closed a used connection without an answer"
    return [f"{counts.resent:,} {many} sent twice: {why}"]


def _without_content(requests: Requests) -> list[str]:
    """Report answers that ended with a reason but without content."""
    streamed = requests.answered & requests.columns.streamed
    count = int(np.count_nonzero(streamed & np.isnan(requests.ttft_ms)))
    if not count:
        return []
    told = "answer had no content: it has" if count == 1 else "answers had no content: they have"
    return [f"{count:,} {told} no ttft_ms"]


def _kept(requests: Requests, slo: Mapping[str, float]) -> dict[str, float]:
    """Return the share of what was due that kept each limit on its own."""
    windows = requests.windows.values()
    offered = sum(worker.offered for window in windows for worker in window.workers)
    lacking = requests.lacking(slo)
    shares = {}
    for name, limit in slo.items():
        unjudged = int(np.count_nonzero(~requests.judged({name: limit})))
        due = max(offered, len(requests)) - unjudged
        if due > 0 and name not in lacking:
            shares[name] = int(np.count_nonzero(requests.good({name: limit}))) / due
    return shares


def _unjudged(requests: Requests, slo: Mapping[str, float]) -> list[str]:
    """Report which limits do not apply to canceled requests."""
    count = int(np.count_nonzero(requests.cancelled))
    names = [name for name in slo if metric_of(name) not in FIRST_TOKEN]
    if not count or not names:
        return []
    told = f"{counted(count, 'answer')} {_were(count)} canceled as planned"
    return [f"{told}: {' and '.join(names)} of the SLO could not be judged for them"]


def _were(count: int) -> str:
    return "was" if count == 1 else "were"


def _left_out(counts: RequestCounts) -> list[str]:
    """Report that latencies exclude the slowest requests, which did not finish."""
    found = []
    if counts.unfinished:
        found.append(
            f"{counted(counts.unfinished, 'request')} {_were(counts.unfinished)} still in flight"
            " when the drain ended: the latencies leave them out"
        )
    if counts.unsent:
        found.append(
            f"{counted(counts.unsent, 'request')} became due and {_were(counts.unsent)} never"
            " sent: the latencies leave them out"
        )
    return found


def _counts(requests: Requests, result: Aggregate) -> RequestCounts:
    ended = statuses(requests)
    workers = _workers(requests)
    asked = [w.asked_per_s for w in requests.windows.values() if w.asked_per_s is not None]
    sent = result.metrics["sent_per_s"].value
    offered = sum(worker.offered for worker in workers)
    return RequestCounts(
        asked_per_s=sum(asked) / len(asked) if asked else None,
        sent_per_s=sent,
        offered=offered,
        sent=len(requests),
        ok=ended.get("ok", 0),
        failed={kind: n for kind, n in ended.items() if kind not in {"ok", CANCELLED, UNFINISHED}},
        cancelled=ended.get(CANCELLED, 0),
        unfinished=ended.get(UNFINISHED, 0),
        unsent=max(offered - len(requests), 0),
        connections=total_of_workers(requests, "connections"),
        resent=total_of_workers(requests, "resent"),
        sent_bytes=total_of_workers(requests, "sent_bytes"),
        received_bytes=total_of_workers(requests, "received_bytes"),
    )


def _workers(requests: Requests) -> list[Done]:
    return [worker for window in requests.windows.values() for worker in window.workers]


def _calibration(requests: Requests) -> Calibration | None:
    found = [window.calibration for window in requests.windows.values() if window.calibration]
    return found[-1] if found else None


def _harness(requests: Requests) -> Harness:
    windows, workers = list(requests.windows.values()), _workers(requests)
    calibration = _calibration(requests)
    probes = [worker.lateness for worker in workers if worker.lateness is not None]
    waits = [w.run_queue_wait_ms for w in workers if w.run_queue_wait_ms is not None]
    pressures = [w.psi_cpu_percent for w in windows if w.psi_cpu_percent is not None]
    sent = sum(worker.sent for worker in workers)
    cpu_s = sum(worker.cpu_s for worker in workers)
    return Harness(
        overhead_p50_ms=None if calibration is None else calibration.overhead_p50_ms,
        overhead_p99_ms=None if calibration is None else calibration.overhead_p99_ms,
        ceiling_per_s=None if calibration is None else calibration.ceiling_per_s,
        ceiling_low_per_s=None if calibration is None else calibration.ceiling_low_per_s,
        calibrated_at=None if calibration is None else calibration.at,
        calibrated_rate_per_s=None if calibration is None else calibration.rate_per_s,
        cpu_us_per_request=1e6 * cpu_s / sent if sent else None,
        cpu_share=max((w.cpu_share for w in workers if w.window_s > 0), default=None),
        workers=max((len(window.workers) for window in windows), default=0),
        realtime=any(worker.realtime for worker in workers),
        window_s=sum(window.window_s for window in windows),
        drained_s=sum(max((w.drained_s for w in one.workers), default=0.0) for one in windows),
        lateness_p50_ms=max((probe.p50_ms for probe in probes), default=None),
        lateness_p99_ms=max((probe.p99_ms for probe in probes), default=None),
        lateness_max_ms=max((probe.max_ms for probe in probes), default=None),
        late=sum(worker.late for worker in workers),
        blocked=sum(worker.blocked for worker in workers),
        most_in_flight=max(sum(w.most_in_flight for w in one.workers) for one in windows),
        run_queue_wait_ms=sum(waits) if waits else None,
        psi_cpu_percent=max(pressures, default=None),
        gc_pause_ms=sum(worker.gc_pause_ms for worker in workers),
        gc_pause_max_ms=max((worker.gc_pause_max_ms for worker in workers), default=0.0),
        peak_rss_mb=max(sum(w.peak_rss_mb for w in one.workers) for one in windows),
    )
