"""Wording of a comparison for people: the change first, with its interval."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agentbench_tui.model.text.plain_number import counted
from agentbench_tui.presentation.numbers import (
    MISSING,
    Show,
    measure_of,
    points,
    ratio,
    signed_amount,
    with_interval,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from agentbench_tui.contracts.compare import (
        CaseDisagreement,
        ComparedAttempts,
        ComparedBenchmark,
        ComparedMetric,
        ComparedSide,
    )
    from agentbench_tui.presentation.report import Row
    from agentbench_tui.verdicts.comparison.comparison import Comparison

CHANGE_TITLE = "B / A, or B - A [95%]"
_MOST_NAMED = 4


def shown_text(text: str | None) -> str:
    """Return a text as it is; a dash where there is none."""
    return text or MISSING


def change(one: Comparison | ComparedMetric) -> str:
    """Write how B differs from A: `1.42× [1.10, 1.84]`, of a share `+13.0 pp [10.3, 15.7]`."""
    if one.ratio is not None:
        return with_interval(one.ratio, one.low, one.high, ratio)
    if one.difference is None:
        return MISSING
    show: Show = points if one.unit == "share" else signed_amount
    return with_interval(one.difference, one.low, one.high, show)


def both_values(one: Comparison | ComparedMetric) -> str:
    """Write the values of A and B: `0.9, 1.2`."""
    show = measure_of(one.unit)
    return f"{show(one.a)}, {show(one.b)}"


def needed_words(one: Comparison | ComparedMetric) -> str:
    """Write what would settle it: `1,376 cases`, `12 repeats`; empty where that is not known."""
    return "" if one.n_needed is None else f"{one.n_needed:,} {one.varies_by}"


def sample_words(one: Comparison | ComparedMetric | ComparedAttempts) -> str:
    """Write what a comparison was computed from: `60 pairs`, `5 repeats a side`."""
    if one.only_a is not None:
        return f"{counted(one.n, 'pair')}, {one.only_a:,} A alone, {one.only_b:,} B alone"
    clusters = "" if one.clusters is None else f", {counted(one.clusters, 'cluster')}"
    if one.paired:
        return f"{counted(one.n, 'pair')}{clusters}"
    return f"{counted(one.n, one.of.removesuffix('s'))}{clusters} a side" if one.n else MISSING


def attempts_note(at: ComparedBenchmark) -> str:
    """Say why pass@k and pass^k have no verdict, and how to get one; empty without them."""
    if not at.attempts:
        return ""
    names = " and ".join(one.metric for one in at.attempts)
    named = " ".join(f"--metric '{one.metric}'" for one in at.attempts)
    return (
        f"{names} are shown without a test, so that the other metrics keep theirs; each interval is"
        f" for that metric alone ({named} tests them)"
    )


def attempts_change(one: ComparedAttempts) -> str:
    """Write how B differs from A in pass@k or pass^k: `+13.0 pp [10.3, 15.7]`."""
    if one.difference is None:
        return MISSING
    return with_interval(one.difference, one.low, one.high, points)


def tests_words(tests: int, adjustment: str) -> str:
    """Return how many tests were made, and how their p-values were adjusted together."""
    by = "Holm" if adjustment == "holm" else "Benjamini and Hochberg"
    return {0: "No test could be made.", 1: "p of one test."}.get(
        tests, f"p of {tests} tests, adjusted by {by}."
    )


def measured_alone_words(side: ComparedSide) -> str:
    """Name the benchmarks on which only one side was measured."""
    named, more = side.not_shared[:_MOST_NAMED], len(side.not_shared) - _MOST_NAMED
    rest = f" and {more} more" if more > 0 else ""
    return f"Only {side.selector} was measured on {', '.join(named)}{rest}."


def cases_title(shown: int, total: int, where: str = "") -> str:
    """Return the title of a table of the cases on which the sides differ."""
    return f"Cases{where} that only one gets right, {shown:,} of {total:,}"


def answers_at(case: CaseDisagreement, show: Callable[[str | None], str] = shown_text) -> Row:
    """Return who is right at a case, what was expected, and both answers."""
    return {
        "right": "A" if case.a.right > case.b.right else "B",
        "expected": show(case.expected),
        "a": f"({case.a.failure})" if case.a.failure else show(case.a.answer),
        "b": f"({case.b.failure})" if case.b.failure else show(case.b.answer),
    }
