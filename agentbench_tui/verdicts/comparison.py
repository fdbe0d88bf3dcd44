"""One metric of B against A: how much, how sure, and whether it matters.

A is the control, B the candidate, and the verdict is about B. By case and seed where both sides
have them, otherwise by whole repeats, of which the values of one are not independent.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal

import numpy as np

from agentbench_tui.analysis.effect_size import cliffs_delta, dz, hedges_g
from agentbench_tui.analysis.equivalence import Verdict, verdict
from agentbench_tui.analysis.paired_effect import (
    Effect,
    difference_effect,
    ratio_effect,
    unpaired_difference_effect,
    unpaired_ratio_effect,
)
from agentbench_tui.analysis.permutation import PermutationTest, permutation_test, sign_flip_test
from agentbench_tui.analysis.proportion import mcnemar_exact, newcombe, newcombe_paired
from agentbench_tui.analysis.rank import mann_whitney
from agentbench_tui.analysis.scale import Better
from agentbench_tui.analysis.signed_rank import wilcoxon
from agentbench_tui.analysis.student import welch
from agentbench_tui.model.metric import find_metric
from agentbench_tui.verdicts.evidence import TaskEvidence
from agentbench_tui.verdicts.moments import (
    all_binary,
    cluster_sums,
    mean,
    moved,
    pooled_sd,
    sd,
    width,
)
from agentbench_tui.verdicts.needed import needed
from agentbench_tui.verdicts.pairing import (
    LEAST_PAIRS,
    Pairs,
    case_values,
    pair,
    repeat_means,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from agentbench_tui.analysis.interval import Interval
    from agentbench_tui.model.metric import Metric
    from agentbench_tui.verdicts.evidence import Evidence, Floats

ALPHA = 0.05
LEVEL = 1 - ALPHA
EQUIVALENCE_LEVEL = 1 - 2 * ALPHA
MARGIN_OF_SHARES = 0.02
MARGIN_OF_RATIOS = 0.05
"""The smallest change that matters, unless it is said: 2 points, 5 %."""
SURE_REPEATS = 3
"""Of each side, from which on a difference in time must show between whole repeats too."""
PERMUTED_FROM = 4
"""Values a side; with fewer no split of them has a p below 0.05, and Welch's is told."""

Paired = Literal["auto", "yes", "no"]


@dataclass(frozen=True, slots=True)
class Asked:
    """How to compare."""

    paired: Paired = "auto"
    margin: float | None = None
    """None for the metric's own."""
    seed: int = 42
    resamples: int | None = None
    columns: Mapping[str, Metric] = field(default_factory=dict)
    """By name the metrics that are columns of files, as they are."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """What is known of one metric of two sides; numbers are None where they are not."""

    metric: str
    unit: str
    better: Better
    margin: float
    """Points of a share, else a share of the value."""
    a: float | None = None
    b: float | None = None
    """Geometric means where a ratio is told, otherwise means."""
    difference: float | None = None
    ratio: float | None = None
    low: float | None = None
    high: float | None = None
    """95 % interval of the ratio, where there is one, else of the difference."""
    inner_low: float | None = None
    inner_high: float | None = None
    """90 % interval, which decides on equivalence."""
    p_value: float | None = None
    p_adjusted: float | None = None
    p_rank: float | None = None
    """Of the rank test, as a check beside."""
    method: str = ""
    effect_size: float | None = None
    """Cliff's delta of B over A: the share of B's values above A's, less the share below."""
    hedges_g: float | None = None
    """Of groups, on logs where a ratio is told; of pairs mean ÷ sd of the differences."""
    paired: bool = False
    n: int = 0
    """Pairs, or values of the smaller side."""
    of: Literal["cases", "repeats"] = "cases"
    only_a: int | None = None
    only_b: int | None = None
    """Cases that one side alone is right on, where each is either right or wrong."""
    sd: float | None = None
    """Of the pairs' differences, or pooled of the values; on logs where a ratio is told."""
    comparable: bool = True
    """False where the circumstances differ (a time on another machine): then without a verdict."""
    verdict: Verdict = "inconclusive"
    repeats: int = 0
    """Of the side with fewer."""
    varies_by: Literal["cases", "repeats"] = "cases"
    """Where `sd` and the interval come from, and so what more are needed of."""
    n_needed: int | None = None
    """Pairs or values a side, of what it `varies_by`, with which it would hardly stay inconclusive.
    """
    notes: tuple[str, ...] = field(default=())
    """What is to be known of it, and why what is missing is missing."""

    @property
    def is_ratio(self) -> bool:
        return self.ratio is not None


