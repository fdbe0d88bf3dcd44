"""Profiles of the arrival rate over time, as closed formulas.

A profile knows its rate r(t) in requests/s at t seconds after the start of the window, the
integral Λ(t) = ∫₀ᵗ r, which is the number of requests expected until t, and the inverse of Λ.
Sent to load workers with the plan; imports nothing heavy.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Callable, Iterable
from itertools import accumulate

import msgspec

from agentbench_tui.model.text.plain_number import plain

Inverse = Callable[[float], float]
"""u → the first time, in seconds, after which Λ exceeds u; inf if it never does."""

_NEWTON_DONE = 1e-14
"""Tolerance of the root in radians: about 100 ps for a period of a day."""
_MOST_STEPS = 60


class Constant(msgspec.Struct, frozen=True, tag="constant"):
    """A constant rate."""

    rate: float

    def rate_at(self, t_s: float) -> float:
        """Return r(t) in requests/s."""
        del t_s
        return self.rate

    def turns(self) -> tuple[float, ...]:
        """Return the times in seconds, other than start and end, at which r may be highest."""
        return ()

    def count_until(self, t_s: float) -> float:
        """Return the expected number of requests until t (Λ)."""
        return self.rate * t_s

    def inverse(self) -> Inverse:
        """Return the inverse of Λ."""
        rate = self.rate
        return lambda count: count / rate

    def problems(self) -> list[str]:
        """Return one line for each impossible value."""
        return _not_above_zero(rate=self.rate)


class Ramp(msgspec.Struct, frozen=True, tag="ramp"):
    """Linear from `start` to `end`, then constant at `end`. One of them may be 0."""

    start: float
    end: float
    over_s: float

    def rate_at(self, t_s: float) -> float:
        """Return r(t) in requests/s."""
        return self.start + (self.end - self.start) * min(t_s / self.over_s, 1.0)

    def turns(self) -> tuple[float, ...]:
        """See `Constant`."""
        return (self.over_s,)

    def count_until(self, t_s: float) -> float:
        """Return the expected number of requests until t (Λ): a parabola, then a straight line."""
        climbing = min(t_s, self.over_s)
        climbed = climbing * (self.start + (self.end - self.start) * climbing / self.over_s / 2)
        return climbed + self.end * (t_s - climbing)

    def inverse(self) -> Inverse:
        """Return the inverse of Λ; the root of the parabola has the form that loses no digits."""
        start, end, over_s = self.start, self.end, self.over_s
        curve = 2 * (end - start) / over_s
        top = self.count_until(over_s)

        def time_of(count: float) -> float:
            if count >= top:
                return over_s + (count - top) / end if end else math.inf
            below = start + math.sqrt(max(start * start + curve * count, 0.0))
            return 2 * count / below if below else 0.0

        return time_of

    def problems(self) -> list[str]:
        """Return one line for each impossible value."""
        lines = _below_zero(start=self.start, end=self.end) + _not_above_zero(over_s=self.over_s)
        return lines or _all_zero((self.start, self.end))


class Steps(msgspec.Struct, frozen=True, tag="steps"):
    """A sequence of (rate, seconds); the last rate then continues. A rate of 0 is a pause."""

    steps: tuple[tuple[float, float], ...]

    def rate_at(self, t_s: float) -> float:
        """Return r(t) in requests/s."""
        begins, _ = self._begins()
        return self.steps[bisect_right(begins, t_s) - 1][0]

    def turns(self) -> tuple[float, ...]:
        """See `Constant`."""
        return tuple(self._begins()[0])

    def count_until(self, t_s: float) -> float:
        """Return the expected number of requests until t (Λ): a chain of straight lines."""
        begins, counts = self._begins()
        step = bisect_right(begins, t_s) - 1
        return counts[step] + self.steps[step][0] * (t_s - begins[step])

    def inverse(self) -> Inverse:
        """Return the inverse of Λ; a value within a pause maps to its end."""
        begins, counts = self._begins()
        rates = [rate for rate, _ in self.steps]

        def time_of(count: float) -> float:
            step = bisect_right(counts, count) - 1
            rate = rates[step]
            return begins[step] + (count - counts[step]) / rate if rate else math.inf

        return time_of

    def problems(self) -> list[str]:
        """Return one line for each impossible value."""
        lines = [] if self.steps else ["steps: there are none; give (rate, seconds) pairs"]
        for number, (rate, seconds) in enumerate(self.steps):
            lines += _below_zero(**{f"steps.{number}.rate": rate})
            lines += _not_above_zero(**{f"steps.{number}.seconds": seconds})
        return lines or _all_zero(rate for rate, _ in self.steps)

    def _begins(self) -> tuple[list[float], list[float]]:
        """Return when each step begins, and Λ there."""
        seconds = [seconds for _, seconds in self.steps[:-1]]
        requests = [rate * seconds for rate, seconds in self.steps[:-1]]
        return list(accumulate(seconds, initial=0.0)), list(accumulate(requests, initial=0.0))


class Spike(msgspec.Struct, frozen=True, tag="spike"):
    """A constant `rate`, but `peak` for `for_s` seconds from `at_s` on."""

    rate: float
    peak: float
    at_s: float
    for_s: float

    def rate_at(self, t_s: float) -> float:
        """Return r(t) in requests/s."""
        return self._steps().rate_at(t_s)

    def turns(self) -> tuple[float, ...]:
        """See `Constant`."""
        return (self.at_s,)

    def count_until(self, t_s: float) -> float:
        """Return Λ(t)."""
        return self._steps().count_until(t_s)

    def inverse(self) -> Inverse:
        """Return the inverse of Λ."""
        return self._steps().inverse()

    def problems(self) -> list[str]:
        """Return one line for each impossible value."""
        lines = _below_zero(rate=self.rate, peak=self.peak, at_s=self.at_s)
        lines += _not_above_zero(for_s=self.for_s)
        return lines or _all_zero((self.rate, self.peak))

    def _steps(self) -> Steps:
        return Steps(((self.rate, self.at_s), (self.peak, self.for_s), (self.rate, math.inf)))


class Sine(msgspec.Struct, frozen=True, tag="sine"):
    """mean + amplitude · sin(2πt / period_s): it starts at the mean and rises first."""

    mean: float
    amplitude: float
    period_s: float

    def rate_at(self, t_s: float) -> float:
        """Return r(t) in requests/s."""
        return self.mean + self.amplitude * math.sin(math.tau * (t_s / self.period_s % 1.0))

    def turns(self) -> tuple[float, ...]:
        """See `Constant`."""
        return (self.period_s / 4,)

    def count_until(self, t_s: float) -> float:
        """Return Λ(t) = mean · t + amplitude · period/2π · (1 − cos(2πt / period))."""
        swing = 1.0 - math.cos(math.tau * (t_s / self.period_s % 1.0))
        return self.mean * t_s + self.amplitude * self.period_s / math.tau * swing

    def inverse(self) -> Inverse:
        """Return the inverse of Λ: whole periods by division, the rest by Newton's method in a
        bracket.
        """
        share = self.amplitude / self.mean
        per_period = self.mean * self.period_s
        seconds_per_radian = self.period_s / math.tau

        guess = 0.0

        def time_of(count: float) -> float:
            nonlocal guess  # arrivals ascend, so the angle before is a good first guess
            periods, rest = divmod(count, per_period)
            guess = _angle_of(rest / per_period * math.tau, share, guess)
            return periods * self.period_s + guess * seconds_per_radian

        return time_of

    def problems(self) -> list[str]:
        """Return one line for each impossible value."""
        lines = _not_above_zero(mean=self.mean, period_s=self.period_s)
        lines += _below_zero(amplitude=self.amplitude)
        if not lines and self.amplitude > self.mean:
            lines.append(
                f"amplitude: {plain(self.amplitude)} is more than the mean, {plain(self.mean)};"
                " the rate would fall below 0"
            )
        return lines


Profile = Constant | Ramp | Steps | Spike | Sine


def _angle_of(goal: float, share: float, guess: float) -> float:
    """Return the x with x + share · (1 − cos x) = goal; share in [0, 1], so x is in [goal−2·share,
    goal].

    A step of Newton's that leaves the bracket, as where the slope is almost 0, is replaced by a
    halving.
    """
    low, high = goal - 2 * share, goal
    x = min(max(guess, low), high)
    for _ in range(_MOST_STEPS):
        over = x + share * (1.0 - math.cos(x)) - goal
        slope = 1.0 + share * math.sin(x)
        if over > 0:
            high = x
        else:
            low = x
        step = over / slope if slope > 0 else math.inf
        x -= step
        if not low <= x <= high:
            x = (low + high) / 2
        # What Newton's method leaves is at most share/2 · step² / slope.
        elif step * step <= _NEWTON_DONE * slope:
            break
    return x


def _not_above_zero(**values: float) -> list[str]:
    return [
        f"{name}: {plain(value)} is not a finite number above 0"
        for name, value in values.items()
        if not 0 < value < math.inf
    ]


def _below_zero(**values: float) -> list[str]:
    return [
        f"{name}: {plain(value)} is not a finite number of 0 or more"
        for name, value in values.items()
        if not 0 <= value < math.inf
    ]


def _all_zero(rates: Iterable[float]) -> list[str]:
    return [] if any(rates) else ["every rate is 0; nothing would ever be sent"]
