"""Compares B with A in one metric before the verdict: numbers, intervals, p values.

Compares by case and seed if both sides have them, otherwise by whole repeats, because values of one
repeat are not independent.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from agentbench_tui.analysis.differences.effect_size import cliffs_delta, dz, hedges_g
from agentbench_tui.analysis.differences.paired_effect import (
    Effect,
    difference_effect,
    ratio_effect,
    unpaired_difference_effect,
    unpaired_ratio_effect,
)
from agentbench_tui.analysis.differences.rank import mann_whitney
from agentbench_tui.analysis.differences.signed_rank import wilcoxon
from agentbench_tui.analysis.intervals.interval import cluster_sums
from agentbench_tui.analysis.resampling.permutation import permutation_test
from agentbench_tui.analysis.sample import count_distinct
from agentbench_tui.analysis.scale import MARGINS
from agentbench_tui.model.figures.metric import find_metric
from agentbench_tui.verdicts.comparison import paid
from agentbench_tui.verdicts.comparison.between_repeat import (
    groups_with_repeats,
    pairs_with_repeats,
)
from agentbench_tui.verdicts.comparison.comparison import (
    LEAST_CLUSTERS,
    LEVEL,
    SURE_REPEATS,
    Asked,
    Comparison,
)
from agentbench_tui.verdicts.comparison.moments import (
    all_binary,
    mean,
    pooled_sd,
    sd,
    sd_of_clusters,
)
from agentbench_tui.verdicts.comparison.pairing import (
    LEAST_PAIRS,
    CaseValues,
    Pairs,
    case_values,
    pair,
    repeat_means,
)
from agentbench_tui.verdicts.comparison.ratio_of_sums import compare_ratio_of_sums
from agentbench_tui.verdicts.comparison.share_interval import (
    of_binary_pairs,
    with_newcombe,
    with_newcombe_counts,
    with_newcombe_of,
)
from agentbench_tui.verdicts.evidence.ratio_columns import has_sums, sum_columns
from agentbench_tui.verdicts.evidence.tail import too_few_answers
from agentbench_tui.verdicts.evidence.task_evidence import TaskEvidence

if TYPE_CHECKING:
    from agentbench_tui.analysis.sample import Floats, Integers
    from agentbench_tui.verdicts.evidence.evidence import Evidence

_PERMUTED_AT_LEAST = 4
"""Values per side, if nothing varies; with fewer, no permutation reaches p below 0.05."""


def compare_metric(metric: str, a: Evidence, b: Evidence, asked: Asked) -> Comparison | None:
    """Compare B with A by one metric; None if neither side has it. Not yet judged: see
    `comparison.judged`.

    `metric` is a name as in gates or of a column; one without a direction gives None too.
    """
    known = asked.columns.get(metric) or find_metric(metric)
    if known is None or known.direction == "none":
        return None
    share = known.unit == "share"
    margin = asked.margin or MARGINS["points" if share else "ratio"]
    repeats = min(one.repeats if isinstance(one, TaskEvidence) else 0 for one in (a, b))
    base, _, part = metric.partition(".")
    is_paid = paid.is_paid(known, part)
    unanswered = () if share or is_paid else _unanswered(base, a, b)
    found = Comparison(
        metric, known.unit, known.direction, margin, repeats=repeats, notes=unanswered,
        is_paid=is_paid,
    )  # fmt: skip
    by_cases: set[str] = set()
    if isinstance(a, TaskEvidence) and isinstance(b, TaskEvidence):
        if all(has_sums(one.values, metric) for one in (a, b)):
            return compare_ratio_of_sums(found, a, b, asked)
        by_cases = a.values.keys() & b.values.keys()
        if metric in by_cases:
            result = _by_cases(found, a, b, asked)
            return paid.with_unknown(result, a, b) if is_paid and result is not None else result
        if base in by_cases:
            found, a, b = _on_answered_cases(found, base, a, b)
    if few := too_few_answers(metric, a, b):
        return replace(found, of="repeats", varies_by="repeats", notes=(*found.notes, few))
    result = _by_repeats(found, a.per_repeat(metric), b.per_repeat(metric), asked)
    if result is not None and share and result.sd == 0:
        return with_newcombe_counts(result, a, b)
    if result is not None and base in by_cases and result.n < SURE_REPEATS:
        note = f"of whole repeats, which are few here; {base} is compared case by case"
        return replace(result, notes=(*result.notes, note))
    return result


def _unanswered(metric: str, *sides: Evidence) -> tuple[str, ...]:
    """Say how many answers of each side have no value of the metric and are excluded."""
    said = []
    for side, name in zip(sides, "AB", strict=True):
        column = None
        if isinstance(side, TaskEvidence):
            column = side.values.get(metric, side.values.get(sum_columns(metric)[0]))
        if column is not None and (lacking := int(np.isnan(column).sum())):
            said.append(f"{lacking:,} of {len(column):,} answers of {name} have no value: left out")
    return tuple(said)


def _on_answered_cases(
    found: Comparison, base: str, a: TaskEvidence, b: TaskEvidence
) -> tuple[Comparison, TaskEvidence, TaskEvidence]:
    """Restrict both sides to the cases that both have a value for; unchanged if there are none.

    Otherwise an agent that fails on the slow cases would have the lower percentiles.
    """
    of_a, of_b = (side.case[~np.isnan(side.values[base])] for side in (a, b))
    common = np.intersect1d(of_a, of_b)
    if not len(common):
        return found, a, b
    return _with_cases_told(found, common, a, b), a.only(common), b.only(common)


def _with_cases_told(
    found: Comparison, common: Integers, a: TaskEvidence, b: TaskEvidence
) -> Comparison:
    most = max(count_distinct(one.case) for one in (a, b))
    if len(common) == most:
        return found
    note = f"of the {len(common):,} of {most:,} cases that both have a value of"
    return replace(found, notes=(*found.notes, note))


def _by_cases(
    found: Comparison, a: TaskEvidence, b: TaskEvidence, asked: Asked
) -> Comparison | None:
    metric, share = found.metric, found.unit == "share"
    positive = not (share or found.is_paid) and all(
        bool((side.values[metric][~np.isnan(side.values[metric])] > 0).all()) for side in (a, b)
    )
    of_a, of_b = (case_values(side, metric, on_logs=positive) for side in (a, b))
    pairs = pair(of_a, of_b)
    least = 1 if asked.paired == "yes" else LEAST_PAIRS
    if not pairs:  # the same cases by other seeds are the same cases
        pairs = pair(
            *(case_values(side, metric, on_logs=positive, seeded=False) for side in (a, b))
        )
    if asked.paired != "no" and len(pairs) >= least:
        result = _of_pairs(found, pairs, asked)
        return pairs_with_repeats(result, pairs, a, b) if found.unit == "ms" else result
    if asked.paired == "yes":
        return replace(found, notes=(*found.notes, "no case has a value on both sides"))
    common = np.intersect1d(of_a.case, of_b.case)
    if min(a.repeats, b.repeats) >= 2:
        if len(common):
            return _by_repeats_of_cases(found, a, b, common, asked, positive=positive)
        if found.unit == "ms" and all(_is_of_no_case(one) for one in (a, b)):
            return _by_repeats(found, a.per_repeat(metric), b.per_repeat(metric), asked)
    if len(common):
        of_a, of_b = of_a.only(common), of_b.only(common)
    return _of_unpaired_cases(found, (of_a, of_b), (a, b), asked, positive=positive)


def _of_unpaired_cases(
    found: Comparison,
    values: tuple[CaseValues, CaseValues],
    sides: tuple[TaskEvidence, TaskEvidence],
    asked: Asked,
    *,
    positive: bool,
) -> Comparison:
    """Compare unpaired cases; the cases of a cluster are one draw."""
    x, y = (one.independent(on_logs=positive, is_paid=found.is_paid) for one in values)
    result = _of_groups(found, x, y, asked, positive=positive)
    is_clustered = any(one.is_clustered for one in values)
    if found.unit == "share" and not is_clustered:
        result = with_newcombe(result, x, y, asked.seed)
    elif found.unit == "ms":
        result = groups_with_repeats(result, *values, *sides)
    if is_clustered:
        cases = min(len(one.value) for one in values)
        result = replace(
            result,
            n=cases,
            clusters=min(len(x), len(y)),
            sd=None if result.sd is None else result.sd * (cases / min(len(x), len(y))) ** 0.5,
            effect_size=cliffs_delta(values[1].value, values[0].value),
        )
    return replace(result, of="cases")


def _is_of_no_case(side: TaskEvidence) -> bool:
    """Return whether answers are independent draws, so that the variance between repeats is
    complete.
    """
    return count_distinct(side.case) == len(side.case)


def _by_repeats_of_cases(
    found: Comparison,
    a: TaskEvidence,
    b: TaskEvidence,
    common: Integers,
    asked: Asked,
    *,
    positive: bool,
) -> Comparison | None:
    """Compare by the repeats' means over the cases that both sides have a value for.

    Other cases differ for reasons of their own, of which repeats of the same know nothing.
    """
    means = [repeat_means(one, found.metric, common, on_logs=positive).value for one in (a, b)]
    x, y = (np.exp(one) for one in means) if positive else means
    found = _with_cases_told(found, common, a, b)
    result = _by_repeats(found, x, y, asked)
    if result is not None and found.unit == "share" and result.sd == 0:
        n = len(common)
        counts = round((result.b or 0) * n), n, round((result.a or 0) * n), n
        told = with_newcombe_of(result, counts, "Newcombe's interval of the cases")
        return replace(told, of="cases", varies_by="cases", n=n)
    return result


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
            notes=(*found.notes, f"{lacking} has no value of it"),
        )
    if asked.paired == "yes":
        lacking = "it has no values by case that could be paired"
        return replace(found, notes=(*found.notes, lacking))
    positive = found.unit != "share" and bool((a > 0).all() and (b > 0).all())
    result = _of_groups(found, a, b, asked, positive=positive)
    return replace(result, of="repeats", varies_by="repeats")


def _of_pairs(found: Comparison, pairs: Pairs, asked: Asked) -> Comparison:
    share = found.unit == "share"
    clusters = pairs.cluster if pairs.is_clustered else None
    notes = found.notes + pairs.left_out
    if clusters is not None and (few := count_distinct(clusters)) < LEAST_CLUSTERS:
        notes = (*notes, f"{few} clusters: a verdict needs {LEAST_CLUSTERS}")
    found = replace(found, notes=notes)
    if share and clusters is None and all_binary(pairs.a, pairs.b):
        return of_binary_pairs(found, pairs)
    if found.is_paid and (of_totals := paid.of_pairs(found, pairs, asked)) is not None:
        return of_totals
    if share:
        effect = difference_effect(
            pairs.a, pairs.b, clusters, LEVEL, asked.seed, resamples=asked.resamples, share=True
        )
    else:
        effect = ratio_effect(
            pairs.a, pairs.b, clusters, LEVEL, asked.seed, resamples=asked.resamples
        )
    on_logs = effect.ratio is not None
    d = np.log(pairs.b) - np.log(pairs.a) if on_logs else pairs.b - pairs.a
    independent = d if clusters is None else cluster_sums(d, clusters)
    ranked = wilcoxon(independent)
    found = replace(found, a=mean(pairs.a, on_logs=on_logs), b=mean(pairs.b, on_logs=on_logs))
    return replace(
        found.with_effect(effect),
        p_rank=None if ranked is None else ranked.p,
        effect_size=cliffs_delta(pairs.b, pairs.a),
        hedges_g=dz(d),
        paired=True,
        n=len(pairs),
        sd=sd(d) if clusters is None else sd_of_clusters(d, clusters),
        clusters=None if clusters is None else len(independent),
    )


def _of_groups(
    found: Comparison, a: Floats, b: Floats, asked: Asked, *, positive: bool
) -> Comparison:
    """Compare independent groups: whole repeats, or different cases."""
    x, y = (np.log(a), np.log(b)) if positive else (a, b)
    if pooled_sd(x, y) == 0:  # t has nothing to compare the difference with
        return _of_constants(found, a, b, asked, positive=positive)
    if found.is_paid and (of_totals := paid.of_groups(found, a, b)) is not None:
        return of_totals
    effect = (unpaired_ratio_effect if positive else unpaired_difference_effect)(a, b, LEVEL)
    return _of_values(found, a, b, effect, positive=positive)


def _of_constants(
    found: Comparison, a: Floats, b: Floats, asked: Asked, *, positive: bool
) -> Comparison:
    """Compare sides whose values are all equal within each: only the probability of such a split is
    known.
    """
    effect = (unpaired_ratio_effect if positive else unpaired_difference_effect)(a, b, LEVEL)
    test = None
    if min(len(a), len(b)) >= _PERMUTED_AT_LEAST:
        test = permutation_test(b, a, seed=asked.seed)
    found = _of_values(found, a, b, effect, positive=positive)
    if test is None:
        return replace(found, p_value=None, method=effect.method)
    how = "exact" if test.exact else f"{test.permutations:,} draws, seed {test.seed}"
    return replace(found, p_value=test.p, method=f"label permutation ({how})")


def _of_values(
    found: Comparison, a: Floats, b: Floats, effect: Effect, *, positive: bool
) -> Comparison:
    x, y = (np.log(a), np.log(b)) if positive else (a, b)
    smaller = min(len(a), len(b))
    ranked = mann_whitney(b, a)
    found = replace(found, a=mean(a, on_logs=positive), b=mean(b, on_logs=positive))
    return replace(
        found.with_effect(effect),
        p_rank=None if ranked is None else ranked.p,
        effect_size=cliffs_delta(b, a) if smaller else None,
        hedges_g=hedges_g(y, x),
        n=smaller,
        sd=pooled_sd(x, y),
    )