def compare_metric(metric: str, a: Evidence, b: Evidence, asked: Asked) -> Comparison | None:
    """B against A by one metric; None when neither side has it. Not yet judged: see `judged`.

    `metric` is a name as in gates or of a column; one without a direction gives None too.
    """
    known = asked.columns.get(metric) or find_metric(metric)
    if known is None or known.direction == "none":
        return None
    share = known.unit == "share"
    margin = asked.margin or (MARGIN_OF_SHARES if share else MARGIN_OF_RATIOS)
    repeats = min(one.repeats if isinstance(one, TaskEvidence) else 0 for one in (a, b))
    found = Comparison(metric, known.unit, known.direction, margin, repeats=repeats)
    if (
        isinstance(a, TaskEvidence)
        and isinstance(b, TaskEvidence)
        and metric in a.values
        and metric in b.values
    ):
        return _by_cases(found, a, b, asked)
    return _by_repeats(found, a.per_repeat(metric), b.per_repeat(metric), asked)


def judged(found: Comparison, p_adjusted: float | None) -> Comparison:
    """With its verdict, once its p is adjusted for the others that it stands among."""
    effect = found.ratio if found.is_ratio else found.difference
    margin = found.margin
    if not found.is_ratio and found.unit != "share":
        # A share of the larger value where there is no ratio of the two, so that A and B may swap.
        margin *= max(abs(found.a or 0.0), abs(found.b or 0.0)) or 1.0
    if not found.comparable:
        return replace(found, p_adjusted=None, verdict="inconclusive", n_needed=None)
    said = verdict(
        effect,
        found.inner_low,
        found.inner_high,
        p_adjusted,
        margin,
        found.better,
        ratio=found.is_ratio,
        alpha=ALPHA,
    )
    more = None
    if said == "inconclusive" and found.sd is not None:
        more = needed(
            found.sd,
            math.log1p(margin) if found.is_ratio else margin,
            paired=found.paired and found.varies_by == "cases",
            have=found.n if found.varies_by == found.of else found.repeats,
            alpha=ALPHA,
            share=found.unit == "share",
        )
    return replace(found, p_adjusted=p_adjusted, verdict=said, n_needed=more)


def _by_cases(
    found: Comparison, a: TaskEvidence, b: TaskEvidence, asked: Asked
) -> Comparison | None:
    metric, share = found.metric, found.unit == "share"
    positive = not share and all(
        bool((side.values[metric][~np.isnan(side.values[metric])] > 0).all()) for side in (a, b)
    )
    of_a = case_values(a, metric, on_logs=positive)
    of_b = case_values(b, metric, on_logs=positive)
    pairs = pair(of_a, of_b)
    if asked.paired != "no" and (len(pairs) >= LEAST_PAIRS or (asked.paired == "yes" and pairs)):
        result = _of_pairs(found, pairs, asked)
        return _beside_repeats(result, pairs, a, b) if found.unit == "ms" else result
    if asked.paired == "yes":
        return replace(found, notes=("no case and seed has a value on both sides",))
    if min(a.repeats, b.repeats) >= 2:
        return _by_repeats(found, a.per_repeat(metric), b.per_repeat(metric), asked)
    result = _of_groups(found, of_a.value, of_b.value, asked, positive=positive)
    if share:
        result = _with_newcombe(result, of_a.value, of_b.value)
    return replace(result, of="cases")


