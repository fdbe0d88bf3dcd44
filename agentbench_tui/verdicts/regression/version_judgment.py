"""Judges two groups of runs by one value per run or, with too few runs, by their repeats."""

from __future__ import annotations

from dataclasses import replace
from statistics import fmean
from typing import TYPE_CHECKING

from agentbench_tui.analysis.distribution import student_quantile
from agentbench_tui.analysis.runs.between_run import outlasts_run_variance
from agentbench_tui.analysis.runs.history_gate import EARLIER_NEEDED, INSTANT_P
from agentbench_tui.analysis.runs.version_gate import (
    ALPHA,
    CHANGE_P,
    RUNS_NEEDED,
    compare_versions,
    with_adjusted,
)
from agentbench_tui.verdicts.evidence.tail import answers_needed
from agentbench_tui.verdicts.regression.case_judgment import (
    CERTAIN_P,
    compared_by_cases,
    judged_by_cases,
    smallest_of_cases,
    versions_word_of_cases,
    word_of_cases,
)
from agentbench_tui.verdicts.regression.finding import NO_RATIO, Finding, Location, scale_of
from agentbench_tui.verdicts.regression.history import is_timed
from agentbench_tui.verdicts.regression.succession import doubt_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from agentbench_tui.analysis.runs.version_gate import VersionTest
    from agentbench_tui.analysis.scale import Scale
    from agentbench_tui.verdicts.regression.compared_values import ComparedValues
    from agentbench_tui.verdicts.regression.history import Point
    from agentbench_tui.verdicts.regression.succession import Doubt

FEW_RUNS = (
    f"one run does not show how much runs differ; {RUNS_NEEDED} of each decide, or both under two"
    " names in one run (`agentbench compare`)"
)
"""Why a few runs do not decide on a small difference in time."""
BY_CHANCE = (
    "among as many tests chance alone shows such a difference in 1 to 5% of the checks;"
    " run the version again"
)
"""Why a worsening is not yet a regression."""
NO_SPREAD = "how small a regression would have been seen is not known"
WORSE = ("regression", "suspect")


def judged_by_versions(
    base: Finding, old: Sequence[Point], new: Sequence[Point], repeats: ComparedValues
) -> Finding:
    """Compare the new runs with the old ones, neither empty, before p is adjusted."""
    metric, scale = base.metric, scale_of(base.metric)
    by_cases = judged_by_cases(base, old, new, repeats)
    if by_cases is not None:
        if by_cases.p is None:
            return by_cases
        return decided(replace(by_cases, doubt=_doubt_by_cases(by_cases, repeats)), by_cases.p, 1)
    unit, columns = repeats.columns(old, new, metric)
    base = replace(
        base,
        old=tuple(old),
        new=tuple(new),
        gate="versions",
        values=(len(columns[0]), len(columns[1])),
        unit_of_values=unit,
        location=Location(new[0], new[0], old[-1]),
    )
    if scale.kind == "ratio" and min(map(min, columns)) <= 0:
        return replace(base, reason=NO_RATIO)
    test = compare_versions(*columns, scale, base.margin)
    reason = _reason(base, test)
    notes = base.notes
    if unit == "repeats" and not reason and is_timed(metric, new[-1]):
        notes += ("the interval is of repeats of few runs: between-run variance is not in it",)
    if test.error == 0 and not reason:
        notes += (f"the {unit} of a side are all alike: {NO_SPREAD}",)
    found = replace(
        base,
        before=_level(columns[0], scale),
        now=_level(columns[1], scale),
        change=test.change,
        low=test.low,
        high=test.high,
        p=test.p,
        smallest=test.smallest,
        reason=reason,
        notes=notes,
    )
    if reason:
        return found
    doubt = doubt_of(*columns, scale, base.margin) if unit == "runs" else ""
    return decided(replace(found, test=test, doubt=doubt), test.p, 1)


def _doubt_by_cases(one: Finding, values: ComparedValues) -> Doubt:
    """Return the result of the newest run alone; `worse` only if the cases confirm it."""
    old, new = ([point.values[one.metric] for point in side] for side in (one.old, one.new))
    doubt = doubt_of(old, new, one.scale, one.margin)
    if doubt != "worse":
        return doubt
    newest = compared_by_cases(one, one.new[:-1], one.new[-1:], values)
    assert newest is not None
    is_worse = word_of_cases(newest, newest.p, 2 * INSTANT_P) == "regression"
    return "worse" if is_worse else ""


