"""Checks of a method's assumptions, shown next to a result but never used to choose the method.

Choosing a test by a test of its assumptions gives neither its nominal error rate: small samples
always pass, large ones fail for trivial reasons.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from agentbench_tui.analysis.distribution import beta_cdf
from agentbench_tui.analysis.sample import column

NORMALITY_FROM = 3
NORMALITY_UP_TO = 5000
"""Royston's p (1995) is known to hold up to here."""
DISTRIBUTIONS_EXACT_UP_TO = 1000
"""Values a column whose Kolmogorov-Smirnov p is counted out."""
_ROUNDED = 1e-14
"""Relative rounding error left by subtracting a mean."""


@dataclass(frozen=True, slots=True)
class GoodnessTest:
    """A statistic and the probability of one as extreme if the assumption is true."""

    statistic: float
    p: float


def shapiro(values: ArrayLike) -> GoodnessTest | None:
    """Test normality by Shapiro & Wilk (1965). W is at most 1.

    None below 3 values, above 5,000, and for equal values.
    """
    x = column(values)
    if not NORMALITY_FROM <= x.size <= NORMALITY_UP_TO or x.min() == x.max():
        return None
    from scipy import stats

    result = stats.shapiro(x)
    return GoodnessTest(float(result.statistic), float(result.pvalue))


def ks_2samp(x: ArrayLike, y: ArrayLike) -> GoodnessTest | None:
    """Test whether two columns have one distribution, by the two-sided Kolmogorov-Smirnov test.

    The statistic is the largest distance between their distribution functions. p is exact up to
    1,000 values a column, without regard to ties, and asymptotic above. None when one is empty.
    """
    first, second = column(x), column(y)
    if first.size == 0 or second.size == 0:
        return None
    from scipy import stats

    few = max(first.size, second.size) <= DISTRIBUTIONS_EXACT_UP_TO
    result = stats.ks_2samp(first, second, method="exact" if few else "asymp")
    return GoodnessTest(float(result.statistic), float(result.pvalue))


def levene(*columns: ArrayLike) -> GoodnessTest | None:
    """Test whether columns have equal variance, by Levene's test (1960) around the means.

    An analysis of variance of |value - mean|, F with k-1 and N-k degrees of freedom. None when a
    column has fewer than 2 values, and when those distances do not vary within any column.
    """
    if len(columns) < 2:
        raise ValueError(f"levene compares two columns or more, got {len(columns)}")
    samples = [column(values) for values in columns]
    if min(x.size for x in samples) < 2:
        return None
    distances = [np.abs(x - x.mean()) for x in samples]
    total, k = sum(x.size for x in samples), len(samples)
    center = float(np.concatenate(distances).mean())
    between = sum(z.size * (float(z.mean()) - center) ** 2 for z in distances)
    within = sum(float(((z - z.mean()) ** 2).sum()) for z in distances)
    if within <= _ROUNDED**2 * sum(float(x @ x) for x in samples):
        return None
    of_between, of_within = k - 1, total - k
    f = between / of_between / (within / of_within)
    p = beta_cdf(of_within / (of_within + of_between * f), of_within / 2, of_between / 2)
    return GoodnessTest(f, p)
