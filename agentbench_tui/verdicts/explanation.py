"""Explains a metric, a score or a figure of a document, each defined once in `model`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agentbench_tui.model.errors import UsageError, did_you_mean
from agentbench_tui.model.figures.load_figures import COUNTS, FACTS, FAILURES, HARNESS
from agentbench_tui.model.figures.load_words import IDEAS, SAID
from agentbench_tui.model.figures.metric import (
    COMPARED,
    DEFAULT_METRIC,
    METRICS,
    SCORES,
    find_metric,
)
from agentbench_tui.model.figures.pass_metrics import PASS_METRICS
from agentbench_tui.model.figures.regression_figures import REGRESSION, SAID_OF_REGRESSIONS
from agentbench_tui.model.figures.stress_figures import SAID_OF_STRESS, STRESS_FACTS
from agentbench_tui.model.figures.verdict_words import SAID_OF_VERDICTS, VERDICT_WORDS
from agentbench_tui.model.gate import UNANSWERED

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from agentbench_tui.model.figures.metric import Metric

SCHEMA = "agentbench.explanation/1"
_COLUMNS = {f"output_{name}": (name,) for name in ("correctness", "completeness", "relevance")}
"""Columns of `benchmark_executions` that hold a metric by another name."""
_SAID = SAID | SAID_OF_REGRESSIONS | SAID_OF_STRESS | SAID_OF_VERDICTS | _COLUMNS
_UNITS = ("ms", "per_s", "share", "percent", "mb", "usd", "s")
"""Suffixes after the last word of a name: `ceiling` stands for `ceiling_per_s`."""
_MOST = 6
"""Maximum number of names with a common beginning that are all explained."""

_FIGURES = {
    "comparison": COMPARED,
    "count": COUNTS | {UNANSWERED.name: UNANSWERED},
    "harness": HARNESS,
    "fact": FACTS,
    "failure": FAILURES,
    "regression": REGRESSION,
    "stress": STRESS_FACTS,
    "word": IDEAS | VERDICT_WORDS,
}
"""Type → figures."""


def explanations() -> list[dict[str, Any]]:
    """Return every metric, score and figure of load with its formula."""
    scores = [name if name == "overall" else f"{name}_score" for name in SCORES]
    return [
        explain(name) for name in dict.fromkeys((*METRICS, *PASS_METRICS, *scores, *_figures()))
    ]


def explain(name: str) -> dict[str, Any]:
    """Explain one metric (`e2e_ms`, `e2e_ms.p95`), score (`speed_score`, `overall`), or other
    figure of a load or regressions document (`cpu_us_per_request`, `verdict`, `timeout`,
    `overall_health`), by its exact name.

    Raises UsageError with the nearest name when there is none of that name.
    """
    found = explained(name)
    if found is None:
        raise UsageError(
            f"no metric or score '{name}'{_nearest(name)}; `agentbench explain` lists them all,"
            " without the metrics that a suite defines"
        )
    return found


def explain_words(words: str) -> list[dict[str, Any]]:
    """Explain a name, or terms of tables and sentences (`ceiling`, `sent/s`, `e2e p50`, `real-time
    priority`); ambiguous ones have several explanations.

    Raises UsageError as `explain` does.
    """
    said = " ".join(words.lower().split()).strip(":,·")
    name = said.replace("/s", "_per_s").replace(" ", "_")
    for names in (
        (words.strip(),),
        _SAID.get(said, ()),
        (name,),
        *((f"{name}_{unit}",) for unit in _UNITS),
        (_part_of(said),),
        _beginning_with(name),
    ):
        found = [one for one in map(explained, names) if one is not None]
        if found:
            return found
    return [explain(words.strip())]


def explain_arguments(arguments: Sequence[str]) -> list[dict[str, Any]]:
    """Explain the arguments of a command line: all as one phrase (`real-time priority`), else each
    separately (`accuracy overall`).

    Raises UsageError as `explain` does: for the first unknown one where others are known.
    """
    try:
        return explain_words(" ".join(arguments))
    except UsageError:
        if not any(map(_is_known, arguments)):
            raise
    return [row for argument in arguments for row in explain_words(argument)]


def _is_known(words: str) -> bool:
    try:
        explain_words(words)
    except UsageError:
        return False
    return True


def _part_of(said: str) -> str:
    """Return `e2e p99.9` as a name: `e2e_ms.p999`."""
    metric, _, part = said.rpartition(" ")
    return f"{metric.replace(' ', '_').removesuffix('_ms')}_ms.{part.replace('.', '')}"


def _beginning_with(name: str) -> list[str]:
    names = [one for one in _known() if one.startswith(f"{name}_")]
    return names if len(names) <= _MOST else []


def explained(name: str) -> dict[str, Any] | None:
    """Return `explain`, or None for an unknown name."""
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
    """Return a hint: the names that begin with it, else a similar one."""
    known = _known()
    longer = [one for one in known if one.startswith(f"{name}_")]
    return f"; there are {', '.join(longer)}" if longer else did_you_mean(name, [*known, *_SAID])


def _known() -> list[str]:
    scores = ["overall", *(f"{dimension}_score" for dimension in DEFAULT_METRIC)]
    return [*METRICS, *PASS_METRICS, *scores, *_figures()]


def _figures() -> Iterator[str]:
    for figures in _FIGURES.values():
        yield from figures
