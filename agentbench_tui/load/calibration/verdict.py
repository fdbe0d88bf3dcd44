"""Decides whether the figures of a window describe the target or the harness. Pure: facts in,
verdict out.

The verdict, in this order:
- `generator-limited`: a sender used more than 80% of a core, or the plan asked for more than the
  senders can do at all. What is reported is, in part or whole, the harness.
- `noisy`: one of these was over its limit: the overhead's p99 (5% of the smallest reported
  median), arrivals that left late though a place was free (1%), the lateness of the probe
  (p99 above 1 ms and above 5% of that median), the wait for a core (5% of the time), tasks of
  the machine that waited for a core (PSI, 10% of the time). So is a window of which neither
  the overhead nor the probe's lateness is known: that would be a guess. And so is one in which
  no request was answered, so there are no times to judge.
- `clean`: none of these.

An agent that runs inside the senders is not told apart from them: it changes no verdict, but it is
said, and neither is called the limit.
"""

from __future__ import annotations

from typing import Literal

import msgspec

from agentbench_tui.instruments.overhead import (
    GENERATOR_LIMITED_CPU_SHARE,
    NOISY_PSI_PERCENT,
    NOISY_RUN_QUEUE_SHARE,
    Verdict,
)
from agentbench_tui.load.results.window import Calibration, Window

Limit = Literal["client", "server", "none"]

OVERHEAD_SHARE = 0.05
"""Limit of the overhead's p99 and the probe's lateness, relative to the smallest reported
median.
"""
LATE_SHARE = 0.01
LATENESS_FLOOR_MS = 1.0
"""Probe lateness below this is never counted: kernels do not wake threads more precisely."""
SENT_SHARE = 0.98
"""Share of the requested rate below which the run reports the limit."""
PLAN_SHARE = 0.50
"""Share of the senders' ceiling above which a plan causes a warning."""
LEAST_DRAWN = 0.5
"""Share of the requested rate that every random schedule of relevant size exceeds."""
SHORTEST_WINDOW_S = 0.1
"""Shares of time are not meaningful in shorter windows."""


class Facts(msgspec.Struct, frozen=True, kw_only=True):
    """Facts from the window's samples; unknown ones are None."""

    sent_per_s: float | None
    """Requests sent per second of the window."""
    due_per_s: float | None = None
    """Requests that became due per second: a random schedule rarely draws exactly the requested
    number.
    """
    answered_per_s: float | None = None
    """In the steady part of the window."""
    grew_ms: tuple[float, float] | None = None
    """Median latency of the first and of the last third of the requests, in the order in which
    they were due, where the last are beyond doubt slower."""
    e2e_p50_ms: float | None
    """Median of the answered, from sending."""
    ttft_p50_ms: float | None = None
    """The same for the first token, if answers are streamed."""


class Judgment(msgspec.Struct, frozen=True, kw_only=True):
    """Verdict on the reliability of a window's figures."""

    verdict: Verdict
    reasons: tuple[str, ...]
    """Why the verdict is not `clean`, then what could not be checked; one sentence each."""
    limit: Limit
    """What kept the rate below the requested one, or limited a closed loop's senders; `none` if
    nothing did, or it is unknown.
    """
    warnings: tuple[str, ...]
    """Warnings for readers of the figures, with any verdict."""


def judge(window: Window, facts: Facts) -> Judgment:
    """Return the verdict by the rules above; unknown facts are reported, not judged."""
    found = _Findings()
    median_ms = _smallest_median_ms(facts)
    _check_cpu(found, window)
    _check_ceiling(found, window)
    overhead_known = _check_overhead(found, window.calibration, median_ms)
    if median_ms is None:
        found.noisy.append("no request was answered, so there are no times to judge")
    _check_late(found, window)
    lateness_known = _check_lateness(found, window, median_ms)
    _check_run_queue(found, window)
    _check_pressure(found, window)
    if not overhead_known and not lateness_known and median_ms is not None:
        found.noisy.append("neither the overhead nor the lateness of the senders is known")
    _check_inside(found, window)
    if window.changes:
        found.unchecked.append(
            f"the load was changed by hand while it ran ({len(window.changes)}×): the figures are"
            " of all its rates together"
        )
    limit, warnings = _limit(window, facts, client=bool(found.limited))
    if not found.limited:
        warnings += filter(None, [plan_warning(window.asked_per_s, window.calibration)])
    return Judgment(
        verdict="generator-limited" if found.limited else "noisy" if found.noisy else "clean",
        reasons=(*found.limited, *found.noisy, *found.unchecked),
        limit=limit,
        warnings=tuple(warnings),
    )


