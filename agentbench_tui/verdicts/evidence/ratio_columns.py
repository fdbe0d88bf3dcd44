"""The columns behind a metric that is a ratio of sums: two numbers of each observation."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Container

    from agentbench_tui.analysis.sample import Floats
    from agentbench_tui.verdicts.evidence.task_evidence import TaskEvidence


def sum_columns(metric: str) -> tuple[str, str]:
    """Return the names of the columns whose sums are divided; names of metrics have no `/`."""
    return f"{metric}/top", f"{metric}/bottom"


def has_sums(columns: Container[str], metric: str) -> bool:
    """Return whether the metric is a ratio of sums over single answers."""
    return sum_columns(metric)[0] in columns


def has_answers_of(side: TaskEvidence, metric: str) -> bool:
    """Return whether single answers have the metric, or what it is the ratio of."""
    return metric in side.values or has_sums(side.values, metric)


def sums_of(side: TaskEvidence, metric: str) -> tuple[Floats, Floats]:
    """Return both columns of the observations; NaN in both for one without a pair."""
    top, bottom = (side.values[name] for name in sum_columns(metric))
    known = ~np.isnan(top) & ~np.isnan(bottom)
    return np.where(known, top, np.nan), np.where(known, bottom, np.nan)


def contributions(side: TaskEvidence, metric: str) -> Floats | None:
    """Return what each observation contributes to the metric as a mean over them; None if single
    answers do not have it.

    To a ratio of sums R it contributes (top - R bottom) ÷ the mean bottom, by which the ratio
    deviates (Taylor's linearization); all of them are 0 if nothing is counted.
    """
    if not has_sums(side.values, metric):
        return side.values.get(metric)
    top, bottom = sums_of(side, metric)
    whole = float(np.nansum(bottom))
    if whole == 0:
        return np.asarray(0 * top)
    deviation = top - float(np.nansum(top)) / whole * bottom
    return np.asarray(deviation * int((~np.isnan(bottom)).sum()) / whole)


def ratio_of_each_repeat(side: TaskEvidence, metric: str) -> Floats:
    """Return the ratio of sums of each repeat that has one."""
    top, bottom = (
        np.bincount(side.repeat, np.nan_to_num(column), side.repeats)
        for column in sums_of(side, metric)
    )
    has = bottom != 0
    return np.asarray(top[has] / bottom[has])
