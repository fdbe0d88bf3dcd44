"""p and interval for differences between shares of right answers, added to a comparison."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from agentbench_tui.analysis.differences.effect_size import dz
from agentbench_tui.analysis.differences.paired_effect import TOO_FEW
from agentbench_tui.analysis.distribution import normal_cdf, normal_quantile
from agentbench_tui.analysis.intervals.proportion import (
    PairedShares,
    clopper_pearson,
    mcnemar_exact,
    newcombe,
    paired_shares,
)
from agentbench_tui.analysis.resampling.permutation import permutation_test
from agentbench_tui.analysis.sample import upper_share
from agentbench_tui.verdicts.comparison.comparison import EQUIVALENCE_LEVEL, LEVEL
from agentbench_tui.verdicts.comparison.moments import all_binary, sd
from agentbench_tui.verdicts.evidence.load_evidence import LoadEvidence

if TYPE_CHECKING:
    from agentbench_tui.analysis.intervals.interval import Interval
    from agentbench_tui.analysis.sample import Floats
    from agentbench_tui.verdicts.comparison.comparison import Comparison
    from agentbench_tui.verdicts.comparison.pairing import Pairs
    from agentbench_tui.verdicts.evidence.evidence import Evidence

Counts = tuple[int, int, int, int]
_HALVINGS = 50
_WIDEST_Z = 8.0
"""Beyond it no interval is wider."""


def of_binary_pairs(found: Comparison, pairs: Pairs) -> Comparison:
    """Compare cases that are right or wrong, by the cases that only one side answers correctly."""
    a, b = pairs.a > 0, pairs.b > 0
    only_a, only_b = int((a & ~b).sum()), int((b & ~a).sum())
    test = paired_shares(only_b, only_a, len(pairs))
    assert test is not None
    d = pairs.b - pairs.a
    return replace(
        with_intervals(found, test.interval(LEVEL), _with_room(test)),
        a=float(pairs.a.mean()),
        b=float(pairs.b.mean()),
        difference=float(d.mean()),
        p_value=test.p,
        method="McNemar's mid-p; Tango's score interval, widened to agree with it",
        effect_size=float(d.mean()),
        hedges_g=dz(d),
        paired=True,
        n=len(pairs),
        only_a=only_a,
        only_b=only_b,
        sd=sd(d),
    )


def with_exact_test(found: Comparison) -> Comparison:
    """Return p of McNemar's exact test for right or wrong pairs, with intervals that agree with it.

    Use it for one among many tests, whose p has to fall far below 5%. There a mid-p is too small:
    if one side alone is right on all of 8 cases, it is half of the exact probability. Any other
    comparison is returned unchanged.
    """
    if found.only_a is None or found.only_b is None or found.p_value is None:
        return found
    p = mcnemar_exact(found.only_b, found.only_a)
    if p <= found.p_value:
        return found
    if found.p_value < 1 - EQUIVALENCE_LEVEL:  # otherwise both intervals hold no difference
        test = PairedShares(found.only_b, found.only_a, found.n, min(p, 0.5))
        found = with_intervals(found, test.interval(LEVEL), _with_room(test))
    method = "McNemar's exact test; Tango's score interval, widened to agree with it"
    return replace(found, p_value=p, method=method)


def _with_room(test: PairedShares) -> Interval | None:
    """Return the interval that decides on equivalence, at least as wide as the exact ends.

    With none of 133 cases on one side alone the score interval excludes 2 points, which leave 7%
    of such samples without any.
    """
    inner = test.interval(EQUIVALENCE_LEVEL)
    more_b = clopper_pearson(test.only_x, test.n, EQUIVALENCE_LEVEL)
    more_a = clopper_pearson(test.only_y, test.n, EQUIVALENCE_LEVEL)
    assert more_a is not None
    assert more_b is not None
    low, high = test.only_x / test.n - more_a.high, more_b.high - test.only_y / test.n
    return replace(inner, low=min(inner.low, low), high=max(inner.high, high))


def with_newcombe(found: Comparison, a: Floats, b: Floats, seed: int) -> Comparison:
    """Compare independent cases; unchanged if some are neither right nor wrong."""
    if not all_binary(a, b) or not len(a) or not len(b):
        return found
    counts = int(b.sum()), len(b), int(a.sum()), len(a)
    test = permutation_test(b, a, seed=seed)
    found = replace(found, p_value=None if test is None else test.p, method="label permutation")
    return with_newcombe_of(found, counts, "Newcombe's interval")


def with_newcombe_counts(found: Comparison, a: Evidence, b: Evidence) -> Comparison:
    """Compare a share that was the same in every repeat of a side, with the uncertainty of its
    number of answers.
    """
    n_a, n_b = (
        one.observed(found.metric)
        if isinstance(one, LoadEvidence)
        else len(one.per_repeat(found.metric))
        for one in (a, b)
    )
    counts = round((found.b or 0) * n_b), n_b, round((found.a or 0) * n_a), n_a
    return with_newcombe_of(found, counts, "Newcombe's interval of all answers")


def with_newcombe_of(found: Comparison, counts: Counts, name: str) -> Comparison:
    """Compare by Newcombe's interval; `counts`: successes and trials of B, then of A.

    The larger p counts, that of the test so far or of Newcombe's interval itself, and the interval
    is widened until it agrees with it; without a test until it holds no difference.
    """
    own = _touching_z(counts)
    z = own if found.p_value is None else min(own, _z_of(found.p_value))
    if found.p_value is None and own:
        widening = max(1.0, own / _z_at(LEVEL))
    else:
        widening = own / z if z > 0 else 1.0
    outer, inner = (
        _newcombe(counts, widening * _z_at(level), level) for level in (LEVEL, EQUIVALENCE_LEVEL)
    )
    test = found.method.partition(";")[0]
    notes = tuple(one for one in found.notes if outer is None or not one.startswith(TOO_FEW))
    p = None if found.p_value is None else max(found.p_value, 2 * normal_cdf(-own))
    found = with_intervals(found, outer, inner)
    return replace(found, p_value=p, method=f"{test}; {name}", notes=notes)


def with_intervals(found: Comparison, outer: Interval | None, inner: Interval | None) -> Comparison:
    """Return the comparison with the outer interval shown and the inner deciding on equivalence."""
    low, high = (None, None) if outer is None else (outer.low, outer.high)
    inner_low, inner_high = (None, None) if inner is None else (inner.low, inner.high)
    return replace(found, low=low, high=high, inner_low=inner_low, inner_high=inner_high)


def _touching_z(counts: Counts) -> float:
    """Return the z at which Newcombe's interval just reaches no difference; 0 without any."""
    of_b, n_b, of_a, n_a = counts
    if of_b * n_a == of_a * n_b:
        return 0.0
    low, high = 0.0, _WIDEST_Z
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        found = _newcombe(counts, middle, LEVEL)
        excludes = found is not None and not found.low <= 0 <= found.high
        low, high = (middle, high) if excludes else (low, middle)
    return high


def _newcombe(counts: Counts, z: float, level: float) -> Interval | None:
    """Return the interval at this z, named by the level that it is shown as."""
    at = min(max(1 - 2 * normal_cdf(-z), 1e-12), 1 - 1e-12)
    found = newcombe(*counts, at)
    return None if found is None else replace(found, level=level)


def _z_at(level: float) -> float:
    return normal_quantile(upper_share(level))


def _z_of(p: float) -> float:
    return -normal_quantile(max(p, 1e-300) / 2) if p < 1 else 0.0
