"""The Bayes player's belief about one market: a Kalman filter of the log odds of its fair value.

The price's log odds y close a known part s of the gap to the fair value's g in a tick, with noise,
so y + (change of y) / s is a measurement of g. What an author says is one more: it tells the sign
of g - y, with the probability that the author is right, and the normal belief is matched to the
mean and variance that follow (assumed-density filtering).
"""

from __future__ import annotations

import math

from agentbench_tui.market.judging.fair import NOISE, blind_variance


class Belief:
    """Normal belief of the log odds of a market's fair probability."""

    __slots__ = ("_noise", "here", "mean", "speed", "variance")

    def __init__(self, here: float, speed: float) -> None:
        """`here`: log odds of the first price; `speed`: `fair.reversion` of the world."""
        self.here = here
        """Log odds of the price without own shares."""
        self.speed = speed
        self._noise = blind_variance(speed)
        self.mean = here
        self.variance = NOISE**2

    def observe(self, here: float, ticks_left: int) -> None:
        """Update with the price one tick later, as log odds."""
        self._drift(ticks_left + 1)
        measured = self.here + (here - self.here) / self.speed
        gain = self.variance / (self.variance + self._noise / self.speed**2)
        self.mean += gain * (measured - self.mean)
        self.variance *= 1.0 - gain
        self.here = here

    def hear(self, lean: int, here: float, right: float) -> None:
        """Update with a statement about the side of `here` that the value is on; it is right with
        probability `right`.
        """
        spread = math.sqrt(self.variance)
        distance = lean * (self.mean - here) / spread
        trust = 2.0 * right - 1.0
        chance = (1.0 - right) + trust * normal_cdf(distance)
        slope = trust * math.exp(-0.5 * distance * distance) / (math.sqrt(2.0 * math.pi) * chance)
        self.mean += lean * spread * slope
        self.variance *= max(0.05, 1.0 - slope * (slope + distance))

    def above(self, here: float) -> float:
        """Return the probability that the fair value is above that price."""
        return normal_cdf((self.mean - here) / math.sqrt(self.variance))

    @property
    def probability(self) -> float:
        """Mean fair probability, by MacKay's approximation of the logistic-normal mean."""
        return sigmoid(self.mean / math.sqrt(1.0 + math.pi * self.variance / 8.0))

    def wanted(self, ticks_left: int) -> float:
        """Return the price at which the best inventory would leave the market; see `fair`."""
        if ticks_left <= 1:
            return self.probability
        news = self._news(ticks_left)
        move = self.speed * (self.mean + (self.probability - 0.5) * news - self.here)
        variance = self.speed**2 * (self.variance + news) + self._noise
        return 0.5 + move / variance

    def _drift(self, ticks_left: int) -> None:
        news = self._news(ticks_left)
        self.mean += (self.probability - 0.5) * news
        self.variance += news

    def _news(self, ticks_left: int) -> float:
        """Return the variance of one tick's change of the log odds of Phi(Z / sqrt(left)), Z a
        random walk.
        """
        odds = max(-6.0, min(6.0, self.mean))
        probability = sigmoid(odds)
        density = math.exp(-0.5 * (odds / 1.702) ** 2) * 0.3989422804014327
        return min(4.0, (density / (probability * (1.0 - probability))) ** 2 / ticks_left)


class Trust:
    """How often an author is right, learned from later prices."""

    __slots__ = ("_right", "_wrong")

    def __init__(self) -> None:
        self._right, self._wrong = 3.2, 2.0
        """A Beta prior: some authors know, most guess."""

    @property
    def mean(self) -> float:
        """Return the probability that the author is right."""
        return self._right / (self._right + self._wrong)

    def learn(self, right: float) -> None:
        """Count one statement, right with that probability."""
        self._right += right
        self._wrong += 1.0 - right


def sigmoid(odds: float) -> float:
    """Probability of log odds, finite for any."""
    return 1.0 / (1.0 + math.exp(-odds)) if odds > -700 else 0.0


def normal_cdf(value: float) -> float:
    """Phi, the standard normal distribution."""
    return 0.5 * math.erfc(-value / math.sqrt(2.0))
