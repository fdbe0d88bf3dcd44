"""Metrics of stress scenarios, other figures of their document, and their terms.

All of them are explained like metrics; gates and comparisons may use the metrics.
"""

from __future__ import annotations

from agentbench_tui.model.figures.figure import Metric

BROKE = "broke"
TRUTHS = ("false", "true")
"""Values of `broke` that a gate may use."""

STRESS_METRICS: dict[str, Metric] = {
    metric.name: metric
    for metric in (
        Metric(
            "resilience",
            "0..100",
            "higher",
            "100 × mean Q over the seconds from the start of the stress to the end of the "
            "recovery. Q of a second: correct answers within the limits ÷ min(requests due, peak "
            "capacity before the stress), at most 1. 0 if the target was lost. If memory rises in"
            " a soak test with 95% confidence, the mean is projected over a week, with Q 0 once "
            "memory is full (the target's limit, else what its machine has left): × min(1, room ÷"
            " slope ÷ 168 h). Interval: moving blocks of 5 seconds of this one run; it does not "
            "include the variance between runs.",
        ),
        Metric(
            "breaking_rate_per_s",
            "1/s",
            "higher",
            "Rate per second at which the target fails: the geometric mean of the highest rate "
            "that passed and the lowest that failed, which are within 10% if the search was "
            "completed (see breaking_point). A gate: breaking_rate_per_s>=120.",
        ),
        Metric(
            "breaking_concurrency",
            "users",
            "higher",
            "Number of concurrent users at which the target fails, like breaking_rate_per_s.",
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
            "the 95% prediction interval of the time before it; of several faults the longest. "
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

STRESS_FACTS: dict[str, Metric] = {
    fact.name: fact
    for fact in (
        Metric(
            BROKE,
            "true or false",
            "none",
            "Whether a level failed with 95% confidence, or the target was lost. Null if nothing"
            " was measured. A gate: broke==false.",
        ),
        Metric(
            "resilience_score",
            "0..100",
            "higher",
            "Geometric mean of `resilience` over the scenarios that have one; 0 if one of them "
            "has 0. It is always shown with the worst scenario by name, because a mean hides a "
            "collapse. A scenario that was not run is missing, not 100.",
        ),
        Metric("worst", "scenario", "none", "The scenario with the lowest `resilience`."),
        Metric(
            "missing",
            "names",
            "none",
            "Of an agent: scenarios without a score, because they were not run or could not be "
            "scored. Of a scenario: what could not be measured, and why.",
        ),
        Metric(
            "time_scale",
            "factor",
            "none",
            "What every duration of a scenario was multiplied with (--time-scale); limits never "
            "are. Below 1 soaks are too short to show a slow leak, and slow recoveries are cut.",
        ),
        Metric(
            "normal_load",
            "requests/s, users, ms",
            "none",
            "What the target does at ease, measured first: users are doubled until answers a "
            "second grow by less than 10% or p95 is twice that of one user (the ladder); half of "
            "the last step without queueing is normal. Or what the suite says (normal_rate, "
            "normal_concurrency).",
        ),
        Metric(
            "limits",
            "share, ms",
            "none",
            "Limits of a load level: share of errors (error_share), p95 of latency (p95_ms; 3 × "
            "that at normal load by default), and the share of due requests that were answered "
            "within the window (completed_share). A level fails if the whole interval of a figure"
            " lies beyond its limit, passes if all intervals lie within their limits, and is "
            "`unclear` otherwise.",
        ),
        Metric(
            "breaking_point",
            "requests/s, users or tokens",
            "none",
            "The bracket of a search: the highest level that passed and the lowest that failed, "
            "the limit that failed first and its figures. Levels are doubled until one fails, "
            "then bisected on a logarithmic scale until fail ÷ pass is 1.10 or less; both ends "
            "are repeated until two of at most three repeats agree. `found`: completed; `wide`: "
            "not completed; `not reached`: the highest allowed level passes; `below the least`: "
            "every level fails.",
        ),
        Metric(
            "hysteresis",
            "true or false",
            "none",
            "Whether the passing level failed after an overload and a rest: the target does not "
            "recover by itself.",
        ),
        Metric(
            "drift",
            "true or false",
            "none",
            "Whether the passing level failed at the end and at rest: the target became slower, "
            "for example by throttling or a leak.",
        ),
        Metric(
            "worst_second",
            "share",
            "higher",
            "Q (see resilience) of the second with the lowest; of a shorter piece where time is "
            "scaled (piece_s).",
        ),
        Metric(
            "resilience_watched",
            "0..100",
            "higher",
            "The resilience of a soak as far as it was watched, where a leak takes from that; "
            "`resilience_words` says what.",
        ),
        Metric("piece_s", "s", "none", "Length of the pieces that `worst_second` is one of."),
        Metric(
            "trend",
            "a unit an hour",
            "none",
            "Slope of memory, latency or errors over a soak test, with a 95% interval: rising or"
            " falling if the interval excludes 0.",
        ),
        Metric(
            "scaling",
            "requests/s over users",
            "none",
            "X(N) = λN ÷ (1 + σ(N-1) + κN(N-1)), Gunther's universal scalability law, over "
            "throughput X at N users; the simplest of `linear` (σ = κ = 0), `amdahl` (κ = 0) and "
            "`usl` within 2 of the best AICc. Nothing is extrapolated beyond twice the largest "
            "load.",
        ),
        Metric("lambda_per_s", "1/s", "higher", "λ of `scaling`: requests a second of one user."),
        Metric("sigma", "share", "lower", "σ of `scaling`: the share that is done in turn."),
        Metric("kappa", "share", "lower", "κ of `scaling`: what each pair costs to agree."),
        Metric(
            "n_star",
            "users",
            "higher",
            "√((1-σ) ÷ κ): users with the highest throughput; more make it less. None where κ is "
            "0, or its interval touches 0: no peak was seen.",
        ),
        Metric("peak", "1/s", "higher", "Throughput of `scaling` at n_star."),
        Metric(
            "scenario_status",
            "complete, target lost, stopped, not applicable or failed",
            "none",
            "`target lost`: it no longer answered, or its process ended; the result holds what "
            "was measured until then. `stopped`: by a person, a budget or the host's memory. `not"
            " applicable`: this target does not support it; `reason` says why. `failed`: the "
            "scenario could not be run.",
        ),
        Metric(
            "high_load",
            "scenario",
            "none",
            "The breaking point by request rate, and a long overload of ten times the normal rate"
            " (at most 1,000/s, 100 in flight).",
        ),
        Metric(
            "sustained_load",
            "scenario",
            "none",
            "A soak at seven tenths of what the target can do: do memory, latency or errors rise "
            "with time?",
        ),
        Metric(
            "spike_load",
            "scenario",
            "none",
            "Ten times the normal rate at once, then normal load again: how long does recovery "
            "take?",
        ),
        Metric(
            "memory_pressure",
            "scenario",
            "none",
            "Memory by number of users, and how much is released; normal load while the machine's"
            " memory is short (ballast), or that of the target's processes (a limit).",
        ),
        Metric(
            "concurrent_requests",
            "scenario",
            "none",
            "A growing number of concurrent users: the breaking point by concurrency, and the "
            "scaling law.",
        ),
        Metric(
            "large_inputs",
            "scenario",
            "none",
            "Longer and longer prompts: the breaking point on the size of the input.",
        ),
        Metric(
            "rate_limiting",
            "scenario",
            "none",
            "Behavior under too many requests, and whether clients that respect Retry-After get "
            "through; for an agent with an upstream, whether it respects Retry-After itself.",
        ),
        Metric(
            "failure_recovery",
            "scenario",
            "none",
            "Faults one after another at normal load (connections cut, stalls, 5xx, a process "
            "stopped or killed): what gets through, and how long until it is well again.",
        ),
    )
}
"""Content of a stress document besides metrics."""

SAID_OF_STRESS: dict[str, tuple[str, ...]] = {
    "resilience score": ("resilience_score",),
    "breaks": ("breaking_point",),
    "breaks between": ("breaking_point",),
    "breaks below": ("breaking_point",),
    "did not break": ("breaking_point", "broke"),
    "passes up to": ("breaking_point",),
    "probe": ("breaking_point",),
    "ladder": ("normal_load",),
    "not clear yet": ("limits",),
    "the sender was the limit": ("limit",),
    "recovered at once": ("recovery_s",),
    "recovered after": ("recovery_s",),
    "not recovered": ("recovery_s",),
    "recovery not known": ("recovery_s",),
    "not run": ("missing",),
    "no score": ("missing",),
    "breaking point": ("breaking_point",),
    "bracket": ("breaking_point",),
    "not reached": ("breaking_point",),
    "below the least": ("breaking_point",),
    "unclear": ("limits",),
    "normal": ("normal_load",),
    "normal load": ("normal_load",),
    "normal users": ("normal_load",),
    "time scale": ("time_scale",),
    "leak": ("resilience", "trend"),
    "worst second": ("worst_second",),
    "worst scenario": ("worst",),
    "recovered": ("recovery_s",),
    "recovery": ("recovery_s",),
    "recovery time": ("recovery_s",),
    "does not come back": ("hysteresis",),
    "target lost": ("scenario_status",),
    "not applicable": ("scenario_status",),
    "stopped": ("scenario_status",),
    "soak": ("sustained_load",),
    "scenario": (
        *("high_load", "sustained_load", "spike_load", "memory_pressure"),
        *("concurrent_requests", "large_inputs", "rate_limiting", "failure_recovery"),
    ),
    "amdahl": ("scaling",),
    "usl": ("scaling",),
    "scaling law": ("scaling",),
    "n*": ("n_star",),
    "σ": ("sigma",),
    "κ": ("kappa",),
    "λ": ("lambda_per_s",),
}
"""In lower case → names of figures."""
