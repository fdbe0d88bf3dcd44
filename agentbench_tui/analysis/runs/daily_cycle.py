"""Daily cycles in a history of runs: servers that are slower by day than by night.

A run is compared with runs of the same hours by subtracting what the hour explains: one or two
harmonics of 24 hours, fitted beside a level for each day, so that a change of level between days
is not taken for a cycle. The cycle counts only if it predicts days that it was not fitted to.
"""

from __future__ import annotations

import math

import numpy as np

from agentbench_tui.analysis.sample import Floats, Integers
from agentbench_tui.analysis.summary import MAD_TO_SD

DAYS_NEEDED = 2
RUNS_A_DAY = 4
"""Mean number of runs per day below which its hours cannot be distinguished from its level."""
UNEXPLAINED = 0.7
"""Share of the squares within days that a cycle may leave on days that it was not fitted to."""
_TWO_HARMONICS_FROM = 8
"""Runs a day."""
_REACH = 3.0
"""Standard deviations beyond which a residual is drawn in before the second fit."""
_LATEST = 120
"""Runs that are looked at: the newest."""


def daily_cycle(positions: Floats, hours: Floats) -> Floats | None:
    """Return what the time of day adds to each run, of mean 0 over the runs; None without a cycle.

    `positions` are those of `Scale.positions`, `hours` the times of the runs in hours, ascending.
    The last 120 runs decide.
    """
    x, at = positions[-_LATEST:], hours[-_LATEST:]
    if not x.size:
        return None
    days = math.floor((at[-1] - at[0]) / 24 + 1e-6)
    if days < DAYS_NEEDED or x.size < RUNS_A_DAY * days:
        return None
    # whole days, counted back from the newest run; what is left over belongs to the first
    day = np.minimum(np.floor((at[-1] - at) / 24), days - 1).astype(np.int64)
    waves = _waves(at, 2 if x.size >= _TWO_HARMONICS_FROM * days else 1)
    if not _predicts(x, day, waves):
        return None
    of_waves = _fitted(x, day, waves)
    every = _waves(hours, waves.shape[1] // 2) @ of_waves
    return np.asarray(every - every.mean())


def _waves(hours: Floats, harmonics: int) -> Floats:
    angle = 2 * math.pi * hours / 24
    columns = [wave(k * angle) for k in range(1, harmonics + 1) for wave in (np.cos, np.sin)]
    return np.stack(columns, axis=1)


def _within_days(columns: Floats, day: Integers) -> Floats:
    """Subtract the mean of each day; columns are [runs] or [runs, columns]."""
    found = columns.astype(np.float64)
    for number in np.unique(day):
        found[day == number] -= found[day == number].mean(axis=0)
    return found


def _fitted(x: Floats, day: Integers, waves: Floats) -> Floats:
    """Return the coefficients of the waves in addition to a level for each day, with outliers
    limited.
    """
    inner, within = _within_days(waves, day), _within_days(x, day)
    found = np.linalg.lstsq(inner, within, rcond=None)[0]
    rest = within - inner @ found
    reach = _REACH * MAD_TO_SD * float(np.median(np.abs(rest - np.median(rest))))
    if reach > 0:
        tamed = _within_days(inner @ found + np.clip(rest, -reach, reach), day)
        found = np.linalg.lstsq(inner, tamed, rcond=None)[0]
    return np.asarray(found)


def _predicts(x: Floats, day: Integers, waves: Floats) -> bool:
    """Return whether the cycle of the other days explains each day well enough, over all days."""
    before, after = 0.0, 0.0
    for number in np.unique(day):
        own = day == number
        found = _fitted(x[~own], day[~own], waves[~own])
        rest = x[own] - waves[own] @ found
        # by the median, and absolute: one outlier must not decide for or against a cycle
        before += float(np.abs(x[own] - np.median(x[own])).sum())
        after += float(np.abs(rest - np.median(rest)).sum())
    return after < math.sqrt(UNEXPLAINED) * before
