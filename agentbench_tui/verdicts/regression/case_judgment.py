"""Judges shares of answers, such as accuracy, case by case, with the test of `compare`.

The variation of a deterministic agent between runs, which is zero, says nothing about its next
version. The cases that a version gets right vary, so the cases are the sample.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from agentbench_tui.analysis.differences.difference_verdict import verdict
from agentbench_tui.analysis.power import smallest_detectable_mcnemar, smallest_shift
from agentbench_tui.analysis.runs.version_gate import CHANGE_P, RUNS_NEEDED
from agentbench_tui.verdicts.comparison.comparison import ALPHA, Asked
from agentbench_tui.verdicts.comparison.head_to_head import compare_metric
from agentbench_tui.verdicts.comparison.pairing import LEAST_PAIRS
from agentbench_tui.verdicts.regression.finding import UNDECIDED, Location

if TYPE_CHECKING:
    from collections.abc import Sequence

    from agentbench_tui.analysis.differences.difference_verdict import Verdict
    from agentbench_tui.analysis.runs.history_gate import GateLevels
    from agentbench_tui.verdicts.comparison.comparison import Comparison
    from agentbench_tui.verdicts.regression.compared_values import ComparedValues
    from agentbench_tui.verdicts.regression.finding import Finding
    from agentbench_tui.verdicts.regression.finding import Verdict as Word
    from agentbench_tui.verdicts.regression.history import Point

_WORDS: dict[Verdict, Word] = {"worse": "regression", "better": "improvement"}
CERTAIN_P = 0.001
"""Below this p no family of up to 50 tests changes the verdict of `compare` to *equivalent*."""
TOO_FEW_CASES = "too few cases to compare; 6 with an answer on both sides are needed"


def compared_by_cases(
    base: Finding, old: Sequence[Point], new: Sequence[Point], values: ComparedValues
) -> Finding | None:
    """Return the finding with the comparison of two groups of runs, before the decision.

    None if the metric is not a share of single answers: runs or repeats are compared then.
    """
    answers = values.answers(old, new, base.metric)
    if answers is None:
        return None
    compared = compare_metric(base.metric, *answers, Asked(margin=base.margin))
    if compared is None or compared.difference is None:
        return None
    # equal scores on each side leave no spread to make an interval of
    has_width = compared.low != compared.high
    found = replace(
        base,
        old=tuple(old),
        new=tuple(new),
        before=compared.a,
        now=compared.b,
        change=compared.difference + 0.0,  # never -0.0
        low=compared.low if has_width else None,
        high=compared.high if has_width else None,
        p=compared.p_tested,
        values=(compared.n, compared.n),
        unit_of_values=compared.of,
        compared=compared,
    )
    return replace(found, smallest=smallest_of_cases(found, ALPHA))


def judged_by_cases(
    base: Finding, old: Sequence[Point], new: Sequence[Point], values: ComparedValues
) -> Finding | None:
    """Compare two versions; `p` is to be adjusted and decided together with the rest of the check.

    It is None if there are too few cases for a test, and the verdict is then final.
    """
    base = replace(base, gate="versions", location=Location(new[0], new[0], old[-1]))
    found = compared_by_cases(base, old, new, values)
    if found is None or not _is_too_few(found):
        return found
    if found.change == 0:  # nothing changed, and no test is needed to see it
        return replace(found, verdict="no change seen", smallest=None, p=None)
    return replace(found, reason=TOO_FEW_CASES, smallest=None, p=None)


def _is_too_few(found: Finding) -> bool:
    least = LEAST_PAIRS if found.unit_of_values == "cases" else RUNS_NEEDED
    return found.p is None or found.values[0] < least


def confirmed_by_cases(found: Finding, values: ComparedValues, levels: GateLevels) -> Finding:
    """Return the judgment of a history, withdrawn unless the cases confirm it.

    The values of the runs propose a change; its time and reference stay unchanged. `levels` are
    those of the check.
    """
    if not found.old:
        return found
    compared = compared_by_cases(found, found.old, found.new, values)
    if compared is None:
        return found
    is_suspect = found.verdict == "suspect"
    alpha = 2 * (levels.instant if is_suspect else levels.by_cases)
    word = word_of_cases(compared, compared.p, alpha)
    if is_suspect and word == "regression":
        word = "suspect"
    compared = replace(compared, smallest=smallest_of_cases(compared, alpha))
    if found.verdict not in {word, "no change seen", *UNDECIDED}:
        why = "case by case the change is no more than chance explains"
        return replace(compared, verdict="no change seen", location=None, reason=why)
    return compared


def word_of_cases(one: Finding, p_adjusted: float | None, alpha: float = ALPHA) -> Word:
    """Return the verdict on a comparison by case at the level `alpha`.

    Never a change if `compare`, which adjusts for other tests, may find both equivalent.
    """
    compared = one.compared
    assert compared is not None
    is_equivalent = _verdict(compared, 1.0, ALPHA) == "equivalent"
    if is_equivalent and (compared.p_tested or 0.0) >= CERTAIN_P:
        return "no change seen"
    return _WORDS.get(_verdict(compared, p_adjusted, alpha), "no change seen")


def _verdict(compared: Comparison, p_adjusted: float | None, alpha: float) -> Verdict:
    return verdict(
        compared.difference,
        compared.inner_low,
        compared.inner_high,
        p_adjusted,
        compared.margin,
        compared.better,
        alpha=alpha,
    )


def versions_word_of_cases(one: Finding, p_adjusted: float | None) -> Word:
    """Return the verdict on two versions, whose p is adjusted for the others of the check."""
    if word_of_cases(one, p_adjusted, CHANGE_P) == "regression":
        return "regression"
    word = word_of_cases(one, p_adjusted)
    return "suspect" if word == "regression" else word


def smallest_of_cases(one: Finding, alpha: float) -> float | None:
    """Return the worsening that such a comparison detects with 80% power, in points ÷ 100.

    `alpha` is the level for p. None if too little is known.
    """
    compared = one.compared
    if compared is None or compared.sd is None or compared.n < 2:
        return None
    independent = compared.clusters or compared.n
    if compared.sd == 0 or compared.only_a is not None:
        unchanged = 2 * min(compared.only_a or 0, compared.only_b or 0) / compared.n
        return smallest_detectable_mcnemar(unchanged, independent, alpha=alpha)
    return smallest_shift(compared.sd, compared.n, compared.margin / 2, alpha=alpha)
