"""Searches for the load at which a target fails. Pure: takes verdicts, returns levels to
measure.

    search = Search(Axis("rate", start=16, most=1600, unit="requests/s"))
    while (probe := search.probe) is not None:
        search.take(measure_and_judge(probe))
    print(search.report().words)

Doubling from the start to the first fail, then bisection in the logarithm until the lowest failing
and the highest passing level are within a factor of 1.10 (as the throughput search of RFC 2544).
Both ends are then repeated until two of at most three repeats agree. An end that does not hold is
moved and the search goes on. Where repeats do not agree, or a verdict stays unclear, the level
counts as neither, and the bracket stays as wide as it is. At the end the passing level is tried
again, once right after an overload and once at rest.

On simulated servers (benchmarks/breaking_point.py, 30 searches each of ten kinds: queues, errors,
collapse, noise, throttling, closed loops, input sizes) the middle of the bracket was within 10% of
the true breaking point in all 300, after 14 to 22 measurements.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Generator
from typing import Literal

import msgspec

from agentbench_tui.analysis.load.level_verdict import LONGEST, LevelVerdict
from agentbench_tui.stress.advice.window_bounds import level_figure
from agentbench_tui.stress.search.axis import Axis, AxisName

Purpose = Literal["climb", "descend", "bisect", "repeat", "overload", "hysteresis", "drift"]
Status = Literal["found", "wide", "not reached", "below the least", "nothing clear"]
Standing = Literal["pass", "fail", "unclear"]

CLOSE = 1.10
"""Failing over passing level at which the search is content."""
VOTES = 3
AGREE = 2
MOST_MEASUREMENTS = 60
"""A search of a target that answers at random must end, too; a sound one takes about 15."""


class Probe(msgspec.Struct, frozen=True):
    """Next measurement."""

    level: float
    length: int
    """1 for the usual length. 2 and 3: the level before it needs more; measure on without a break
    and judge all that was measured at this level since its length was 1."""
    purpose: Purpose
    cool_down: bool
    """Wait until the target is idle: the previous measurement overloaded it."""


class Measurement(msgspec.Struct, frozen=True):
    """One probe with its final verdict."""

    level: float
    purpose: Purpose
    verdict: Standing
    lengths: int
    reason: str
    broke: tuple[str, ...]
    """Names of the checks that failed."""


class BreakingPoint(msgspec.Struct, frozen=True, kw_only=True):
    """State of a search, finished or not."""

    on: AxisName
    unit: str
    status: Status
    """`found`: within a factor of 1.10 (or between neighbors) and repeated. `wide`: a bracket,
    but wider or not repeated. `not reached`: the most that may be measured passes. `below the
    least`: everything fails. `nothing clear`: no pass and no fail, or neither could be repeated."""
    passes: float | None = msgspec.field(name="pass", default=None)
    """Highest level below every failing one that passed."""
    fails: float | None = msgspec.field(name="fail", default=None)
    """Lowest level that failed."""
    unclear: tuple[float, ...] = ()
    """Levels between them without a verdict."""
    confirmed: bool = False
    """Both ends (or the only one) were repeated, and two repeats agreed."""
    broke: tuple[str, ...] = ()
    """Limits that failed at the lowest failing level, such as `p95 of latency`."""
    reason: str = ""
    """The same in figures."""
    hysteresis: bool | None = None
    """After an overload and cooling down, the level that had passed failed; None: not tried."""
    drift: bool | None = None
    """At the end and at rest, the level that had passed failed; None: not tried."""
    before: float | None = None
    """Highest level that passed before the first failure, if it exceeds the current failing
    level by more than the bracket's 10%: an overload, or time, has reduced the capacity.
    """
    measurements: int = 0
    lengths: int = 0
    """Time spent measuring, in usual lengths."""
    stopped: str = ""
    """Why the search ended early."""

    @property
    def middle(self) -> float | None:
        """Return the geometric middle of the bracket, the number to plot."""
        return math.sqrt(self.passes * self.fails) if self.passes and self.fails else None

    @property
    def stable(self) -> bool | None:
        """Return whether the passing level passed in every later test; None if unknown."""
        if self.hysteresis or self.drift or self.before is not None:
            return False
        return None if self.hysteresis is None or self.drift is None else True

    @property
    def words(self) -> str:
        """Return the result as one sentence."""
        unit = f" {self.unit}" if self.unit else ""
        ends = (self.passes, self.fails)
        passes, fails = ("" if end is None else level_figure(end) for end in ends)
        if passes and fails:
            text = f"passes at {passes}{unit}, fails at {fails}"
        elif passes:
            text = f"passes up to {passes}{unit}, the most that was tried"
        elif fails:
            text = f"fails from {fails}{unit}, the least that was tried"
        else:
            text = f"no level of {self.on} passed or failed clearly"
        text += f" ({self.reason})" if self.reason else ""
        text += f"; unclear at {', '.join(map(level_figure, self.unclear))}" * bool(self.unclear)
        text += (
            f"; {level_figure(self.before)} had passed before" if self.before is not None else ""
        )
        text += "; not repeated" * (not self.confirmed)
        text += "; does not come back after an overload" * (self.hysteresis is True)
        text += "; no longer passes at the end" * (self.drift is True)
        return text + (f"; stopped: {self.stopped}" if self.stopped else "")


class Search:
    """State of one search; `probe` is the next measurement, `take` receives its result."""

    def __init__(self, axis: Axis, *, most_measurements: int = MOST_MEASUREMENTS) -> None:
        if most_measurements < 1:
            raise ValueError(f"at least 1 measurement is needed, got {most_measurements}")
        self.axis = axis
        self.measurements: list[Measurement] = []
        self._most = most_measurements
        self._votes: dict[float, list[Measurement]] = {}
        self._hysteresis: bool | None = None
        self._drift: bool | None = None
        self._stopped = ""
        self._steps = self._run()
        self.probe: Probe | None = None
        """Next measurement; None when the search is over."""
        self._advance()

    def take(self, verdict: LevelVerdict) -> None:
        """Add the verdict on `probe`. Raises ValueError if there is no probe."""
        probe = self.probe
        if probe is None:
            raise ValueError("the search is over; there is nothing to take a verdict on")
        if verdict.outcome == "extend" and probe.length < LONGEST:
            self.probe = msgspec.structs.replace(probe, length=probe.length + 1, cool_down=False)
            return
        standing: Standing = "unclear" if verdict.outcome == "extend" else verdict.outcome
        names = tuple(check.name for check in verdict.broke)
        self.measurements.append(
            Measurement(probe.level, probe.purpose, standing, probe.length, verdict.reason, names)
        )
        self._advance()

    def stop(self, why: str) -> None:
        """End the search now: a budget is used up, or a stop was requested."""
        if self.probe is not None:
            self._stopped, self.probe = why, None
            self._steps.close()

    def report(self) -> BreakingPoint:
        """Return the current result."""
        passes, fails = self._passes(), self._fails()
        ends = [level for level in (passes, fails) if level is not None]
        confirmed = bool(ends) and all(self._confirmed(level) for level in ends)
        failing = [one for one in self._votes.get(fails or 0, []) if one.verdict == "fail"]
        return BreakingPoint(
            on=self.axis.on,
            unit=self.axis.unit,
            status=self._status(passes, fails, confirmed=confirmed),
            passes=passes,
            fails=fails,
            unclear=tuple(self._unclear(passes or 0, fails or math.inf)),
            confirmed=confirmed,
            broke=tuple(dict.fromkeys(name for one in failing for name in one.broke)),
            reason=failing[-1].reason if failing else "",
            hysteresis=self._hysteresis,
            drift=self._drift,
            before=self._before(fails),
            measurements=len(self.measurements),
            lengths=sum(one.lengths for one in self.measurements),
            stopped=self._stopped,
        )

    def _status(self, passes: float | None, fails: float | None, *, confirmed: bool) -> Status:
        if passes is None and fails is None:
            return "nothing clear"
        if fails is None:
            return "not reached" if passes == self.axis.most and confirmed else "wide"
        if passes is None:
            return "below the least" if fails == self.axis.lowest and confirmed else "wide"
        return "found" if confirmed and self.axis.close(passes, fails, CLOSE) else "wide"

    def _advance(self) -> None:
        self.probe = next(self._steps, None)
        if self.probe is not None and len(self.measurements) >= self._most:
            self.stop(f"{self._most} measurements")

    def _run(self) -> Generator[Probe]:
        while (step := self._next()) is not None:
            probe = self._probe(*step)
            yield probe
            self._votes.setdefault(probe.level, []).append(self.measurements[-1])
        passes, fails = self._passes(), self._fails()
        if passes is not None:
            yield from self._try_again(passes, fails)

    def _probe(self, level: float, purpose: Purpose) -> Probe:
        overloaded = bool(self.measurements) and self.measurements[-1].verdict != "pass"
        return Probe(level, 1, purpose, overloaded)

    def _next(self) -> tuple[float, Purpose] | None:
        """Return the next level to measure, determined only by the votes so far."""
        if not self._votes:
            return self.axis.start, "climb"
        passes, fails = self._passes(), self._fails()
        lowest, highest = min(self._votes), max(self._votes)
        if fails is None and highest < self.axis.most:
            return self.axis.up(highest), "climb"
        if fails is not None and passes is None and lowest > self.axis.lowest:
            return self.axis.down(lowest), "descend"
        if passes is not None and (gap := self._gap(passes, fails)) is not None:
            return self.axis.between(*gap), "bisect"
        for end in (passes, fails):
            if end is not None and not self._confirmed(end):
                return end, "repeat"
        return None

    def _gap(self, passes: float, fails: float | None) -> tuple[float, float] | None:
        """Return the widest gap between an end and an unclear level; None if it is narrow
        enough.
        """
        if fails is not None and self.axis.close(passes, fails, CLOSE):
            return None
        unclear = self._unclear(passes, fails or math.inf)
        if not unclear:
            return None if fails is None else (passes, fails)
        gaps = [(passes, unclear[0])] + ([] if fails is None else [(unclear[-1], fails)])
        wide = [gap for gap in gaps if not self.axis.close(*gap, math.sqrt(CLOSE))]
        return max(wide, key=lambda gap: gap[1] / gap[0], default=None)

    def _try_again(self, passes: float, fails: float | None) -> Generator[Probe]:
        """Yield probes that test whether the passing level fails now, after an overload and at
        rest.

        It has passed before, so that one pass is believed, and a fail when it is repeated.
        """
        if fails is not None:
            seen: list[Standing] = []
            while self._undecided(seen):
                if self.measurements[-1].level < fails:
                    yield self._probe(fails, "overload")
                yield Probe(passes, 1, "hysteresis", cool_down=True)
                seen.append(self.measurements[-1].verdict)
            self._hysteresis = self._fails_now(seen)
        seen = []
        while self._undecided(seen):
            yield Probe(passes, 1, "drift", cool_down=True)
            seen.append(self.measurements[-1].verdict)
        self._drift = self._fails_now(seen)

    @staticmethod
    def _undecided(seen: list[Standing]) -> bool:
        return "pass" not in seen and seen.count("fail") < AGREE and len(seen) < VOTES

    @staticmethod
    def _fails_now(seen: list[Standing]) -> bool | None:
        if "pass" in seen:
            return False
        return True if seen.count("fail") >= AGREE else None

    def _standing(self, level: float) -> Standing:
        """Return the verdict of two of three repeats. The measurement that made the level an end
        does not count, because it selected the level, possibly by chance.
        """
        first, *repeats = (one.verdict for one in self._votes[level])
        for verdict in repeats:
            if repeats.count(verdict) >= AGREE:
                return verdict
        return first if len(repeats) < VOTES else "unclear"

    def _confirmed(self, level: float) -> bool:
        _, *repeats = (one.verdict for one in self._votes[level])
        return repeats.count(self._standing(level)) >= AGREE

    def _fails(self) -> float | None:
        failing = (level for level in self._votes if self._standing(level) == "fail")
        return min(failing, default=None)

    def _passes(self) -> float | None:
        """Return the highest level that passed below every level that failed."""
        below = self._fails() or math.inf
        passing = (v for v in self._votes if v < below and self._standing(v) == "pass")
        return max(passing, default=None)

    def _before(self, fails: float | None) -> float | None:
        if fails is None:
            return None
        unhurt = itertools.takewhile(lambda one: one.verdict != "fail", self.measurements)
        best = max((one.level for one in unhurt if one.verdict == "pass"), default=0.0)
        return best if best > fails * CLOSE else None

    def _unclear(self, low: float, high: float) -> list[float]:
        between = (level for level in self._votes if low < level < high)
        return sorted(level for level in between if self._standing(level) == "unclear")
