"""Permutation tests of a mean: what the labels would give if they meant nothing."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from agentbench_tui.analysis.alternative import Alternative, p_value
from agentbench_tui.analysis.sample import Floats, column

FLIPPED_UP_TO = 15
"""Differences other than 0 whose 2^n signs are all tried."""
SPLIT_UP_TO = 200_000
"""Splits into two columns that are all tried; 10 against 10 has 184,756."""
DRAWS = 10_000
TIED = 1e-9
"""Sums as close as this, as a share of what was added up, differ by rounding only."""
_ROUNDED = 1e-15
"""What centring may leave of a value, as a share of it."""
_PERMUTED_AT_ONCE = 1 << 18
_BYTE = 8
"""Signs drawn at once, as the bits of one byte."""


@dataclass(frozen=True, slots=True)
class PermutationTest:
    """A permutation test of a mean, or of a difference of means."""

    statistic: float
    """The mean, or the difference of the means, that was seen."""
    p: float
    permutations: int
    """All there are, or how many were drawn."""
    exact: bool
    seed: int | None
    """Of the draws; None when p is exact."""


def sign_flip_test(
    differences: ArrayLike,
    alternative: Alternative = "two-sided",
    *,
    seed: int = 0,
    draws: int = DRAWS,
) -> PermutationTest | None:
    """Is the mean of paired differences 0? `greater` means above. None without differences.

    Without an effect each difference is as likely to have the other sign. Up to 15 differences
    other than 0, all 2^n signs are tried (zeros change no sum); above, `draws` random ones, and p
    is (count + 1) / (draws + 1) (Phipson & Smyth 2010). Two-sided compares absolute values. Means
    that differ by rounding count as equal.
    """
    d = column(differences)
    if d.size == 0:
        return None
    moving = d[d != 0]
    exact = moving.size <= FLIPPED_UP_TO
    if exact:
        sums = _all_flips(moving)
    else:
        sums = _drawn_flips(moving, np.random.default_rng(seed), _positive(draws))
    tolerance = TIED * float(np.abs(moving).sum())
    p = _p(sums, float(moving.sum()), tolerance, alternative, exact=exact)
    return PermutationTest(float(d.mean()), p, sums.size, exact, None if exact else seed)


def permutation_test(
    x: ArrayLike,
    y: ArrayLike,
    alternative: Alternative = "two-sided",
    *,
    seed: int = 0,
    draws: int = DRAWS,
) -> PermutationTest | None:
    """Do independent columns have one mean? The statistic is mean(x) - mean(y).

    Without an effect every split of all values into columns of these sizes is as likely. All are
    tried if there are at most 200,000; otherwise `draws` random ones, and p is
    (count + 1) / (draws + 1). `greater` means x above y; two-sided compares absolute differences.
    None when a column is empty. Means that differ by rounding count as equal.
    """
    first, second = column(x), column(y)
    if first.size == 0 or second.size == 0:
        return None
    values = np.concatenate([first, second])
    centred = values - values.mean()  # then mean(x) - mean(y) is a multiple of the sum of x
    swapped = second.size < first.size
    size = min(first.size, second.size)
    splits = math.comb(values.size, size)
    exact = splits <= SPLIT_UP_TO
    if exact:
        sums = _all_choices(centred, size)
    else:
        sums = _drawn_choices(centred, size, np.random.default_rng(seed), _positive(draws))
    seen = float(centred[: first.size].sum())
    tolerance = TIED * np.abs(centred).sum() + _ROUNDED * np.abs(values).sum()
    p = _p(-sums if swapped else sums, seen, tolerance, alternative, exact=exact)
    difference = float(first.mean() - second.mean())
    return PermutationTest(difference, p, sums.size, exact, None if exact else seed)


def _positive(draws: int) -> int:
    if draws < 1:
        raise ValueError(f"a permutation test needs at least one draw, got {draws}")
    return draws


def _p(
    sums: Floats, seen: float, tolerance: float, alternative: Alternative, *, exact: bool
) -> float:
    """The share of sums at least as extreme as the one seen."""
    if alternative == "two-sided":
        sums, seen = np.abs(sums), abs(seen)
    extra = 0 if exact else 1  # what was seen is one of the permutations; drawn ones may miss it

    def share(count: np.intp) -> float:
        return (int(count) + extra) / (sums.size + extra)

    below = share(np.count_nonzero(sums <= seen + tolerance))
    above = share(np.count_nonzero(sums >= seen - tolerance))
    return p_value(below, above, "greater" if alternative == "two-sided" else alternative)


def _all_flips(values: Floats) -> Floats:
    sums = np.zeros(1)
    for value in values:
        sums = np.concatenate([sums + value, sums - value])
    return sums


def _drawn_flips(values: Floats, generator: np.random.Generator, draws: int) -> Floats:
    """Sums under random signs: eight signs are one byte, whose sum is looked up."""
    sums = np.zeros(draws)
    for start in range(0, values.size, _BYTE):
        table = _all_flips(values[start : start + _BYTE])
        sums += table[generator.integers(0, table.size, draws, dtype=np.uint8)]
    return sums


def _all_choices(values: Floats, size: int) -> Floats:
    """The sum of every choice of `size` values, grown one value at a time."""
    grown: list[Floats] = [np.zeros(1), *(np.zeros(0) for _ in range(size))]
    for position, value in enumerate(values):
        needed = size - (values.size - position - 1)  # with all later values, enough to reach size
        for count in range(size, 0, -1):
            kept = grown[count] if count >= needed else np.zeros(0)
            grown[count] = np.concatenate([kept, grown[count - 1] + value])
        if needed > 0:
            grown[0] = np.zeros(0)
    return grown[size]


def _drawn_choices(values: Floats, size: int, generator: np.random.Generator, draws: int) -> Floats:
    """Sums of random choices of `size` values, a bounded block of shuffles at a time."""
    block = max(1, _PERMUTED_AT_ONCE // values.size)
    sums = np.empty(draws)
    for start in range(0, draws, block):
        rows = min(block, draws - start)
        shuffled = generator.permuted(np.tile(values, (rows, 1)), axis=1)
        sums[start : start + rows] = shuffled[:, :size].sum(axis=1)
    return sums
