"""Components of variance: within or between runs, by seed, shared by pairs or not.

What each part costs decides where to spend: more iterations a run, more runs, more seeds, or the
same seeds on both sides.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from agentbench_tui.analysis.distribution import beta_cdf, beta_quantile
from agentbench_tui.analysis.intervals.interval import Interval, t_mean
from agentbench_tui.analysis.sample import Floats, Integers, column, grouped, variance

_ROUNDING = 4 * float(np.finfo(np.float64).eps)
"""Differences that vary by less than this share of the values do so by rounding."""


@dataclass(frozen=True, slots=True)
class TwoLevel:
    """Iterations within runs: the variance of each level, and its effect on an interval."""

    runs: int
    iterations: float
    """Per run: the harmonic mean if runs differ in length."""
    mean: float
    """Mean of the means of the runs."""
    within: float
    """T1: variance of iterations around the mean of their run."""
    run_means: float
    """S2: variance of the means of the runs."""
    between: float
    """T2 = S2 - T1 / iterations: added variance of runs; 0 if T1 alone explains S2."""
    icc: float
    """Intraclass correlation T2 / (T1 + T2): the run's share of the variance of one value."""
    design_effect: float
    """By this factor values of one run are worth less than independent ones."""
    best_iterations: float
    """Per run, for the narrowest interval in a given time; infinite if runs add no variance."""
    by_runs: Interval | None
    """Interval of the mean, by *t* over runs: the valid one."""
    naive: Interval | None
    """By t over all iterations, as if independent: to show how much too narrow it is."""


@dataclass(frozen=True, slots=True)
class SeedSplit:
    """Variance of runs due to the seed, and variance that remains with the same seed."""

    runs: int
    seeds: int
    same_seed: float
    """Variance between runs of one seed."""
    between_seeds: float
    """Added variance of seeds; 0 if the same-seed variance explains everything."""
    seed_share: float
    """between_seeds / (between_seeds + same_seed)."""
    low: float
    high: float
    """Interval of `seed_share`."""
    level: float
    f: float
    """Mean square between seeds over mean square within; infinite when equal seeds repeat."""
    p: float
    """p of the hypothesis that seeds add no variance, by F."""


@dataclass(frozen=True, slots=True)
class PairingGain:
    """Gain from comparing pairs instead of two independent columns."""

    pairs: int
    variance_a: float
    variance_b: float
    variance_difference: float
    correlation: float | None
    """Pearson's; None when one side is constant."""
    gain: float
    """1 - var(B - A) / (var A + var B); negative when pairing did harm."""
    saved: float
    """Factor of values per side that the unpaired comparison would need; infinite at no error."""


def two_level(
    values: ArrayLike, runs: ArrayLike, *, run_cost: float = 1.0, level: float = 0.95
) -> TwoLevel | None:
    """Split the variance of iterations, float64[n], by their `runs`, labels[n].

    Kalibera & Jones (2013): T1 within, S2 of the run means, T2 = S2 - T1/m. Runs may differ in
    length: T1 is pooled, and m is the harmonic mean, which keeps T2 unbiased since
    E[S2] = T2 + T1 mean(1/m_i). The design effect 1 + (m - 1) ICC then takes m = Σ m_i² / Σ m_i
    (Kish 1965). Best iterations are √(c T1 / T2), at least 1, when starting a run costs as much as
    c = `run_cost` iterations.

    None below 2 runs, when no run has 2 iterations, and when all values are equal.
    """
    if not 0 < run_cost < math.inf:
        raise ValueError(f"a positive cost of a run, in iterations, is needed, got {run_cost}")
    x = column(values)
    numbers, count = grouped(x, runs)
    if not _splits(x, count):
        return None
    sizes, means, within_squares = _by_group(x, numbers, count)
    within = within_squares / (x.size - count)
    run_means = float(means.var(ddof=1))
    iterations = float(count / (1 / sizes).sum())
    between = max(0.0, run_means - within / iterations)
    icc = between / (within + between)
    return TwoLevel(
        runs=count,
        iterations=iterations,
        mean=float(means.mean()),
        within=within,
        run_means=run_means,
        between=between,
        icc=icc,
        design_effect=1 + (float((sizes**2).sum()) / x.size - 1) * icc,
        best_iterations=max(1.0, math.sqrt(run_cost * within / between)) if between else math.inf,
        by_runs=t_mean(means, level),
        naive=t_mean(x, level),
    )


