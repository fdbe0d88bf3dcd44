"""The scalability law: the reference fit, scipy's least squares, known truth, and its limits."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import optimize

from agentbench_tui.analysis.load.scalability import Scaling, fit_usl
from agentbench_tui.analysis.load.usl import Curve

LOADS = np.array([1.0, 2, 4, 8, 16, 32, 64])
MEASURED = np.array([95.2, 180.9, 337.8, 585.6, 870.4, 1003.3, 879.5])


def law(
    load: NDArray[np.float64], rate: float, contention: float, coherency: float
) -> NDArray[np.float64]:
    lost = contention * (load - 1) + coherency * load * (load - 1)
    return np.asarray(rate * load / (1 + lost))


def values(curve: Curve) -> list[float]:
    return [curve.rate, curve.contention, curve.coherency]


def noisy(seed: int, repeats: int, noise: float, *truth: float) -> Scaling:
    load = np.repeat(LOADS, repeats)
    factors = np.random.default_rng(seed).normal(1, noise, load.size)
    return fit_usl(load, law(load, *truth) * factors, resamples=100)


def test_the_reference_fit() -> None:
    fit = fit_usl(LOADS, MEASURED)
    expected = [95.3090487353216, 0.0361770152992115, 0.0009109224000805026]
    assert values(fit.usl) == pytest.approx(expected, rel=1e-7)
    errors = [0.9671662417071143, 0.0013826094770156333, 1.466551940361023e-05]
    assert list(fit.standard_errors) == pytest.approx(errors, rel=1e-4)
    assert fit.r2 == pytest.approx(0.9999188198069793, rel=1e-9)
    assert fit.peak_load == pytest.approx(32.52804398650225, rel=1e-7)
    assert fit.peak_throughput == pytest.approx(1008.2717834710883, rel=1e-7)
    assert fit.ceiling == pytest.approx(2634.5194026384734, rel=1e-7)
    assert fit.verdict == "peak of 1008 at a load of 32.5"


def test_the_reference_fit_of_relative_errors() -> None:
    fit = fit_usl(LOADS, MEASURED, weights=1 / MEASURED**2)
    expected = [94.56407377296713, 0.03515648685618484, 0.0009135697218305852]
    assert values(fit.usl) == pytest.approx(expected, rel=1e-6)


@settings(max_examples=25, deadline=None)
@given(
    st.floats(0.01, 1e5),
    st.floats(0, 0.9),
    st.one_of(st.just(0.0), st.floats(1e-5, 0.05)),
    st.integers(0, 2**32 - 1),
)
def test_no_fit_of_scipys_is_closer(
    rate: float, contention: float, coherency: float, seed: int
) -> None:
    factors = np.random.default_rng(seed).normal(1, 0.05, LOADS.size)
    measured = law(LOADS, rate, contention, coherency) * factors
    scaled = measured / measured.max()
    bounds = ([0.0, 0.0, 0.0], [np.inf, 1.0, np.inf])
    truth = [rate / measured.max(), contention, coherency]
    scipys = optimize.least_squares(
        lambda p: law(LOADS, *p) - scaled, truth, bounds=bounds, x_scale="jac", xtol=1e-12
    )
    ours = fit_usl(LOADS, measured).usl.residual / measured.max() ** 2
    assert ours <= 2 * scipys.cost * (1 + 1e-6) + 1e-15


def test_what_is_exactly_the_law_is_found_again() -> None:
    fit = fit_usl(LOADS, law(LOADS, 250, 0.02, 0.0003))
    assert values(fit.usl) == pytest.approx([250, 0.02, 0.0003], rel=1e-6)
    assert fit.peak_load == pytest.approx(math.sqrt(0.98 / 0.0003), rel=1e-6)
    assert (fit.chosen.model, fit.r2) == ("usl", pytest.approx(1))


def test_the_simplest_model_that_explains_the_data_is_chosen() -> None:
    assert fit_usl(LOADS, 3 * LOADS).chosen.model == "linear"
    amdahl = fit_usl(LOADS, law(LOADS, 3, 0.1, 0))
    assert amdahl.chosen.model == "amdahl"
    assert amdahl.ceiling == pytest.approx(30)
    assert amdahl.verdict == "no peak seen up to a load of 64"
    assert [model for model, _ in amdahl.aicc] == ["linear", "amdahl", "usl"]


def test_aicc_by_hand_for_the_line() -> None:
    rate = (LOADS @ MEASURED) / (LOADS @ LOADS)
    left = (MEASURED - rate * LOADS) / MEASURED.max()
    expected = 7 * math.log(left @ left / 7) + 2 * 2 + 2 * 2 * 3 / (7 - 2 - 1)
    assert dict(fit_usl(LOADS, MEASURED).aicc)["linear"] == pytest.approx(expected)


def test_intervals_hold_the_truth_about_as_often_as_they_say() -> None:
    hits = np.zeros(4)
    for seed in range(60):
        fit = noisy(seed, 3, 0.02, 100, 0.04, 0.0009)
        truth = (100, 0.04, 0.0009, math.sqrt(0.96 / 0.0009))
        intervals = (
            fit.rate_interval,
            fit.contention_interval,
            fit.coherency_interval,
            fit.peak_load_interval,
        )
        for at, (interval, value) in enumerate(zip(intervals, truth, strict=True)):
            hits[at] += interval is not None and interval.low <= value <= interval.high
    assert (hits >= 54).all()


def test_a_peak_that_is_not_there_is_hardly_ever_told() -> None:
    assert sum(noisy(seed, 3, 0.03, 100, 0.04, 0).peak_load is not None for seed in range(40)) <= 5


def test_a_peak_inside_the_noise_is_not_told() -> None:
    assert noisy(1, 3, 0.1, 100, 0.04, 5e-5).verdict == "no peak seen up to a load of 64"


def test_a_peak_above_what_was_measured_says_so_and_far_above_is_not_told() -> None:
    above = fit_usl(LOADS, law(LOADS, 100, 0.02, 0.98 / 90**2))
    assert above.verdict.endswith("expected at a load of 90, above the 64 measured")
    far = fit_usl(LOADS, law(LOADS, 100, 0.02, 0.98 / 200**2))
    assert (far.peak_load, far.verdict) == (None, "no peak seen up to a load of 64")


def test_throughput_that_only_falls_peaks_at_the_least_load() -> None:
    fit = fit_usl(LOADS, law(LOADS, 100, 0.5, 0.9))
    assert (fit.peak_load, fit.peak_throughput) == (1, pytest.approx(100))


@settings(max_examples=10, deadline=None)
@given(st.floats(1e-6, 1e6), st.integers(0, 1000), st.permutations(range(21)))
def test_unit_weights_scale_and_order_change_nothing(
    factor: float, seed: int, order: list[int]
) -> None:
    load = np.repeat(LOADS, 3)
    measured = law(load, 100, 0.04, 0.0009) * np.random.default_rng(seed).normal(1, 0.02, 21)
    here = fit_usl(load, measured, resamples=50)
    there = fit_usl(load, measured * factor, np.full(21, factor), resamples=50)
    assert there.usl.rate == pytest.approx(here.usl.rate * factor, rel=1e-6)
    assert there.peak_load == pytest.approx(here.peak_load, rel=1e-6)
    assert here.coherency_interval is not None
    assert there.coherency_interval is not None
    assert there.coherency_interval.low == pytest.approx(here.coherency_interval.low, rel=1e-4)
    shuffled = fit_usl(load[order], measured[order], resamples=50)
    assert values(shuffled.usl) == pytest.approx(values(here.usl), rel=1e-6)


def test_the_same_seed_gives_the_same_interval() -> None:
    load = np.repeat(LOADS, 3)
    measured = law(load, 100, 0.04, 0.0009) * np.random.default_rng(5).normal(1, 0.02, 21)
    assert fit_usl(load, measured, seed=7) == fit_usl(load, measured, seed=7)
    assert fit_usl(load, measured, seed=7) != fit_usl(load, measured, seed=8)


@pytest.mark.parametrize(
    ("loads", "throughputs", "weights", "message"),
    [
        (LOADS[:5], MEASURED[:5], None, "6 different loads, got 5"),
        (np.repeat(LOADS[:5], 3), np.repeat(MEASURED[:5], 3), None, "got 5"),
        (LOADS, MEASURED[:6], None, "7 loads, 6 throughputs"),
        (LOADS - 1, MEASURED, None, "1 or more"),
        (LOADS, MEASURED * 0, None, "above 0"),
        (LOADS, MEASURED, MEASURED * 0, "above 0"),
        (LOADS, np.append(MEASURED[:6], math.nan), None, "NaN"),
    ],
)
def test_what_cannot_be_fitted_is_refused(
    loads: object, throughputs: object, weights: object, message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        fit_usl(loads, throughputs, weights)  # type: ignore[arg-type]


@settings(max_examples=12, deadline=None)
@given(st.integers(0, 2**32 - 1), st.floats(1, 6), st.booleans())
def test_pure_noise_is_fitted_no_worse_by_more_parameters(
    seed: int, decades: float, relative: bool
) -> None:
    load = np.repeat(np.geomspace(1, 10**decades, 7), 3)
    measured = np.random.default_rng(seed).lognormal(0, 2, load.size)
    weight = 1 / measured**2 if relative else np.ones(load.size)
    weight /= weight.max()
    fit = fit_usl(load, measured, weight, resamples=20)
    line = (load * measured) @ weight / (load**2 @ weight)
    assert fit.usl.residual <= weight @ (measured - line * load) ** 2 * (1 + 1e-9)
    level = np.average(measured, weights=weight)  # σ = 1 and κ = 0
    assert fit.usl.residual <= weight @ (measured - level) ** 2 * (1 + 1e-9)


def test_constant_throughput_neither_crashes_nor_peaks() -> None:
    fit = fit_usl(np.repeat(LOADS, 3), np.full(21, 5.0))
    assert values(fit.usl) == pytest.approx([5, 1, 0], abs=1e-6)
    assert fit.peak_load is None
