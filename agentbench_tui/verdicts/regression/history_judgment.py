"""Judges the newest run of a history: whether there is a change of level, or the run is suspect.

The runs are judged one after another (`analysis.runs.history_replay`), after removing the daily
cycle from times. The finding describes the current change after the newest run.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from statistics import median
from typing import TYPE_CHECKING

import numpy as np

from agentbench_tui.analysis.runs.change_point import changes, locate
from agentbench_tui.analysis.runs.daily_cycle import daily_cycle
from agentbench_tui.analysis.runs.history_gate import (
    EARLIER_NEEDED,
    EARLIER_USED,
    GateLevels,
    smallest,
)
from agentbench_tui.analysis.runs.history_gate import level_interval as interval
from agentbench_tui.analysis.runs.history_replay import BY_CASES, BY_RUNS, replay
from agentbench_tui.analysis.runs.level import Level
from agentbench_tui.verdicts.regression.finding import NO_RATIO, Finding, Location
from agentbench_tui.verdicts.regression.history import is_timed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from agentbench_tui.analysis.runs.change_point import Change
    from agentbench_tui.analysis.runs.history_replay import Episode, Replay
    from agentbench_tui.analysis.sample import Floats
    from agentbench_tui.analysis.scale import Scale
    from agentbench_tui.verdicts.regression.history import Point

NEARER = 0.5
"""Fraction of the way from one level to another."""
CYCLE = "compared with the same time of day: the times of these runs follow it"
MOST_RUNS = 120
"""Number of runs that are judged one after another: no change remains for longer than 40."""
_YOUNG = EARLIER_NEEDED + EARLIER_USED


def judged_by_history(base: Finding, series: Sequence[Point], tests: int = 1) -> Finding:
    """Judge the newest of these runs against those before it; needs 13 comparable ones, oldest
    first.

    `tests` is how many metrics of all benchmarks are judged in one check.
    """
    metric, scale = base.metric, base.scale
    series = series[-MOST_RUNS:]
    values = [point.values[metric] for point in series]
    base = replace(base, gate="history", values=(len(series) - 1, 1), new=(series[-1],))
    if scale.kind == "ratio" and min(values) <= 0:
        return replace(base, reason=NO_RATIO)
    x = scale.positions(values)
    cycle = _cycle(x, series) if is_timed(metric, series[-1]) else None
    if cycle is not None:
        x = x - cycle
        base = replace(base, notes=(*base.notes, CYCLE))
    levels, least = GateLevels.of_check(tests), scale.margin(base.margin)
    state = replay(x, least, levels, BY_CASES if scale.kind == "points" else BY_RUNS)
    level = Level.of(x[:-1][-EARLIER_USED:])
    if state.level:
        level = Level.of(x[list(state.level)][-EARLIER_USED:])
    seen = scale.size(smallest(level, len(series) - 1, least, levels))
    base = replace(base, smallest=seen)
    if state.episode is not None:
        return _of_episode(base, series, x, state.episode)
    young = None if state.ended else _in_young_history(x, scale, base.margin)
    if young is not None:
        return _of_change(base, series, young)
    return _of_newest(base, series, x, state)


def _cycle(positions: Floats, series: Sequence[Point]) -> Floats | None:
    try:
        times = [datetime.fromisoformat(point.at).timestamp() for point in series]
    except ValueError:
        return None
    return daily_cycle(positions, np.array(times) / 3600)


def _of_episode(base: Finding, series: Sequence[Point], x: Floats, episode: Episode) -> Finding:
    """Return the finding for a change in effect."""
    old, new = x[list(episode.earlier)], x[episode.first :]
    against = f"the {len(old)} runs before"
    if episode.against == "drift":
        against = f"the level of {EARLIER_USED} to {EARLIER_USED + len(old)} runs ago"
    return replace(
        _with_levels(base, old, new),
        verdict="regression" if episode.worse else "improvement",
        old=tuple(series[number] for number in episode.earlier),
        new=tuple(series[episode.first :]),
        against=against,
        location=_located(base, series, x, episode),
    )


def _of_newest(base: Finding, series: Sequence[Point], x: Floats, state: Replay) -> Finding:
    """Return the finding for a newest run that is suspect, or as those before it."""
    earlier = list(state.level)[-EARLIER_USED:] or list(range(len(series) - 1))[-EARLIER_USED:]
    found = replace(
        _with_levels(base, x[earlier], x[-1:]),
        verdict="suspect" if state.is_suspect else "no change seen",
        old=tuple(series[number] for number in earlier),
        against=f"the {len(earlier)} runs before",
        reason=_reason(state),
    )
    if not state.is_suspect:
        return found
    last = len(series) - 1
    first = _begun(x, last, earlier)
    return replace(found, location=_location(series, first, last))


def _reason(state: Replay) -> str:
    if state.is_suspect or state.is_better:
        side = "worse" if state.is_suspect else "better"
        why = f"the newest run is {side} than the earlier ones predict; run again to confirm"
        if state.needed > 2:
            why += f" ({state.in_a_row} of {state.needed} runs in a row)"
        return why
    if state.unconfirmed is not None:
        side = "worse" if state.unconfirmed else "better"
        return f"the run before was {side} than predicted, the newest is not"
    if state.ended is not None:
        side = "worse" if state.ended.worse else "better"
        return f"the runs before were {side}, the newest is as it was before them"
    return ""


def _with_levels(base: Finding, old: Floats, new: Floats) -> Finding:
    """Add both levels, and the change between them with its interval."""
    scale = base.scale
    before, now = median(old.tolist()), median(new.tolist())
    low, high = interval(Level.of(old), now - before, len(new))
    low, high = scale.interval(low, high)
    return replace(
        base,
        before=scale.value(before) + 0.0,  # never -0.0
        now=scale.value(now) + 0.0,
        change=scale.change(now - before),
        low=low,
        high=high,
        values=(len(old), len(new)),
    )


def _located(
    base: Finding, series: Sequence[Point], x: Floats, episode: Episode
) -> Location | None:
    if episode.against == "newest run":
        first = _begun(x, episode.first, list(episode.earlier))
        return _location(series, first, episode.first)
    start = episode.earlier[0]
    values = [base.scale.value(position) for position in x[start:].tolist()]
    found = [one for one in changes(values, base.scale, base.margin) if one.worse == episode.worse]
    change = found[-1] if found else locate(values, base.scale)
    if change is None:
        return None
    return _location(series, start + change.first, start + change.last)


def _location(series: Sequence[Point], first: int, last: int) -> Location:
    return Location(series[first], series[last], series[first - 1] if first else None)


def _begun(x: Floats, run: int, earlier: Sequence[int]) -> int:
    """Return the first of the consecutive runs up to this one that are closer to it than to the
    level before: a change may have begun with any of them.
    """
    middle = (median(x[list(earlier)].tolist()) + x[run]) / 2
    above = x[run] > middle
    while run > 0 and (x[run - 1] > middle) == above:
        run -= 1
    return run


def _in_young_history(x: Floats, scale: Scale, margin: float) -> Change | None:
    """Return the change within the first runs, which define the first level, if it is still in
    effect.

    Those runs are judged by no earlier ones.
    """
    if len(x) > _YOUNG:
        return None
    values = [scale.value(position) for position in x.tolist()]
    found = changes(values, scale, margin)
    if not found or found[-1].run > EARLIER_NEEDED:
        return None
    before, after = scale.positions([found[-1].before, found[-1].after])
    return found[-1] if (x[-1] - before) / (after - before) >= NEARER else None


def _of_change(base: Finding, series: Sequence[Point], change: Change) -> Finding:
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
        values=(min(len(old), EARLIER_USED), len(new)),
        location=_location(series, change.first, change.last),
    )
