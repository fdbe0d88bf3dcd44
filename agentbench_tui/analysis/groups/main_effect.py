"""Main effects of a sweep's parameters: the effect of a level on the mean, all else being equal.

Cell means are fitted by one term for each level of each parameter, without terms for what
parameters do together (Montgomery, Design and Analysis of Experiments, ch. 5). In a sweep of
every combination the effect of a level is then the plain mean of its cells less that of the first
level's; where combinations are missing or were drawn, levels are told apart as far as they can be.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from agentbench_tui.analysis.distribution import student_quantile
from agentbench_tui.analysis.intervals.interval import Interval
from agentbench_tui.analysis.sample import Floats

_ROUNDING = 1e-14
"""Rounding error relative to the largest mean."""
_TOLD_APART = 1e-8
"""How far rounding may move a contrast outside the span of the cells."""


@dataclass(frozen=True, slots=True)
class SweepCell:
    """One combination of levels, and its measurements."""

    levels: Mapping[str, str]
    """Parameter → level; every cell has the same parameters."""
    values: Sequence[float]
    """Independent of one another: a mean for each repeat. Finite, at least one."""


@dataclass(frozen=True, slots=True)
class LevelEffect:
    """A level compared with the first of its parameter."""

    parameter: str
    level: str
    cells: int
    """That have this level."""
    mean: float
    """Plain mean of its cells."""
    difference: float | None
    """In the unit of the values; 0 for the first level, None if `reason` says why."""
    interval: Interval | None
    """Interval of the difference; None for the first level, and if no cell has two values."""
    single: tuple[float, float] | None
    """The least and the greatest difference between cells that are equal in all else: wide where
    the effect hangs on other parameters."""
    reason: str = ""


def main_effects(cells: Sequence[SweepCell], level: float = 0.95) -> list[LevelEffect]:
    """Return every level of every parameter that has at least two, in order of occurrence.

    Intervals are Student's with Satterthwaite's degrees of freedom (1946), each for itself. Cells
    of a single value take the variance of the others, pooled. Raises ValueError for cells of
    unlike parameters.
    """
    names = list(cells[0].levels) if cells else []
    if any(list(cell.levels) != names for cell in cells):
        raise ValueError("cells of a sweep have the same parameters, in one order")
    levels = {name: list(dict.fromkeys(cell.levels[name] for cell in cells)) for name in names}
    levels = {name: known for name, known in levels.items() if len(known) > 1}
    if not levels:
        return []
    design, places = _design(cells, levels)
    means = np.array([float(np.mean(cell.values)) for cell in cells])
    inverse = np.linalg.pinv(design)
    seen = inverse @ design
    errors = _errors(cells)
    found = []
    for name, known in levels.items():
        for one in known:
            contrast = np.zeros(design.shape[1])
            if one != known[0]:
                contrast[places[name, one]] = 1.0
            is_known = bool(np.abs(contrast @ seen - contrast).max() < _TOLD_APART)
            weights = contrast @ inverse
            difference = _unrounded(float(weights @ means), means)
            having = [cell.levels[name] == one for cell in cells]
            found.append(
                LevelEffect(
                    name,
                    one,
                    sum(having),
                    float(means[having].mean()),
                    difference if is_known else None,
                    _interval(weights, difference, errors, level)
                    if is_known and one != known[0]
                    else None,
                    _single(cells, means, name, known[0], one),
                    "" if is_known else "never measured apart from another parameter",
                )
            )
    return found


def _unrounded(difference: float, means: Floats) -> float:
    """Return 0 if the value is only a rounding error."""
    return 0.0 if abs(difference) <= _ROUNDING * float(np.abs(means).max()) else difference


def _design(
    cells: Sequence[SweepCell], levels: Mapping[str, Sequence[str]]
) -> tuple[Floats, dict[tuple[str, str], int]]:
    """Return a row for each cell: 1, then whether it has each level but the first of each
    parameter.
    """
    places = {
        pair: number
        for number, pair in enumerate(
            ((name, one) for name, known in levels.items() for one in known[1:]), start=1
        )
    }
    design = np.zeros((len(cells), len(places) + 1))
    design[:, 0] = 1.0
    for row, cell in enumerate(cells):
        for name in levels:
            if (place := places.get((name, cell.levels[name]))) is not None:
                design[row, place] = 1.0
    return design, places


def _errors(cells: Sequence[SweepCell]) -> list[tuple[float, float]] | None:
    """Return the squared error of each cell's mean with its degrees of freedom; None
    without any.
    """
    spreads = [
        (float(np.var(cell.values, ddof=1)), len(cell.values) - 1)
        for cell in cells
        if len(cell.values) > 1
    ]
    freedom = sum(df for _, df in spreads)
    if not freedom:
        return None
    pooled = sum(variance * df for variance, df in spreads) / freedom
    return [
        (float(np.var(cell.values, ddof=1)) / len(cell.values), len(cell.values) - 1.0)
        if len(cell.values) > 1
        else (pooled, float(freedom))
        for cell in cells
    ]


def _interval(
    weights: Floats, middle: float, errors: Sequence[tuple[float, float]] | None, level: float
) -> Interval | None:
    if errors is None:
        return None
    parts = [
        (float(weight) ** 2 * squared, df)
        for weight, (squared, df) in zip(weights, errors, strict=True)
    ]
    squared = math.fsum(part for part, _ in parts)
    below = math.fsum(part * part / df for part, df in parts)
    df = squared * squared / below if below > 0 else math.inf
    half = student_quantile((1 + level) / 2, df) * math.sqrt(squared) if squared else 0.0
    return Interval(middle - half, middle + half, level, "Satterthwaite's t")


def _single(
    cells: Sequence[SweepCell], means: Floats, name: str, first: str, one: str
) -> tuple[float, float] | None:
    if one == first:
        return None
    beside: dict[tuple[str, ...], dict[str, float]] = {}
    for cell, mean in zip(cells, means.tolist(), strict=True):
        rest = tuple(level for key, level in cell.levels.items() if key != name)
        beside.setdefault(rest, {})[cell.levels[name]] = mean
    found = [both[one] - both[first] for both in beside.values() if one in both and first in both]
    return (min(found), max(found)) if found else None
