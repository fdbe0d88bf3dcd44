"""How often intervals hold the truth: shares, scores, amounts, aggregates, times, resilience."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial

import numpy as np

from agentbench_tui.analysis.boards.task_aggregate import (
    aggregate,
    bootstrap_aggregate,
    with_few_runs,
)
from agentbench_tui.analysis.intervals.effective_number import bounded_mean
from agentbench_tui.analysis.intervals.estimate import estimate, quantile_estimate
from agentbench_tui.analysis.load.resilience import resilience_score
from agentbench_tui.analysis.resampling.resampling import Resampling
from agentbench_tui.analysis.summary import pass_at_k
from simulations.guarantee import Guarantee, Rate

SIZES = (10, 30, 100)
_HOW = Resampling(resamples=500)
Ends = tuple[float | None, float | None]
Trial = Callable[[np.random.Generator, int], tuple[Ends, float]]
"""One interval of so many units, and the truth."""


def _covered(trial: Trial, n: int, trials: int, draw: np.random.Generator) -> Rate:
    """Of so many intervals that are shown; trials without one do not count."""
    hits = shown = 0
    while shown < trials:
        (low, high), truth = trial(draw, n)
        if low is not None and high is not None:
            shown += 1
            hits += low <= truth <= high
    return Rate(hits, shown)


def _wrong(trial: Trial, n: int, trials: int, draw: np.random.Generator) -> Rate:
    """Intervals that are shown and miss the truth, of all trials."""
    missed = 0
    for _ in range(trials):
        (low, high), truth = trial(draw, n)
        missed += low is not None and high is not None and not low <= truth <= high
    return Rate(missed, trials)


def _share(share: float, alike: float, draw: np.random.Generator, n: int) -> tuple[Ends, float]:
    cases = np.repeat(np.arange(n), 5)
    total = 1 / alike - 1
    chance = draw.beta(share * total, (1 - share) * total, n)
    found = estimate((draw.random(5 * n) < chance[cases]).astype(float), "share", clusters=cases)
    return (found.low, found.high), share


def _pass_at_3(draw: np.random.Generator, n: int) -> tuple[Ends, float]:
    """Chances from Beta(0.9, 0.6): 1 - E(1 - p)³ = 1 - 0.6 × 1.6 × 2.6 / (1.5 × 2.5 × 3.5)."""
    right = draw.binomial(5, draw.beta(0.9, 0.6, n))
    found = bounded_mean([pass_at_k(5, int(one), 3) for one in right])
    assert found is not None
    return (found.low, found.high), 1 - 0.6 * 1.6 * 2.6 / (1.5 * 2.5 * 3.5)


def _graded(mean: float, draw: np.random.Generator, n: int) -> tuple[Ends, float]:
    found = estimate(draw.beta(0.6 * mean, 0.6 * (1 - mean), n), "share")
    return (found.low, found.high), mean


def _cost(spread: float, free: float, draw: np.random.Generator, n: int) -> tuple[Ends, float]:
    paid = np.where(draw.random(n) < free, 0.0, draw.lognormal(0, spread, n))
    found = estimate(paid, "amount")
    return (found.low, found.high), (1 - free) * math.exp(spread**2 / 2)


def _clustered_cost(draw: np.random.Generator, clusters: int) -> tuple[Ends, float]:
    """Ten cases a cluster, log-sd 1 between clusters and 0.5 within."""
    cluster = np.repeat(np.arange(clusters), 10)
    logs = draw.normal(0, 1, clusters)[cluster] + draw.normal(0, 0.5, len(cluster))
    found = estimate(np.exp(logs), "amount", clusters=cluster)
    return (found.low, found.high), math.exp((1 + 0.5**2) / 2)


def _few_dear(draw: np.random.Generator, n: int) -> tuple[Ends, float]:
    """Of all cases 20% cost ten times as much, and so does at least one of these."""
    dear = np.zeros(n, np.bool_)
    while not dear.any():
        dear = draw.random(n) < 0.2
    found = estimate(draw.lognormal(0, 0.3, n) * np.where(dear, 10, 1), "amount")
    return (found.low, found.high), 2.8 * math.exp(0.3**2 / 2)


def _interquartile(runs: int, draw: np.random.Generator, tasks: int) -> tuple[Ends, float]:
    """Levels that lie symmetrically around 0.6, which is then the interquartile mean."""
    scores = draw.normal(np.linspace(0.3, 0.9, tasks)[:, np.newaxis], 0.1, (tasks, runs))
    found = bootstrap_aggregate(scores, "iqm", _HOW)
    interval = None if found is None else with_few_runs(found, scores)
    truth = aggregate(np.linspace(0.3, 0.9, tasks)[:, np.newaxis], "iqm")
    return (None, None) if interval is None else (interval.low, interval.high), truth


def _alike(correlation: float, n: int, draw: np.random.Generator) -> np.ndarray:
    noise = draw.normal(0, math.sqrt(1 - correlation**2), n)
    noise[0] = draw.normal()
    for at in range(1, n):
        noise[at] += correlation * noise[at - 1]
    return noise


def _median(correlation: float, draw: np.random.Generator, n: int) -> tuple[Ends, float]:
    found = quantile_estimate(np.exp(0.3 * _alike(correlation, n, draw)), 0.5)
    return (found.low, found.high), 1.0


def _resilience(correlation: float, draw: np.random.Generator, n: int) -> tuple[Ends, float]:
    found = resilience_score(0.6 + 0.05 * _alike(correlation, n, draw), np.ones(n), 1.0)
    assert found is not None
    interval = found.interval
    return (None, None) if interval is None else (interval.low, interval.high), 60.0


def _row(
    topic: str,
    trial: Trial,
    n: int,
    unit: str,
    assumes: str,
    breaks: str,
    highest: float = 0.97,
    trials: int = 1_000,
) -> Guarantee:
    return Guarantee(
        f"{topic}, {n} {unit}",
        "95% interval holds the truth",
        partial(_covered, trial, n),
        trials=trials,
        lowest=0.93,
        highest=highest,
        assumes=assumes,
        breaks=breaks,
    )


_CASES = "cases are independent, or their cluster is declared"
_HARD = "the population holds rare cases that the sample has none of"
_COARSE = 0.995
"""Few cases that are mostly all right allow few outcomes, of which no set has just 95%."""

ROWS = (
    *(
        _row(f"share of {share:g}, 5 answers a case", partial(_share, share, 0.3), n, "cases",
             _CASES, _HARD, _COARSE)
        for share in (0.9, 0.98) for n in SIZES
    ),
    *(
        _row("pass@3", _pass_at_3, n, "cases", _CASES, _HARD, _COARSE if n == 10 else 0.97)
        for n in SIZES
    ),
    *(
        _row(f"graded, U-shaped around {mean:g}", partial(_graded, mean), n, "cases", _CASES,
             _HARD, _COARSE if mean > 0.9 else 0.98, trials=10_000)
        for mean in (0.5, 0.95) for n in SIZES
    ),
    *(
        _row("mean cost, log-sd 1", partial(_cost, 1.0, 0.0), n, "cases", _CASES, _HARD)
        for n in SIZES
    ),
    *(
        _row("mean cost, log-sd 1.2", partial(_cost, 1.2, 0.0), n, "cases", _CASES, _HARD)
        for n in (5, 8)
    ),
    _row("mean cost, log-sd 1, 10% free", partial(_cost, 1.0, 0.1), 100, "cases", _CASES, _HARD),
    _row("mean cost, log-sd 1 between and 0.5 within clusters of 10 cases", _clustered_cost, 8,
         "clusters", "clusters are declared", _HARD),
    _row("mean cost, 20% of the cases cost ten times as much", _few_dear, 10, "cases",
         f"{_CASES}; the sample has at least one of the dear cases", _HARD, highest=1),
    *(
        _row(f"interquartile mean of {runs} repeats", partial(_interquartile, runs), 10,
             "benchmarks", "repeats are independent", "repeats share a cache or a sitting")
        for runs in (3, 5)
    ),
    *(
        _row(f"median of one repeat, neighbors alike by {by:g}", partial(_median, by), n, "answers",
             "answers are in order of time", "what all answers of the repeat share", 0.985)
        for by, n in ((0.0, 30), (0.5, 100), (0.8, 100))
    ),
    *(
        Guarantee(
            f"median of one repeat, neighbors alike by 0.8, {n} answers",
            "95% interval is shown and misses the truth",
            partial(_wrong, partial(_median, 0.8), n),
            trials=2_000,
            highest=0.05,
            assumes="answers are in order of time",
            breaks="what all answers of the repeat share",
        )
        for n in (12, 30)
    ),
    *(
        _row(f"resilience, neighbors alike by {by:g}", partial(_resilience, by), n, "windows",
             "the level of service does not change within the run", "another run", 0.98)
        for by, n in ((0.0, 30), (0.5, 60), (0.8, 180))
    ),
)  # fmt: skip
