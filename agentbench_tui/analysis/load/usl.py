"""The universal scalability law and its simpler variants, fitted by least squares.

X(N) = λN / (1 + σ(N-1) + κN(N-1)) (Gunther 2007): λ is the throughput of a load of 1, σ what is
lost to waiting for shared things (contention), κ what is lost to keeping the parts in agreement
(coherency). With κ = 0 it is Amdahl's law, with σ = 0 too it is linear. Throughputs here are
shares of the largest, around 1; `scalability` brings them there and back.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from agentbench_tui.analysis.sample import Floats

Model = Literal["linear", "amdahl", "usl"]

FREE: dict[Model, tuple[bool, bool, bool]] = {
    "linear": (True, False, False),
    "amdahl": (True, True, False),
    "usl": (True, True, True),
}
"""Which of λ, σ, κ a model fits; the others are 0."""
LOWEST, HIGHEST = np.array([0.0, 0.0, 0.0]), np.array([np.inf, 1.0, np.inf])
_CONTENTIONS = (0.0, 1e-4, 0.001, 0.01, 0.1, 0.4, 1.0)
_COHERENCIES = np.array([0.0, 0.01, 0.1, 1.0, 10.0, 100.0, 1e4])
"""Grid of starting values; κ times the square of the largest load."""
_MAX_STEPS = 100
"""Enough for data that follow the law; for pure noise, whose best fit may lie at infinity, as near
as it matters."""
_SETTLED = 1e-14
"""Relative decrease of the sum of squares at which the iteration stops."""
_EXACT = 1e-9
"""Residuals below this share of the largest throughput are rounding, not evidence."""


@dataclass(frozen=True, slots=True)
class Curve:
    """One model fitted by least squares."""

    model: Model
    rate: float
    """λ, in the unit of the throughput."""
    contention: float
    """σ, 0 … 1."""
    coherency: float
    """κ, >= 0."""
    residual: float
    """Sum of squared residuals, weighted with shares of the largest weight."""
    aicc: float
    """Akaike's criterion with correction for few points; infinite when there are too few."""

    @property
    def parameters(self) -> Floats:
        """Return λ, σ, κ as the one row of float64[1, 3]."""
        return np.array([[self.rate, self.contention, self.coherency]])

    def throughput(self, load: float) -> float:
        """Return X(load) for any load; `Scaling.predict` stays within what the data support."""
        lost = self.contention * (load - 1) + self.coherency * load * (load - 1)
        return self.rate * load / (1 + lost)


def _terms(load: Floats) -> Floats:
    """Return the terms of N/X, whose coefficients are λ⁻¹ times 1, σ and κ: float64[points, 3]."""
    return np.stack([np.ones_like(load), load - 1, load * (load - 1)], axis=1)


def shape(load: Floats, parameters: Floats) -> Floats:
    """Return X(N)/λ, float64[batch, points], for parameters float64[batch, 3]."""
    losses = parameters.copy()
    losses[:, 0] = 1.0
    return np.asarray(load / (losses @ _terms(load).T))


def fit_curve(model: Model, load: Floats, measured: Floats, weight: Floats) -> Curve:
    """Return the model closest to float64[points] of throughputs, minimizing Σ weight
    (difference)².

    AICc = n ln(that / n) + 2k + 2k(k+1)/(n-k-1) with k parameters, the variance among them
    (Hurvich & Tsai 1989).
    """
    free = np.array(FREE[model])
    starts = _starts(free, load, measured)
    found = fit_parameters(starts, free, load, np.tile(measured, (len(starts), 1)), weight)
    parameters = found[_cost(found, load, measured, weight).argmin()][None]
    left = measured - parameters[0, 0] * shape(load, parameters)[0]
    residual = float(weight @ left**2)
    points, fitted = load.size, int(free.sum()) + 1  # the variance is fitted too
    aicc = math.inf
    if points > fitted + 1:
        least = float(weight.sum()) * _EXACT**2
        correction = 2 * fitted * (fitted + 1) / (points - fitted - 1)
        aicc = points * math.log(max(residual, least) / points) + 2 * fitted + correction
    rate, contention, coherency = (float(value) for value in parameters[0])
    return Curve(model, rate, contention, coherency, residual, aicc)