def seed_split(values: ArrayLike, seeds: ArrayLike, level: float = 0.95) -> SeedSplit | None:
    """Split the variance of runs, one value each, by their seeds: labels[n].

    One-way analysis of variance with random effects (Searle, Casella & McCulloch 1992):
    between = (MSB - MSW) / n0 with n0 = (N - Σ n_i² / N) / (G - 1), G seeds, N runs. The interval
    of the share is the exact one of F for equally many runs a seed, and approximate (n0 for n)
    otherwise.

    None below 2 seeds, when no seed was run twice, and when all values are equal.
    """
    x = column(values)
    numbers, count = grouped(x, seeds)
    if not 0 < level < 1:
        raise ValueError(f"a level between 0 and 1 is needed, got {level}")
    if not _splits(x, count):
        return None
    sizes, means, within_squares = _by_group(x, numbers, count)
    df_between, df_within = count - 1, x.size - count
    mean_square = float(sizes @ (means - x.mean()) ** 2) / df_between
    same_seed = within_squares / df_within
    size = float((x.size - (sizes**2).sum() / x.size) / df_between)
    between = max(0.0, (mean_square - same_seed) / size)
    f = mean_square / same_seed if same_seed else math.inf
    tail = (1 - level) / 2

    def share(quantile: float) -> float:
        """Return the share of the seed, with F at this quantile of its distribution."""
        if f == math.inf:
            return 1.0
        ratio = max(0.0, (f / quantile - 1) / size)
        return ratio / (1 + ratio)

    return SeedSplit(
        runs=x.size,
        seeds=count,
        same_seed=same_seed,
        between_seeds=between,
        seed_share=between / (between + same_seed),
        low=share(_f_quantile(1 - tail, df_between, df_within)),
        high=share(_f_quantile(tail, df_between, df_within)),
        level=level,
        f=f,
        p=_f_tail(f, df_between, df_within),
    )


def pairing_gain(a: ArrayLike, b: ArrayLike) -> PairingGain | None:
    """Return the effect of pairing a[i] with b[i] on the variance of their difference.

    With equal variances the gain is the correlation, and the factor saved 1 / (1 - correlation).
    None below 2 pairs, and when neither side varies. ValueError for unequal lengths.
    """
    first, second = column(a), column(b)
    if first.size != second.size:
        raise ValueError(f"pairs need equal lengths, got {first.size} and {second.size} values")
    if first.size < 2:
        return None
    variance_a, variance_b = variance(first), variance(second)
    if variance_a + variance_b == 0:
        return None
    difference = variance(second - first)
    if difference <= (_ROUNDING * max(np.abs(first).max(), np.abs(second).max())) ** 2:
        difference = 0.0
    correlation = None
    if variance_a and variance_b:
        correlation = float(np.corrcoef(first, second)[0, 1])
    return PairingGain(
        pairs=first.size,
        variance_a=variance_a,
        variance_b=variance_b,
        variance_difference=difference,
        correlation=correlation,
        gain=1 - difference / (variance_a + variance_b),
        saved=(variance_a + variance_b) / difference if difference else math.inf,
    )


def _splits(x: Floats, groups: int) -> bool:
    """Return whether there are two groups, one of them with two values, and any variation."""
    return 2 <= groups < x.size and bool(x.min() < x.max())


def _by_group(x: Floats, numbers: Integers, count: int) -> tuple[Floats, Floats, float]:
    """Return sizes and means of the groups, and the sum of squares within them."""
    sizes = np.bincount(numbers, minlength=count).astype(np.float64)
    member = np.empty(count)
    member[numbers] = x
    shifted = x - member[numbers]  # exactly 0 in a group of equal values, whose mean rounds
    shifts = np.bincount(numbers, weights=shifted, minlength=count) / sizes
    deviations = shifted - shifts[numbers]
    return sizes, member + shifts, float(deviations @ deviations)


def _f_tail(f: float, df_above: int, df_below: int) -> float:
    """Return P(F > f) for Fisher's F."""
    if f == math.inf:
        return 0.0
    return beta_cdf(df_below / (df_below + df_above * f), df_below / 2, df_above / 2)


def _f_quantile(p: float, df_above: int, df_below: int) -> float:
    below = beta_quantile(1 - p, df_below / 2, df_above / 2)
    return df_below * (1 - below) / (df_above * below)
