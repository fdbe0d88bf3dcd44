"""Gives a comparison its verdict from its effect, its interval and a p adjusted for its table."""

from __future__ import annotations

import math
from dataclasses import replace

from agentbench_tui.analysis.differences.difference_verdict import verdict
from agentbench_tui.analysis.runs.version_gate import RUNS_NEEDED
from agentbench_tui.verdicts.comparison.comparison import (
    ALONE,
    ALPHA,
    CONSTANT_PAIRS,
    EQUAL_PAIRS,
    FEW_DRAWS,
    FEW_REPEATS,
    LEAST_CLUSTERS,
    SURE_REPEATS,
    TOO_SMALL,
    Comparison,
)
from agentbench_tui.verdicts.comparison.settling_size import Open, settling_size


def judged(found: Comparison, p_adjusted: float | None, pairs: int = 1) -> Comparison:
    """Return the comparison with its verdict, from a p adjusted for the others of its table.

    `pairs`: how many pairs of sides are compared. A time of few draws needs a difference that is
    larger than 10% with confidence in all of them together (Bonferroni).
    """
    if found.few_repeats and not found.has_few_draws:  # else runs are too few, which is told
        found = replace(found, notes=(*found.notes, FEW_REPEATS))
    effect = found.ratio if found.is_ratio else found.difference
    margin = found.margin
    if not found.is_ratio and found.unit != "share":
        # A share of the larger value where there is no ratio of the two, so that A and B may swap.
        margin = margin * max(abs(found.a or 0.0), abs(found.b or 0.0)) or margin
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
    least = _least_for_equivalence(found)
    if said == "equivalent" and found.n < least:
        return replace(found, p_adjusted=p_adjusted, varies_by=found.of, n_needed=least)
    found = replace(found, p_adjusted=p_adjusted, verdict=said)
    if said == "inconclusive":
        found = replace(found, notes=(*found.notes, *_why_open(found)))
    is_large = found.p_large is not None and found.p_large < ALPHA / pairs
    if found.has_few_draws and said != "inconclusive" and (said == "equivalent" or not is_large):
        notes = (*found.notes, FEW_DRAWS)
        found = replace(found, verdict="inconclusive", varies_by="runs", notes=notes)
    if found.verdict != "inconclusive":
        return replace(found, n_needed=None)
    found = _with_need(found, margin, _alpha(found.p_tested, p_adjusted))
    if found.has_few_draws and effect is not None:
        excludes = None if found.n_to_exclude is None else max(found.n_to_exclude, RUNS_NEEDED)
        needed = max(found.n_needed or 0, RUNS_NEEDED)
        found = replace(found, n_needed=needed, n_to_exclude=excludes)
    return found


def _why_open(found: Comparison) -> tuple[str, ...]:
    """Say why a comparison is inconclusive although its interval excludes no difference."""
    p, adjusted, none = found.p_tested, found.p_adjusted, 1.0 if found.is_ratio else 0.0
    if p is None or adjusted is None or found.low is None or found.high is None:
        return ()
    if adjusted < ALPHA:
        return (TOO_SMALL,)
    return (ALONE,) if p < ALPHA and not found.low <= none <= found.high else ()


def _alpha(p: float | None, p_adjusted: float | None) -> float:
    """Return the level that this p has to fall below, given the tests that are adjusted with it."""
    if not p or not p_adjusted:
        return ALPHA
    return ALPHA * min(1.0, p / p_adjusted)


def _least_for_equivalence(found: Comparison) -> int:
    """Return the number of values below which equivalence is never concluded.

    A few may agree by luck, and what never varied says of a sparse difference only that it is rare.
    Shares have intervals that know it.
    """
    if found.unit == "share":
        return 0
    if found.of != "cases":
        return SURE_REPEATS
    low, high = found.inner_low, found.inner_high
    is_constant = low is not None and high is not None and math.isclose(low, high, rel_tol=1e-9)
    return CONSTANT_PAIRS if is_constant else EQUAL_PAIRS


def _with_need(found: Comparison, margin: float, alpha: float) -> Comparison:
    """Return it with `n_needed`, `n_to_exclude` and `effect_assumed`, if they are known."""
    effect = found.ratio if found.is_ratio else found.difference
    if found.sd is None or effect is None or (found.is_ratio and not 0 < effect < math.inf):
        return replace(found, n_needed=None)
    by_cases = found.varies_by == "cases"
    settling = settling_size(
        Open(
            found.sd,
            math.log(effect) if found.is_ratio else effect,
            math.log1p(margin) if found.is_ratio else margin,
            _have(found),
            paired=found.paired and by_cases,
            reach=None if found.is_ratio else _reach(found),
            only=None if found.only_a is None else (found.only_a, found.only_b or 0),
        ),
        alpha,
    )
    if settling is None:
        return replace(found, n_needed=None)
    fewest = _least_for_equivalence(found) if by_cases or found.of != "cases" else 0
    if found.clusters is not None and found.clusters < LEAST_CLUSTERS:
        fewest = max(fewest, math.ceil(LEAST_CLUSTERS * found.n / found.clusters))
    assumed = settling.effect
    if assumed is not None and found.is_ratio:
        assumed = math.exp(assumed)
    return replace(
        found,
        n_needed=max(settling.needed, fewest),
        n_to_exclude=max(settling.to_exclude, fewest),
        effect_assumed=assumed,
    )


def _have(found: Comparison) -> int:
    """Return the number of values in the unit of `varies_by`, on the side with fewer."""
    if found.varies_by == "runs" and found.has_few_draws:
        return found.draws or 0
    return found.n if found.varies_by == found.of else found.repeats


def _reach(found: Comparison) -> float | None:
    """Return the distance from no difference to the farther end of the 90% interval, which decides
    equivalence.
    """
    if found.inner_low is None or found.inner_high is None:
        return None
    return max(abs(found.inner_low), abs(found.inner_high))
