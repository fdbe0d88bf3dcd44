"""The metrics: name, unit, direction and formula of each, stated once.

`agentbench explain METRIC` prints these entries; rubrics, gates, tables and JSON use these names.
A percentile is the base name with `.p50`, `.p90`, `.p95` or `.p99`; `.mean` is the mean. Where load
benchmarks report it there are `.p999` and `.max` too.
"""

from __future__ import annotations

from agentbench_tui.model.figure import LOAD_PARTS, PERCENTILES, SHARES, Direction, Metric
from agentbench_tui.model.stress_figures import STRESS_METRICS

__all__ = (
    "DEFAULT_METRIC",
    "LOAD_PARTS",
    "METRICS",
    "PERCENTILES",
    "SCORES",
    "SHARES",
    "Direction",
    "Metric",
    "find_metric",
    "known_metrics",
)

METRICS: dict[str, Metric] = {
    metric.name: metric
    for metric in (
        Metric(
            "accuracy",
            "share",
            "higher",
            "Mean credit (0..1) of the primary scorer over all counted observations. One "
            "that failed for a reason of the agent's counts as 0; failures of kind `grader` and "
            "`harness` are left out and shown. Interval: Wilson for right/wrong answers asked once "
            "each, t for graded ones; asked more often, standard error clustered by case (or by "
            "the `cluster` that cases name), normal from 40 clusters on, else t.",
        ),
        Metric(
            "correct_share",
            "share",
            "higher",
            "Observations judged right ÷ counted observations. Interval as that of accuracy.",
        ),
        Metric(
            "reliability",
            "share",
            "higher",
            "Observations answered within every limit (time, memory, tokens, cost) ÷ counted "
            "observations. Right or wrong doesn't matter; failures of kind `grader` and `harness` "
            "are left out and shown. Wilson interval. Of load: answered ÷ sent; what the plan "
            "itself breaks off, and what a stop cut short, is left out.",
            load=True,
        ),
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
            "(output_tokens - 1), of each streamed answer of 2 tokens or more. Estimated (~) where "
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
        Metric(
            "input_tokens",
            "tokens",
            "lower",
            "Tokens sent, per answer.",
            distribution=True,
            load=True,
        ),
        Metric(
            "output_tokens",
            "tokens",
            "lower",
            "Tokens of the answer, hidden reasoning included, as the server counts them; else the "
            "number of content chunks, marked estimated.",
            distribution=True,
            load=True,
        ),
        Metric(
            "tokens_used",
            "tokens",
            "lower",
            "Input plus output tokens over all counted observations, failed ones included; of an "
            "observation that was tried several times, those of the last attempt.",
        ),
        Metric(
            "tokens_per_correct",
            "tokens",
            "lower",
            "tokens_used ÷ right answers. Interval as that of cost_usd_per_correct. Infinite "
            "without a right answer: shown as –, scored 0 by a rubric.",
        ),
        Metric(
            "cost_usd",
            "USD",
            "lower",
            "What the agent says it cost, else tokens × price of the price table in force, over "
            "the same tokens as tokens_used; for self-hosted agents the hours in which they were "
            "asked × their hourly price, shared out evenly. An unknown price makes it unknown, "
            "never 0.",
        ),
        Metric("cost_usd_per_task", "USD", "lower", "cost_usd ÷ counted observations."),
        Metric(
            "cost_usd_per_correct",
            "USD",
            "lower",
            "cost_usd ÷ right answers: what one success costs. Interval: Fieller's, of a ratio of "
            "sums, clustered by case. Infinite without a right answer: shown as –, scored 0 by a "
            "rubric.",
        ),
        Metric(
            "cpu_ms_per_correct",
            "ms",
            "lower",
            "CPU time (user and system) of the agent's process tree during the execution ÷ right "
            "answers. Only for agents that run as local processes.",
        ),
        Metric(
            "cpu_usage_percent",
            "%",
            "none",
            "CPU time of the agent's process tree ÷ the time it was asked, × 100; 100 is one core.",
        ),
        Metric(
            "memory_peak_mb",
            "MB",
            "lower",
            "Highest resident memory of the agent's process tree: readings every 100 ms, and of "
            "the program that was started the highest that the system itself has seen.",
        ),
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
            "What was answered, or broken off as planned. Of an open loop: those that became due "
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
            "Tokens of all answers, those broken off as planned included, counted over time as in "
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
            "Good requests ÷ requests that became due. Good is what was answered and kept every "
            "limit of the SLO (ttft_ms, ttfo_ms, tpot_ms, e2e_ms, each as the metric counts it; an "
            "answer of one token keeps any tpot_ms). Failed, unfinished and unsent requests are "
            "not good. Of an answer that the plan broke off only ttft_ms and ttfo_ms can be "
            "judged; it is left out where neither is limited. Wilson interval.",
            load=True,
        ),
        Metric(
            "sent_per_s",
            "1/s",
            "none",
            "Requests sent in the window ÷ its length. What leaves in the drain does not count. In "
            "an open loop only the first request of each session does: the schedule asks for "
            "sessions.",
            load=True,
        ),
        Metric(
            "sent_share",
            "share",
            "higher",
            "sent_per_s ÷ the rate that the schedule asks for on average. Below 98 % the run warns "
            "and says whether the sender or the target was the limit. Open loops only.",
            load=True,
        ),
        Metric("error_rate", "share", "lower", "1 - reliability.", load=True),
        Metric("connections", "connections", "lower", "Opened in all repeats together.", load=True),
        Metric(
            "received_bytes", "bytes", "none", "Bytes received, all repeats together.", load=True
        ),
        Metric("api_calls", "calls", "lower", "Requests to models that the answers took, in all."),
        Metric(
            "retries",
            "attempts",
            "lower",
            "Attempts beyond the first, over all observations.",
        ),
        Metric(
            "correctness",
            "share",
            "higher",
            "Mean of the scorers' correctness, where they give it.",
        ),
        Metric(
            "completeness",
            "share",
            "higher",
            "Mean of the scorers' completeness, where they give it.",
        ),
        Metric(
            "relevance", "share", "higher", "Mean of the scorers' relevance, where they give it."
        ),
    )
} | STRESS_METRICS

