"""Sample sizes for a question, and effects detectable with a given sample size.

Effects are differences in units of a standard deviation: of the values when two independent
columns are compared, of the differences when they are pairs. All but `sample_size_ratio`'s normal
formula rest on Student's t: power is a tail of the noncentral distribution with noncentrality
effect / standard error, so that it is right for few values too.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable
from dataclasses import dataclass
from typing import get_args

import numpy as np

from agentbench_tui.analysis.differences.alternative import Alternative
from agentbench_tui.analysis.distribution import (
    beta_quantile,
    noncentral_square_cdf,
    noncentral_student_cdf,
    normal_quantile,
    student_quantile,
)
from agentbench_tui.analysis.root import root_between
from agentbench_tui.model.text.plain_number import plain

_FEWEST = 2.0
"""Minimum number of values, or pairs, for a standard deviation."""
_BINOMIAL_REACH = 10.0
"""Standard deviations (and counts) around its mean outside which a binomial has less than 1e-12."""
_SEARCHED_PAIRS = 100_000


@dataclass(frozen=True, slots=True)
class SampleSize:
    """The smallest sample size that reaches the requested power."""

    exact: float
    """Fractional sample size with exactly the power; 2 if 2 are enough."""
    n: int
    """`exact` rounded up: values a side, or pairs."""


@dataclass(frozen=True, slots=True)
class RatioSize:
    """Values per group, or pairs, to detect a ratio of 1 + delta in positive data."""

    normal: float
    """By the normal approximation, before rounding; too small for few values."""
    n: int
    """By t, rounded up."""


def power_two_sample(
    effect: float,
    n: float,
    n_other: float | None = None,
    *,
    alpha: float = 0.05,
    alternative: Alternative = "two-sided",
) -> float:
    """Return the power of the pooled t test of two columns, n and `n_other` long, for `effect`.

    `effect` is (mean B - mean A) / sd. `n_other` is n where not given. n need not be whole.
    ValueError below 2 values a side.
    """
    other = n if n_other is None else n_other
    _check_size(min(n, other))
    noncentrality = effect * math.sqrt(n * other / (n + other))
    return _power(noncentrality, n + other - 2, alpha, alternative)


def power_paired(
    effect: float, n: float, *, alpha: float = 0.05, alternative: Alternative = "two-sided"
) -> float:
    """Return the power of the t test of n differences for `effect`, their mean / their sd."""
    _check_size(n)
    return _power(effect * math.sqrt(n), n - 1, alpha, alternative)


def sample_size_two_sample(
    effect: float,
    power: float = 0.8,
    *,
    alpha: float = 0.05,
    alternative: Alternative = "two-sided",
) -> SampleSize:
    """Return the values per group for the t test of two equally long columns.

    ValueError for an effect of 0, or one that lies on the other side of a one-sided test.
    """
    _check_effect(effect, alternative)
    return _size(
        lambda n: power_two_sample(effect, n, alpha=alpha, alternative=alternative), power, alpha
    )


def sample_size_paired(
    effect: float,
    power: float = 0.8,
    *,
    alpha: float = 0.05,
    alternative: Alternative = "two-sided",
) -> SampleSize:
    """Return the pairs for the t test of differences; errors as in `sample_size_two_sample`."""
    _check_effect(effect, alternative)
    return _size(
        lambda n: power_paired(effect, n, alpha=alpha, alternative=alternative), power, alpha
    )


def smallest_detectable_two_sample(
    n: float,
    n_other: float | None = None,
    *,
    power: float = 0.8,
    alpha: float = 0.05,
    alternative: Alternative = "two-sided",
) -> float:
    """Return the effect, in sds of the values, that two columns of these lengths detect with
    `power`.

    Negative when the alternative is `less`.
    """
    return _detectable(
        lambda effect: power_two_sample(effect, n, n_other, alpha=alpha, alternative=alternative),
        power,
        alpha,
        alternative,
    )


def smallest_detectable_paired(
    n: float,
    *,
    power: float = 0.8,
    alpha: float = 0.05,
    alternative: Alternative = "two-sided",
) -> float:
    """Return the effect, in sds of the differences, that n pairs detect with `power`."""
    return _detectable(
        lambda effect: power_paired(effect, n, alpha=alpha, alternative=alternative),
        power,
        alpha,
        alternative,
    )


def sample_size_ratio(
    sd_log: float,
    delta: float,
    *,
    paired: bool = False,
    power: float = 0.8,
    alpha: float = 0.05,
) -> RatioSize:
    """Return the values per group, or pairs, to detect a change by the factor 1 + delta,
    two-sided.

    `sd_log` is the sd of the logs, or of the pairs' differences of logs. The normal formula is
    k (z(1-alpha/2) + z(power))² sd_log² / log(1+delta)²; k is 2 for two columns, 1 for pairs.
    """
    if not 0 < sd_log < math.inf:
        raise ValueError(f"a positive sd of the logs is needed, got {sd_log}")
    if not -1 < delta < math.inf or delta == 0:
        raise ValueError(f"a change above -1 and other than 0 is needed, got {delta}")
    effect = math.log1p(delta) / sd_log
    normal = (1 if paired else 2) * (_normal_sum(power, alpha) / effect) ** 2
    sized = sample_size_paired if paired else sample_size_two_sample
    return RatioSize(normal, sized(effect, power, alpha=alpha).n)


def sample_size_proportions(
    first: float, second: float, *, power: float = 0.8, alpha: float = 0.05
) -> int:
    """Return the cases per group to distinguish two independent shares, two-sided, by the arcsine
    transformation.

    n = 2 (z(1-alpha/2) + z(power))² / h² with h = 2 asin √second - 2 asin √first (Cohen 1988).
    70% against 80%: 292; 90% against 95%: 424.
    """
    for share in (first, second):
        if not 0 <= share <= 1:
            raise ValueError(f"a share between 0 and 1 is needed, got {share}")
    if first == second:
        raise ValueError("no number of cases can distinguish equal shares")
    h = 2 * math.asin(math.sqrt(second)) - 2 * math.asin(math.sqrt(first))
    return math.ceil(2 * (_normal_sum(power, alpha) / h) ** 2)


def power_mcnemar(only_a: float, only_b: float, n: int, *, alpha: float = 0.05) -> float:
    """Return the power of the exact two-sided McNemar test of n pairs.

    `only_a` and `only_b` are the chances that a case is right in A alone and in B alone. Exact:
    summed over how many of the n pairs disagree, and over which way they do.
    """
    _check_discordance(only_a, only_b)
    _check_chances(0.5, alpha)
    from scipy.stats import binom

    chance = only_a + only_b
    reach = _BINOMIAL_REACH * math.sqrt(n * chance * (1 - chance)) + _BINOMIAL_REACH
    least, top = max(0, math.floor(n * chance - reach)), min(n, math.ceil(n * chance + reach))
    disagreeing = np.arange(least, top + 1)
    # the most pairs on the rarer side with which the test still rejects; -1 where it never does
    quantile = binom.ppf(alpha / 2, disagreeing, 0.5)
    most = quantile - (binom.cdf(quantile, disagreeing, 0.5) > alpha / 2)
    share = only_b / chance
    seen = binom.cdf(most, disagreeing, share) + binom.cdf(most, disagreeing, 1 - share)
    return float(binom.pmf(disagreeing, n, chance) @ seen)


def sample_size_mcnemar(
    only_a: float, only_b: float, *, power: float = 0.8, alpha: float = 0.05
) -> int:
    """Return the pairs with which the exact McNemar test reaches `power`; see `power_mcnemar`.

    With one pair fewer it does not. Searched from Connor's normal formula (1987) on, which is
    always too small: (z(1-alpha/2) √D + z(power) √(D - d²))² / d², with D the sum of the two and d
    their difference. From 100,000 pairs on the answer is that formula + 2/|d|, the correction for
    continuity.
    """
    _check_discordance(only_a, only_b)
    if only_a == only_b:
        raise ValueError("no number of pairs can distinguish equal probabilities")
    both, difference = only_a + only_b, only_b - only_a
    _check_chances(power, alpha)
    upper, wanted = normal_quantile(1 - alpha / 2), normal_quantile(power)
    spread = math.sqrt(max(0.0, both - difference**2))
    connor = ((upper * math.sqrt(both) + wanted * spread) / difference) ** 2
    if connor > _SEARCHED_PAIRS:
        return math.ceil(connor + 2 / abs(difference))
    start = math.floor(connor)

    def enough(more: int) -> bool:
        return power_mcnemar(only_a, only_b, start + more, alpha=alpha) >= power

    end = 1
    while not enough(end):
        end *= 2
    return start + bisect_left(range(end), True, key=enough)


def smallest_detectable_mcnemar(
    background: float, n: int, *, power: float = 0.8, alpha: float = 0.05
) -> float:
    """Return the share of n pairs that only one side gets wrong which McNemar's exact test
    detects.

    `background` is the share of pairs that disagree anyway, half of them either way. Solves
    Connor's formula (1987) with the continuity correction of `sample_size_mcnemar`; at least the
    share with which enough pairs disagree for p to fall below `alpha` (the exact binomial). 1 where
    all n pairs would be too few.
    """
    _check_chances(power, alpha)
    needed = math.floor(math.log2(2 / alpha)) + 1  # p = 2 × 0.5^k has to be below alpha
    if n < needed:
        return 1.0
    least = beta_quantile(power, needed, n - needed + 1)
    upper, wanted = normal_quantile(1 - alpha / 2), normal_quantile(power)

    def enough(share: float) -> bool:
        both = min(1.0, background + share)
        spread = math.sqrt(max(0.0, both - share**2))
        return ((upper * math.sqrt(both) + wanted * spread) / share) ** 2 + 2 / share <= n

    low, high = least, 1.0
    if background == 0 or enough(low):
        return low
    while high - low > 1e-6:
        middle = (low + high) / 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


def smallest_shift(
    sd: float, n: float, least: float, *, power: float = 0.8, alpha: float = 0.05
) -> float:
    """Return the shift of a mean of n values that a t test detects, if it also exceeds `least`."""
    error, df = sd / math.sqrt(n), n - 1
    called = error * student_quantile(1 - alpha / 2, df)
    return max(least, called) + error * student_quantile(power, df)


def _power(noncentrality: float, df: float, alpha: float, alternative: Alternative) -> float:
    _check_chances(0.5, alpha)
    if alternative not in get_args(Alternative):
        raise ValueError(f"alternative is two-sided, greater or less, not {alternative!r}")
    if alternative == "two-sided":
        critical = student_quantile(1 - alpha / 2, df)
        missed = noncentral_square_cdf(critical**2, df, noncentrality)
    else:
        upwards = noncentrality if alternative == "greater" else -noncentrality
        missed = noncentral_student_cdf(student_quantile(1 - alpha, df), df, upwards)
    return 1 - missed


def _size(power_at: Callable[[float], float], power: float, alpha: float) -> SampleSize:
    _check_chances(power, alpha)
    if power_at(_FEWEST) >= power:
        return SampleSize(_FEWEST, int(_FEWEST))
    enough = 2 * _FEWEST
    while power_at(enough) < power:
        enough *= 2
    exact = root_between(lambda n: power_at(n) - power, enough / 2, enough, 1e-12)
    return SampleSize(exact, math.ceil(exact))


def _detectable(
    power_at: Callable[[float], float], power: float, alpha: float, alternative: Alternative
) -> float:
    _check_chances(power, alpha)
    sign = -1.0 if alternative == "less" else 1.0
    enough = 1.0
    while power_at(sign * enough) < power:
        enough *= 2
    size = root_between(lambda effect: power_at(sign * effect) - power, 0.0, enough, 1e-13)
    return sign * size


def _normal_sum(power: float, alpha: float) -> float:
    _check_chances(power, alpha)
    return normal_quantile(1 - alpha / 2) + normal_quantile(power)


def _check_chances(power: float, alpha: float) -> None:
    if not 0 < alpha < 0.5:
        raise ValueError(f"an alpha between 0 and 0.5 is needed, got {alpha}")
    if not alpha < power < 1:
        raise ValueError(f"a power between alpha and 1 is needed, got {power}")


def _check_size(n: float) -> None:
    if not _FEWEST <= n < math.inf:
        raise ValueError(f"a test needs at least 2 values, got {plain(n)}")


def _check_effect(effect: float, alternative: Alternative) -> None:
    if effect == 0 or not math.isfinite(effect):
        raise ValueError(f"no number of values finds an effect of {effect}")
    if (alternative == "greater" and effect < 0) or (alternative == "less" and effect > 0):
        raise ValueError(f"a test for {alternative} never finds an effect of {effect}")


def _check_discordance(only_a: float, only_b: float) -> None:
    if only_a < 0 or only_b < 0 or not 0 < only_a + only_b <= 1:
        raise ValueError(
            f"chances of 0 or more with a sum up to 1 are needed, got {only_a} and {only_b}"
        )