def plan_warning(asked_per_s: float | None, last: Calibration | None) -> str | None:
    """Return a warning for a plan that needs more than half of the senders' ceiling."""
    if asked_per_s is None or last is None or asked_per_s <= PLAN_SHARE * last.ceiling_per_s:
        return None
    return (
        f"offered {asked_per_s:,.1f}/s, {100 * asked_per_s / last.ceiling_per_s:.0f}% of the"
        f" {last.ceiling_per_s:,.0f}/s that {_senders(last.workers)} here can do at most (limit"
        f" {100 * PLAN_SHARE:.0f}%): the harness's own delays will show in the figures"
    )


class _Findings:
    """Sentences, grouped by what they mean for the verdict."""

    def __init__(self) -> None:
        self.limited: list[str] = []
        self.noisy: list[str] = []
        self.unchecked: list[str] = []


def _check_cpu(found: _Findings, window: Window) -> None:
    number, share = _busiest(window)
    if share is None:
        found.unchecked.append(
            f"the window of {window.window_s:.3f} s is too short to judge the senders' CPU"
        )
    elif share > GENERATOR_LIMITED_CPU_SHARE:
        found.limited.append(
            f"{_sender(window, number)} used {100 * share:.1f}% of a core"
            f" (limit {100 * GENERATOR_LIMITED_CPU_SHARE:.0f}%)"
        )


def _check_ceiling(found: _Findings, window: Window) -> None:
    asked, calibration = window.asked_per_s, window.calibration
    if asked is not None and calibration is not None and asked > calibration.ceiling_per_s:
        found.limited.append(
            f"offered {asked:,.1f}/s, more than the {calibration.ceiling_per_s:,.0f}/s that"
            f" {_senders(calibration.workers)} here can do at most"
        )


def _check_overhead(
    found: _Findings, calibration: Calibration | None, median_ms: float | None
) -> bool:
    """Check the harness's share of the latency; return whether it is known."""
    if calibration is None:
        found.unchecked.append("the senders' overhead was not measured (no calibration)")
        return False
    if median_ms is None:
        return False
    overhead_ms = calibration.overhead_p99_ms
    if overhead_ms >= OVERHEAD_SHARE * median_ms:
        share = f"{100 * overhead_ms / median_ms:.1f}% of" if median_ms else "beside"
        found.noisy.append(
            f"the overhead's p99 of {overhead_ms:.3f} ms is {share} the reported median of"
            f" {median_ms:.3f} ms (limit {100 * OVERHEAD_SHARE:.0f}%)"
        )
    return True


def _check_late(found: _Findings, window: Window) -> None:
    late, sent = sum(worker.late for worker in window.workers), window.sent
    if sent and late >= LATE_SHARE * sent:
        found.noisy.append(
            f"{late:,} of {sent:,} requests left late though a place was free"
            f" ({100 * late / sent:.1f}%, limit {100 * LATE_SHARE:.0f}%)"
        )


def _check_lateness(found: _Findings, window: Window, median_ms: float | None) -> bool:
    """Check the lateness of the workers; return whether it is known."""
    worst_ms = max((one.lateness.p99_ms for one in window.workers if one.lateness), default=None)
    if worst_ms is None:
        found.unchecked.append("the lateness of the senders' loop is not known")
        return False
    allowed_ms = max(LATENESS_FLOOR_MS, OVERHEAD_SHARE * (median_ms or 0.0))
    if worst_ms > allowed_ms:
        found.noisy.append(
            f"a sender's loop was late by {worst_ms:.2f} ms (p99, limit {allowed_ms:.2f} ms)"
        )
    return True


def _check_run_queue(found: _Findings, window: Window) -> None:
    known = [
        (worker.run_queue_share, number)
        for number, worker in enumerate(window.workers)
        if worker.run_queue_share is not None
    ]
    if not known:
        found.unchecked.append(
            "the senders' wait for a core is not known here (no /proc/self/schedstat)"
        )
    judged = [one for one in known if window.workers[one[1]].window_s >= SHORTEST_WINDOW_S]
    share, number = max(judged, default=(0.0, 0))
    if share > NOISY_RUN_QUEUE_SHARE:
        found.noisy.append(
            f"{_sender(window, number)} waited {100 * share:.1f}% of the time for a core"
            f" (limit {100 * NOISY_RUN_QUEUE_SHARE:.0f}%)"
        )


