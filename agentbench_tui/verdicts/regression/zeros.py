"""Values of 0 where changes are factors: nothing is left, or there was nothing before.

Such a change has no ratio, and needs no test either: it is all that can be lost, or won.
"""

from __future__ import annotations

from dataclasses import replace
from statistics import median
from typing import TYPE_CHECKING

from agentbench_tui.verdicts.regression.finding import Finding, Location, scale_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from agentbench_tui.verdicts.regression.history import Point


def zero_finding(base: Finding, series: Sequence[Point]) -> Finding | None:
    """Return the verdict if the newest run and the others are on two sides of 0; else None.

    `series` are comparable runs, the oldest first. The newest is judged with those of its kind just
    before it, against the others: a throughput that fell to 0 is a regression, a cost that did is
    an improvement.
    """
    scale = scale_of(base.metric)
    if scale.kind != "ratio" or len(series) < 2:
        return None
    values = [point.values[base.metric] for point in series]
    if min(values) > 0:
        return None
    is_gone = values[-1] <= 0
    first = len(values) - 1
    while first and (values[first - 1] <= 0) == is_gone:
        first -= 1
    old = [point for point in series[:first] if (point.values[base.metric] <= 0) != is_gone]
    is_level = is_gone or (len(series) - first <= len(old) and median(values[:first]) <= 0)
    if not old or not is_level:
        return None
    is_worse = is_gone == (scale.better == "higher")
    new = tuple(series[first:])
    return replace(
        base,
        verdict="regression" if is_worse else "improvement",
        old=tuple(old),
        new=new,
        gate="versions",
        against=base.against or (f"the {len(old)} runs before" if old[1:] else "the run before"),
        before=median([point.values[base.metric] for point in old]),
        now=values[-1],
        change=0.0 if is_gone else None,
        values=(len(old), len(new)),
        location=Location(new[0], new[0], series[first - 1]),
        is_total=True,
    )


def without_zeros(base: Finding, series: list[Point]) -> tuple[Finding, list[Point]]:
    """Return the runs whose value has a ratio, and a note on how many have none.

    When the newest has none, or all others, they stay: the finding says why it has no verdict.
    """
    if base.scale.kind != "ratio":
        return base, series
    kept = [point for point in series if point.values[base.metric] > 0]
    if len(kept) < 2 or kept[-1] is not series[-1] or len(kept) == len(series):
        return base, series
    note = f"left out: {len(series) - len(kept)} earlier with a value of 0, which has no ratio"
    return replace(base, notes=(*base.notes, note)), kept
