"""Metrics of rates, mostly of load: offered, sent, answered, received."""

from __future__ import annotations

from agentbench_tui.model.figures.figure import Metric

RATES: tuple[Metric, ...] = (
    Metric(
        "throughput_per_s",
        "1/s",
        "higher",
        "Answered observations ÷ seconds in which the execution was asking; of load, from the "
        "first due request to the last answer. Mean of the repeats, with t.",
        load=True,
    ),
    Metric(
        "request_throughput_per_s",
        "1/s",
        "higher",
        "What was answered, or canceled as planned. Of an open loop: those that became due "
        "in the window (after ramp_s, where given) ÷ its length; where the server falls "
        "behind (the median latency grows by half from the first third to the last), ÷ the "
        "time from the first to the last answer. Of a closed loop: slope of the least-squares "
        "line through their count from the end of ramp_s, else of one median e2e_from_send_ms, "
        "to the window's end; of fewer than 5 answers a place in flight the mean number in "
        "flight ÷ mean time (Little's law). Mean of the repeats, with t.",
        load=True,
    ),
    Metric(
        "output_tokens_per_s",
        "tokens/s",
        "higher",
        "Tokens of all answers, those canceled as planned included, counted over time as in "
        "request_throughput_per_s. Estimated (~) where tokens are counted by chunks.",
        load=True,
    ),
    Metric(
        "input_tokens_per_s",
        "tokens/s",
        "higher",
        "Input tokens, as output_tokens_per_s. Only where the server counts them.",
        load=True,
    ),
    Metric(
        "output_tokens_per_s_per_user",
        "tokens/s",
        "higher",
        "What one user sees: Σ (output_tokens - 1) ÷ Σ (e2e - ttft) of the streamed answers.",
        load=True,
    ),
    Metric(
        "goodput_per_s",
        "1/s",
        "higher",
        "Good requests (see goodput_share), counted over time as in request_throughput_per_s: "
        "never more than that.",
        load=True,
    ),
    Metric(
        "goodput_share",
        "share",
        "higher",
        "Good requests ÷ requests that became due. A request is good if it was answered and met "
        "every limit of the SLO (ttft_ms, ttfo_ms, tpot_ms, e2e_ms, each as the metric counts it;"
        " an answer of one token, or one that arrived at once, meets any tpot_ms). Failed, "
        "unfinished and unsent requests are not good. For an answer that the plan canceled, only"
        " ttft_ms and ttfo_ms can be judged; it is excluded if neither is limited. Wilson "
        "interval.",
        load=True,
    ),
    Metric(
        "sent_per_s",
        "1/s",
        "none",
        "Requests sent in the window ÷ its length. Requests sent during the drain do not count. "
        "In an open loop only the first request of each session counts, because the schedule "
        "defines sessions.",
        load=True,
    ),
    Metric(
        "sent_share",
        "share",
        "higher",
        "sent_per_s ÷ the mean rate of the schedule. Below 98% the run warns and says whether "
        "the sender or the target was the limit. Open loops only.",
        load=True,
    ),
    Metric("error_rate", "share", "lower", "1 - reliability.", load=True),
    Metric("connections", "connections", "lower", "Opened in all repeats together.", load=True),
    Metric("received_bytes", "bytes", "none", "Bytes received, all repeats together.", load=True),
)
