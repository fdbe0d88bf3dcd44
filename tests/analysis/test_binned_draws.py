"""Means of drawn bins are distributed like means of drawn values."""

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

from agentbench_tui.analysis.resampling.binned_draws import BINNED_FROM, binned_means
from agentbench_tui.analysis.resampling.bootstrap import (
    bca_interval,
    bootstrap_mean,
    bootstrap_ratio_of_means,
)
from agentbench_tui.analysis.resampling.resampling import Resampling

N = BINNED_FROM
DRAW = np.random.default_rng(0)
COLUMNS = {
    "log-normal": DRAW.lognormal(0, 1, N),
    "Pareto": DRAW.pareto(2.5, N),
    "an outlier": np.append(DRAW.normal(0, 1, N - 1), 3000.0),
    "half of them 0": np.where(DRAW.random(N) < 0.5, 0, DRAW.lognormal(0, 1, N)),
}
Floats = NDArray[np.float64]


def one_by_one(values: Floats, resamples: int) -> Floats:
    draw = np.random.default_rng(5)
    return np.array([values[draw.integers(0, len(values), len(values))].mean()
                     for _ in range(resamples)])  # fmt: skip


@pytest.mark.parametrize("name", COLUMNS)
def test_means_of_bins_are_distributed_like_means_of_values(name: str) -> None:
    values = COLUMNS[name]
    binned = binned_means(values, np.random.default_rng(1), 20_000)
    assert binned is not None
    assert stats.ks_2samp(binned, one_by_one(values, 2_000)).pvalue > 0.001
    # Exact: a mean of n draws has the variance of the values, divided by n.
    error = values.std() / np.sqrt(N)
    assert binned.mean() == pytest.approx(values.mean(), abs=4 * error / np.sqrt(20_000))
    kurtosis = stats.kurtosis(binned)
    assert binned.std() == pytest.approx(error, rel=4 * np.sqrt((2 + kurtosis) / 20_000) / 2)


def test_few_levels_are_drawn_as_a_multinomial_distribution() -> None:
    values = np.repeat([0.0, 1.0], [N - 10, 10])
    binned = binned_means(values, np.random.default_rng(1), 20_000)
    assert binned is not None
    counts = np.round(binned * N)
    assert np.abs(counts - binned * N).max() < 1e-6
    seen = np.bincount(counts.astype(int), minlength=30)[:30]
    expected = stats.binom.pmf(np.arange(30), N, 10 / N) * 20_000
    assert stats.chisquare(
        np.append(seen[2:20], 20_000 - seen[2:20].sum()),
        np.append(expected[2:20], 20_000 - expected[2:20].sum()),
    ).pvalue > 0.001  # fmt: skip


def test_values_with_a_gap_inside_a_bin_are_drawn_one_by_one() -> None:
    halves = np.repeat([-1.0, 1.0], N // 2) + np.linspace(0, 0.001, N)
    assert binned_means(halves, np.random.default_rng(1), 100) is None
    found = bootstrap_mean(halves, Resampling(seed=2, resamples=100))
    assert found is not None
    assert found.resampled.std() == pytest.approx(1 / np.sqrt(N), rel=0.4)


def test_the_interval_is_that_of_scipy() -> None:
    values = COLUMNS["log-normal"]
    found = bca_interval(values, seed=3, resamples=10_000)
    assert found is not None
    peer = stats.bootstrap(
        (values,), np.mean, n_resamples=2_000, method="BCa", batch=50,
        rng=np.random.default_rng(3),
    ).confidence_interval  # fmt: skip
    width = peer.high - peer.low
    assert found.low == pytest.approx(peer.low, abs=0.1 * width)
    assert found.high == pytest.approx(peer.high, abs=0.1 * width)


def test_the_same_seed_gives_the_same_interval_and_pairs_stay_pairs() -> None:
    values = COLUMNS["log-normal"]
    how = Resampling(seed=4, resamples=200)
    first, again = bootstrap_mean(values, how), bootstrap_mean(values, how)
    assert first is not None
    assert again is not None
    assert (first.resampled == again.resampled).all()
    twice = bootstrap_ratio_of_means(values, 2 * values, how, paired=True)
    assert twice is not None
    assert twice.resampled == pytest.approx(np.full(200, 2.0))
