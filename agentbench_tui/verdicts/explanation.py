"""What a metric, a score or a figure of a document means, each stated once in `model`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agentbench_tui.model.errors import UsageError, did_you_mean
from agentbench_tui.model.gate import UNANSWERED
from agentbench_tui.model.load_figures import COUNTS, FACTS, FAILURES, HARNESS
from agentbench_tui.model.metric import DEFAULT_METRIC, METRICS, SCORES, find_metric
from agentbench_tui.model.regression_figures import REGRESSION

if TYPE_CHECKING:
    from collections.abc import Iterator

    from agentbench_tui.model.metric import Metric

SCHEMA = "agentbench.explanation/1"
_UNITS = ("ms", "per_s", "share", "percent", "mb", "usd", "s")
"""What ends a name after its last word: who asks for `ceiling` means `ceiling_per_s`."""

_SAID = {
    "answered": "request_throughput_per_s",
    "answered/s": "request_throughput_per_s",
    "tokens/s": "output_tokens_per_s",
    "cpu": "cpu_us_per_request",
}
"""What tables and lines say for a name."""
_FIGURES = {
    "count": COUNTS | {UNANSWERED.name: UNANSWERED},
    "harness": HARNESS,
    "fact": FACTS,
    "failure": FAILURES,
    "regression": REGRESSION,
}
"""By the type that they are told as."""


def explanations() -> list[dict[str, Any]]:
    """Every metric, score and figure of load with its formula."""
    scores = [name if name == "overall" else f"{name}_score" for name in SCORES]
    return [explain(name) for name in dict.fromkeys((*METRICS, *scores, *_figures()))]


def explain(name: str) -> dict[str, Any]:
    """One metric (`e2e_ms`, `e2e_ms.p95`), score (`speed_score`, `overall`), or whatever else a
    document of a load or of regressions tells (`cpu_us_per_request`, `verdict`, `timeout`,
    `overall_health`); the unit may be left out, or written as tables do (`sent/s`).

    Raises UsageError with the nearest name when there is none of that name.
    """
    found = _explained(_SAID.get(name, name.replace("/s", "_per_s")))
    if found is None:
        found = next(filter(None, (_explained(f"{name}_{unit}") for unit in _UNITS)), None)
    if found is None:
        raise UsageError(
            f"no metric or score '{name}'{_nearest(name)}; `agentbench explain` lists them all"
        )
    return found


def _explained(name: str) -> dict[str, Any] | None:
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
    if metric is not None:
        return _of_metric(name, "metric", metric)
    for of_type, figures in _FIGURES.items():
        if name in figures:
            return _of_metric(name, of_type, figures[name])
    return None


def _of_metric(name: str, of_type: str, metric: Metric) -> dict[str, Any]:
    return {
        "name": name,
        "type": of_type,
        "unit": metric.unit,
        "direction": metric.direction,
        "formula": metric.formula,
        "metric": metric.name,
        "parts": list(metric.parts),
    }


def _nearest(name: str) -> str:
    """A hint: the names that begin with it, else one that looks like it."""
    scores = ["overall", *(f"{dimension}_score" for dimension in DEFAULT_METRIC)]
    known = [*METRICS, *scores, *_figures()]
    longer = [one for one in known if one.startswith(f"{name}_")]
    return f"; there are {', '.join(longer)}" if longer else did_you_mean(name, known)


def _figures() -> Iterator[str]:
    for figures in _FIGURES.values():
        yield from figures