def _check_pressure(found: _Findings, window: Window) -> None:
    percent = window.psi_cpu_percent
    if percent is None:
        found.unchecked.append(
            "the pressure on the cores is not known here (no /proc/pressure/cpu)"
        )
    elif percent > NOISY_PSI_PERCENT:
        found.noisy.append(
            f"some task waited for a core {percent:.1f}% of the time"
            f" (limit {NOISY_PSI_PERCENT:.0f}%)"
        )


def _check_inside(found: _Findings, window: Window) -> None:
    if window.agent_inside and (found.limited or found.noisy):
        found.unchecked.append(
            "the agent runs inside the sender, whose CPU time and delays are in part or whole the"
            " agent's (behind `worker:` it has its own process)"
        )


def _limit(window: Window, facts: Facts, *, client: bool) -> tuple[Limit, list[str]]:
    """Return the limit, and a warning about it."""
    asked, sent = window.asked_per_s, facts.sent_per_s
    alone: Limit = "client" if client and not window.agent_inside else "none"
    if not asked:
        return alone, []
    if window.stopped:
        return alone, [
            "cut short on request: the sent rate was not compared with the requested one"
        ]
    due = facts.due_per_s or asked
    if due < LEAST_DRAWN * asked:  # a sender at its end did not even get to begin what was due
        due = asked
    if sent is None or sent >= SENT_SHARE * due:
        return _falling_behind(facts, due, alone)
    limit, why = _why_short(window, client=client)
    return limit, [f"offered {due:,.1f}/s, sent {sent:,.1f}/s ({100 * sent / due:.0f}%): {why}"]


def _falling_behind(facts: Facts, due: float, alone: Limit) -> tuple[Limit, list[str]]:
    """Return whether answers kept up with requests that were all sent in time."""
    answered = facts.answered_per_s
    if facts.grew_ms is None or answered is None or answered >= SENT_SHARE * due:
        return "none", []
    first, last = facts.grew_ms
    warning = (
        f"offered {due:,.1f}/s, completed {answered:,.1f}/s, and the median latency grew from"
        f" {first:,.0f} to {last:,.0f} ms: requests are piling up, and the latencies depend on how"
        " long the window was"
    )
    return "server" if alone == "none" else alone, [warning]


def _why_short(window: Window, *, client: bool) -> tuple[Limit, str]:
    blocked = sum(worker.blocked for worker in window.workers)
    late = sum(worker.late for worker in window.workers)
    offered = sum(worker.offered for worker in window.workers)
    number, share = _busiest(window)
    sender = _sender(window, number)
    busy = "" if share is None else f", {sender} used {100 * share:.0f}% of a core"
    limit: Limit = "none" if window.agent_inside else "client"
    ours = "the agent or the sender that it runs in" if window.agent_inside else "the client"
    if client:
        return limit, f"{ours} was the limit{busy}"
    if blocked and blocked >= late:
        places = "" if window.max_in_flight is None else f" (at most {window.max_in_flight:,})"
        return "server", (
            f"the server was the limit: {blocked:,} of {offered:,} requests waited for a place in"
            f" flight{places}{busy}"
        )
    if late and late >= LATE_SHARE * offered:
        return limit, (
            f"{ours} was the limit: {late:,} of {offered:,} requests left late though a place"
            f" was free{busy}"
        )
    if window.sent < offered:
        return "none", f"{offered - window.sent:,} of {offered:,} due requests were not sent"
    return "none", "what was due left only after the window had ended"


def _busiest(window: Window) -> tuple[int, float | None]:
    """Return the number and CPU share (of one core) of the busiest load worker."""
    shares = [
        (worker.cpu_share, -number)
        for number, worker in enumerate(window.workers)
        if worker.window_s >= SHORTEST_WINDOW_S
    ]
    if not shares:
        return 0, None
    share, negative = max(shares)
    return -negative, share


def _smallest_median_ms(facts: Facts) -> float | None:
    medians = (facts.e2e_p50_ms, facts.ttft_p50_ms)
    return min((median for median in medians if median is not None), default=None)


def _sender(window: Window, number: int) -> str:
    return "the sender" if len(window.workers) == 1 else f"sender {number + 1}"


def _senders(workers: int) -> str:
    return "one sender" if workers == 1 else f"{workers} senders"
