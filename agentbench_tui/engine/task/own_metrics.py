"""The metrics that a benchmark defines, from its stored observations: one for each of several
scorers, and those of its answers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from msgspec.structs import replace

from agentbench_tui.analysis.intervals.estimate import (
    estimate,
    quantile_estimate,
    ratio_estimate,
)
from agentbench_tui.engine.task.aggregate import MetricValue
from agentbench_tui.model.figures.figure import PERCENTILES, SHARES
from agentbench_tui.scoring.answer_metric import metric_definitions
from agentbench_tui.scoring.benchmark_metrics import scorer_metrics

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from agentbench_tui.analysis.intervals.estimate import Estimate, Kind
    from agentbench_tui.engine.task.observations import Observations
    from agentbench_tui.scoring.answer_metric import MetricDefinition

_NO_VALUE = "no answer has a value of it"


def own_metrics(
    scorers: Sequence[str | Mapping[str, Any]], metrics: Sequence[object], seen: Observations
) -> Iterator[MetricValue]:
    """Yield the metrics that a benchmark with these scorers and metrics defines, with intervals
    clustered by case. `metrics` are as `with_definitions` returns them.

    Observations without a value are left out, and `n` counts the others.
    """
    for metric in scorer_metrics(scorers):
        values = seen.figures(metric.name)
        known = ~np.isnan(values)
        found = estimate(values[known], "share", clusters=seen.clusters(known))
        yield replace(_value(metric.name, found, metric.unit), direction=metric.direction)
    for own in metric_definitions(metrics):
        for value in _ratio(own, seen) if own.aggregate == "ratio" else _of_numbers(own, seen):
            yield replace(value, direction=own.direction)


def _of_numbers(metric: MetricDefinition, seen: Observations) -> Iterator[MetricValue]:
    values = seen.figures(metric.name)
    known = ~np.isnan(values)
    kind: Kind = "share" if metric.unit == "share" else "amount"
    mean = estimate(values[known], kind, clusters=seen.clusters(known))
    if metric.aggregate == "mean":
        yield _value(metric.name, mean, metric.unit)
        return
    yield _value(f"{metric.name}.mean", mean, metric.unit)
    for part in PERCENTILES:
        found = quantile_estimate(values[known], SHARES[part])
        yield _value(f"{metric.name}.{part}", found, metric.unit)


def _ratio(metric: MetricDefinition, seen: Observations) -> Iterator[MetricValue]:
    """Yield the sum of the first numbers ÷ the sum of the second ones, Fieller's interval."""
    top, bottom = seen.figures(metric.name, 0), seen.figures(metric.name, 1)
    known = ~np.isnan(top) & ~np.isnan(bottom)
    share = metric.unit == "share"
    found = ratio_estimate(top[known], bottom[known], seen.unit[known], share=share)
    yield _value(metric.name, found, metric.unit)


def _value(name: str, found: Estimate, unit: str) -> MetricValue:
    reason = found.reason or (_NO_VALUE if found.value is None else None)
    if found.value is None and not found.n:
        reason = _NO_VALUE
    return MetricValue(name, found.value, unit, found.low, found.high, found.n, reason)
