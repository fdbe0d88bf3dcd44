"""Judges whether the newest run of a history is worse than the runs before it.

Two questions at once, because either alone is too slow or too easily fooled:

- *at once*: does the newest run lie outside what the last 20 runs predict? One bad run may be an
  outlier, so this only asks for another run, and counts when that one lies outside as well;
- *sustained*: do the last 5 runs rank above the 20 before them? Sees half the size that one run
  must have on a noisy history, and needs no other run, but takes some runs to notice.

The same question of the last 10 runs against those 20 to 40 ago finds a slow drift. Each is asked
in both directions; improvements are reported, too. Outliers are drawn in before spread is measured.

How often they are right is measured by benchmarks/guarantees.py (docs/decisions.md) and, on other
shapes of noise and on labeled histories, by benchmarks/regression_gate.py.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from statistics import median
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from agentbench_tui.analysis.differences.rank import mann_whitney
from agentbench_tui.analysis.distribution import normal_quantile, student_cdf, student_quantile
from agentbench_tui.analysis.runs.level import Level, dependence, drawn_in_spread
from agentbench_tui.analysis.sample import Floats
from agentbench_tui.analysis.scale import Scale

Verdict = Literal["regression", "suspect", "improvement", "no change seen", "not enough data"]
Against = Literal["newest run", "last 5 runs", "drift"]

EARLIER_NEEDED = 12
EARLIER_USED = 20
RECENT = 5
DRIFT_RECENT = 10
DEPENDENCE_FROM = 60
"""Runs, at most, from which it is estimated how much each resembles the one before."""
INSTANT_P = 0.005
"""One-sided."""
SUSTAINED_P = 0.001
"""One-sided."""
SUSPECTS = 0.04
"""Share of the checks of an unchanged agent in which any test calls a run suspect, at most."""
CHANGES = 0.002
"""The same of changes by the last 5 runs: such an alarm stays for some runs, and they overlap."""
CHANGES_BY_CASES = 0.01
SPREADS = 1.5
"""A sustained change is at least this many standard deviations of a run.

Runs of one afternoon hang together, so that 5 of them in a row lie on one side of the level more
often than the rank test believes; then their distance is small.
"""
DRIFT_SPREADS = 3.0
"""The same against runs 20 to 40 ago: levels wander, the more the longer one waits."""
SUSTAINED_SEES = 2.45
"""Standard deviations of a run by which 5 runs must lie higher for p and size to pass with 80%.

By simulation of normal runs; the margin asks for more where it is larger.
"""
REPLAY_SEES = 2.6
"""The same of 8 runs in a replay, which asks for two checks in a row, and for more after the
excursions that chance makes.
"""
ALIKE = 0.1
"""A run is not out of the ordinary if this share of the earlier ones, or more, lay as far off.