def _by_repeats(found: Comparison, a: Floats, b: Floats, asked: Asked) -> Comparison | None:
    if not len(a) and not len(b):
        return None
    if not len(a) or not len(b):
        lacking = "B" if len(a) else "A"
        return replace(
            found,
            a=mean(a, on_logs=False),
            b=mean(b, on_logs=False),
            of="repeats",
            notes=(f"{lacking} has no value of it",),
        )
    if asked.paired == "yes":
        return replace(found, notes=("it has no values by case that could be paired",))
    positive = found.unit != "share" and bool((a > 0).all() and (b > 0).all())
    result = _of_groups(found, a, b, asked, positive=positive)
    return replace(result, of="repeats", varies_by="repeats")


def _of_pairs(found: Comparison, pairs: Pairs, asked: Asked) -> Comparison:
    share = found.unit == "share"
    clusters = pairs.cluster if pairs.is_clustered else None
    notes = pairs.left_out
    if share and clusters is None and all_binary(pairs.a, pairs.b):
        return replace(_mcnemar(found, pairs), notes=notes)

    def effect_at(level: float) -> Effect:
        if share:
            return difference_effect(pairs.a, pairs.b, clusters, level, share=True)
        return ratio_effect(
            pairs.a, pairs.b, clusters, level, asked.seed, resamples=asked.resamples
        )

    outer, inner = effect_at(LEVEL), effect_at(EQUIVALENCE_LEVEL)
    on_logs = outer.ratio is not None
    d = np.log(pairs.b) - np.log(pairs.a) if on_logs else pairs.b - pairs.a
    moved = d if clusters is None else cluster_sums(d, clusters)
    test = sign_flip_test(moved, seed=asked.seed)
    ranked = wilcoxon(moved)
    found = replace(found, a=mean(pairs.a, on_logs=on_logs), b=mean(pairs.b, on_logs=on_logs))
    return replace(
        _with_effect(found, outer, inner),
        p_value=None if test is None else test.p,
        p_rank=None if ranked is None else ranked.p,
        method=_methods("sign-flip permutation", test, outer),
        effect_size=cliffs_delta(pairs.b, pairs.a),
        hedges_g=dz(d),
        paired=True,
        n=len(pairs),
        sd=sd(d),
        notes=notes + ((outer.reason,) if outer.reason else ()),
    )


def _mcnemar(found: Comparison, pairs: Pairs) -> Comparison:
    """Each case right or wrong: what counts is those that one side alone is right on."""
    a, b = pairs.a > 0, pairs.b > 0
    only_a, only_b = int((a & ~b).sum()), int((b & ~a).sum())
    both = int((a & b).sum())
    neither = len(pairs) - both - only_a - only_b
    outer = newcombe_paired(both, only_b, only_a, neither, LEVEL)
    inner = newcombe_paired(both, only_b, only_a, neither, EQUIVALENCE_LEVEL)
    d = pairs.b - pairs.a
    return replace(
        _with_intervals(found, outer, inner),
        a=float(pairs.a.mean()),
        b=float(pairs.b.mean()),
        difference=float(d.mean()),
        p_value=mcnemar_exact(only_b, only_a),
        method="exact McNemar; Newcombe's interval of paired shares",
        effect_size=float(d.mean()),
        hedges_g=dz(d),
        paired=True,
        n=len(pairs),
        only_a=only_a,
        only_b=only_b,
        sd=sd(d),
    )


