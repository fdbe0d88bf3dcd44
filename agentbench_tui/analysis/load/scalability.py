"""Fits the universal scalability law to throughput by load, to find where more load stops
paying.

Of the law's λ, σ and κ (module `usl`) only κ > 0 makes a peak, at a load of N* = √((1-σ)/κ).
Measured coverage of the nominal 95% intervals (7 loads of 1-64, λ 100, σ 0.04, κ 0.0009, relative
noise): 96-98% with 3 repeats at 2 and 5% (120 fits; the Birge ratio included); without repeats
95-97% (300 fits) when weighted by 1/X², but 76-95% unweighted. Where κ was 0, a peak was reported
in 3% (3 repeats) or 5% (none).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from agentbench_tui.analysis.distribution import normal_quantile, student_quantile
from agentbench_tui.analysis.intervals.interval import Interval
from agentbench_tui.analysis.load.usl import (
    FREE,
    HIGHEST,
    LOWEST,
    Curve,
    Model,
    fit_curve,
    fit_parameters,
    in_unit,
    jacobian,
    shape,
)
from agentbench_tui.analysis.sample import Floats, column
from agentbench_tui.model.text.plain_number import plain

LOADS = 6
"""Different loads that a fit needs."""
REPEATS = 3
"""Measurements of every load that resampling needs."""
FREE_PARAMETERS = 3
"""λ, σ and κ."""
_NO_SCATTER = 1e-9
"""Repeats that differ by less, as shares of the largest throughput, are the same."""
REACH = 2.0
"""Nothing is predicted beyond this many times the largest load."""
WITHIN = 2.0
"""A simpler model is taken when its AICc is at most this much above the best."""


@dataclass(frozen=True, slots=True)
class Scaling:
    """Growth of throughput with load, and its limit."""

    usl: Curve
    """The full law, whichever model was chosen."""
    standard_errors: tuple[float | None, float | None, float | None]
    """Of λ, σ, κ, from the curvature at the fit; None for a parameter at its bound."""
    r2: float
    """Of the full law, on the weighted data."""
    chosen: Curve
    """The simplest of the models with an AICc within 2 of the best."""
    aicc: tuple[tuple[Model, float], ...]
    """AICc of each model, simplest first."""
    rate_interval: Interval | None
    contention_interval: Interval | None
    coherency_interval: Interval | None
    """None for a parameter on its bound, unless measurements were repeated."""
    peak_load: float | None
    """N* of the full law, at least 1; None if there is no maximum."""
    peak_load_interval: Interval | None
    """Over the resamples, so None without repeats."""
    peak_throughput: float | None
    ceiling: float
    """λ/σ of the full law: what waiting alone would allow; infinite for σ = 0."""
    largest_load: float
    verdict: str
    """Such as `peak of 1008 at a load of 32.5`, or `no peak seen up to a load of 64`."""


def fit_usl(
    n: ArrayLike,
    throughput: ArrayLike,
    weights: ArrayLike | None = None,
    *,
    seed: int = 0,
    level: float = 0.95,
    resamples: int = 1_000,
) -> Scaling:
    """Fit float64[points] of loads N >= 1 and throughputs > 0; a load may occur several times.

    Non-linear least squares Σ w (X - X(N))² with λ > 0, 0 <= σ <= 1, κ >= 0, from the start that
    the straight-line form N/X = (1 + σ(N-1) + κN(N-1))/λ gives. `weights` are > 0; 1/X² makes
    errors relative. Intervals: with 3 or more measurements of every load, percentiles of fits to
    measurements resampled within each load, their spread widened by √(r/(r-1)) because r
    resampled values vary less than r new ones, by t over normal because r tell it badly, and by the
    Birge ratio because the law itself may be off.
    Otherwise t on the standard errors, which take the (weighted) error as one at all loads.
    A peak is told only if the chosen model has one, the interval of κ excludes 0, and N* lies
    within 2 × the largest load. ValueError below 6 different loads and on values out of range.
    """
    load, measured = column(n), column(throughput)
    weight = np.ones_like(load) if weights is None else column(weights)
    _check(load, measured, weight, level)
    unit = float(measured.max())  # fitted as shares of it: a change of unit changes nothing
    scaled, relative = measured / unit, weight / weight.max()
    fits = {model: fit_curve(model, load, scaled, relative) for model in FREE}
    best = min(curve.aicc for curve in fits.values())
    chosen = next(curve for curve in fits.values() if curve.aicc <= best + WITHIN)
    usl = fits["usl"]
    errors = _standard_errors(usl, load, relative)
    draws = _draws(usl, load, scaled, relative, seed, resamples)
    if draws is None:
        intervals, peak_interval = _by_errors(usl, errors, load.size - 3, level), None
    else:
        freedom = _freedom(usl, load, scaled, relative)
        wider = birge_ratio(usl, load, scaled, relative)
        intervals, peak_interval = _by_draws(usl, draws, freedom, wider, level, seed)
    rate, contention, coherency = intervals
    peak = _peak(usl, chosen, coherency, float(load.max()))
    top = None if peak is None else unit * usl.throughput(peak)
    spread = float(relative @ (scaled - np.average(scaled, weights=relative)) ** 2)
    return Scaling(
        usl=in_unit(usl, unit),
        standard_errors=(None if errors[0] is None else errors[0] * unit, *errors[1:]),
        r2=1 - usl.residual / spread if spread > 0 else 1.0,
        chosen=in_unit(chosen, unit),
        aicc=tuple((model, curve.aicc) for model, curve in fits.items()),
        rate_interval=None
        if rate is None
        else replace(rate, low=rate.low * unit, high=rate.high * unit),
        contention_interval=contention,
        coherency_interval=coherency,
        peak_load=peak,
        peak_load_interval=None if peak is None else peak_interval,
        peak_throughput=top,
        ceiling=unit * usl.rate / usl.contention if usl.contention > 0 else math.inf,
        largest_load=float(load.max()),
        verdict=_verdict(peak, top, float(load.max())),
    )


def _check(load: Floats, measured: Floats, weight: Floats, level: float) -> None:
    if not 0 < level < 1:
        raise ValueError(f"a level between 0 and 1 is needed, got {level}")
    if not load.size == measured.size == weight.size:
        raise ValueError(f"{load.size} loads, {measured.size} throughputs, {weight.size} weights")
    if (load < 1).any() or (measured <= 0).any() or (weight <= 0).any():
        raise ValueError("loads must be 1 or more, throughputs and weights above 0")
    different = np.unique(load).size
    if different < LOADS:
        raise ValueError(f"a scalability fit needs {LOADS} different loads, got {different}")


def _standard_errors(
    usl: Curve, load: Floats, weight: Floats
) -> tuple[float | None, float | None, float | None]:
    inside = ((usl.parameters > LOWEST) & (usl.parameters < HIGHEST))[0]
    slopes = jacobian(usl.parameters, load)[0][:, inside]
    scale = np.sqrt(weight @ slopes**2)  # κ is thousands of times smaller than λ
    unscaled = np.linalg.inv((slopes / scale).T @ (weight[:, None] * slopes / scale))
    variance = usl.residual / (load.size - 3)
    errors = iter(np.sqrt(variance * np.diag(unscaled)) / scale)
    first, second, third = (float(next(errors)) if free else None for free in inside)
    return first, second, third


def _draws(
    usl: Curve, load: Floats, measured: Floats, weight: Floats, seed: int, resamples: int
) -> Floats | None:
    """Return parameters of fits to resampled repeats, float64[resamples, 3]; None without
    repeats.
    """
    _, numbers, counts = np.unique(load, return_inverse=True, return_counts=True)
    if counts.min() < REPEATS:
        return None
    generator = np.random.default_rng(seed)
    resampled = np.empty((resamples, load.size))
    for number, count in enumerate(counts):
        own = np.flatnonzero(numbers == number)
        mean = measured[own].mean()
        drawn = measured[own][generator.integers(0, count, (resamples, count))]
        resampled[:, own] = mean + (drawn - mean) * math.sqrt(count / (count - 1))
    starts = np.repeat(usl.parameters, resamples, axis=0)
    return fit_parameters(starts, np.array(FREE["usl"]), load, resampled, weight)


def birge_ratio(curve: Curve, load: Floats, measured: Floats, weight: Floats) -> float:
    """Return √(χ²/ν) of the means of the loads about the curve, at least 1 (Birge 1932): their
    distance from it relative to the scatter of repeats of one load.

    Repeats tell what chance does and nothing of how far the law is off; by this both are in the
    intervals. χ² takes the pooled scatter within the loads; 1 where repeats do not scatter at all.
    """
    loads, numbers, counts = np.unique(load, return_inverse=True, return_counts=True)
    weights = np.bincount(numbers, weights=weight) / counts
    means = np.bincount(numbers, weights=weight * measured) / counts / weights
    within = float(weight @ (measured - means[numbers]) ** 2) / (load.size - loads.size)
    fitted = curve.parameters[0, 0] * shape(loads, curve.parameters)[0]
    about = float((counts * weights) @ (means - fitted) ** 2) / (loads.size - FREE_PARAMETERS)
    if within <= _NO_SCATTER**2 * float(weights.mean()):
        return 1.0
    return max(1.0, math.sqrt(about / within))


def _by_errors(
    usl: Curve, errors: tuple[float | None, ...], df: int, level: float
) -> tuple[Interval | None, Interval | None, Interval | None]:
    t = student_quantile(0.5 + level / 2, df)
    intervals: list[Interval | None] = []
    for value, error, least, most in zip(usl.parameters[0], errors, LOWEST, HIGHEST, strict=True):
        if error is None:
            intervals.append(None)
            continue
        low, high = max(value - t * error, least), min(value + t * error, most)
        intervals.append(Interval(float(low), float(high), level, "t on standard errors"))
    rate, contention, coherency = intervals
    return rate, contention, coherency


def _by_draws(
    usl: Curve, draws: Floats, freedom: Floats, birge: float, level: float, seed: int
) -> tuple[tuple[Interval, Interval, Interval], Interval]:
    """Return percentile intervals of λ, σ, κ, and of N*, widened from the normal's to t's tails,
    and by the misfit of the law (`birge_ratio`).
    """
    columns = np.column_stack([draws, _peaks(draws)])
    tails = [0.5 - level / 2, 0.5 + level / 2]
    # no interpolation, which would make NaN of infinite peaks
    ends = np.quantile(columns, tails, axis=0, method="inverted_cdf")
    center = np.append(usl.parameters, _peaks(usl.parameters))
    t_over_normal = [student_quantile(tails[1], df) / normal_quantile(tails[1]) for df in freedom]
    wider = birge * np.array(t_over_normal)
    with np.errstate(invalid="ignore"):
        widened = center + (ends - center) * wider
    ends = np.where(np.isfinite(widened), widened, ends)
    lows, highs = np.clip(ends, np.append(LOWEST, 1.0), np.append(HIGHEST, np.inf))
    method = f"bootstrap of repeats within load (t), {draws.shape[0]} resamples, seed {seed}"
    rate, contention, coherency, peak = (
        Interval(float(low), float(high), level, method)
        for low, high in zip(lows, highs, strict=True)
    )
    return (rate, contention, coherency), peak


def _peaks(parameters: Floats) -> Floats:
    """Return N* of each row of float64[batch, 3]; infinite for κ = 0, at least 1."""
    with np.errstate(divide="ignore", invalid="ignore"):
        peaks = np.sqrt((1 - parameters[:, 1]) / parameters[:, 2])
    return np.where(parameters[:, 2] > 0, np.maximum(peaks, 1.0), np.inf)


def _freedom(usl: Curve, load: Floats, measured: Floats, weight: Floats) -> Floats:
    """Return the degrees of freedom of the errors of λ, σ, κ and N*, float64[4] (Satterthwaite
    1946).

    The last loads decide κ nearly alone, and their few repeats tell their spread badly.
    """
    slopes = jacobian(usl.parameters, load)[0]
    scale = np.sqrt(weight @ slopes**2)
    influence = np.linalg.pinv(np.sqrt(weight)[:, None] * slopes / scale) * np.sqrt(weight)
    influence = influence / scale[:, None]
    by_peak = influence[2]
    if usl.coherency > 0 and usl.contention < 1:  # d log N*, up to a factor
        by_peak = influence[1] / (1 - usl.contention) + influence[2] / usl.coherency
    _, numbers, counts = np.unique(load, return_inverse=True, return_counts=True)
    means = np.bincount(numbers, weights=measured) / counts
    within = np.bincount(numbers, weights=(measured - means[numbers]) ** 2) / (counts - 1)
    parts = np.stack(
        [np.bincount(numbers, weights=row**2) * within for row in (*influence, by_peak)]
    )
    largest = np.maximum(parts.max(axis=1, keepdims=True), 1e-300)
    parts = np.where(parts > 0, parts / largest, 0.0)
    known = (parts**2 / (counts - 1)).sum(axis=1)
    return np.asarray(np.where(known > 0, parts.sum(axis=1) ** 2 / np.maximum(known, 1e-9), 1e9))


def _peak(usl: Curve, chosen: Curve, coherency: Interval | None, largest: float) -> float | None:
    if chosen.model != "usl" or coherency is None or coherency.low <= 0:
        return None
    peak = max(1.0, math.sqrt((1 - usl.contention) / usl.coherency))
    return peak if peak <= REACH * largest else None


def _verdict(peak: float | None, top: float | None, largest: float) -> str:
    if peak is None or top is None:
        return f"no peak seen up to a load of {plain(largest)}"
    told = f"peak of {plain(top, 4, grouped=False)}"
    at = f"a load of {plain(peak, 3, grouped=False)}"
    if peak > largest:
        return f"{told} expected at {at}, above the {plain(largest)} measured"
    return f"{told} at {at}"
