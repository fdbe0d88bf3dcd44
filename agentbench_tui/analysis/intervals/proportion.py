"""Shares of yes/no outcomes: intervals of one share, of differences, and McNemar's test.

Wilson's interval, which these build on and which is the one to show, is in `interval`.
"""

from __future__ import annotations

import math

import msgspec

from agentbench_tui.analysis.differences.alternative import Alternative, p_value
from agentbench_tui.analysis.distribution import (
    beta_quantile,
    binomial_cdf,
    normal_cdf,
    normal_quantile,
)
from agentbench_tui.analysis.intervals.interval import Interval, wilson
from agentbench_tui.analysis.sample import upper_share

_HALVINGS = 60
"""Number of bisections of the span that contains an end: to machine precision."""


def mcnemar_exact(only_x: int, only_y: int, alternative: Alternative = "two-sided") -> float:
    """Return p of McNemar's exact test (1947), from the numbers of cases that only one of two got
    right.

    Without a difference each of them is as likely to be x's as y's: Binomial(n, 1/2).
    `greater` means x is right more often. With no such case p is 1.
    """
    if only_x < 0 or only_y < 0:
        raise ValueError(f"mcnemar_exact needs counts of 0 or more, got {only_x} and {only_y}")
    n = only_x + only_y
    below, above = binomial_cdf(only_x, n, 0.5), binomial_cdf(only_y, n, 0.5)
    return p_value(below, above, alternative)


def mcnemar_mid(only_x: int, only_y: int) -> float:
    """Return the two-sided mid-p of McNemar's test: half of the observed outcome counts as more
    extreme.

    Less conservative than the exact test, and below its nominal level in all but rare cases
    (Fagerland, Lydersen & Laake 2013).
    """
    if only_x == only_y:
        return 1.0
    n, fewer = only_x + only_y, min(only_x, only_y)
    below = binomial_cdf(fewer, n, 0.5)
    return below + (binomial_cdf(fewer - 1, n, 0.5) if fewer else 0.0)


class PairedShares(msgspec.Struct, frozen=True):
    """The difference x - y of two shares over the same cases, by one method for p and interval.

    Tango's score interval (1998), widened until it agrees with McNemar's mid-p: the interval at
    `1 - alpha` excludes 0 exactly when p is below alpha.
    """

    only_x: int
    only_y: int
    n: int
    p: float

    def interval(self, level: float = 0.95) -> Interval:
        z = normal_quantile(upper_share(level)) * self._widening
        low = -self._upper(self.only_y, self.only_x, z)
        return Interval(low, self._upper(self.only_x, self.only_y, z), level, "Tango, mid-p")

    @property
    def _widening(self) -> float:
        """Return the factor by which z of the score test exceeds that of p; at least 1."""
        if self.only_x == self.only_y:
            return 1.0
        score = abs(self.only_x - self.only_y) / math.sqrt(self.only_x + self.only_y)
        return max(1.0, score / -normal_quantile(self.p / 2))

    def _upper(self, more: int, fewer: int, z: float) -> float:
        """Return the largest difference that the score test does not reject at z."""
        low, high = (more - fewer) / self.n, 1.0
        for _ in range(_HALVINGS):
            middle = (low + high) / 2
            if self._score(more, fewer, middle) < -z:
                high = middle
            else:
                low = middle
        return low

    def _score(self, more: int, fewer: int, difference: float) -> float:
        """Return the score of the hypothesis that the true difference is this."""
        n = self.n
        b = (2 * n - more + fewer) * difference - more - fewer
        c = -fewer * difference * (1 - difference)
        rest = (math.sqrt(max(0.0, b * b - 8 * n * c)) - b) / (4 * n)
        squared = n * (2 * rest + difference * (1 - difference))
        off = more - fewer - n * difference
        return off / math.sqrt(squared) if squared > 0 else math.copysign(math.inf, off)


def paired_shares(only_x: int, only_y: int, n: int) -> PairedShares | None:
    """Return the test of share(x) - share(y) over n cases, some of which only one got right.

    None without cases.
    """
    if min(only_x, only_y) < 0 or only_x + only_y > n:
        raise ValueError(f"paired_shares needs counts within {n}, got {only_x} and {only_y}")
    if n == 0:
        return None
    p = mcnemar_mid(only_x, only_y)
    if only_x != only_y:
        score = abs(only_x - only_y) / math.sqrt(only_x + only_y)
        p = max(p, 2 * normal_cdf(-score))
    return PairedShares(only_x, only_y, n, p)