def _beside_repeats(
    found: Comparison, pairs: Pairs, a: TaskEvidence, b: TaskEvidence
) -> Comparison:
    """A time by cases, held against the luck of whole repeats, which all cases of one share.

    p, and the intervals, are those of the two that leave more room to chance.
    """
    if min(a.repeats, b.repeats) < SURE_REPEATS:
        note = "few repeats: the luck that all answers of a repeat share is not in it (--runs 5)"
        return replace(found, notes=(*found.notes, note))
    logs = found.is_ratio
    x, y = (repeat_means(side, found.metric, pairs.case, on_logs=logs) for side in (a, b))
    if found.p_value is None or min(len(x), len(y)) < SURE_REPEATS:
        return found
    effect_at = unpaired_ratio_effect if logs else unpaired_difference_effect
    outer, inner = effect_at(x, y, LEVEL), effect_at(x, y, EQUIVALENCE_LEVEL)
    x, y = (np.log(x), np.log(y)) if logs else (x, y)
    test = welch(y, x)
    if test is not None and test.p > found.p_value:
        method = f"{found.method}; p of Welch's t between whole repeats"
        found = replace(found, p_value=test.p, method=method)
    if width(outer, logs=logs) <= width(found, logs=logs):
        return found
    whole = found.ratio if logs else found.difference
    return replace(
        found,
        low=moved(outer.low, outer, whole),
        high=moved(outer.high, outer, whole),
        inner_low=moved(inner.low, inner, whole),
        inner_high=moved(inner.high, inner, whole),
        sd=pooled_sd(x, y),
        varies_by="repeats",
        method=f"{found.method}; interval by Welch's t between whole repeats",
    )


def _of_groups(
    found: Comparison, a: Floats, b: Floats, asked: Asked, *, positive: bool
) -> Comparison:
    """Independent groups: whole repeats, or cases that were not the same."""
    effect_at = unpaired_ratio_effect if positive else unpaired_difference_effect
    outer, inner = effect_at(a, b, LEVEL), effect_at(a, b, EQUIVALENCE_LEVEL)
    x, y = (np.log(a), np.log(b)) if positive else (a, b)
    smaller = min(len(a), len(b))
    test: PermutationTest | None = None
    p, name = None, ""
    if smaller >= PERMUTED_FROM:
        test = permutation_test(y, x, seed=asked.seed)
        p, name = (None if test is None else test.p), "label permutation"
    elif (of_means := welch(y, x)) is not None and pooled_sd(x, y) != 0:
        p, name = of_means.p, "Welch's t"
    ranked = mann_whitney(b, a)
    found = replace(found, a=mean(a, on_logs=positive), b=mean(b, on_logs=positive))
    return replace(
        _with_effect(found, outer, inner),
        p_value=p,
        p_rank=None if ranked is None else ranked.p,
        method=_methods(name, test, outer),
        effect_size=cliffs_delta(b, a) if smaller else None,
        hedges_g=hedges_g(y, x),
        n=smaller,
        sd=pooled_sd(x, y),
        notes=(outer.reason,) if outer.reason else (),
    )


def _with_newcombe(found: Comparison, a: Floats, b: Floats) -> Comparison:
    if not all_binary(a, b) or not len(a) or not len(b):
        return found
    counts = int(b.sum()), len(b), int(a.sum()), len(a)
    return replace(
        _with_intervals(found, newcombe(*counts, LEVEL), newcombe(*counts, EQUIVALENCE_LEVEL)),
        method="label permutation; Newcombe's interval",
    )


def _with_effect(found: Comparison, outer: Effect, inner: Effect) -> Comparison:
    difference = outer.difference
    if outer.ratio is not None and found.a is not None and found.b is not None:
        difference = found.b - found.a  # of what is shown: geometric means
    return replace(
        found,
        difference=difference,
        ratio=outer.ratio,
        low=outer.low,
        high=outer.high,
        inner_low=inner.low,
        inner_high=inner.high,
    )


def _with_intervals(
    found: Comparison, outer: Interval | None, inner: Interval | None
) -> Comparison:
    low, high = (None, None) if outer is None else (outer.low, outer.high)
    inner_low, inner_high = (None, None) if inner is None else (inner.low, inner.high)
    return replace(found, low=low, high=high, inner_low=inner_low, inner_high=inner_high)


def _methods(name: str, test: PermutationTest | None, effect: Effect) -> str:
    if test is not None:
        drawn = "exact" if test.exact else f"{test.permutations} draws, seed {test.seed}"
        name = f"{name} ({drawn})"
    return "; ".join(part for part in (name, effect.method) if part)
