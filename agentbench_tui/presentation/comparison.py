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
    from agentbench_tui.contracts.compare import (
        ComparedAttempts,
        ComparedBenchmark,
        ComparedMetric,
    )
    from agentbench_tui.verdicts.comparison.comparison import Comparison

CHANGE_TITLE = "B / A, or B - A [95%]"


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