def _starts(free: NDArray[np.bool_], load: Floats, measured: Floats) -> Floats:
    """Return starting points, float64[starts, 3]: the straight-line form first, then a
    coarse grid.

    Noisy data can have several minima. λ is found from the other two.
    """
    terms = _terms(load)[:, free]
    scale = terms.max(axis=0)
    line = np.zeros(3)
    line[free] = np.linalg.lstsq(terms / scale, load / measured, rcond=None)[0] / scale
    grid = np.array([(1.0, s, k) for s in _CONTENTIONS for k in _COHERENCIES / load.max() ** 2])
    starts = np.vstack([line / line[0] if line[0] > 0 else grid[0], grid])
    starts[:, ~free] = 0.0
    return np.unique(np.clip(starts, LOWEST, HIGHEST), axis=0)


def fit_parameters(
    starts: Floats, free: NDArray[np.bool_], load: Floats, measured: Floats, weight: Floats
) -> Floats:
    """Return λ, σ, κ, float64[batch, 3], by least squares for each row of `measured` [batch,
    points].

    `starts` has the same rows; its λ is not used, and what is not `free` keeps its value.
    Levenberg–Marquardt with bounds: a parameter on its bound stays there while the data pull it
    outwards, and λ is the best one for σ and κ after each step. All rows step together, so that a
    thousand resamples cost little.
    """
    parameters = _with_best_rate(starts, load, measured, weight)
    damping = np.full(len(starts), 1e-3)
    cost = _cost(parameters, load, measured, weight)
    index = np.arange(3)
    for _ in range(_MAX_STEPS):
        slopes = jacobian(parameters, load)
        left = measured - parameters[:, :1] * shape(load, parameters)
        pull = np.einsum("bnk,bn->bk", slopes, weight * left)
        held = (parameters <= LOWEST) & (pull <= 0) | (parameters >= HIGHEST) & (pull >= 0) | ~free
        pull[held] = 0.0
        curvature = np.einsum("bnk,n,bnl->bkl", slopes, weight, slopes)
        curvature[held[:, :, None] | held[:, None, :]] = 0.0
        scale = np.sqrt(curvature[:, index, index] + held)  # κ is far smaller than λ
        curvature /= scale[:, :, None] * scale[:, None, :]
        curvature[:, index, index] += damping[:, None] + held
        step = np.linalg.solve(curvature, (pull / scale)[..., None])[..., 0] / scale
        settled = (step * pull).sum(axis=1) <= _SETTLED * cost + _EXACT**2
        trial = np.clip(parameters + step, LOWEST, HIGHEST)
        trial = _with_best_rate(trial, load, measured, weight)
        trial_cost = _cost(trial, load, measured, weight)
        better = trial_cost < cost
        parameters = np.where(better[:, None], trial, parameters)
        cost = np.where(better, trial_cost, cost)
        if settled.all():
            break
        damping = np.clip(np.where(better, damping / 10, damping * 10), 1e-12, 1e12)
    return parameters


def _with_best_rate(parameters: Floats, load: Floats, measured: Floats, weight: Floats) -> Floats:
    """Return the same σ and κ with the best-fitting λ; float64[batch, 3]."""
    relative = shape(load, parameters)
    rate = (relative * measured) @ weight / (relative**2 @ weight)
    return np.column_stack([np.maximum(rate, _EXACT), parameters[:, 1:]])


def _cost(parameters: Floats, load: Floats, measured: Floats, weight: Floats) -> Floats:
    left = measured - parameters[:, :1] * shape(load, parameters)
    return np.asarray(left**2 @ weight)


def jacobian(parameters: Floats, load: Floats) -> Floats:
    """Return the derivatives of X by λ, σ and κ, float64[batch, points, 3]."""
    by_rate = shape(load, parameters)
    by_loss = -parameters[:, :1] * by_rate**2 / load
    return np.stack([by_rate, by_loss * (load - 1), by_loss * load * (load - 1)], axis=2)


def in_unit(curve: Curve, unit: float) -> Curve:
    """Rescale a curve that was fitted to throughputs divided by `unit`."""
    return replace(curve, rate=curve.rate * unit, residual=curve.residual * unit**2)
