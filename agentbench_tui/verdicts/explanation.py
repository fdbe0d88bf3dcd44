"""What a metric or score means: its formula, unit and direction, stated once in `model.metric`."""

from __future__ import annotations

from typing import Any

from agentbench_tui.model.errors import UsageError, did_you_mean
from agentbench_tui.model.metric import DEFAULT_METRIC, METRICS, SCORES, find_metric

SCHEMA = "agentbench.explanation/1"


def explanations() -> list[dict[str, Any]]:
    """Every metric and score with its formula."""
    metrics = [explain(name) for name in METRICS]
    scores = [explain(f"{name}_score" if name != "overall" else name) for name in SCORES]
    return [*metrics, *scores]


def explain(name: str) -> dict[str, Any]:
    """One metric (`e2e_ms`, `e2e_ms.p95`) or score (`speed_score`, `overall`).

    Raises UsageError with the nearest name when there is none of that name.
    """
    score = name.removesuffix("_score")
    if score in SCORES and (name != score or score not in METRICS):
        return {
            "name": name,
            "type": "score",
            "unit": "0..1",
            "direction": "higher",
            "formula": SCORES[score],
            "metric": DEFAULT_METRIC.get(score),
            "parts": [],
        }
    metric = find_metric(name)
    if metric is None:
        known = [*METRICS, "overall", *(f"{dimension}_score" for dimension in DEFAULT_METRIC)]
        raise UsageError(
            f"no metric or score '{name}'{did_you_mean(name, known)}; "
            "`agentbench explain` lists them all"
        )
    return {
        "name": name,
        "type": "metric",
        "unit": metric.unit,
        "direction": metric.direction,
        "formula": metric.formula,
        "metric": metric.name,
        "parts": list(metric.parts),
    }
