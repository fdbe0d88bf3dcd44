"""Compares tokens and cost by totals, over answers of known price.

The question is which of two bills is larger. The ratio of geometric means describes the typical
case, may point the other way, and is given in addition.
"""

from __future__ import annotations

import math
import re
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from agentbench_tui.analysis.differences.effect_size import cliffs_delta, dz, hedges_g
from agentbench_tui.analysis.differences.rank import mann_whitney
from agentbench_tui.analysis.differences.signed_rank import wilcoxon
from agentbench_tui.analysis.distribution import normal_quantile
from agentbench_tui.analysis.intervals.interval import cluster_sums
from agentbench_tui.analysis.intervals.ratio_of_totals import Totals, group_totals, paired_totals
from agentbench_tui.analysis.sample import upper_share
from agentbench_tui.verdicts.comparison.comparison import EQUIVALENCE_LEVEL, LEVEL

if TYPE_CHECKING:
    from agentbench_tui.analysis.sample import Floats
    from agentbench_tui.model.figures.metric import Metric
    from agentbench_tui.verdicts.comparison.comparison import Asked, Comparison
    from agentbench_tui.verdicts.comparison.pairing import Pairs
    from agentbench_tui.verdicts.evidence.task_evidence import TaskEvidence

_UNITS = {"USD", "tokens"}
_WORDS = {"cost", "costs", "usd", "price", "prices", "dollars", "tokens"}
"""In the name of a file's column without a unit."""


def is_paid(metric: Metric, part: str) -> bool:
    """Return whether a metric is an amount that is paid for; `part` is its percentile, if any."""
    if metric.direction != "lower" or part not in {"", "mean"}:
        return False
    words = set(re.findall("[a-z]+", metric.name.lower()))
    return metric.unit in _UNITS or (not metric.unit and bool(words & _WORDS))


def with_unknown(found: Comparison, a: TaskEvidence, b: TaskEvidence) -> Comparison:
    """Withhold the verdict if some answers have no known amount, and note how many."""
    counts = [_unknown(side, found.metric) for side in (a, b)]
    unknown_a, unknown_b = (unknown for unknown, _ in counts)
    if not unknown_a + unknown_b:
        return found
    words = " and ".join(
        f"{unknown:,} of {asked:,} answers of {name}"
        for (unknown, asked), name in zip(counts, "AB", strict=True)
        if unknown
    )
    note = f"unknown for {words}: no verdict"
    return replace(
        found, comparable=False, unknown=(unknown_a, unknown_b), notes=(*found.notes, note)
    )


def _unknown(side: TaskEvidence, metric: str) -> tuple[int, int]:
    """Return the number of answers without the amount, and of all answers."""
    answered = side.values.get("reliability", np.ones(len(side.values[metric]))) > 0
    return side.unknown(metric), int(answered.sum())


def of_pairs(found: Comparison, pairs: Pairs, asked: Asked) -> Comparison | None:
    """Compare the totals over the same cases; None if one of them is 0."""
    clusters = pairs.cluster if pairs.is_clustered else None
    totals = paired_totals(pairs.a, pairs.b, clusters, seed=asked.seed, draws=asked.resamples)
    if totals is None:
        return None
    d = pairs.b - pairs.a
    independent = d if clusters is None else cluster_sums(d, clusters)
    ranked = wilcoxon(independent)
    geometric = _geometric(pairs.a, pairs.b)
    return replace(
        _with_totals(found, totals, pairs.a, pairs.b, geometric),
        p_rank=None if ranked is None else ranked.p,
        effect_size=cliffs_delta(pairs.b, pairs.a),
        hedges_g=dz(d),
        paired=True,
        n=len(pairs),
        sd=_sd(totals, len(pairs)),
        clusters=None if clusters is None else totals.units,
    )


def of_groups(found: Comparison, a: Floats, b: Floats) -> Comparison | None:
    """Compare the means of independent groups; None if one of them is 0.

    Means of repeats with missing cases may fall below 0, and have no totals then.
    """
    if bool((a < 0).any() or (b < 0).any()):
        return None
    totals = group_totals(a, b)
    if totals is None:
        return None
    ranked = mann_whitney(b, a)
    smaller = min(len(a), len(b))
    return replace(
        _with_totals(found, totals, a, b, _geometric(a, b)),
        p_rank=None if ranked is None else ranked.p,
        effect_size=cliffs_delta(b, a),
        hedges_g=hedges_g(b, a),
        n=smaller,
        sd=_sd(totals, smaller / 2),
    )


def _with_totals(
    found: Comparison, totals: Totals, a: Floats, b: Floats, geometric: float | None
) -> Comparison:
    outer, inner = totals.ends(LEVEL), totals.ends(EQUIVALENCE_LEVEL)
    low, high = outer or (None, None)
    inner_low, inner_high = inner or (None, None)
    found = replace(
        found,
        a=float(a.mean()),
        b=float(b.mean()),
        difference=float(b.mean() - a.mean()),
        ratio=totals.ratio,
        ratio_of="totals",
        geometric_ratio=geometric,
        low=low,
        high=high,
        inner_low=inner_low,
        inner_high=inner_high,
        p_value=totals.p,
        method=totals.method,
    )
    if geometric is None or abs(math.log(geometric / totals.ratio)) <= math.log1p(found.margin):
        return found
    note = f"the typical value is {geometric:.2f} times as high (geometric mean), the total"
    return replace(found, notes=(*found.notes, f"{note} {totals.ratio:.2f} times"))


def _geometric(a: Floats, b: Floats) -> float | None:
    """Return B / A of geometric means; None if a value is 0."""
    if (a <= 0).any() or (b <= 0).any():
        return None
    log = float(np.log(b).mean() - np.log(a).mean())
    return math.exp(log)


def _sd(totals: Totals, n: float) -> float | None:
    """Return the sd on logs with which n values would give as wide an interval."""
    ends = totals.ends(LEVEL)
    if ends is None or ends[0] <= 0 or math.isinf(ends[1]):
        error = totals.relative_error
    else:
        error = math.log(ends[1] / ends[0]) / (2 * normal_quantile(upper_share(LEVEL)))
    return error * math.sqrt(n) if math.isfinite(error) else None
