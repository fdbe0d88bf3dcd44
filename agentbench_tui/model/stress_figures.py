"""What stress scenarios report: their metrics, the other figures of their document, their words.

All of them are explained like metrics; the metrics may stand in gates and comparisons.
"""

from __future__ import annotations

from agentbench_tui.model.figure import Metric

BROKE = "broke"
TRUTHS = ("true", "false")
"""What a gate may ask of `broke`."""

STRESS_METRICS: dict[str, Metric] = {
    metric.name: metric
    for metric in (
        Metric(
            "resilience",
            "0..100",
            "higher",
            "100 × mean Q over the seconds from the beginning of the stress to the end of the "
            "recovery. Q of a second: requests due in it that were answered right and within the "
            "limits ÷ min(requests due, what the target answered at its best before the stress), "
            "at most 1. Interval: moving blocks of 5 seconds of this one run; what another run "
            "would give, only other runs tell.",
        ),
        Metric(
            "breaking_rate_per_s",
            "1/s",
            "higher",
            "Requests a second at which the target breaks: the middle (in the logarithm) between "
            "the highest rate that passed and the lowest that failed, which lie within 10 % where "
            "the search came to its end (see breaking_point). A gate: breaking_rate_per_s>=120.",
        ),
        Metric(
            "breaking_concurrency",
            "users",
            "higher",
            "Users at once at which the target breaks, as breaking_rate_per_s.",
        ),
        Metric(
            "breaking_input_tokens",
            "tokens",
            "higher",
            "Tokens of a prompt at which the target breaks, as breaking_rate_per_s.",
        ),
        Metric(
            "recovery_s",
            "s",
            "lower",
            "From the end of the stress to the first of 5 seconds in a row that are as good as "
            "the 95 % prediction interval of the time before it; of several faults the longest. "
            "Empty where it did not recover while it was watched.",
        ),
        Metric(
            "error_share",
            "share",
            "lower",
            "Requests that were due and not answered right ÷ requests due, over the windows that "
            "the scenario scores.",
        ),
    )
}
