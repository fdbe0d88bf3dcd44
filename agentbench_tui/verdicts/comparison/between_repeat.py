"""Adds between-repeat variance, which all answers of a repeat share, to that between cases.

From three repeats on each side it is estimated from the repeats. With fewer, only the dependence of
neighboring answers within a repeat is allowed for: bursts, drifts and queues make them alike, so
that n of them are worth n (1 - r) / (1 + r) independent ones (r is their lag-1 correlation).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import msgspec
import numpy as np

from agentbench_tui.analysis.differences.paired_effect import NO_RATIO
from agentbench_tui.analysis.distribution import student_cdf, student_quantile
from agentbench_tui.analysis.intervals.interval import clustered_se
from agentbench_tui.analysis.sample import count_distinct
from agentbench_tui.verdicts.comparison.comparison import EQUIVALENCE_LEVEL, LEVEL, SURE_REPEATS
from agentbench_tui.verdicts.comparison.pairing import repeat_means
from agentbench_tui.verdicts.evidence.dependence import (
    Dependence,
    group_dependence,
    paired_dependence,
)

if TYPE_CHECKING:
    from agentbench_tui.analysis.sample import Floats, Integers
    from agentbench_tui.verdicts.comparison.comparison import Comparison
    from agentbench_tui.verdicts.comparison.pairing import CaseValues, Pairs, RepeatMeans
    from agentbench_tui.verdicts.evidence.task_evidence import TaskEvidence


class _Part(msgspec.Struct, frozen=True):
    """A variance component of a difference of means, with its degrees of freedom."""

    variance: float
    df: float


def pairs_with_repeats(
    found: Comparison, pairs: Pairs, a: TaskEvidence, b: TaskEvidence
) -> Comparison:
    """Return a comparison of times by paired cases with the between-repeat variance added.

    With fewer than three repeats on a side, the dependence within a repeat is added instead.
    """
    logs = found.is_ratio
    d = np.log(pairs.b) - np.log(pairs.a) if logs else pairs.b - pairs.a
    if min(a.repeats, b.repeats) < SURE_REPEATS:
        of_a, of_b = np.argsort(pairs.first_a), np.argsort(pairs.first_b)
        again = None if np.array_equal(of_a, of_b) else d[of_b]
        seen = paired_dependence(d[of_a], again)
        # Neighbors are often of one cluster, so whichever of the two is more cautious is enough.
        if seen is not None and pairs.is_clustered and seen.p <= (found.p_value or 0.0):
            seen = None
        return _with_serial(_rests_on_few(found), seen)
    clusters = count_distinct(pairs.cluster)
    if found.p_value is None or clusters < 2:
        return found
    return _with_both(found, [_of_cases(d, pairs)], (pairs.case, pairs.case), a, b)


def groups_with_repeats(
    found: Comparison, of_a: CaseValues, of_b: CaseValues, a: TaskEvidence, b: TaskEvidence
) -> Comparison:
    """Return a comparison of times of unpaired cases with the between-repeat variance added."""
    x, y = of_a.value, of_b.value
    if found.is_ratio:
        x, y = np.log(x), np.log(y)
    if min(a.repeats, b.repeats) < SURE_REPEATS:
        x, y = x[np.argsort(of_a.first)], y[np.argsort(of_b.first)]
        seen = group_dependence(x, y)
        is_clustered = of_a.is_clustered or of_b.is_clustered
        if seen is not None and is_clustered and seen.p <= (found.p_value or 0.0):
            seen = None
        return _with_serial(_rests_on_few(found), seen)
    if found.p_value is None or min(count_distinct(one.cluster) for one in (of_a, of_b)) < 2:
        return found
    by_case = [_of_cases(one, of) for one, of in ((x, of_a), (y, of_b))]
    return _with_both(found, by_case, (of_a.case, of_b.case), a, b)


def _with_both(
    found: Comparison,
    by_case: Sequence[_Part],
    cases: tuple[Integers, Integers],
    a: TaskEvidence,
    b: TaskEvidence,
) -> Comparison:
    """Return the comparison by t, with the variance between cases and between repeats.

    The noise of single answers is in both, so it is subtracted once; the sum is never below either
    of the two. Degrees of freedom by Satterthwaite (1946).
    """
    logs = found.is_ratio
    columns = [
        side.values[found.metric][np.isin(side.case, of)]
        for side, of in zip((a, b), cases, strict=True)
    ]
    if logs and any(bool((column <= 0).any()) for column in columns):
        return replace(
            found, p_value=None, inner_low=None, inner_high=None, notes=(*found.notes, NO_RATIO)
        )
    means = [
        repeat_means(side, found.metric, of, on_logs=logs)
        for side, of in zip((a, b), cases, strict=True)
    ]
    if min(len(one.value) for one in means) < SURE_REPEATS:
        return _rests_on_few(found)
    by_repeat = [_of_repeats(one) for one in means]
    of_cases, of_repeats = (sum(part.variance for part in parts) for parts in (by_case, by_repeat))
    both = of_cases + of_repeats - sum(one.rest for one in means)
    variance = max(both, of_cases, of_repeats)
    effect = found.ratio if logs else found.difference
    if variance <= 0 or effect is None or (logs and not 0 < effect < math.inf):
        return found
    shares = [(part.variance / variance, part.df) for part in (*by_case, *by_repeat)]
    df = 1 / math.fsum(share * share / of for share, of in shares)
    at, error = math.log(effect) if logs else effect, math.sqrt(variance)
    low, high, inner_low, inner_high = _ends(found, error, df)
    repeats = of_repeats > of_cases
    values = min(len(one.value) for one in means) if repeats else found.n
    return replace(
        found,
        p_value=2 * student_cdf(-abs(at) / error, df),
        low=low,
        high=high,
        inner_low=inner_low,
        inner_high=inner_high,
        sd=error * math.sqrt(values / (1 if found.paired and not repeats else 2)),
        varies_by="repeats" if repeats else "cases",
        method="t, variance between cases and between repeats",
    )


def _of_cases(values: Floats, of: Pairs | CaseValues) -> _Part:
    """Return the variance component of their mean, with the clusters of `of` as draws."""
    if not of.is_clustered:
        return _Part(float(values.var(ddof=1)) / len(values), len(values) - 1)
    clusters = count_distinct(of.cluster)
    return _Part(clustered_se(values, of.cluster, "CR1") ** 2, clusters - 1)


def _of_repeats(means: RepeatMeans) -> _Part:
    n = len(means.value)
    return _Part(float(means.value.var(ddof=1)) / n, n - 1)


def _exp(log: float) -> float | None:
    """Return exp(log), or None on overflow."""
    try:
        return math.exp(log)
    except OverflowError:
        return None


def _rests_on_few(found: Comparison) -> Comparison:
    return replace(found, few_repeats=True)


def _with_serial(found: Comparison, seen: Dependence | None) -> Comparison:
    """Return p and interval by t, with the effective number of independent values."""
    if seen is None or found.p_value is None or seen.factor <= 1:
        return found
    note = f"neighboring answers are alike: worth {seen.worth:.0f} independent ones of {found.n}"
    low, high, inner_low, inner_high = _ends(found, seen.error, seen.df)
    return replace(
        found,
        p_serial=seen.p,
        low=low,
        high=high,
        inner_low=inner_low,
        inner_high=inner_high,
        sd=None if found.sd is None else found.sd * math.sqrt(seen.factor),
        method="t of independent values",
        notes=(*found.notes, note),
    )


def _ends(found: Comparison, error: float, df: float) -> list[float | None]:
    """Return both ends at 95%, then both at 90%, by t."""
    effect = found.ratio if found.is_ratio else found.difference
    if effect is None or (found.is_ratio and not 0 < effect < math.inf):
        return [None] * 4
    at = math.log(effect) if found.is_ratio else effect
    ends = [
        at + sign * student_quantile((1 + level) / 2, df) * error
        for level in (LEVEL, EQUIVALENCE_LEVEL)
        for sign in (-1, 1)
    ]
    return [_exp(end) for end in ends] if found.is_ratio else list(ends)
