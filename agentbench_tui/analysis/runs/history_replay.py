"""What the runs of a history say one after another: which change of level stands at the newest run.

Every run is judged by the gate of `history_gate` against the level that held until then. A change
that is found opens an *episode*, which stays open until its own evidence ends it. That is the
hysteresis: to open, a change must exceed the margin; to end, the runs must show that they are back
(Wald's sequential test of the old level against the new one, odds of 1,000 to 1). A change about as
large as the margin therefore does not come and go with the noise of single runs.

The runs of an episode that has ended do not count for the level. An episode becomes the level
itself after 40 runs, an improvement after 12.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from statistics import median

from agentbench_tui.analysis.runs.history_gate import (
    EARLIER_NEEDED,
    EARLIER_USED,
    RECENT,
    Against,
    GateLevels,
    is_single_out,
    is_sustained,
)
from agentbench_tui.analysis.runs.level import Level
from agentbench_tui.analysis.sample import Floats

BACK_ODDS = math.log(1000)
"""Log of the odds with which the runs are back at the old level."""
REGRESSION_STANDS = 2 * EARLIER_USED
IMPROVEMENT_STANDS = EARLIER_NEEDED
_LEAST_SPREAD = 1 / 6
"""Of the shift: the spread of runs that hardly vary, for the odds."""


@dataclass(frozen=True, slots=True)
class Episode:
    """A change of level that stands; runs are counted from 0."""

    against: Against
    """The question that found it."""
    worse: bool
    first: int
    """The first run of the new level, as far as it was known when the change was found."""
    opened: int
    """The run that confirmed it."""
    earlier: tuple[int, ...]
    """The runs of the old level that it was held against."""
    back: float = 0.0
    """Log odds, so far, that the runs are back at the old level."""
    back_from: int | None = None
    """The run from which on they are."""


@dataclass(frozen=True, slots=True)
class Replay:
    """The state after the newest run."""

    episode: Episode | None
    """The change that stands."""
    level: tuple[int, ...]
    """The runs of the level that the newest one was judged by, without that one."""
    is_suspect: bool = False
    """The newest run lies outside what the level predicts; the next one decides."""
    is_better: bool = False
    """The same on the good side."""
    unconfirmed: bool | None = None
    """The run before was so, worse (True) or better (False), and the newest is not."""
    ended: Episode | None = None
    """The change that the newest run has ended."""


def replay(positions: Floats, least: float, levels: GateLevels) -> Replay:
    """Judge every run of a history by those before it; positions as of `Scale.positions`.

    `least` is the margin on the same scale.
    """
    return replays(positions, least, levels)[-1] if positions.size else Replay(None, ())


def replays(positions: Floats, least: float, levels: GateLevels) -> list[Replay]:
    """Return the state after each run; see `replay`."""
    return _Replay(positions, least, levels).run()


class _Replay:
    def __init__(self, positions: Floats, least: float, levels: GateLevels) -> None:
        self._x = positions
        self._values = positions.tolist()
        self._least = least
        self._levels = levels
        self._level: list[int] = []
        self._episode: Episode | None = None
        self._pending: tuple[int, bool] | None = None

    def run(self) -> list[Replay]:
        states = []
        for number in range(len(self._values)):
            before = tuple(self._level)
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
        confirmed = self._confirmed(number)
        side = is_single_out(
            self._of(self._level), self._values[number], self._least, self._levels.instant
        )
        was_pending, self._pending = self._pending, None
        self._level.append(number)
        found = confirmed or self._sustained(number)
        if found is not None:
            return self._open(found)
        if side is not None:
            self._pending = (number, side)
            return Replay(None, (), is_suspect=side, is_better=not side)
        return Replay(None, (), unconfirmed=None if was_pending is None else was_pending[1])

    def _confirmed(self, number: int) -> Episode | None:
        """The change that this run confirms after the one before."""
        if self._pending is None:
            return None
        first, worse = self._pending
        earlier = self._level[:-1]
        side = is_single_out(
            self._of(earlier), self._values[number], self._least, self._levels.confirmation
        )
        if side is not worse:
            return None
        return Episode("newest run", worse, first, number, tuple(earlier[-EARLIER_USED:]))

    def _sustained(self, number: int) -> Episode | None:
        """The change that the last 5 runs show together, also against runs 20 to 40 ago."""
        recent, earlier = self._level[-RECENT:], self._level[:-RECENT]
        questions: tuple[tuple[Against, list[int]], ...] = (
            ("last 5 runs", earlier[-EARLIER_USED:]),
            ("drift", self._level[-2 * EARLIER_USED : -EARLIER_USED]),
        )
        for against, old in questions:
            if len(old) < EARLIER_NEEDED:
                continue
            side = is_sustained(
                self._x[old], self._x[recent], self._least, self._levels.sustained, against
            )
            if side is not None:
                first = self._first(old, recent, worse=side)
                return Episode(against, side, first, number, tuple(old))
        return None

    def _first(self, old: list[int], recent: list[int], *, worse: bool) -> int:
        """The first of the runs in a row, up to the newest, that lie nearer to the new level."""
        middle = (median(self._of(old)) + median(self._of(recent))) / 2
        first = recent[-1]
        for number in reversed(self._level):
            if (self._values[number] > middle) != worse or number in old:
                break
            first = number
        return min(first, recent[1])

    def _open(self, episode: Episode) -> Replay:
        self._episode = episode
        self._level = [number for number in self._level if number < episode.first]
        return Replay(episode, ())

    def _follow(self, number: int) -> Replay:
        """Whether the change still stands after this run."""
        episode = self._episode
        assert episode is not None
        age = number - episode.first + 1
        old, new = self._of(episode.earlier), self._values[episode.first : number]
        middle, now = median(old), median(new)
        shift = now - middle
        if (shift > 0) != episode.worse:  # the old level, or beyond it
            return self._end(episode, number)
        spread = max(
            Level.of(self._x[list(episode.earlier)]).spread,
            Level.of(self._x[episode.first : number]).spread if age > RECENT else 0.0,
            _LEAST_SPREAD * abs(shift),
        )
        odds = shift * ((middle + now) / 2 - self._values[number]) / spread**2
        back = max(0.0, episode.back + odds)
        start = None if back == 0 else number if episode.back == 0 else episode.back_from
        episode = replace(episode, back=back, back_from=start)
        if back >= BACK_ODDS:
            return self._end(episode, number)
        if age >= (REGRESSION_STANDS if episode.worse else IMPROVEMENT_STANDS):
            self._episode, self._level = None, list(range(episode.first, number + 1))
            return Replay(None, ())
        self._episode = episode
        return Replay(episode, ())

    def _end(self, episode: Episode, number: int) -> Replay:
        start = number if episode.back_from is None else episode.back_from
        self._episode = None
        self._level += range(start, number + 1)
        return Replay(None, (), ended=episode)

    def _of(self, runs: list[int] | tuple[int, ...]) -> list[float]:
        return [self._values[number] for number in runs]
