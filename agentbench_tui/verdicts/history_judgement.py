"""The newest run of a history, judged: by itself, with the last 5, and against what creeps."""

from __future__ import annotations

from dataclasses import replace
from statistics import median
from typing import TYPE_CHECKING

from agentbench_tui.analysis.change_point import changes, locate
from agentbench_tui.analysis.history_gate import (
    EARLIER_NEEDED,
    EARLIER_USED,
    RECENT,
    judge_history,
)
from agentbench_tui.verdicts.finding import NO_RATIO, Finding, Location

NEARER = 0.5
"""Of the way from one level to another."""

if TYPE_CHECKING:
    from collections.abc import Sequence

    from agentbench_tui.analysis.change_point import Change
    from agentbench_tui.analysis.history_gate import HistoryTest, Shift
    from agentbench_tui.analysis.scale import Scale
    from agentbench_tui.verdicts.history import Point


def judged_by_history(base: Finding, series: Sequence[Point]) -> Finding:
    """The newest of these runs against those before it; needs 13 comparable ones, oldest first."""
    metric, scale = base.metric, base.scale
    values = [point.values[metric] for point in series]
    base = replace(base, gate="history", values=(len(series) - 1, 1), new=(series[-1],))
    if scale.kind == "ratio" and min(values) <= 0:
        return replace(base, reason=NO_RATIO)
    start = _level_start(values, scale, base.margin)
    series, values = series[start:], values[start:]
    test, back = judged(values, scale, base.margin)
    if test.verdict in {"no change seen", "suspect"}:
        standing = standing_change(values, scale, base.margin)
        if standing is not None:
            return _by_change(base, series, standing, test)
    shift = test.evidence or test.instant
    assert shift is not None  # there are enough runs
    upto = len(values) - back
    recent = 1 if shift.against == "newest run" else RECENT
    if shift.against == "drift":
        first, last = max(0, upto - 2 * EARLIER_USED), upto - EARLIER_USED
    else:
        first, last = max(0, upto - recent - EARLIER_USED), upto - recent
    location = None
    if test.verdict in {"regression", "improvement", "suspect"}:
        location = _located(series, values, scale, base.margin, shift, back)
    verdict = test.verdict
    return replace(
        base,
        verdict=verdict,
        old=tuple(series[first:last]),
        new=tuple(series[-max(recent, back + 1) :]),
        against=_against(shift, last - first),
        before=_level(values[first:last], scale),
        now=_level(values[-recent:], scale),
        change=shift.change,
        low=shift.low,
        high=shift.high,
        p=shift.p,
        smallest=test.smallest,
        values=(last - first, max(recent, back + 1)),
        location=location,
        reason=test.reason,
    )


def _level(values: Sequence[float], scale: Scale) -> float:
    """The median as the gate takes it: of positions."""
    return scale.value(median(scale.positions(values).tolist())) + 0.0  # never -0.0


def standing_change(values: Sequence[float], scale: Scale, margin: float) -> Change | None:
    """The last change of the last 40 runs, if the newest run has its level; None without one.

    The gate looks at the moment of a change; some runs later it would take a regression that
    nobody has accepted for the level.
    """
    found = changes(values, scale, margin)
    if not found or found[-1].run < len(values) - 2 * EARLIER_USED:
        return None
    before, after, newest = scale.positions([found[-1].before, found[-1].after, values[-1]])
    return found[-1] if (newest - before) / (after - before) >= NEARER else None


def _by_change(
    base: Finding, series: Sequence[Point], change: Change, test: HistoryTest
) -> Finding:
    old, new = tuple(series[: change.first]), tuple(series[change.last :])
    return replace(
        base,
        verdict="regression" if change.worse else "improvement",
        old=old[-EARLIER_USED:],
        new=new,
        against="the level before",
        before=change.before,
        now=change.after,
        change=change.change,
        low=change.low,
        high=change.high,
        p=change.p,
        smallest=test.smallest,
        values=(min(len(old), EARLIER_USED), len(new)),
        location=Location(series[change.first], series[change.last], old[-1] if old else None),
        reason="",
    )


