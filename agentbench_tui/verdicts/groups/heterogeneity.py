"""Tests whether the difference of two sides varies between groups of cases.

The same difference with one mix of cases for both sides shows Simpson's paradox.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import msgspec
import numpy as np

from agentbench_tui.analysis.groups.group_differences import DRAWS, cochran_q, common_mean
from agentbench_tui.verdicts.comparison.pairing import LEAST_PAIRS, case_values, pair
from agentbench_tui.verdicts.evidence.unit_values import unit_values

if TYPE_CHECKING:
    from collections.abc import Sequence

    from agentbench_tui.analysis.sample import Floats
    from agentbench_tui.verdicts.comparison.comparison import Asked, Comparison
    from agentbench_tui.verdicts.groups.compare_groups import GroupComparison, GroupedSides

OF_SUMS = "a ratio of sums over all groups is no mean of theirs, which are compared one by one"
UNPAIRED = "the sides share too few cases, or a group has too few values"


@dataclass(frozen=True, slots=True)
class Heterogeneity:
    """Whether the difference in one metric varies between the groups."""

    metric: str
    p_varies: float | None
    reason: str = ""
    """Why it was not tested."""
    whole: float | None = None
    """B - A, or B / A less 1, over all cases."""
    same_mix: float | None = None
    """If the sides were asked different cases: the difference with the combined mix of cases for
    both sides.
    """
    is_reversed: bool = False
    """Whether the whole points one way and every group the other (Simpson's paradox)."""


def heterogeneity(
    whole: Comparison, sides: GroupedSides, groups: Sequence[GroupComparison], asked: Asked
) -> Heterogeneity:
    """Test whether the difference of `whole` (both sides together) varies between the groups."""
    found = Heterogeneity(whole.metric, None, whole=_effect(whole))
    if whole.is_of_sums:
        return replace(found, reason=OF_SUMS)
    if whole.paired:
        p = _p_varies(whole, sides, asked)
        reason = "" if p is not None else "one group, or the same difference in every case"
        return replace(found, p_varies=p, reason=reason)
    same_mix, is_reversed = _by_mix(whole, groups)
    p = _p_of_unpaired(whole, groups)
    reason = UNPAIRED if p is None else ""
    return replace(found, p_varies=p, reason=reason, same_mix=same_mix, is_reversed=is_reversed)


def _p_varies(whole: Comparison, sides: GroupedSides, asked: Asked) -> float | None:
    """Return p of one common difference in all groups, from the pairs of cases.

    The ratio of what is paid is one of totals, R: in every group Σ (B - R A) is 0 then.
    """
    metric = whole.metric
    # Of whole repeats there may be a ratio although some answer took 0.
    on_logs = (
        whole.ratio is not None
        and not whole.is_paid
        and all(
            bool((column[~np.isnan(column)] > 0).all())
            for column in (sides.a.values[metric], sides.b.values[metric])
        )
    )
    pairs = pair(*(case_values(one, metric, on_logs=on_logs) for one in (sides.a, sides.b)))
    if not pairs:
        pairs = pair(
            *(case_values(one, metric, on_logs=on_logs, seeded=False) for one in (sides.a, sides.b))
        )
    if len(pairs) < LEAST_PAIRS:
        return None
    value: Floats = pairs.b - pairs.a
    if on_logs:
        value = np.log(pairs.b) - np.log(pairs.a)
    elif whole.is_paid and pairs.a.sum() > 0:
        value = pairs.b - pairs.b.sum() / pairs.a.sum() * pairs.a
    first = np.unique(sides.a.case, return_index=True)
    members = sides.in_a[:, first[1][np.searchsorted(first[0], pairs.case)]]
    units = unit_values(pairs.case, pairs.cluster, value, members, share=whole.unit == "share")
    if units is None:
        return None
    draws = asked.resamples or DRAWS
    return common_mean(units.value, units.members, seed=asked.seed, draws=draws)


def _p_of_unpaired(whole: Comparison, groups: Sequence[GroupComparison]) -> float | None:
    """Return Cochran's Q of the groups' differences, on logarithms if there is a ratio.

    None for totals, for repeats, and if a group lacks the values.
    """
    found = [_Unpaired.of(whole.metric, group) for group in groups]
    known = [one for one in found if one is not None]
    freedom = sum(one.freedom for one in known)
    if len(known) < max(2, len(found)) or freedom < 1:
        return None
    clustered = [one for one in known if one.clustered is not None]
    # Estimated from all groups together, since a single one may have few clusters.
    design_effect = max(
        1.0,
        sum(one.clustered or 0.0 for one in clustered)
        / (sum(one.variance for one in clustered) or 1.0),
    )
    variances = [one.variance * (1.0 if one.clustered is None else design_effect) for one in known]
    return cochran_q([one.effect for one in known], variances, freedom)


class _Unpaired(msgspec.Struct, frozen=True):
    """Difference of two sides in one group, for unpaired cases."""

    effect: float
    variance: float
    """Variance of the effect; for a share, as if its cases were independent."""
    clustered: float | None
    """Variance between clusters, for a share whose cases belong to clusters."""
    freedom: int

    @classmethod
    def of(cls, metric: str, group: GroupComparison) -> _Unpaired | None:
        """Return the difference; None if the group lacks the values."""
        one = next((one for one in group.metrics if one.metric == metric), None)
        if one is None or one.is_paid or one.of != "cases" or one.a is None or one.b is None:
            return None
        sizes = (group.cases_a, group.cases_b)
        variance, clustered = (one.sd or 0.0) ** 2 * sum(1 / n for n in sizes), None
        if one.unit == "share":
            clustered = None if one.clusters is None else variance
            # one right and one wrong answer more: a share of 0 or 1 is not known exactly
            shares = [(x * n + 1) / (n + 2) for x, n in zip((one.a, one.b), sizes, strict=True)]
            variance = sum(x * (1 - x) / n for x, n in zip(shares, sizes, strict=True))
        effect = one.difference if one.ratio is None else math.log(one.ratio)
        if effect is None or variance <= 0:
            return None
        draws = sum(sizes) if one.clusters is None else 2 * one.clusters
        return cls(effect, variance, clustered, draws - 2)


def _effect(one: Comparison) -> float | None:
    return one.difference if one.ratio is None else one.ratio - 1


def _by_mix(whole: Comparison, groups: Sequence[GroupComparison]) -> tuple[float | None, bool]:
    """Return the effect with one mix of cases for both sides, and whether every group
    contradicts the whole.
    """
    effects, weights = [], []
    for group in groups:
        one = next((metric for metric in group.metrics if metric.metric == whole.metric), None)
        effect = None if one is None else _effect(one)
        if effect is None:  # asked of one side alone: nothing can be held against it
            return None, False
        effects.append(effect)
        weights.append(group.cases_a + group.cases_b)
    total = _effect(whole)
    if total is None or len(effects) < 2:
        return None, False
    same_mix = float(np.average(effects, weights=weights))
    is_reversed = total != 0 and all(one * total < 0 for one in effects)
    return same_mix, is_reversed