The prediction assumes one mode. Histories with two, such as warm and cold starts, or hosts of two
kinds, visit the rarer mode now and then without a change.
"""
POWER = 0.8


@dataclass(frozen=True, slots=True)
class Shift:
    """The newest runs compared with earlier ones."""

    against: Against
    """Which of the newest runs, or, for `drift`, the last 10 against those 20 to 40 runs back."""
    change: float
    """new / old level, or new - old on the scale of points."""
    low: float
    """95% interval of the change of level."""
    high: float
    p: float | None
    """One-sided, toward the side of the newest runs; None if the change is too small to test."""
    limit: float
    """The smallest change that counts here: 0.05 is a factor of 1.05 either way, or 5 points."""
    worse: bool
    """The side on which the newest runs lie."""
    passes: bool
    """Unlikely, large enough, and nothing that happened before."""


@dataclass(frozen=True, slots=True)
class HistoryTest:
    """Verdict on the newest run of a history."""

    verdict: Verdict
    """`suspect`: run again, and decide with the new value as `confirmation`."""
    instant: Shift | None
    confirmation: Shift | None
    """The re-run against the same earlier runs."""
    sustained: Shift | None
    drift: Shift | None
    earlier: int
    """Runs before the newest one."""
    spread: float | None
    """Standard deviation of an earlier run, not counting outliers; a size as `Shift.limit`."""
    smallest: float | None
    """The worsening that is detected within 5 runs with 80% power or more; a size as
    `Shift.limit`.
    """
    reason: str = ""

    @property
    def evidence(self) -> Shift | None:
        """Return the data behind the verdict; of several, the most informative about the size."""
        if self.verdict not in {"regression", "improvement", "suspect"}:
            return None
        worse = self.verdict != "improvement"
        shifts = (self.sustained, self.drift, self.confirmation, self.instant)
        return next(s for s in shifts if s is not None and s.passes and s.worse == worse)


def judge_history(
    values: ArrayLike,
    scale: Scale,
    margin: float | None = None,
    confirmation: float | None = None,
) -> HistoryTest:
    """Judge the newest run of a history, float64[n], one value per run, oldest first.

    `values` are the runs since the last change that was accepted.
    `margin` is the smallest change that matters: 0.05 is a factor of 1.05 or 5 points; None takes
    the scale's own. `confirmation` is the value of a re-run of the newest run. Below 12 earlier
    runs the verdict is `not enough data`; from 17 on the last 5 are judged, too, and from 32 on
    the drift. ValueError on NaN, and on the ratio scale for values of 0 or less.

    At once: t = (x - median) / (s √(1 + π/2n)) with t(n-1), over n ≤ 20 earlier runs, p < 0.005,
    the margin, and fewer than a tenth of the earlier runs as far off; twice. Sustained:
    Mann-Whitney, p < 0.001 and max(margin, 1.5 s √((1 + r)/(1 - r))), where r is the correlation of
    each run with the one before. s is `Level.spread`, of the sustained question
    `drawn_in_spread`.
    """
    x = scale.positions(values)
    again = None if confirmation is None else float(scale.positions([confirmation])[0])
    earlier = max(0, x.size - 1)
    if earlier < EARLIER_NEEDED:
        reason = f"needs {EARLIER_NEEDED} earlier runs (have {earlier})"
        return HistoryTest("not enough data", None, None, None, None, earlier, None, None, reason)
    least = scale.margin(margin)
    before = x[:-1][-EARLIER_USED:]
    instant = _single(before, float(x[-1]), scale, least)
    confirmed = None if again is None else _single(before, again, scale, least)
    recent, older = x[-RECENT:], x[:-RECENT]
    lasts = older.size >= EARLIER_NEEDED and (
        is_sustained(older, recent, least, SUSTAINED_P) is not None
    )
    sustained = _several(older, recent, "last 5 runs", scale, least, passes=lasts)
    old = x[-2 * EARLIER_USED : -EARLIER_USED]
    creeps = is_drift(x, least, SUSTAINED_P) is not None
    drift = _several(old, x[-DRIFT_RECENT:], "drift", scale, least, passes=creeps)
    level = Level.of(before)
    verdict, reason = _verdict(instant, confirmed, (sustained, drift))
    return HistoryTest(
        verdict=verdict,
        instant=instant,
        confirmation=confirmed,
        sustained=sustained,
        drift=drift,
        earlier=earlier,
        spread=scale.size(level.spread),
        smallest=scale.size(smallest(level, earlier, least)),
        reason=reason,
    )


@dataclass(frozen=True, slots=True)
class GateLevels:
    """Significance levels of each one-sided p of a run."""

    instant: float = INSTANT_P
    confirmation: float = INSTANT_P
    sustained: float = SUSTAINED_P
    by_cases: float = INSTANT_P
    """For a change that the cases of both sides have to confirm."""

    @classmethod
    def of_check(cls, tests: int) -> GateLevels:
        """Return the levels of each of this many tests of one run.

        They bound the whole check: suspects in at most 4%, changes in well below 1% of the checks
        of an agent that did not change. The second look at a suspect is a test of its own.
        """
        return cls(
            instant=min(INSTANT_P, SUSPECTS / tests),
            sustained=min(SUSTAINED_P, CHANGES / tests),
            by_cases=min(INSTANT_P, CHANGES_BY_CASES / tests),
        )


def is_single_out(
    earlier: Sequence[float], position: float, least: float, alpha: float
) -> bool | None:
    """Return whether one run lies outside what earlier ones predict: True if it is worse, False if
    better, None if inside.

    None where it does not. By `least` at least, with p below `alpha`, and with fewer than a tenth
    of the last 20 as far off.
    """
    used = earlier[-EARLIER_USED:]
    level = Level.of(np.asarray(used))
    shift = position - level.middle
    if abs(shift) < max(least, _t(1 - alpha, level.runs - 1) * level.prediction_error):
        return None
    sign = 1 if shift > 0 else -1
    as_far = sum(sign * value >= sign * position for value in used)
    return None if shift == 0 or as_far >= ALIKE * level.runs else shift > 0


def sustained_limit(earlier: Floats, least: float, against: Against = "last 5 runs") -> float:
    """Return the smallest shift of some runs that counts against these earlier ones."""
    spreads = DRIFT_SPREADS if against == "drift" else SPREADS
    spread = drawn_in_spread(earlier[-EARLIER_USED:])
    return max(least, spreads * spread * dependence(earlier[-DEPENDENCE_FROM:]))


def is_sustained(
    earlier: Floats,
    recent: Floats,
    least: float,
    alpha: float,
    against: Against = "last 5 runs",
) -> bool | None:
    """Return whether some runs rank above the last 20 of earlier ones: True if they are worse,
    False if better, else None.

    By `least` and 1.5 standard deviations of a run at least, more where each run resembles the one
    before, with p below `alpha` (Mann-Whitney).
    """
    old = earlier[-EARLIER_USED:]
    shift = median(recent.tolist()) - median(old.tolist())
    if shift == 0 or abs(shift) < sustained_limit(earlier, least, against):
        return None
    test = mann_whitney(recent, old, "greater" if shift > 0 else "less")
    assert test is not None
    return shift > 0 if test.p < alpha else None


def is_drift(runs: Floats, least: float, alpha: float) -> bool | None:
    """Return whether the last 40 runs drift: True if they become worse, False if better,
    else None.

    The last 10 against those more than 20 runs ago as `is_sustained`, by 3 standard deviations, and
    each quarter of the 40 further on than the one before: a level that wanders turns back.
    """
    used = runs[-2 * EARLIER_USED :]
    old = used[:-EARLIER_USED]
    if old.size < EARLIER_NEEDED:
        return None
    steps = np.diff([median(part.tolist()) for part in np.array_split(used, 4)])
    if not ((steps > 0).all() or (steps < 0).all()):
        return None
    return is_sustained(old, used[-DRIFT_RECENT:], least, alpha, "drift")


def _single(earlier: Floats, position: float, scale: Scale, least: float) -> Shift:
    level = Level.of(earlier)
    shift = position - level.middle
    error = level.prediction_error
    # without spread, when every earlier run had one value, any other is infinitely far
    t = abs(shift) / error if error > 0 else math.inf if shift else 0.0
    p = student_cdf(-t, level.runs - 1)
    passes = is_single_out(earlier.tolist(), position, least, INSTANT_P) is not None
    return _shift("newest run", shift, error, level, p, least, passes, scale)


def _several(
    earlier: Floats, recent: Floats, against: Against, scale: Scale, least: float, *, passes: bool
) -> Shift | None:
    old = earlier[-EARLIER_USED:]
    if old.size < EARLIER_NEEDED:
        return None
    level = Level.of(old)
    shift = median(recent.tolist()) - level.middle
    limit = sustained_limit(earlier, least, against)
    p = None
    if abs(shift) >= limit:
        test = mann_whitney(recent, old, "greater" if shift > 0 else "less")
        assert test is not None
        p = test.p
    error = level.shift_error(recent.size)
    return _shift(against, shift, error, level, p, limit, passes, scale)


def _shift(
    against: Against,
    shift: float,
    error: float,
    level: Level,
    p: float | None,
    limit: float,
    passes: bool,
    scale: Scale,
) -> Shift:
    half = _t(0.975, level.runs - 1) * error
    low, high = scale.interval(shift - half, shift + half)
    change = scale.change(shift)
    return Shift(against, change, low, high, p, scale.size(limit), shift > 0, passes)


def _verdict(
    instant: Shift, confirmation: Shift | None, several: tuple[Shift | None, ...]
) -> tuple[Verdict, str]:
    alarms = [shift for shift in several if shift is not None and shift.passes]
    reason = ""
    if instant.passes:
        side = "worse" if instant.worse else "better"
        if confirmation is None:
            reason = f"the newest run is {side} than the earlier ones predict; run again to confirm"
        elif confirmation.passes and confirmation.worse == instant.worse:
            alarms.append(confirmation)
        else:
            reason = f"the newest run was {side} than predicted, its re-run was not"
    if any(alarm.worse for alarm in alarms):
        return "regression", ""
    if instant.passes and instant.worse and confirmation is None:
        return "suspect", reason
    return ("improvement", "") if alarms else ("no change seen", reason)


def level_interval(level: Level, shift: float, runs: int) -> tuple[float, float]:
    """Return the 95% interval of a shift from a level to the median of this many further runs."""
    error = level.prediction_error if runs == 1 else level.shift_error(runs)
    half = _t(0.975, level.runs - 1) * error
    return shift - half, shift + half


def smallest(level: Level, earlier: int, least: float, levels: GateLevels | None = None) -> float:
    """Return the shift of a lasting worsening that one of the next 5 checks detects with
    80% power, or, at the `levels` of a replay, one of its next 8.
    """
    is_one_check, levels = levels is None, levels or GateLevels()
    z = normal_quantile(POWER)
    single = max(least, _t(1 - levels.instant, level.runs - 1) * level.prediction_error)
    found = single + z * level.spread
    # simulated for the usual level only; at a stricter one the single run is the safe answer
    if earlier >= EARLIER_NEEDED + RECENT - 1 and levels.sustained == SUSTAINED_P:
        sees = SUSTAINED_SEES if is_one_check else REPLAY_SEES
        by_size = least + z * level.shift_error(RECENT)
        found = min(found, max(by_size, sees * level.spread))
    return found


@lru_cache(maxsize=256)
def _t(p: float, df: int) -> float:
    return student_quantile(p, df)
