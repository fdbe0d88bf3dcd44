"""Judges the runs of a history in order, and returns the change of level in effect at the newest
run.

Every run is judged by the gate of `history_gate` against the level that held until then. A suspect
is confirmed by the next two runs, and what the last 5 runs say by the next check
(`Confirmations`). A history may also have *excursions*: runs off the level after which it came back
by itself, such as those of a busy machine. Each one in the last 120 runs asks for one run more, up
to 5 in a row: for a suspect as well as for what the last 5 runs say. And a change must outlast the
excursions that were as large.

A change that is found opens an *episode*, which stays open until its own evidence ends it. That is
the hysteresis: to open, a change must exceed the margin; to end, the runs must show that they are
back (Wald's sequential test of the old level against the new one, odds of 1,000 to 1). A change
about as large as the margin therefore does not come and go with the noise of single runs.

The runs of an episode that has ended do not count for the level. An episode becomes the level
itself after 40 runs, an improvement after 12.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from statistics import median

from agentbench_tui.analysis.runs.history_gate import (
    DEPENDENCE_FROM,
    EARLIER_NEEDED,
    EARLIER_USED,
    RECENT,
    Against,
    GateLevels,
    is_drift,
    is_single_out,
    is_sustained,
)
from agentbench_tui.analysis.runs.level import drawn_in_spread
from agentbench_tui.analysis.sample import Floats

BACK_ODDS = math.log(1000)
"""Log of the odds with which the runs are back at the old level."""
REGRESSION_STANDS = 2 * EARLIER_USED
IMPROVEMENT_STANDS = EARLIER_NEEDED
EXCURSION = RECENT
"""Runs: what lasted longer before it went was a change of level."""
MOST_IN_A_ROW = 5
"""Runs in a row, or checks in a row of the last 5 runs, that excursions ask for at most."""
REMEMBERED = 120
"""Runs for which an excursion counts."""
AS_LARGE = 0.75
"""An excursion of at least this share of a change must be outlasted."""
_LEAST_SPREAD = 1 / 6
"""Minimum spread for the odds, as a share of the shift, for runs that hardly vary."""


@dataclass(frozen=True, slots=True)
class Confirmations:
    """Consecutive results that make a change in a history without excursions.

    Two slow runs in a row are common on shared machines. With 2 runs and 1 check, real histories
    raised a fifth more false alarms, and no more changes were found (docs/regressions.md).
    """

    runs: int = 3
    """Runs off the level, the suspect included."""
    checks: int = 2
    """Checks in which the last 5 runs rank above the level."""


BY_RUNS = Confirmations()
BY_CASES = Confirmations(runs=2, checks=1)
"""For shares of answers: a test by case has to confirm what their runs say."""


@dataclass(frozen=True, slots=True)
class Episode:
    """A change of level in effect; runs are counted from 0."""

    against: Against
    """The question that found it."""
    worse: bool
    first: int
    """The first run of the new level, as estimated when the change was found."""
    opened: int
    """The run that confirmed it."""
    earlier: tuple[int, ...]
    """The compared runs of the old level."""
    back: float = 0.0
    """Log odds, so far, that the runs are back at the old level."""
    back_from: int | None = None
    """The run from which on they are."""


@dataclass(frozen=True, slots=True)
class Excursion:
    """Runs off the level, after which it returned."""

    back: int
    """The first run that was back."""
    runs: int
    shift: float


@dataclass(frozen=True, slots=True)
class Replay:
    """The state after the newest run."""

    episode: Episode | None
    """The change in effect."""
    level: tuple[int, ...]
    """The runs of the level that the newest one was judged by, without that one."""
    is_suspect: bool = False
    """The newest run lies outside what the level predicts, or follows such a run and is no nearer
    to the level; the next one decides."""
    is_better: bool = False
    """The same on the good side."""
    in_a_row: int = 0
    """Number of consecutive such runs up to the newest, of those that are `needed`."""
    needed: int = 0
    unconfirmed: bool | None = None
    """The run before was so, worse (True) or better (False), and the newest is not."""
    ended: Episode | None = None
    """The change that the newest run has ended."""


@dataclass(frozen=True, slots=True)
class _Lasting:
    """Result of the last 5 runs in consecutive checks."""

    worse: bool
    earlier: tuple[int, ...]
    """The compared runs of the level."""
    times: int = 1


@dataclass(slots=True)
class _Doubt:
    """Consecutive runs off the level, the first of which was out of the ordinary."""

    runs: list[int]
    worse: bool
    level: list[int]
    """The runs before them."""


def replay(
    positions: Floats, least: float, levels: GateLevels, asked: Confirmations = BY_RUNS
) -> Replay:
    """Judge every run of a history by those before it; positions as in `Scale.positions`.

    `least` is the margin on the same scale.
    """
    return replays(positions, least, levels, asked)[-1] if positions.size else Replay(None, ())


def replays(
    positions: Floats, least: float, levels: GateLevels, asked: Confirmations = BY_RUNS
) -> list[Replay]:
    """Return the state after each run; see `replay`."""
    return _Replay(positions, least, levels, asked).run()


class _Replay:
    def __init__(
        self, positions: Floats, least: float, levels: GateLevels, asked: Confirmations
    ) -> None:
        self._x = positions
        self._values = positions.tolist()
        self._least = least
        self._levels = levels
        self._asked = asked
        self._level: list[int] = []
        self._episode: Episode | None = None
        self._doubt: _Doubt | None = None
        self._lasting: _Lasting | None = None
        self._excursions: list[Excursion] = []

    def run(self) -> list[Replay]:
        states = []
        for number in range(len(self._values)):
            before = tuple(self._level if self._doubt is None else self._doubt.level)
            if self._episode is not None:
                state = replace(self._follow(number), level=before)
            elif len(before) < EARLIER_NEEDED:
                self._level.append(number)
                state = Replay(None, before)
            else:
                state = replace(self._judge(number), level=before)
            states.append(state)
        return states

    def _judge(self, number: int) -> Replay:
        doubt = self._doubt
        found = None if doubt is None else self._confirmed(doubt, number)
        if self._doubt is None:
            self._doubt = self._doubted(number)
        self._level.append(number)
        found = found or self._sustained(number)
        if found is not None:
            return self._open(found)
        if self._doubt is not None:
            worse, runs = self._doubt.worse, self._doubt.runs
            needed = max(self._needed(number, self._shift(self._doubt)), len(runs) + 1)
            return Replay(None, (), worse, not worse, in_a_row=len(runs), needed=needed)
        return Replay(None, (), unconfirmed=None if doubt is None else doubt.worse)

    def _doubted(self, number: int) -> _Doubt | None:
        """Return the newest run, if it lies outside the prediction of the level."""
        side = is_single_out(
            self._of(self._level), self._values[number], self._least, self._levels.instant
        )
        return None if side is None else _Doubt([number], side, list(self._level))

    def _confirmed(self, doubt: _Doubt, number: int) -> Episode | None:
        """Return the change that this run confirms together with those before; the doubt grows by
        it or ends.
        """
        value, shift = self._values[number], self._shift(doubt)
        middle = median(self._of(doubt.level[-EARLIER_USED:]))
        if (value - middle) * shift < shift * shift / 2:  # nearer to the level, or beyond it
            self._excursions.append(Excursion(number, len(doubt.runs), shift))
            self._doubt = None
            return None
        doubt.runs.append(number)
        newest = [value] if len(doubt.runs) == 2 else []
        if len(doubt.runs) >= self._needed(number, self._shift(doubt)) and all(
            is_single_out(self._of(doubt.level), position, self._least, self._levels.confirmation)
            is doubt.worse
            for position in (median(self._of(doubt.runs)), *newest)
        ):
            earlier = tuple(doubt.level[-EARLIER_USED:])
            return Episode("newest run", doubt.worse, doubt.runs[0], number, earlier)
        if len(doubt.runs) > EXCURSION:  # what the last 5 runs say decides
            self._doubt = None
        return None

    def _shift(self, doubt: _Doubt) -> float:
        return median(self._of(doubt.runs)) - median(self._of(doubt.level[-EARLIER_USED:]))

    def _needed(self, number: int, shift: float) -> int:
        """Return the consecutive runs that confirm a change of this size."""
        known = self._short_excursions(number)
        outlasted = [one.runs + 1 for one in known if abs(one.shift) >= AS_LARGE * abs(shift)]
        least = self._asked.runs
        return max(min(least + len(known), MOST_IN_A_ROW), *outlasted, least)

    def _short_excursions(self, number: int) -> list[Excursion]:
        return [
            one
            for one in self._excursions
            if number - one.back <= REMEMBERED and one.runs <= EXCURSION
        ]

    def _sustained(self, number: int) -> Episode | None:
        """Return the change that the last 5 runs show together, or a drift over the last 40."""
        self._lasting = self._still_lasting() or self._new_lasting()
        excursions = len(self._short_excursions(number))
        needed = min(self._asked.checks + excursions, MOST_IN_A_ROW)
        if self._lasting is not None and self._lasting.times >= needed:
            found = self._episode_of("last 5 runs", self._lasting.worse, self._lasting.earlier)
            if not self._has_come_and_gone(found):
                return found
        if excursions:  # a level that wanders looks like a drift
            return None
        used = self._level[-2 * EARLIER_USED :]
        side = is_drift(self._x[used], self._least, self._levels.sustained)
        if side is None:
            return None
        return self._episode_of("drift", side, tuple(used[:-EARLIER_USED]))

    def _still_lasting(self) -> _Lasting | None:
        """Return the previous result of the last 5 runs, if it is repeated."""
        lasting = self._lasting
        if lasting is None or self._side_of(lasting.earlier) is not lasting.worse:
            return None
        return replace(lasting, times=lasting.times + 1)

    def _new_lasting(self) -> _Lasting | None:
        earlier = tuple(self._level[-RECENT - DEPENDENCE_FROM : -RECENT])
        side = self._side_of(earlier)
        return None if side is None else _Lasting(side, earlier)

    def _side_of(self, earlier: tuple[int, ...]) -> bool | None:
        """Return whether the last 5 runs are worse (True) or better (False) than these."""
        if len(earlier) < EARLIER_NEEDED:
            return None
        recent = self._x[self._level[-RECENT:]]
        return is_sustained(self._x[list(earlier)], recent, self._least, self._levels.sustained)

    def _episode_of(self, against: Against, worse: bool, earlier: tuple[int, ...]) -> Episode:
        old, recent = list(earlier[-EARLIER_USED:]), self._level[-RECENT:]
        first = self._first(old, recent, worse=worse)
        return Episode(against, worse, first, recent[-1], tuple(old))

    def _has_come_and_gone(self, episode: Episode) -> bool:
        """Return whether an excursion as large and as long as this change ended again."""
        runs = episode.opened - episode.first + 1
        recent = median(self._of(self._level[-RECENT:]))
        shift = abs(recent - median(self._of(episode.earlier)))
        return any(
            one.runs >= runs and abs(one.shift) >= AS_LARGE * shift
            for one in self._short_excursions(episode.opened)
        )

    def _first(self, old: list[int], recent: list[int], *, worse: bool) -> int:
        """Return the first of the consecutive runs, up to the newest, that lie closer to the new
        level.
        """
        middle = (median(self._of(old)) + median(self._of(recent))) / 2
        first = recent[-1]
        for number in reversed(self._level):
            if (self._values[number] > middle) != worse or number in old:
                break
            first = number
        return min(first, recent[1])

    def _open(self, episode: Episode) -> Replay:
        self._episode, self._doubt, self._lasting = episode, None, None
        self._level = [number for number in self._level if number < episode.first]
        return self._standing(episode, episode.opened)

    def _standing(self, episode: Episode, number: int) -> Replay:
        """Return the state during a change: a newest run at the old level does not belong to it."""
        off = self._values[number] - median(self._of(episode.earlier))
        if off == 0 or (off > 0) != episode.worse:
            return Replay(None, (), unconfirmed=episode.worse)
        return Replay(episode, ())

    def _follow(self, number: int) -> Replay:
        """Return whether the change is still in effect after this run."""
        episode = self._episode
        assert episode is not None
        age = number - episode.first + 1
        old, new = self._of(episode.earlier), self._values[episode.first : number]
        middle, now = median(old), median(new)
        shift = now - middle
        if (shift > 0) != episode.worse:  # the old level, or beyond it
            return self._end(episode, number)
        spread = max(
            drawn_in_spread(self._x[list(episode.earlier)]),
            drawn_in_spread(self._x[episode.first : number]) if age > RECENT else 0.0,
            _LEAST_SPREAD * abs(shift),
        )
        odds = shift * ((middle + now) / 2 - self._values[number]) / spread**2
        back = max(0.0, episode.back + odds)
        start = None if back == 0 else number if episode.back == 0 else episode.back_from
        episode = replace(episode, back=back, back_from=start)
        if back >= BACK_ODDS or self._is_undone(episode, middle, number):
            return self._end(episode, number)
        if age >= (REGRESSION_STANDS if episode.worse else IMPROVEMENT_STANDS):
            self._episode, self._level = None, list(range(episode.first, number + 1))
            return Replay(None, ())
        self._episode = episode
        return self._standing(episode, number)

    def _is_undone(self, episode: Episode, middle: float, number: int) -> bool:
        """Return whether the last 5 runs, none of which opened it, lie on the other side of the old
        level.

        A level that comes back slowly draws the new one along, and no run alone is odds enough.
        """
        if number - episode.opened < RECENT:
            return False
        recent = float(median(self._values[number - RECENT + 1 : number + 1]))
        return (recent > middle) != episode.worse

    def _end(self, episode: Episode, number: int) -> Replay:
        start = number if episode.back_from is None else episode.back_from
        self._episode = None
        runs = max(1, start - episode.first)
        new = self._values[episode.first : episode.first + runs]
        shift = median(new) - median(self._of(episode.earlier))
        self._excursions.append(Excursion(number, runs, shift))
        self._level += range(start, number + 1)
        return Replay(None, (), ended=episode)

    def _of(self, runs: list[int] | tuple[int, ...]) -> list[float]:
        return [self._values[number] for number in runs]
