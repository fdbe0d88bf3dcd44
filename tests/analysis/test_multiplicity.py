"""Adjusted p values against reference figures, and the errors they promise to bound."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from agentbench_tui.analysis.differences.multiplicity import (
    benjamini_hochberg,
    benjamini_yekutieli,
    bonferroni,
    hochberg_simes,
    holm,
    weighted_holm,
)

Adjust = Callable[[list[float]], list[float]]
EVERY: list[Adjust] = [bonferroni, holm, hochberg_simes, benjamini_hochberg, benjamini_yekutieli]
P = [0.001, 0.008, 0.039, 0.041, 0.042, 0.06, 0.074, 0.205, 0.212, 0.216]
EXPECTED: list[tuple[Adjust, list[float]]] = [
    (holm, [0.01, 0.072, *[0.312] * 5, *[0.615] * 3]),
    (bonferroni, [0.01, 0.08, 0.39, 0.41, 0.42, 0.6, 0.74, 1.0, 1.0, 1.0]),
    (hochberg_simes, [0.01, 0.072, *[0.216] * 8]),
    (
        benjamini_yekutieli,
        [
            0.029289682539682536, 0.11715873015873014, *[0.24603333333333333] * 3,
            0.2928968253968254, 0.3096337868480725, *[0.6326571428571428] * 3,
        ],
    ),
]  # fmt: skip
"""By statsmodels 0.15.0."""
probabilities = st.lists(st.floats(0, 1), min_size=1, max_size=30)


@pytest.mark.parametrize(("adjust", "expected"), EXPECTED)
def test_ten_tests_are_adjusted_as_by_statsmodels(adjust: Adjust, expected: list[float]) -> None:
    assert adjust(P) == pytest.approx(expected, rel=1e-9)
    places = np.random.default_rng(1).permutation(10)
    shuffled = adjust([P[place] for place in places])
    assert shuffled == pytest.approx([expected[place] for place in places], rel=1e-9)


@given(probabilities)
def test_false_discovery_is_scipys(p: list[float]) -> None:
    assert benjamini_hochberg(p) == pytest.approx(stats.false_discovery_control(p), rel=1e-9)
    expected = stats.false_discovery_control(p, method="by")
    assert benjamini_yekutieli(p) == pytest.approx(expected, rel=1e-9)


@given(probabilities)
def test_stricter_promises_cost_more_and_order_stays(p: list[float]) -> None:
    slack = 1e-12
    for adjust in EVERY:
        adjusted = adjust(p)
        assert all(before <= after <= 1 for before, after in zip(p, adjusted, strict=True))
        ranked = [adjusted[place] for place in np.argsort(p)]
        assert ranked == sorted(ranked)
    rising = zip(benjamini_hochberg(p), hochberg_simes(p), holm(p), bonferroni(p), strict=True)
    assert all(a <= b + slack <= c + 2 * slack <= d + 3 * slack for a, b, c, d in rising)


@given(probabilities)
def test_holm_rejects_by_its_own_words(p: list[float]) -> None:
    """Step down: reject the smallest while it is at most alpha over how many are left."""
    alpha, rejected = 0.05, set()
    for step, place in enumerate(np.argsort(p, kind="stable")):
        if p[place] * (len(p) - step) > alpha:
            break
        rejected.add(int(place))
    assert {place for place, value in enumerate(holm(p)) if value <= alpha} == rejected


def test_false_finds_stay_within_what_is_promised() -> None:
    """10 of 40 effects are real: Holm errs at all in 5% of scans, BH in 5% of what it finds."""
    generator = np.random.default_rng(9)
    z = generator.standard_normal((400, 40))
    z[:, :10] += 3.5
    scans = [list(row) for row in 2 * stats.norm.sf(np.abs(z))]
    any_false = np.mean([min(holm(p)[10:]) <= 0.05 for p in scans])
    shares, found = [], 0
    for p in scans:
        finds = np.array(benjamini_hochberg(p)) <= 0.05
        shares.append(finds[10:].sum() / max(1, finds.sum()))
        found += int(finds[:10].sum())
    assert any_false <= 0.05 + 3 * (0.05 * 0.95 / 400) ** 0.5
    assert np.mean(shares) <= 0.05
    assert found / 4000 > 0.7


@pytest.mark.parametrize("adjust", EVERY)
def test_edges(adjust: Adjust) -> None:
    assert adjust([]) == []
    assert adjust([0.03]) == pytest.approx([0.03])
    assert adjust([0.0, 1.0])[1] == 1.0
    assert adjust([0.0, 0.0]) == [0.0, 0.0]
    for wrong in ([0.1, 1.1], [-0.1]):
        with pytest.raises(ValueError, match="between 0 and 1"):
            adjust(wrong)
    with pytest.raises(ValueError, match="NaN"):
        adjust([0.1, float("nan")])


def test_weighted_holm_by_hand() -> None:
    """Of p 0.03, 0.02, 0.5 with weights 0.8, 0.1, 0.1: first 0.03 × 1 / 0.8, then 0.02 × 0.2 / 0.1,
    then 0.5 × 0.1 / 0.1."""
    found = weighted_holm([0.03, 0.02, 0.5], [0.8, 0.1, 0.1])
    assert found == pytest.approx([0.0375, 0.04, 0.5])
    assert weighted_holm([0.5, 0.02, 0.03], [1, 1, 8]) == pytest.approx([0.5, 0.04, 0.0375])


@given(st.lists(st.floats(0, 1), max_size=12))
def test_weighted_holm_with_equal_weights_is_holm(p: list[float]) -> None:
    assert weighted_holm(p, [0.25] * len(p)) == pytest.approx(holm(p))


@pytest.mark.parametrize("weights", [[1.0], [1.0, 0.0], [1.0, -1.0]])
def test_each_p_needs_a_weight(weights: list[float]) -> None:
    with pytest.raises(ValueError, match="a weight above 0"):
        weighted_holm([0.1, 0.2], weights)
