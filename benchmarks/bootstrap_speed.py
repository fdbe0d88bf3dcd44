"""What a bootstrap interval costs: time and memory at 10,000 resamples, with scipy's beside it.

    python benchmarks/bootstrap_speed.py

Best of several turns, in ms; the peak of what was allocated, in MB.
"""

from __future__ import annotations

import time
import tracemalloc
from collections.abc import Callable

import numpy as np
from scipy import stats

from agentbench_tui.analysis.boards.task_aggregate import (
    bootstrap_aggregate,
    probability_of_improvement,
)
from agentbench_tui.analysis.resampling.bootstrap import (
    bootstrap_difference,
    bootstrap_mean,
    bootstrap_median_ratio,
    bootstrap_paired_ratio,
)
from agentbench_tui.analysis.resampling.resampling import Resampling

TURNS, BAR_MS = 3, 500.0
BARRED = "BCa of a mean, n = 1,000"


def best_ms(call: Callable[[], object]) -> float:
    best = float("inf")
    for _ in range(TURNS):
        began = time.perf_counter()
        call()
        best = min(best, time.perf_counter() - began)
    return 1000 * best


def peak_mb(call: Callable[[], object]) -> float:
    tracemalloc.start()
    call()
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return peak / 1e6


def main() -> None:
    generator = np.random.default_rng(1)
    x, y = generator.lognormal(0, 0.3, 1000), generator.lognormal(0, 0.3, 1000)
    long = generator.lognormal(0, 0.3, 10_000)
    longest = generator.lognormal(0, 0.3, 100_000)
    sources = np.repeat(np.arange(300), np.arange(300) % 5 + 1)
    scores = generator.normal(0.5, 0.1, (100, 10))
    how, plenty = Resampling(resamples=10_000), Resampling()
    calls: dict[str, Callable[[], object]] = {
        BARRED: lambda: bootstrap_mean(x, how),
        "the same by scipy": lambda: stats.bootstrap(
            (x,), np.mean, n_resamples=10_000, method="BCa", batch=500
        ),
        "BCa of a mean, n = 15, 100,000 resamples": lambda: bootstrap_mean(x[:15], plenty),
        "BCa of a mean, n = 100, 40,000 resamples": lambda: bootstrap_mean(x[:100], plenty),
        "BCa of a mean, n = 10,000": lambda: bootstrap_mean(long, how),
        "BCa of a mean, n = 100,000": lambda: bootstrap_mean(longest, how),
        "BCa of a ratio of pairs, n = 1,000": lambda: bootstrap_paired_ratio(x, y, how),
        "BCa of a difference, 1,000 and 1,000": lambda: bootstrap_difference(x, y, how),
        "BCa of a mean, 300 clusters of 1 to 5": lambda: bootstrap_mean(
            long[: sources.size], how, sources
        ),
        "percentile of a ratio of medians, n = 100": lambda: bootstrap_median_ratio(
            x[:100], y[:100], how
        ),
        "interquartile mean, 100 tasks of 10 runs": lambda: bootstrap_aggregate(scores, "iqm"),
        "probability of improvement, the same": lambda: probability_of_improvement(
            scores, scores + 0.01
        ),
    }
    figures = {name: (best_ms(call), peak_mb(call)) for name, call in calls.items()}
    for name, (ms, mb) in figures.items():
        print(f"{ms:9.1f} ms {mb:7.1f} MB  {name}")
    ms = figures[BARRED][0]
    print(f"bar: {ms:.0f} ms of {BAR_MS:g} ms, {'held' if ms <= BAR_MS else 'MISSED'}")


if __name__ == "__main__":
    main()
