"""Compares metrics that are ratios of sums over the answers, such as precision or F1.

Each case counts once: its repeats are averaged first, both numbers of the pair. By the same cases
if there are any, otherwise each side by its own.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from agentbench_tui.analysis.differences.paired_effect import Effect
from agentbench_tui.analysis.differences.ratio_of_sums_effect import (
    Sums,
    paired_sums_effect,
    unpaired_sums_effect,
)
from agentbench_tui.analysis.distribution import normal_quantile
from agentbench_tui.analysis.intervals.interval import cluster_sums
from agentbench_tui.analysis.sample import count_distinct, upper_share
from agentbench_tui.verdicts.comparison.comparison import (
    LEAST_CLUSTERS,
    LEVEL,
    Asked,
    Comparison,
)
from agentbench_tui.verdicts.comparison.pairing import LEAST_PAIRS, Pairs, case_values, pair
from agentbench_tui.verdicts.evidence.ratio_columns import sum_columns, sums_of

if TYPE_CHECKING:
    from agentbench_tui.verdicts.comparison.pairing import CaseValues
    from agentbench_tui.verdicts.evidence.task_evidence import TaskEvidence

_OfSide = tuple["CaseValues", "CaseValues"]
"""First and second numbers of the same cases, in the same order."""


def compare_ratio_of_sums(
    found: Comparison, a: TaskEvidence, b: TaskEvidence, asked: Asked
) -> Comparison:
    """Return the comparison of a metric for which both sides have both columns."""
    found = replace(found, ratio_of="ratios of sums")
    least = 1 if asked.paired == "yes" else LEAST_PAIRS
    for seeded in (True, False):  # the same cases by other seeds are the same cases
        tops, bottoms = _paired(found.metric, a, b, seeded=seeded)
        if len(tops):
            break
    if asked.paired != "no" and len(tops) >= least:
        return _of_pairs(found, tops, bottoms)
    if asked.paired == "yes":
        return replace(found, notes=(*found.notes, "no case has a value on both sides"))
    sides = [_of_side(found.metric, one, seeded=True) for one in (a, b)]
    common = np.intersect1d(sides[0][0].case, sides[1][0].case)
    if len(common):
        sides = [(top.only(common), bottom.only(common)) for top, bottom in sides]
    return _of_groups(found, sides[0], sides[1])


def _of_side(metric: str, side: TaskEvidence, *, seeded: bool) -> _OfSide:
    names = sum_columns(metric)
    columns = dict(zip(names, sums_of(side, metric), strict=True))
    known = replace(side, values=columns)
    top, bottom = (case_values(known, name, on_logs=False, seeded=seeded) for name in names)
    return top, bottom


def _paired(metric: str, a: TaskEvidence, b: TaskEvidence, *, seeded: bool) -> tuple[Pairs, Pairs]:
    """Return the pairs of the first and of the second numbers, in the same order."""
    (top_a, bottom_a), (top_b, bottom_b) = (_of_side(metric, one, seeded=seeded) for one in (a, b))
    return pair(top_a, top_b), pair(bottom_a, bottom_b)


def _of_pairs(found: Comparison, tops: Pairs, bottoms: Pairs) -> Comparison:
    clusters = tops.cluster if tops.is_clustered else None
    notes = found.notes + tops.left_out
    count = None if clusters is None else count_distinct(clusters)
    if count is not None and count < LEAST_CLUSTERS:
        notes = (*notes, f"{count} clusters: a verdict needs {LEAST_CLUSTERS}")
    a, b = Sums(tops.a, bottoms.a), Sums(tops.b, bottoms.b)
    effect = paired_sums_effect(a, b, clusters, LEVEL, share=found.unit == "share")
    found = replace(found, notes=notes, paired=True, n=len(tops), clusters=count)
    return _with_effect(found, a, b, effect, len(tops))


def _of_groups(found: Comparison, of_a: _OfSide, of_b: _OfSide) -> Comparison:
    is_clustered = any(one.is_clustered for one, _ in (of_a, of_b))
    (a, n_a), (b, n_b) = (_independent(*one, is_clustered=is_clustered) for one in (of_a, of_b))
    effect = unpaired_sums_effect(a, b, LEVEL, share=found.unit == "share")
    n = min(n_a, n_b)
    found = replace(found, n=n, clusters=min(len(a.top), len(b.top)) if is_clustered else None)
    return _with_effect(found, a, b, effect, n / 2)


def _independent(top: CaseValues, bottom: CaseValues, *, is_clustered: bool) -> tuple[Sums, int]:
    """Return what each independent unit adds to the sums, and the number of cases."""
    if not is_clustered:
        return Sums(top.value, bottom.value), len(top.value)
    sums = Sums(cluster_sums(top.value, top.cluster), cluster_sums(bottom.value, bottom.cluster))
    return sums, len(top.value)


def _with_effect(found: Comparison, a: Sums, b: Sums, effect: Effect, n: float) -> Comparison:
    of_a, of_b = (None if math.isnan(one.ratio) else one.ratio for one in (a, b))
    found = replace(found, a=of_a, b=of_b).with_effect(effect)
    difference = None if of_a is None or of_b is None else of_b - of_a
    return replace(found, difference=difference, sd=_sd(effect, n))


def _sd(effect: Effect, n: float) -> float | None:
    """Return the sd of n independent values that would give as wide an interval."""
    if effect.low is None or effect.high is None:
        return None
    ends = [effect.low, effect.high]
    if effect.ratio is not None:
        if ends[0] <= 0 or math.isinf(ends[1]):
            return None
        ends = [math.log(end) for end in ends]
    width = (ends[1] - ends[0]) / (2 * normal_quantile(upper_share(LEVEL)))
    return width * math.sqrt(n)
