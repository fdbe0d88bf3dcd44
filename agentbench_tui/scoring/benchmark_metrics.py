"""Metrics that a benchmark defines: one for each of its scorers, if it has several."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from agentbench_tui.model.errors import UsageError
from agentbench_tui.model.figures.figure import Metric
from agentbench_tui.model.figures.metric import METRICS, SCORES
from agentbench_tui.scoring.combination import metric_of_label
from agentbench_tui.scoring.registry import label_of


def scorer_metrics(scorers: Sequence[str | Mapping[str, Any]]) -> list[Metric]:
    """Return a metric for each scorer of a benchmark, as the suite writes them, in their order.

    Empty for a single scorer, whose figure is `accuracy`. Scorers that cannot be read are left out.
    """
    if len(scorers) < 2:
        return []
    found = []
    for spec in scorers:
        try:
            label = label_of(spec)
        except UsageError:
            continue
        found.append(_of_scorer(label))
    return found


def metric_problems(scorers: Sequence[str | Mapping[str, Any]]) -> list[tuple[int, str]]:
    """Return the scorers, by position, whose name cannot be that of a metric, with the reason.

    If none of several scorers counts, that is a problem of the first.
    """
    metrics = scorer_metrics(scorers)
    names = [metric.name for metric in metrics] if len(metrics) == len(scorers) else []
    problems = name_problems(names)
    if scorers and all(isinstance(one, Mapping) and one.get("counts") is False for one in scorers):
        problems.append((0, "no scorer counts, so nothing decides whether an answer is right"))
    return problems


def name_problems(names: Sequence[str], taken: Iterable[str] = ()) -> list[tuple[int, str]]:
    """Return the names of metrics, by position, that agentbench or another of them has."""
    problems = []
    seen = set(taken)
    for index, name in enumerate(names):
        if name in METRICS or name in SCORES:
            reason = "agentbench has a metric of that name"
        elif name in seen:
            reason = "another scorer or metric has that name"
        else:
            seen.add(name)
            continue
        problems.append((index, f"{name}: {reason}; give this one another with `as: NAME`"))
    return problems


def _of_scorer(label: str) -> Metric:
    return Metric(
        metric_of_label(label),
        "share",
        "higher",
        f"Mean credit (0..1) by the scorer `{label}` over all counted observations; failures of "
        "the agent count as 0. Interval as that of accuracy.",
    )
