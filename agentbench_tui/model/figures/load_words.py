"""Terms in tables and sentences of a load, with their meaning: a figure, or a concept.

`agentbench explain` knows each of them, and a gate that uses one is pointed to the real names.
"""

from __future__ import annotations

from agentbench_tui.model.figures.metric import Metric

SAID: dict[str, tuple[str, ...]] = {
    "answered": ("ok", "unanswered", "request_throughput_per_s"),
    "answered/s": ("request_throughput_per_s",),
    "asked": ("asked_per_s",),
    "broken off": ("cancelled",),
    "broken off as planned": ("cancelled",),
    "canceled": ("cancelled",),
    "canceled as planned": ("cancelled",),
    "ceiling": ("ceiling_per_s",),
    "clean": ("verdict",),
    "client": ("limit",),
    "completed": ("request_throughput_per_s",),
    "completed/s": ("request_throughput_per_s",),
    "connections opened": ("connections",),
    "cpu": ("cpu_us_per_request", "cpu_share"),
    "cpu a request": ("cpu_us_per_request",),
    "errors": ("failed", "error_rate"),
    "generator-limited": ("verdict",),
    "goodput": ("goodput_per_s", "goodput_share"),
    "highest concurrency within the slo": ("within_slo",),
    "highest rate within the slo": ("within_slo",),
    "in flight": ("most_in_flight",),
    "latency": ("e2e_ms", "ttft_ms", "tpot_ms"),
    "max": ("percentile",),
    "mean": ("percentile",),
    "n": ("percentile",),
    "needs": ("percentile",),
    "never sent": ("unsent",),
    "noisy": ("verdict",),
    "not calibrated": ("harness", "calibrated_at"),
    "offered/s": ("asked_per_s",),
    "offered rate": ("asked_per_s",),
    "open loop": ("is_open",),
    "closed loop": ("is_open",),
    "p50": ("percentile",),
    "p90": ("percentile",),
    "p95": ("percentile",),
    "p99": ("percentile",),
    "p99.9": ("percentile",),
    "p999": ("percentile",),
    "real-time": ("realtime",),
    "real-time priority": ("realtime",),
    "requests": ("offered", "sent", "ok", "failed", "unanswered"),
    "some task waited for a core": ("psi_cpu_percent",),
    "steady part": ("steady",),
    "the client was the limit": ("limit",),
    "the server was the limit": ("limit",),
    "throughput": ("request_throughput_per_s", "output_tokens_per_s", "throughput_per_s"),
    "tokens": ("output_tokens", "input_tokens", "output_tokens_per_s"),
    "tokens/s": ("output_tokens_per_s",),
    "tokens/s per user": ("output_tokens_per_s_per_user",),
    "warmup": ("warm-up",),
    "waited for a core": ("psi_cpu_percent", "run_queue_wait_ms"),
    "warming up": ("warm-up",),
    "what was due kept": ("goodput_share",),
    "window": ("window_s",),
    "within the slo": ("within_slo",),
    "~": ("tokens_estimated",),
}
"""Lower-case term → names of figures; several if the term is ambiguous."""

IDEAS: dict[str, Metric] = {
    idea.name: idea
    for idea in (
        Metric(
            "percentile",
            "as the metric",
            "none",
            "p99: the value that 99% of the observations do not exceed. A percentile needs "
            "enough values: p90 29, p95 59, p99 299, p99.9 2,995; with fewer a table says `needs "
            "299`. Next to percentiles are the mean, the largest value (max) and the number of "
            "observations (n). A gate names metric and part: e2e_ms.p99<=900.",
        ),
        Metric(
            "drain",
            "time",
            "none",
            "Grace period for in-flight requests at the end of the window (--drain, `drain_s`; 30"
            " s). Requests without an answer by then are unfinished. The actual duration is "
            "drained_s.",
        ),
        Metric(
            "warm-up",
            "requests",
            "none",
            "Requests of each sender before the window, one after another (--warmup, "
            "`warmup_requests`; 3). They are not measured, and the window waits for them.",
        ),
        Metric(
            "harness",
            "numbers",
            "none",
            "Cost and delays of agentbench's own senders, to compare with the measured times: "
            "overhead_p50_ms, overhead_p99_ms, ceiling_per_s (both against a stub that answers "
            "immediately), cpu_us_per_request, lateness_p99_ms and others.",
        ),
        Metric(
            "due",
            "time",
            "none",
            "Time at which the schedule says that a request is to be sent. Latencies of an open "
            "loop count from then, including any delay before sending (e2e_ms, ttft_ms); next to "
            "them are those from sending (e2e_from_send_ms, ttft_from_send_ms).",
        ),
    )
}
"""Concepts of a load that are not figures of its document."""