def _reason(base: Finding, test: VersionTest) -> str:
    """Say why there is no verdict."""
    have = f"have {test.runs[0]} and {test.runs[1]}"
    if base.unit_of_values == "repeats":
        if test.reason:
            return f"needs {RUNS_NEEDED} repeats of each side ({have}); --runs {RUNS_NEEDED}"
        return _too_few_answers(base)
    if test.reason and base.old[-1].version == base.new[-1].version:
        return (
            "one run of a version is judged by its history: needs "
            f"{EARLIER_NEEDED} runs before it (have {test.runs[0]})"
        )
    return test.reason


def _too_few_answers(base: Finding) -> str:
    """Return why a repeat has too few answers for a high percentile."""
    part, fewest = base.metric.partition(".")[2], answers_needed(base.metric)
    if fewest == 1:
        return ""
    sides = zip((base.old[-1], base.new[-1]), base.values, strict=True)
    have = min(point.observed // max(1, values) for point, values in sides)
    return "" if have >= fewest else f"{part} of a repeat needs {fewest} answers (have {have})"


def decided(one: Finding, p_adjusted: float | None, tests: int) -> Finding:
    """Return the finding with the verdict of its test, once p is adjusted for all `tests`.

    Repeats of few runs raise no more than a suspicion of a time: two runs of the same version
    differ by some percent. Not by a major change, though, of 10% at least, which is believed. A
    newest run that says something else than all of its version is a suspect, too.
    """
    if one.compared is not None:
        word = versions_word_of_cases(one, p_adjusted)
        smallest = smallest_of_cases(one, ALPHA / tests)
        reason = BY_CHANCE if word == "suspect" else ""
        return _doubted(replace(one, verdict=word, p=p_adjusted, smallest=smallest, reason=reason))
    assert one.test is not None
    assert p_adjusted is not None
    test = with_adjusted(one.test, p_adjusted, one.scale, tests)
    assert test.verdict != "not enough data"
    word = "no change seen" if _may_be_equivalent(one.test, one.scale) else test.verdict
    one = replace(one, verdict=word, p=test.p, smallest=test.smallest, reason="")
    if one.unit_of_values == "runs":
        if word == "regression" and p_adjusted >= CHANGE_P:
            one = replace(one, verdict="suspect", reason=BY_CHANCE)
        return _doubted(one)
    if _is_proved(one):
        return one
    if test.verdict == "regression":
        return replace(one, verdict="suspect", reason=FEW_RUNS)
    return replace(one, verdict="no change seen", reason=f"better, but {FEW_RUNS}")


def _may_be_equivalent(test: VersionTest, scale: Scale) -> bool:
    """Return whether `compare`, which adjusts for other tests, may find both versions
    equivalent.
    """
    if test.p is None or test.p < CERTAIN_P or test.change is None:
        return False
    if not test.error or test.freedom is None:
        return False
    shift = abs(float(scale.positions([test.change])[0]))
    reach = test.error * student_quantile(1 - ALPHA, test.freedom)
    return shift + reach < scale.length(2 * test.gate)


def _is_proved(one: Finding) -> bool:
    """Return whether the difference in repeats of few runs exceeds the between-run variance."""
    if one.verdict not in {"regression", "improvement"} or not is_timed(one.metric, one.new[-1]):
        return True
    if one.change is None or one.low is None or one.high is None:
        return False
    # Runs of a version follow each other, so that they are one draw of the machine's state.
    return outlasts_run_variance(one.change, one.low, one.high, one.scale, (1, 1))


def _doubted(one: Finding) -> Finding:
    version = one.new[-1].version
    if one.doubt == "worse" and one.verdict != "regression":
        why = f"the newest run is worse than the {len(one.new) - 1} of {version} before it predict"
    elif one.doubt == "as before" and one.verdict == "regression":
        why = f"all runs of {version} together are worse, its newest is nearer to {one.against}"
    else:
        return one
    return replace(one, verdict="suspect", reason=f"{why}; run again")


def _level(values: Sequence[float], scale: Scale) -> float:
    """Return the geometric mean of what changes by factors, else the mean."""
    return scale.value(fmean(scale.positions(values).tolist())) + 0.0  # never -0.0
