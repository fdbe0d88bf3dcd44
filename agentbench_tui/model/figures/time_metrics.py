"""Metrics of time: end to end, up to the first token and between tokens, and what waits."""

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
        "End to end from sending, beside e2e_ms of an open loop. It leaves out how long a "
        "request had to wait before it was sent, and so looks good while the target stalls. "
        "Only answered requests.",
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
        "Time to first token from sending, beside ttft_ms of an open loop.",
        distribution=True,
        load=True,
    ),
    Metric(
        "ttfo_ms",
        "ms",
        "lower",
        "Time to first output: to the first content-bearing event that is no reasoning, from "
        "where ttft_ms counts. Equal to it for models that don't show their reasoning.",
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
        "Time per output token after the first: (e2e - ttft, both from sending) ÷ "
        "(output_tokens - 1), of each streamed answer of 2 tokens or more but those that came "
        "at once, in one chunk or packet. Estimated (~) where "
        "tokens are counted by chunks. Some tools call this ITL.",
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
