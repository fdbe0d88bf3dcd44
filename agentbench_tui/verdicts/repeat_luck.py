"""The luck that answers of one repeat share, which a comparison of single answers cannot see.

Between repeats it is seen where there are three or more on both sides. Within one, neighbouring
answers tell something: bursts, drifts and queues make them alike, so that n of them are worth
n (1 - r) / (1 + r) independent ones (r their lag-1 correlation).
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from agentbench_tui.analysis.paired_effect import (
    NO_RATIO,
    unpaired_difference_effect,
    unpaired_ratio_effect,
)
from agentbench_tui.analysis.student import welch
from agentbench_tui.verdicts.comparison import EQUIVALENCE_LEVEL, LEVEL, SURE_REPEATS
from agentbench_tui.verdicts.dependence import Dependence, group_dependence, paired_dependence
from agentbench_tui.verdicts.moments import moved, pooled_sd, widened, width
from agentbench_tui.verdicts.pairing import repeat_means

if TYPE_CHECKING:
    from agentbench_tui.verdicts.comparison import Comparison
    from agentbench_tui.verdicts.evidence import Floats, TaskEvidence
    from agentbench_tui.verdicts.pairing import Pairs

FEW_REPEATS = "few repeats: the luck that all answers of a repeat share is not in it (--runs 5)"


def pairs_beside_repeats(
    found: Comparison, pairs: Pairs, a: TaskEvidence, b: TaskEvidence
) -> Comparison:
    """A time by cases, held against the luck of whole repeats, which all cases of one share.

    p, and the intervals, are those of the two that leave more room to chance. With fewer than
    three repeats a side at least what hangs together within one is allowed for.
    """
    if min(a.repeats, b.repeats) < SURE_REPEATS:
        d = np.log(pairs.b) - np.log(pairs.a) if found.is_ratio else pairs.b - pairs.a
        return _with_serial(_rests_on_few(found), paired_dependence(d))
    logs = found.is_ratio
    x, y = (repeat_means(side, found.metric, pairs.case, on_logs=logs) for side in (a, b))
    if found.p_value is None or min(len(x), len(y)) < SURE_REPEATS:
        return found
    if logs and min(x.min(), y.min()) <= 0:  # a whole repeat without a time above 0
        return replace(found, p_value=None, notes=(*found.notes, NO_RATIO))
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


def groups_in_one_repeat(found: Comparison, a: Floats, b: Floats) -> Comparison:
    """Times of answers that are not of the same cases, in the order of asking."""
    x, y = (np.log(a), np.log(b)) if found.is_ratio else (a, b)
    return _with_serial(_rests_on_few(found), group_dependence(x, y))


def _rests_on_few(found: Comparison) -> Comparison:
    return replace(found, notes=(*found.notes, FEW_REPEATS))


def _with_serial(found: Comparison, seen: Dependence | None) -> Comparison:
    """The p that decides, and the interval for equivalence, as wide as what hangs together asks."""
    if seen is None or found.p_value is None or seen.factor <= 1:
        return found
    wider = seen.factor**0.5
    effect = found.ratio if found.is_ratio else found.difference
    note = f"neighbouring answers are alike: worth {seen.worth:.0f} independent ones of {found.n}"
    return replace(
        found,
        p_serial=max(found.p_value, seen.p),
        inner_low=widened(found.inner_low, effect, wider, logs=found.is_ratio),
        inner_high=widened(found.inner_high, effect, wider, logs=found.is_ratio),
        sd=None if found.sd is None else found.sd * wider,
        notes=(*found.notes, note),
    )
