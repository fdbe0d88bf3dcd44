"""Metrics of time: end to end, to the first token, between tokens, and of waiting."""

from __future__ import annotations

from agentbench_tui.model.figures.figure import Metric

TIMES: tuple[Metric, ...] = (
    Metric(
        "e2e_ms",
        "ms",
        "lower",
        "End to end: from sending the request to the last byte of the answer, of the attempt "
        "that was answered; waiting between attempts is `waiting_ms`. Only answered "
        "observations. Not given for recorded agents, whose answers take no time. Percentiles "
        "interpolate linearly (type 7), with order statistics as interval, and need enough "
        "observations: p90 29, p95 59, p99 299. p50 of several repeats is the geometric mean "
        "of their medians, with t on logs over the repeats. The mean has a t interval. In an "
        "open loop, whose requests are due by the clock, from the due time rather than from "
        "sending, as MLPerf's rules have it: what waits behind a stall has waited. p99.9 needs "
        "2,995.",
        distribution=True,
        load=True,
    ),
    Metric(
        "e2e_from_send_ms",
        "ms",
        "lower",
        "End-to-end latency from sending, for comparison with e2e_ms of an open loop. It excludes"
        " the time before sending, and so looks good while the target stalls. Only answered "
        "requests.",
        distribution=True,
        load=True,
    ),
    Metric(
        "ttft_ms",
        "ms",
        "lower",
        "Time to first token: from sending to the first content-bearing event of a streamed "
        "answer, reasoning and tool calls included. Role-only and empty chunks do not count. "
        "In an open loop from the due time.",
        distribution=True,
        load=True,
    ),
    Metric(
        "ttft_from_send_ms",
        "ms",
        "lower",
        "Time to first token from sending, for comparison with ttft_ms of an open loop.",
        distribution=True,
        load=True,
    ),
    Metric(
        "ttfo_ms",
        "ms",
        "lower",
        "Time to first output: to the first event with content that is not reasoning, from the "
        "same start as ttft_ms. Equal to it for models that do not send their reasoning.",
        distribution=True,
        load=True,
    ),
    Metric(
        "icl_ms",
        "ms",
        "lower",
        "Inter-chunk latency: every gap between two content-bearing events of an answer, all "
        "answers together. A chunk may hold several tokens. What vLLM's benchmark calls ITL.",
        distribution=True,
        load=True,
    ),
    Metric(
        "itl_ms",
        "ms",
        "lower",
        "Inter-token latency: every gap between two chunks ÷ tokens per chunk of its answer "
        "(output_tokens ÷ chunks), weighted by these tokens; percentiles are the smallest "
        "value that so large a share of the tokens stays at or below. Only where the server "
        "counts tokens.",
        distribution=True,
        load=True,
    ),
    Metric(
        "tpot_ms",
        "ms",
        "lower",
        "Time per output token after the first: (e2e - ttft, both from sending) ÷ (output_tokens "
        "- 1), for each streamed answer of 2 tokens or more, except those that arrived in one "
        "chunk or packet. Estimated (~) if tokens are counted by chunks. Some tools call this "
        "ITL.",
        distribution=True,
        load=True,
    ),
    Metric(
        "send_lag_ms",
        "ms",
        "lower",
        "From due to sent, of all requests that were sent: the sender's own lateness and "
        "queue_ms together. Open loops only.",
        distribution=True,
        load=True,
    ),
    Metric(
        "queue_ms",
        "ms",
        "lower",
        "Queueing delay: the part of send_lag_ms in which all places in flight "
        "(max_in_flight) were taken. Requests are sent in the order in which they are due, so "
        "the i-th of a sender had a place when i - max_in_flight of its requests had ended; "
        "from due until then. Open loops only.",
        distribution=True,
        load=True,
    ),
    Metric(
        "waiting_ms",
        "ms",
        "lower",
        "Time an observation spent waiting rather than working: back-off after 429 or a broken "
        "connection, and failed attempts before the answered one.",
        distribution=True,
    ),
)
