"""Numbers of a load document other than its metrics: counts, the harness's own figures, other
facts.

They are named and explained like metrics, and gates may use the numbers among them.
"""

from __future__ import annotations

from agentbench_tui.model.answer import FailureKind
from agentbench_tui.model.figures.metric import Metric

VERDICT = "verdict"
VERDICTS = ("clean", "noisy", "generator-limited")
"""From the best to the worst."""

SLO_SHARE = 0.99
"""Share of due requests that must meet every limit, for a point of a sweep to be within the SLO."""

COUNTS: dict[str, Metric] = {
    figure.name: figure
    for figure in (
        Metric(
            "asked_per_s",
            "1/s",
            "none",
            "Offered rate: the mean rate of an open loop's schedule. For sessions it counts only "
            "their first requests, and for a window that was cut short only the part that ran. A "
            "closed loop has none.",
        ),
        Metric("offered", "requests", "none", "Requests that became due, in all repeats."),
        Metric(
            "sent",
            "requests",
            "none",
            "Requests that were sent, in all repeats, with any result, without warm-up.",
        ),
        Metric("ok", "requests", "higher", "Requests that were answered, in all repeats."),
        Metric(
            "failed",
            "requests",
            "lower",
            "Requests that failed, by kind; a gate uses their sum. Requests that the plan "
            "canceled and unfinished ones are not included.",
        ),
        Metric(
            "cancelled",
            "requests",
            "none",
            "Answers that the plan itself broke off, after `cancel_after_tokens` tokens. They are "
            "neither answered nor failed; their first tokens count in ttft_ms.",
        ),
        Metric(
            "unfinished",
            "requests",
            "lower",
            "Requests that were still in flight when the drain after the window ended. Latencies "
            "leave them out, and they are not good.",
        ),
        Metric(
            "unsent",
            "requests",
            "lower",
            "Requests that became due and never got a place in flight: offered - sent. Latencies "
            "leave them out, and they are not good.",
        ),
        Metric(
            "resent",
            "requests",
            "lower",
            "Requests that were sent twice, because the server closed the reused connection "
            "within a second of sending, before a byte of the answer. Either it had closed the "
            "connection as idle, or it accepts requests and drops them; the two cannot be "
            "distinguished. Each counts once, with the result of the second attempt; its times "
            "count from the first. In a load, `retries` means these. A gate: resent==0.",
        ),
        Metric("sent_bytes", "bytes", "none", "Bytes sent, all repeats together."),
    )
}
"""Keys of `requests` in a load document that are not metrics."""

HARNESS: dict[str, Metric] = {
    figure.name: figure
    for figure in (
        Metric(
            "overhead_p50_ms",
            "ms",
            "lower",
            "Median time that the senders themselves add to an answer: from sending to the last "
            "byte of a local stub that answers immediately, minus the stub's own time. Measured "
            "after the run, by as many workers with the same requests.",
        ),
        Metric(
            "overhead_p99_ms",
            "ms",
            "lower",
            "The 99th percentile of what the senders themselves add (see overhead_p50_ms). At 5% "
            "of the smallest reported median or more the verdict is `noisy`.",
        ),
        Metric(
            "ceiling_per_s",
            "1/s",
            "higher",
            "Maximum rate of these senders, each with a core to itself: workers divided by the "
            "CPU time of a request, in closed loops of 16 to 256 users per worker against the "
            "stub; the highest of three. A plan above it is `generator-limited`; a plan above "
            "half of it causes a warning.",
        ),
        Metric(
            "ceiling_low_per_s",
            "1/s",
            "higher",
            "The least of the closed loops that ceiling_per_s is the most of.",
        ),
        Metric(
            "calibrated_rate_per_s",
            "1/s",
            "none",
            "The rate at which the overhead was measured: the plan's own, at most half the "
            "ceiling, and enough for 300 requests.",
        ),
        Metric(
            "cpu_us_per_request",
            "µs",
            "lower",
            "CPU time (user and system) of the sending processes in the windows ÷ requests sent. "
            "At a few requests a second most of it is what waiting costs.",
        ),
        Metric(
            "cpu_share",
            "cores",
            "lower",
            "CPU time ÷ length of the window, of the busiest sender. Above 0.8 the verdict is "
            "`generator-limited`.",
        ),
        Metric("workers", "processes", "none", "Processes that sent."),
        Metric(
            "window_s",
            "s",
            "none",
            "Length of the windows, from their start to their last arrival, all repeats together.",
        ),
        Metric(
            "drained_s",
            "s",
            "none",
            "From the last arrival to the last answer, all repeats together.",
        ),
        Metric(
            "lateness_p50_ms",
            "ms",
            "lower",
            "Lateness of a timer in a sender's own event loop that is due a hundred times a "
            "second; sending and receiving are delayed as much. Median, for the worst sender.",
        ),
        Metric(
            "lateness_p99_ms",
            "ms",
            "lower",
            "The same, 99th percentile. Above 1 ms, or 5% of the smallest reported median if "
            "that is more, the verdict is `noisy`.",
        ),
        Metric("lateness_max_ms", "ms", "lower", "The same, the latest."),
        Metric(
            "late",
            "requests",
            "lower",
            "Requests that left more than 1 ms, or 5% of the mean gap, after they were due "
            "though a place in flight was free. From 1% of those sent on the verdict is `noisy`.",
        ),
        Metric(
            "blocked",
            "requests",
            "none",
            "Requests that waited for a place in flight (max_in_flight): for the server, that is.",
        ),
        Metric(
            "most_in_flight",
            "requests",
            "none",
            "Maximum in-flight requests of all senders together, in the repeat with most.",
        ),
        Metric(
            "run_queue_wait_ms",
            "ms",
            "lower",
            "How long the senders were ready but had no core (/proc/self/schedstat), all repeats "
            "together. Above 5% of one sender's time the verdict is `noisy`.",
        ),
        Metric(
            "psi_cpu_percent",
            "%",
            "lower",
            "Share of the window in which some task of the machine waited for a core "
            "(/proc/pressure/cpu), in the worst repeat. Above 10 the verdict is `noisy`.",
        ),
        Metric(
            "gc_pause_ms",
            "ms",
            "lower",
            "Pauses of Python's garbage collector in the senders, together. It is off in the "
            "window unless an agent inside the sender turns it on.",
        ),
        Metric("gc_pause_max_ms", "ms", "lower", "The longest pause of gc_pause_ms."),
        Metric(
            "peak_rss_mb",
            "MB",
            "lower",
            "Highest resident memory of the senders, together, in the repeat with most.",
        ),
    )
}
"""Numbers under `harness` in a load document."""

