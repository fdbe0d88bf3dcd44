"""The value of one metric of one version of an agent, with its interval."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from agentbench_tui.analysis.intervals.estimate import Estimate, estimate, ratio_estimate
from agentbench_tui.model.figures.metric import find_metric
from agentbench_tui.store.queries.runs import metrics_of
from agentbench_tui.verdicts.evidence.ratio_columns import has_sums, sums_of
from agentbench_tui.verdicts.evidence.task_evidence import TaskEvidence

if TYPE_CHECKING:
    import sqlite3

    from agentbench_tui.verdicts.evidence.evidence import Evidence


class VersionValue(NamedTuple):
    """A value with its 95% interval; the ends are None if there is no interval."""

    value: float | None
    low: float | None = None
    high: float | None = None


def stored_name(metric: str) -> str:
    """Return the name under which a run stores a metric: of a distribution its median, of tokens
    its mean."""
    known = find_metric(metric)
    if known is None or not known.parts or "." in metric:
        return metric
    return f"{metric}.p50" if known.unit == "ms" else f"{metric}.mean"


def version_value(connection: sqlite3.Connection, evidence: Evidence, metric: str) -> VersionValue:
    """The value of a version over its executions, `evidence`.

    One execution has its own value and interval. Several answers to one case are one case, however
    many runs they are from; other metrics are the mean of the executions' values, with *t*.
    """
    name = stored_name(metric)
    stored = [
        found
        for row in evidence.executions
        if (found := metrics_of(connection, row["key"]).get(name)) is not None
        and found["value"] is not None
    ]
    if not stored:
        return VersionValue(None)
    if len(stored) == 1:
        return VersionValue(stored[0]["value"], stored[0]["low"], stored[0]["high"])
    whole = None
    if stored[0]["unit"] == "share" and isinstance(evidence, TaskEvidence):
        whole = _share_of_cases(evidence, metric)
    if whole is None:
        figures = np.array([one["value"] for one in stored])
        whole = estimate(figures, "amount", runs=np.arange(len(figures)))
    return VersionValue(whole.value, whole.low, whole.high)


def _share_of_cases(evidence: TaskEvidence, metric: str) -> Estimate | None:
    """Return a share over all answers; None if single answers do not have it."""
    if has_sums(evidence.values, metric):
        top, bottom = sums_of(evidence, metric)
        known = ~np.isnan(top)
        return ratio_estimate(top[known], bottom[known], evidence.cluster[known], share=True)
    values = evidence.values.get(metric)
    if values is None:
        return None
    known = ~np.isnan(values)
    return estimate(values[known], "share", clusters=evidence.cluster[known])
