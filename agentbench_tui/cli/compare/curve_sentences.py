"""A comparison of training runs as sentences."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from agentbench_tui.model.text.plain_number import plain
from agentbench_tui.model.text.untrusted import one_line
from agentbench_tui.presentation.numbers import (
    chosen_percent,
    p_value,
    precise,
    signed_amount,
)
from agentbench_tui.verdicts.training.curve_document import bootstrap_ends

if TYPE_CHECKING:
    from agentbench_tui.verdicts.training.curve_comparison import RunComparison
    from agentbench_tui.verdicts.training.curve_question import Answer
    from agentbench_tui.verdicts.training.run_summary import Run

_UNFINISHED_SHOWN = 5
_NAME = 11
"""Cells for the name of a figure."""


def lines(answer: Answer) -> Iterator[tuple[str, int]]:
    """Return the lines on one metric, the verdict first, each with the indentation of its
    continuation lines.
    """
    found = answer.comparison
    summary = f", {answer.summary}" if answer.summary else ""
    yield f"{one_line(found.metric)}{summary}; {found.better} is better", 0
    yield (
        (
            f"candidate {precise(found.b)} against control {precise(found.a)}: the candidate is "
            f"{found.verdict}{_why(found)}"
        ),
        0,
    )
    yield "", 0
    for name, words in _figures(answer):
        yield f"{name:<{_NAME}}{words}", _NAME
    for note in answer.notes:
        yield f"– {note}", 2


def _why(found: RunComparison) -> str:
    margin = f"±{precise(found.margin)}"
    if found.verdict == "equivalent":
        return f" within {margin}"
    if found.verdict == "inconclusive":
        what = "pairs" if found.paired else "runs a side"
        needs = "" if found.n_needed is None else f": it needs {found.n_needed:,} {what}"
        return f"{needs} (differences from {margin} on matter)"
    return ""


def _figures(answer: Answer) -> Iterator[tuple[str, str]]:
    found = answer.comparison
    level = chosen_percent(1 - found.asked.alpha)
    if found.bootstrap is not None:
        method = found.bootstrap.interval.method
        yield (
            "effect",
            f"{signed_amount(found.effect)} {_ends(*bootstrap_ends(found))} {level}, {method}",
        )
    else:
        yield "effect", signed_amount(found.effect)
    if found.t is not None:
        t = found.t
        ends = _ends(t.interval.low, t.interval.high)
        freedom = f"{precise(t.df)} degrees of freedom"
        words = f"{ends} {level}, p {p_value(t.p)} (t {precise(t.t)}, {freedom})"
        yield t.interval.method, words
    if found.permutation is not None:
        yield "p", _p_words(found)
    yield "size", _size_words(found)
    if found.gain is not None:
        yield "pairing", f"{answer.pairing}; {_gain_words(found)}"
    else:
        yield "pairing", answer.pairing
    normality = _normality_words(found)
    if normality:
        yield "normality", f"{normality} (shown, and decides nothing)"
    if found.power is not None:
        yield "power", _power_words(found)
    yield "finished", _finished_words(found)
    if found.worst is not None:
        yield "worst case", _worst_words(found)


def _p_words(found: RunComparison) -> str:
    assert found.permutation is not None
    test = found.permutation
    name = "sign flips" if found.paired else "label permutation"
    drawn = "all" if test.exact else f"{test.permutations:,} draws, seed {test.seed}"
    rank = "Wilcoxon" if found.paired else "Mann–Whitney"
    words = f"{p_value(test.p)} by {name} ({drawn}); {rank} {p_value(found.p_rank)}"
    if found.p_value != test.p:
        words += "; with so few runs that of Welch's t decides"
    if found.p_adjusted is not None and found.p_adjusted != found.p_value:
        words += f"; adjusted by Holm {p_value(found.p_adjusted)}"
    sided = found.asked.side
    return words if sided == "two-sided" else f"{words}; one-sided ({sided})"


def _size_words(found: RunComparison) -> str:
    names = {
        "dz": "dz",
        "cohens_d": "Cohen's d",
        "hedges_g": "Hedges' g",
        "cliffs_delta": "Cliff's delta",
    }
    return ", ".join(f"{names[name]} {precise(value)}" for name, value in found.sizes.items())


def _gain_words(found: RunComparison) -> str:
    assert found.gain is not None
    gain = found.gain
    r = "" if gain.correlation is None else f" (correlation {gain.correlation:.2f})"
    if math.isinf(gain.saved):
        return f"pairs differ all alike{r}"
    if gain.saved < 1:
        return f"pairing did not pay: {plain(gain.saved, 2)}×{r}"
    saved = f"pairing saved {plain(gain.saved, 2)}×"
    return f"{saved}: so many times the runs would be needed without it{r}"


def _normality_words(found: RunComparison) -> str:
    return "; ".join(
        f"{'Levene' if name == 'levene' else f'Shapiro–Wilk of {name}'} p {p_value(test.p)}"
        for name, test in found.normality.items()
        if test is not None
    )


def _power_words(found: RunComparison) -> str:
    assert found.power is not None
    power = found.power
    what = "pairs" if found.paired else "runs a side"
    return (
        f"a difference of {precise(power.target)} is found with power {power.power:g} by "
        f"{power.n:,} {what}; these find it with {power.reached:.2f}"
    )


def _finished_words(found: RunComparison) -> str:
    sides = (("control", found.control), ("candidate", found.candidate))
    counts = ", ".join(f"{found.finished(runs)} of {len(runs)} {name}" for name, runs in sides)
    if found.paired:
        counts += f"; {found.n} of {len(found.control)} pairs are whole"
    unfinished = [run for _, runs in sides for run in runs if not run.is_finished]
    return counts + _reasons(unfinished)


def _reasons(runs: Sequence[Run]) -> str:
    if not runs:
        return ""
    said = "; ".join(f"{run.name}: {run.reason}" for run in runs[:_UNFINISHED_SHOWN])
    more = len(runs) - _UNFINISHED_SHOWN
    return f" – {one_line(said, 1000)}" + (f"; and {more} more" if more > 0 else "")


def _worst_words(found: RunComparison) -> str:
    assert found.worst is not None
    worst = found.worst
    stand = [
        f"{precise(value)} for each {name} run that did not finish"
        for name, value in (("control", worst.control), ("candidate", worst.candidate))
        if value is not None
    ]
    return (
        f"with {' and '.join(stand)} the effect is {signed_amount(worst.effect)} "
        f"{_ends(worst.low, worst.high)} by t, p {p_value(worst.p)}"
    )


def _ends(low: float | None, high: float | None) -> str:
    left = "-∞" if low is None or math.isinf(low) else precise(low)
    right = "∞" if high is None or math.isinf(high) else precise(high)
    return f"[{left}, {right}]"