def newcombe(
    successes_x: int, n_x: int, successes_y: int, n_y: int, level: float = 0.95
) -> Interval | None:
    """Return the interval of share(x) - share(y) of independent samples. None if one has no
    trials.

    Newcombe (1998a), method 10: each share's distance to its own Wilson limit, added as squares.
    """
    of_x, of_y = wilson(successes_x, n_x, level), wilson(successes_y, n_y, level)
    if of_x is None or of_y is None:
        return None
    return _square_and_add(successes_x / n_x, of_x, successes_y / n_y, of_y, 0.0, "Newcombe")


def newcombe_paired(
    both: int, only_x: int, only_y: int, neither: int, level: float = 0.95
) -> Interval | None:
    """Return the interval of share(x) - share(y) over the same cases. None without cases.

    Newcombe (1998b), method 10: as `newcombe`, less what the correlation φ of the two takes away;
    φ is corrected for continuity when positive, and 0 when one of the shares is 0 or 1.
    """
    if min(both, only_x, only_y, neither) < 0:
        raise ValueError("newcombe_paired needs counts of 0 or more")
    n = both + only_x + only_y + neither
    x, y = both + only_x, both + only_y
    of_x, of_y = wilson(x, n, level), wilson(y, n, level)
    if of_x is None or of_y is None:
        return None
    together = both * neither - only_x * only_y
    margins = x * (n - x) * y * (n - y)
    corrected = max(0.0, together - n / 2) if together > 0 else together
    phi = corrected / math.sqrt(margins) if margins else 0.0
    return _square_and_add(x / n, of_x, y / n, of_y, phi, "Newcombe, paired")


def clopper_pearson(successes: int, n: int, level: float = 0.95) -> Interval | None:
    """Return the exact interval of a share (Clopper & Pearson 1934): covers at least `level`, often
    more.

    None when n is 0.
    """
    if not _trials("clopper_pearson", successes, n, level):
        return None
    tail, failures = (1 - level) / 2, n - successes
    low = beta_quantile(tail, successes, failures + 1) if successes else 0.0
    high = _upper_beta_quantile(tail, successes + 1, failures) if failures else 1.0
    return Interval(low, high, level, "Clopper-Pearson")


def agresti_coull(successes: int, n: int, level: float = 0.95) -> Interval | None:
    """Return a normal interval of a share after adding z²/2 successes and failures, clipped to [0,
    1].

    Agresti & Coull (1998). None when n is 0.
    """
    if not _trials("agresti_coull", successes, n, level):
        return None
    z = normal_quantile(0.5 + level / 2)
    trials = n + z * z
    share = (successes + z * z / 2) / trials
    half = z * math.sqrt(share * (1 - share) / trials)
    return Interval(max(0.0, share - half), min(1.0, share + half), level, "Agresti-Coull")


def jeffreys(successes: int, n: int, level: float = 0.95) -> Interval | None:
    """Return equal tails of Beta(successes + 1/2, failures + 1/2); not extended to 0 or 1 at the
    ends.

    Brown, Cai & DasGupta (2001). None when n is 0.
    """
    if not _trials("jeffreys", successes, n, level):
        return None
    tail, a, b = (1 - level) / 2, successes + 0.5, n - successes + 0.5
    low, high = beta_quantile(tail, a, b), _upper_beta_quantile(tail, a, b)
    return Interval(low, high, level, "Jeffreys")


def _square_and_add(
    x: float, of_x: Interval, y: float, of_y: Interval, phi: float, method: str
) -> Interval:
    """Return the interval of x - y, from their own intervals and their correlation φ."""

    def distance(from_x: float, from_y: float) -> float:
        # >= 0 for |φ| <= 1, but for rounding
        return math.sqrt(max(0.0, from_x**2 - 2 * phi * from_x * from_y + from_y**2))

    low = x - y - distance(x - of_x.low, of_y.high - y)
    high = x - y + distance(of_x.high - x, y - of_y.low)
    return Interval(max(-1.0, low), min(1.0, high), of_x.level, method)


def _upper_beta_quantile(tail: float, a: float, b: float) -> float:
    """Return the x that Beta(a, b) exceeds with probability `tail`."""
    return 1.0 - beta_quantile(tail, b, a)


def _trials(name: str, successes: int, n: int, level: float) -> bool:
    """Return whether there are any trials. Raises ValueError for impossible counts or levels."""
    if not 0 <= successes <= n:
        raise ValueError(f"{name} needs 0 <= successes <= n, got {successes} of {n}")
    if not 0 < level < 1:
        raise ValueError(f"a level between 0 and 1 is needed, got {level}")
    return n > 0