def _level_start(values: Sequence[float], scale: Scale, margin: float) -> int:
    """Where the newest level begins: an improvement is one as soon as 12 runs confirm it."""
    better = [one for one in changes(values, scale, margin) if not one.worse]
    if better and len(values) - better[-1].last > EARLIER_NEEDED:
        return better[-1].last
    return 0


def judged(values: Sequence[float], scale: Scale, margin: float) -> tuple[HistoryTest, int]:
    """The newest run judged, and how many runs before it the test was made.

    A run out of the ordinary is confirmed by the run after it, and stays so as long as all that
    come after it are: until there are 5 of them, which are judged together.
    """
    test = judge_history(values, scale, margin)
    evidence = test.evidence
    if evidence is not None and evidence.against != "newest run":
        if not _is_back(values, scale, evidence):
            return test, 0
        side = "worse" if evidence.worse else "better"
        reason = f"the last {RECENT} runs were {side}, the newest is as before"
        return replace(test, verdict="no change seen", reason=reason), 0
    reason = test.reason
    for back in range(RECENT - 1, 0, -1):
        if len(values) - back <= EARLIER_NEEDED:
            continue
        earlier = judge_history(values[:-back], scale, margin, confirmation=values[-1])
        first = earlier.instant
        if first is None or not first.passes:
            continue
        if all(_confirms(values[:-back], again, scale, margin) for again in values[-back:]):
            alone = replace(earlier, sustained=None, drift=None, reason="")
            if first.worse:
                return replace(alone, verdict="regression"), back
            return replace(alone, verdict="improvement"), back
        if back == 1:
            side = "worse" if first.worse else "better"
            reason = f"the run before was {side} than predicted, the newest is not"
    return replace(test, reason=reason), 0


def _is_back(values: Sequence[float], scale: Scale, shift: Shift) -> bool:
    """Whether the newest run lies nearer to the level before than to that of the last 5 runs.

    Else a regression that has been mended would be told as one for two runs more.
    """
    x = scale.positions(values[-RECENT:]).tolist()
    moved = float(scale.positions([shift.change])[0])
    return bool((x[-1] - (median(x) - moved)) / moved < NEARER)


def _confirms(values: Sequence[float], again: float, scale: Scale, margin: float) -> bool:
    """Whether a later run lies as far out, on the same side, as the newest of these."""
    test = judge_history(values, scale, margin, confirmation=again)
    first, second = test.instant, test.confirmation
    assert first is not None  # there are enough runs
    assert second is not None
    return second.passes and second.worse == first.worse


def _against(shift: Shift, runs: int) -> str:
    if shift.against == "drift":
        return f"the level of 20 to {20 + runs} runs ago"
    return f"the {runs} runs before"


def _located(
    series: Sequence[Point],
    values: Sequence[float],
    scale: Scale,
    margin: float,
    shift: Shift,
    back: int,
) -> Location | None:
    if shift.against == "newest run":
        first, last = _begun(values, scale, len(series) - 1 - back), len(series) - 1 - back
    else:
        same = [one for one in changes(values, scale, margin) if one.worse == shift.worse]
        change = same[-1] if same else locate(values, scale)
        if change is None:
            return None
        first, last = change.first, change.last
    return Location(series[first], series[last], series[first - 1] if first else None)


def _begun(values: Sequence[float], scale: Scale, run: int) -> int:
    """The first of the runs in a row up to the one out of the ordinary that lie nearer to it than
    to the level before: a change may have begun with any of them."""
    x = scale.positions(values[: run + 1])
    middle = (median(x[:-1][-EARLIER_USED:].tolist()) + x[-1]) / 2
    above = x[-1] > middle
    while run > 0 and (x[run - 1] > middle) == above:
        run -= 1
    return run
