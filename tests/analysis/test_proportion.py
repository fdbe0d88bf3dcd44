"""Shares: intervals against scipy, printed tables and hand-made cases; McNemar's exact test."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import optimize, stats

from agentbench_tui.analysis.differences.alternative import Alternative
from agentbench_tui.analysis.intervals.interval import Interval
from agentbench_tui.analysis.intervals.proportion import (
    agresti_coull,
    clopper_pearson,
    jeffreys,
    mcnemar_exact,
    newcombe,
    newcombe_paired,
    paired_shares,
)

ALTERNATIVES: list[Alternative] = ["two-sided", "greater", "less"]
Share = Callable[..., Interval | None]
SHARES: list[Share] = [clopper_pearson, agresti_coull, jeffreys]
counts = st.integers(0, 40)
levels = st.floats(0.5, 0.999)


def ends(interval: Interval | None) -> tuple[float, float]:
    assert interval is not None
    return interval.low, interval.high


def close(*values: float) -> object:
    return pytest.approx(values, rel=1e-9)


def test_mcnemar_by_hand() -> None:
    """12 against 3: twice the chance of 3 heads or fewer in 15, 2 × 576 / 32,768."""
    assert mcnemar_exact(12, 3) == pytest.approx(0.03515625, rel=1e-9)
    assert mcnemar_exact(3, 12) == pytest.approx(0.03515625, rel=1e-9)
    assert mcnemar_exact(12, 3, "greater") == pytest.approx(576 / 32768, rel=1e-9)
    assert mcnemar_exact(5, 0) == pytest.approx(2 / 32)
    assert mcnemar_exact(0, 0) == 1.0
    assert mcnemar_exact(4, 4) == 1.0


@given(st.integers(0, 3000), st.integers(0, 3000), st.sampled_from(ALTERNATIVES))
def test_mcnemar_is_scipys_binomial_test(b: int, c: int, alternative: Alternative) -> None:
    expected = stats.binomtest(b, b + c, 0.5, alternative=alternative).pvalue if b + c else 1.0
    assert mcnemar_exact(b, c, alternative) == pytest.approx(expected, rel=1e-9, abs=1e-200)


PUBLISHED = [
    ((56, 70, 48, 80), (0.0524, 0.3339)),
    ((9, 10, 3, 10), (0.1705, 0.8090)),
    ((6, 7, 2, 7), (0.0582, 0.8062)),
    ((5, 56, 0, 29), (-0.0381, 0.1926)),
    ((0, 10, 0, 20), (-0.1611, 0.2775)),
    ((0, 10, 0, 10), (-0.2775, 0.2775)),
    ((10, 10, 0, 20), (0.6791, 1.0)),
    ((10, 10, 0, 10), (0.6075, 1.0)),
]
"""Newcombe 1998a, table II, method 10, which prints four digits."""


@pytest.mark.parametrize(("table", "expected"), PUBLISHED)
def test_newcombe_prints_the_table_of_his_paper(
    table: tuple[int, int, int, int], expected: tuple[float, float]
) -> None:
    assert ends(newcombe(*table)) == pytest.approx(expected, abs=5.1e-5)


@given(counts, counts, counts, counts, levels)
def test_newcombe_adds_the_squares_of_scipys_wilson_distances(
    x: int, failed_x: int, y: int, failed_y: int, level: float
) -> None:
    n, m = x + failed_x, y + failed_y
    if n == 0 or m == 0:
        assert newcombe(x, n, y, m, level) is None
        return
    of_x = stats.binomtest(x, n).proportion_ci(level, method="wilson")
    of_y = stats.binomtest(y, m).proportion_ci(level, method="wilson")
    low = x / n - y / m - ((x / n - of_x.low) ** 2 + (of_y.high - y / m) ** 2) ** 0.5
    high = x / n - y / m + ((of_x.high - x / n) ** 2 + (y / m - of_y.low) ** 2) ** 0.5
    assert ends(newcombe(x, n, y, m, level)) == pytest.approx((low, high), abs=1e-12)
    swapped = ends(newcombe(y, m, x, n, level))
    assert swapped == pytest.approx((-high, -low), abs=1e-12)


PAIRED = [
    ((14, 5, 0, 22), (0.011, 0.226), 3),  # Altman et al. 2000, table 6.2
    ((1, 1, 7, 12), (-0.507, -0.026), 3),  # Bentur et al. 2009 in Fagerland et al. 2017
    ((36, 12, 2, 0), (0.0569, 0.3404), 4),  # Newcombe 1998b, table II
]


@pytest.mark.parametrize(("table", "expected", "digits"), PAIRED)
def test_newcombe_of_pairs_prints_published_examples(
    table: tuple[int, int, int, int], expected: tuple[float, float], digits: int
) -> None:
    low, high = ends(newcombe_paired(*table))
    assert (round(low, digits), round(high, digits)) == expected


@given(counts, counts, counts, counts, levels)
def test_newcombe_of_pairs_mirrors_and_stays_within_bounds(
    both: int, only_x: int, only_y: int, neither: int, level: float
) -> None:
    interval = newcombe_paired(both, only_x, only_y, neither, level)
    n = both + only_x + only_y + neither
    if n == 0:
        assert interval is None
        return
    low, high = ends(interval)
    assert -1 <= low <= (only_x - only_y) / n + 1e-12
    assert (only_x - only_y) / n - 1e-12 <= high <= 1
    swapped = newcombe_paired(both, only_y, only_x, neither, level)
    assert ends(swapped) == pytest.approx((-high, -low), abs=1e-9)
    of_failures = newcombe_paired(neither, only_y, only_x, both, level)
    assert ends(of_failures) == pytest.approx((-high, -low), abs=1e-9)


def test_pairs_that_agree_make_the_interval_narrower_and_that_disagree_wider() -> None:
    alone = ends(newcombe(50, 100, 50, 100))
    agree, disagree = ends(newcombe_paired(45, 5, 5, 45)), ends(newcombe_paired(5, 45, 45, 5))
    assert alone[0] < agree[0] < agree[1] < alone[1]
    assert disagree[0] < alone[0] < alone[1] < disagree[1]


@given(counts, counts, levels)
def test_clopper_pearson_is_scipys(successes: int, failures: int, level: float) -> None:
    n = successes + failures
    if n == 0:
        assert clopper_pearson(0, 0) is None
        return
    expected = stats.binomtest(successes, n).proportion_ci(level, method="exact")
    assert ends(clopper_pearson(successes, n, level)) == close(expected.low, expected.high)


@given(counts, counts, levels)
def test_jeffreys_is_scipys_beta(successes: int, failures: int, level: float) -> None:
    n = successes + failures
    if n == 0:
        assert jeffreys(0, 0) is None
        return
    expected = stats.beta.interval(level, successes + 0.5, failures + 0.5)
    assert ends(jeffreys(successes, n, level)) == close(*expected)


REFERENCE = [
    (clopper_pearson, 17, 20, 0.621073173454686, 0.9679290628145363),
    (agresti_coull, 17, 20, 0.6311514006395459, 0.9560609887234804),
    (jeffreys, 17, 20, 0.651422289141546, 0.9558686580248441),
    (clopper_pearson, 20, 20, 0.8315665290169146, 1.0),
    (agresti_coull, 20, 20, 0.810190439457511, 1.0),
    (jeffreys, 20, 20, 0.8833610170951246, 0.9999757535215408),
    (clopper_pearson, 499, 500, 0.9889075231010312, 0.9999493656659926),
    (agresti_coull, 499, 500, 0.9875742404746817, 1.0),
    (jeffreys, 499, 500, 0.9906905183144927, 0.999784120024227),
]
"""By statsmodels 0.15.0."""


@pytest.mark.parametrize(("share", "successes", "n", "low", "high"), REFERENCE)
def test_shares_are_those_of_statsmodels(
    share: Share, successes: int, n: int, low: float, high: float
) -> None:
    assert ends(share(successes, n)) == close(low, high)


@pytest.mark.parametrize("share", SHARES)
def test_shares_of_successes_and_failures_mirror(share: Share) -> None:
    for successes, level in product(range(13), (0.8, 0.95)):
        low, high = ends(share(successes, 12, level))
        assert 0 <= low < high <= 1
        assert ends(share(12 - successes, 12, level)) == pytest.approx((1 - high, 1 - low))


def test_clopper_pearson_covers_at_least_what_it_says() -> None:
    n = 15
    intervals = [ends(clopper_pearson(k, n)) for k in range(n + 1)]
    for p in (0.02, 0.1, 0.33, 0.5, 0.9):
        inside = [k for k, (low, high) in enumerate(intervals) if low <= p <= high]
        assert stats.binom.pmf(inside, n, p).sum() >= 0.95


def test_what_makes_no_sense_is_refused() -> None:
    for share in SHARES:
        assert share(0, 0) is None
        with pytest.raises(ValueError, match="got 3 of 2"):
            share(3, 2)
        with pytest.raises(ValueError, match="level between 0 and 1"):
            share(1, 2, 95)
    with pytest.raises(ValueError, match="got -1 and 2"):
        mcnemar_exact(-1, 2)
    with pytest.raises(ValueError, match="not 'more'"):
        mcnemar_exact(1, 2, "more")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="counts of 0 or more"):
        newcombe_paired(5, -1, 2, 4)
    with pytest.raises(ValueError, match="got 3 of 2"):
        newcombe(3, 2, 1, 2)
    assert newcombe(1, 2, 0, 0) is None


def largest_likelihood(only_x: int, only_y: int, n: int, difference: float) -> float:
    """The share of cases that y alone is right on, where x - y is known to be the difference."""

    def loss(y: float) -> float:
        shares = (y + difference, y, 1 - 2 * y - difference)
        counts = (only_x, only_y, n - only_x - only_y)
        return -sum(
            count * math.log(max(share, 1e-300))
            for count, share in zip(counts, shares, strict=True)
            if count
        )

    least, most = max(0.0, -difference), (1 - difference) / 2
    found = optimize.minimize_scalar(
        loss, bounds=(least, most), method="bounded", options={"xatol": 1e-12}
    )
    return float(found.x)


@pytest.mark.parametrize(("only_x", "only_y", "n"), [(12, 2, 80), (7, 1, 44), (4, 0, 100)])
def test_the_ends_of_paired_shares_are_those_of_tangos_score(
    only_x: int, only_y: int, n: int
) -> None:
    """The nuisance share by numeric maximum likelihood; wider as mid-p is more cautious."""
    test = paired_shares(only_x, only_y, n)
    assert test is not None
    score_at_0 = (only_x - only_y) / math.sqrt(only_x + only_y)
    fair = stats.binom(only_x + only_y, 0.5)
    mid = 2 * fair.cdf(only_y) - fair.pmf(only_y)
    assert test.p == pytest.approx(max(mid, 2 * stats.norm.sf(score_at_0)))
    z = stats.norm.isf(0.025) * max(1, score_at_0 / stats.norm.isf(mid / 2))
    found = test.interval()
    for end, sign in ((found.low, 1), (found.high, -1)):
        rest = largest_likelihood(only_x, only_y, n, end)
        variance = n * (2 * rest + end * (1 - end))
        score = (only_x - only_y - n * end) / math.sqrt(variance)
        assert score == pytest.approx(sign * z, rel=1e-4)


@given(st.integers(0, 60), st.integers(0, 60), st.integers(0, 200))
@settings(max_examples=200)
def test_p_and_interval_of_paired_shares_never_contradict(x: int, y: int, alike: int) -> None:
    test = paired_shares(x, y, x + y + alike)
    if test is None:
        return
    for level in (0.9, 0.95):
        found = test.interval(level)
        assert (not found.low <= 0 <= found.high) == (test.p < 1 - level - 1e-12)
        assert found.low <= (x - y) / (x + y + alike) <= found.high


@pytest.mark.parametrize("share", [0.02, 0.05, 0.1, 0.2, 0.3])
def test_equal_paired_shares_are_rejected_in_five_percent_at_most(share: float) -> None:
    """Exact, over all samples of 50 cases of which each side alone is right on a share."""
    rejected = 0.0
    for x in range(51):
        for y in range(51 - x):
            test = paired_shares(x, y, 50)
            if test is not None and test.p < 0.05:
                rejected += stats.multinomial.pmf(
                    [x, y, 50 - x - y], 50, [share, share, 1 - 2 * share]
                )
    assert rejected <= 0.05


@pytest.mark.parametrize("counts", [(-1, 0, 3), (2, 2, 3)])
def test_counts_of_paired_shares_are_checked(counts: tuple[int, int, int]) -> None:
    with pytest.raises(ValueError, match="counts"):
        paired_shares(*counts)