SCORES: dict[str, str] = {
    "accuracy": "The metric `accuracy` itself, or the rubric's metric mapped by target and limit.",
    "speed": "`e2e_ms.p50` (or the rubric's metric) mapped to 0..1: 1 at the rubric's target, 0 at "
    "its limit, straight or logarithmic between them. Without a rubric relative to the baseline; "
    "without either empty.",
    "efficiency": "`tokens_per_correct` (or the rubric's metric), mapped like speed.",
    "cost": "`cost_usd_per_correct` (or the rubric's metric), mapped like speed.",
    "reliability": "The metric `reliability` itself, or the rubric's metric mapped by target and "
    "limit.",
    "overall": "Weighted mean of the five dimensions, weights 0.30 accuracy, 0.20 speed, 0.20 "
    "efficiency, 0.15 cost, 0.15 reliability unless the suite sets others. Empty unless every "
    "dimension with a weight above 0 has a score.",
}
"""How each dimension is scored."""

DEFAULT_METRIC: dict[str, str] = {
    "accuracy": "accuracy",
    "speed": "e2e_ms.p50",
    "efficiency": "tokens_per_correct",
    "cost": "cost_usd_per_correct",
    "reliability": "reliability",
}
"""The metric behind each dimension when no rubric names another."""


def known_metrics() -> tuple[str, ...]:
    """Every metric name that may stand in a rubric or a gate."""
    names: list[str] = []
    for metric in METRICS.values():
        names += [f"{metric.name}.{part}" for part in metric.parts] or [metric.name]
    return tuple(names)


def find_metric(name: str) -> Metric | None:
    """The metric behind a name such as `e2e_ms.p95`, or None."""
    base, _, part = name.partition(".")
    metric = METRICS.get(base)
    return None if metric is None or (part and part not in metric.parts) else metric
