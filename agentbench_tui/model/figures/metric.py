"""The metrics: name, unit, direction and formula of each.

`agentbench explain METRIC` prints these entries; rubrics, gates, tables and JSON use these names.
A percentile is the base name with `.p50`, `.p90`, `.p95` or `.p99`; `.mean` is the mean. Where load
benchmarks report it there are `.p999` and `.max` too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from agentbench_tui.model.errors import UsageError, did_you_mean
from agentbench_tui.model.figures.figure import LOAD_PARTS, PERCENTILES, SHARES, Direction, Metric
from agentbench_tui.model.figures.market_metrics import FORESIGHT, MARKET_METRICS
from agentbench_tui.model.figures.pass_metrics import pass_metric
from agentbench_tui.model.figures.rate_metrics import RATES
from agentbench_tui.model.figures.stress_figures import STRESS_METRICS
from agentbench_tui.model.figures.time_metrics import TIMES
from agentbench_tui.model.kinds import metrics_of_kinds

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = (
    "DEFAULT_METRIC",
    "LOAD_PARTS",
    "METRICS",
    "PERCENTILES",
    "SCORES",
    "SHARES",
    "Direction",
    "Metric",
    "declare_metric",
    "declared_metrics",
    "find_metric",
    "known_metrics",
    "regressing_metrics",
)

_ANSWERS = (
    Metric(
        "accuracy",
        "share",
        "higher",
        "Mean credit (0..1) over all counted observations. With several scorers, the credit of an "
        "answer is the lowest that a scorer gives it (`combine` in the suite says otherwise); each "
        "scorer's own mean credit is a metric by its name. Failures of the agent count as 0; "
        "failures of kind `grader` and `harness` are excluded and reported. "
        "Interval: Wilson for right/wrong answers with one answer per case, t for graded ones; "
        "with several answers per case, standard error clustered by case (or by the declared "
        "`cluster`), normal from 40 clusters on, else t.",
    ),
    Metric(
        "correct_share",
        "share",
        "higher",
        "Observations judged right ÷ counted observations; with several scorers, right by all of "
        "them (`combine` in the suite says otherwise). Interval as that of accuracy.",
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
)
"""Metrics of answers."""
_SPENT = (
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
        "observation that was tried several times, those of the last attempt. An estimate (`~`) "
        "where output was counted by chunks, or where the input of an answer is not known.",
    ),
    Metric(
        "tokens_per_correct",
        "tokens",
        "lower",
        "tokens_used ÷ right answers; unknown where the input of an answer is. Interval as that "
        "of cost_usd_per_correct. Infinite without a right answer: shown as –, scored 0 by a "
        "rubric.",
    ),
    Metric(
        "cost_usd",
        "USD",
        "lower",
        "Cost reported by the agent, else tokens × price of the price table in force, over the "
        "same tokens as tokens_used; for self-hosted agents the hours of measurement × their "
        "hourly price, shared evenly. An unknown price makes it unknown, never 0.",
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
        "CPU time of the agent's process tree ÷ the time in which it had questions in flight, × "
        "100; 100 is one core.",
    ),
    Metric(
        "gpu_usage_percent",
        "%",
        "none",
        "Share of time in which GPUs were busy, as reported by their driver: mean of the samples "
        "during the execution, over all GPUs of the machine. Only if a GPU can be sampled.",
    ),
    Metric(
        "memory_peak_mb",
        "MB",
        "lower",
        "Highest resident memory of the agent's process tree: readings every 100 ms, and of "
        "the program that was started the highest that the system itself has seen.",
    ),
)
"""Cost of answers: tokens, money, CPU and GPU time, memory."""
_OF_SCORERS = (
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
        "Mean of the scorers' correctness, where they give it; where none does, the mean credit.",
    ),
    Metric(
        "completeness",
        "share",
        "higher",
        "Mean of the scorers' completeness, where they give it.",
    ),
    Metric("relevance", "share", "higher", "Mean of the scorers' relevance, where they give it."),
)

METRICS: dict[str, Metric] = (
    {metric.name: metric for metric in (*_ANSWERS, *TIMES, *_SPENT, *RATES, *_OF_SCORERS)}
    | STRESS_METRICS
    | MARKET_METRICS
    | {FORESIGHT.name: FORESIGHT}
)

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

COMPARED: dict[str, Metric] = {
    metric.name: metric
    for metric in (
        Metric(
            "percentile_rank",
            "percent",
            "higher",
            "Percentage of the latest executions of the benchmark at this point, of all agents and "
            "seeds, with a lower overall score; those with an equal score count half. Simulated "
            "agents rank among themselves. Empty without an overall score.",
        ),
        Metric(
            "deviation_from_baseline",
            "share",
            "higher",
            "overall ÷ the baseline's overall - 1: 0.1 is 10% better. The baseline is the latest "
            "execution of the suite's `baseline` agent, else `baseline_scores`, whose overall is "
            "the weighted mean where each dimension with a weight above 0 is given. Of accuracy, "
            "where either overall is missing. Empty without a baseline.",
        ),
    )
}
"""Columns of an execution that compare it with others."""

DEFAULT_METRIC: dict[str, str] = {
    "accuracy": "accuracy",
    "speed": "e2e_ms.p50",
    "efficiency": "tokens_per_correct",
    "cost": "cost_usd_per_correct",
    "reliability": "reliability",
}
"""The metric behind each dimension when no rubric names another."""


def known_metrics() -> tuple[str, ...]:
    """Return every metric name that a rubric or a gate may use."""
    names: list[str] = []
    for metric in METRICS.values():
        names += [f"{metric.name}.{part}" for part in metric.parts] or [metric.name]
    return tuple(names)


_DECLARED: dict[str, Metric] = {}
"""By name what experiments say of numbers that they return, and benchmarks of their metrics."""


def declare_metric(metric: Metric) -> bool:
    """Register a metric for `find_metric`.

    Returns False if the name exists, or was declared with another direction.
    """
    if metric.name.partition(".")[0] in METRICS:
        return False
    return _DECLARED.setdefault(metric.name, metric).direction == metric.direction


def declared_metrics() -> tuple[str, ...]:
    """Return the metrics declared by known experiments and benchmarks, by name."""
    return tuple(_DECLARED)


def find_metric(name: str) -> Metric | None:
    """Return the metric of a name such as `e2e_ms.p95`, or None."""
    base, _, part = name.partition(".")
    metric = METRICS.get(base)
    if metric is None:
        return pass_metric(name) or _DECLARED.get(name) or metrics_of_kinds().get(name)
    return None if part and part not in metric.parts else metric


def regressing_metrics(names: Iterable[str]) -> tuple[str, ...]:
    """Return the distinct names if all are metrics with a better direction. Raises UsageError
    otherwise.
    """
    names = tuple(dict.fromkeys(names))
    for name in names:
        known = find_metric(name)
        if known is None or (known.parts and "." not in name):
            hint = did_you_mean(name, known_metrics())
            if known is not None:
                hint = f' (did you mean "{name}.p50"?)'
            raise UsageError(f"no metric '{name}'{hint}; `agentbench explain` lists them")
        if known.direction == "none":
            raise UsageError(f"'{name}' is neither good nor bad, so that it cannot regress")
    return names