FACTS: dict[str, Metric] = {
    fact.name: fact
    for fact in (
        Metric(
            VERDICT,
            "clean, noisy or generator-limited",
            "none",
            "How far the times may be believed. `clean`: they are the target's. `noisy`: the "
            "machine or the harness took part in them, or nothing was answered. "
            "`generator-limited`: the senders were at their end. The worst of the repeats; "
            "`reasons` say why. A gate: verdict==clean.",
        ),
        Metric(
            "limit",
            "client, server or none",
            "none",
            "What kept the sent rate below 98% of the requested one, or limited a closed loop's "
            "senders. As a kind of failure: the agent exceeded a limit of memory, tokens or cost.",
        ),
        Metric(
            "is_open",
            "true or false",
            "none",
            "Whether requests were due by the clock (open loop), so that latencies count from the "
            "due time; else each user sent when it was ready.",
        ),
        Metric(
            "on_this_machine",
            "true or false",
            "none",
            "Whether the target shared the senders' cores.",
        ),
        Metric(
            "slo",
            "metric → ms",
            "none",
            "The limits that a good request keeps (see goodput_share).",
        ),
        Metric(
            "slo_kept",
            "limit → share",
            "none",
            "Share of the due requests that met each limit of the SLO alone.",
        ),
        Metric(
            "within_slo",
            "a value of the swept parameter",
            "none",
            f"The highest rate (or other swept number) at which at least {100 * SLO_SHARE:.0f}%"
            " of what was due kept every limit of the SLO (goodput_share). Of a sweep over one"
            " number.",
        ),
        Metric(
            "repeats",
            "windows",
            "none",
            "How often the load was put on the target, with fresh connections.",
        ),
        Metric(
            "between_repeats",
            "as the metric",
            "none",
            "Variation between repeats: the value of each repeat, and with 3 repeats or more the "
            "95% t interval on their logarithms, with 2 the lower and the higher value. Requests"
            " of one repeat are not independent, so this describes the error better than the "
            "percentiles' own interval. Given only if every repeat has enough requests for the "
            "figure, and all values are above 0.",
        ),
        Metric(
            "steady",
            "s",
            "none",
            "Beginning and end of the part of each window that rates are of, since its start: "
            "after ramp_s, where it is given; of a closed loop else after one median latency.",
        ),
        Metric(
            "tokens_estimated",
            "true or false",
            "none",
            "Whether the tokens of some answer are counted by chunks (~) instead of by the server.",
        ),
        Metric(
            "calibrated_at",
            "UTC",
            "none",
            "When the senders were measured against the stub.",
        ),
        Metric(
            "realtime",
            "true or false",
            "none",
            "Whether the senders went before everything else on the machine (SCHED_RR).",
        ),
        Metric(
            "simulated",
            "true or false",
            "none",
            "Whether the target only simulates an agent, as the practice server does.",
        ),
    )
}
"""Facts that are not numbers; the unit lists the possible values."""

FAILURES: dict[str, Metric] = {
    kind.value: Metric(kind.value, "requests", "lower", meaning)
    for kind, meaning in (
        (FailureKind.RATE_LIMITED, "The server refused because of too many requests (HTTP 429)."),
        (FailureKind.TIMEOUT, "No complete answer before the time limit."),
        (
            FailureKind.CONNECTION,
            "The connection could not be made, or broke before the first byte.",
        ),
        (
            FailureKind.SERVER,
            "The server failed (HTTP 5xx), or refused the request (4xx but 429).",
        ),
        (
            FailureKind.TRUNCATED,
            (
                "The answer began but did not come to its end. Under load also a stream that ends "
                "with neither content nor a finish_reason."
            ),
        ),
        (
            FailureKind.PARSE,
            (
                "A complete answer that is not of the agreed form. Under load also one with "
                "neither content nor a finish_reason."
            ),
        ),
        (FailureKind.LIMIT, "The agent went over a limit of memory, tokens or cost."),
        (FailureKind.AGENT, "The agent itself raised, exited or reported an error."),
        (
            FailureKind.GRADER,
            "There is an answer, but a scorer failed on it. Does not count against the agent.",
        ),
        (
            FailureKind.HARNESS,
            "Agentbench or its machine failed. Does not count against the agent.",
        ),
    )
}
"""Kinds of failures."""


def load_figures() -> dict[str, Metric]:
    """Return every number of a load document that is not a metric, by name."""
    return COUNTS | HARNESS
