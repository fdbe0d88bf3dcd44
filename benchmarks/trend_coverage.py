"""How often the interval of a soak's slope holds the truth, how wide it is, what is called rising.

    python benchmarks/trend_coverage.py [--seed 1] [--series 100] [--samples 60 300 1800]

Twelve shapes of noise about a line that rises by 1 over the run. Beside the module's interval
stands that of ordinary least squares. `false` is how often a slope of 0 is called one that rises or
falls, `found` how often one of 10 is called rising.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy import signal, stats

from agentbench_tui.analysis.runs.trend import trend_line

Floats = NDArray[np.float64]
Shape = Callable[[np.random.Generator, int], Floats]
RUN_S = 600.0
WARM = 300


def ar(correlation: float, df: float = np.inf) -> Shape:
    """Of variance 1 (but for heavy tails, df of Student's t), correlated from sample to sample."""

    def made(draw: np.random.Generator, n: int) -> Floats:
        steps = draw.normal(0, 1, n + WARM) if df == np.inf else draw.standard_t(df, n + WARM)
        gain = np.sqrt(1 - correlation**2)
        return np.asarray(signal.lfilter([gain], [1, -correlation], steps))[WARM:]

    return made


def steps(draw: np.random.Generator, n: int) -> Floats:
    return np.cumsum((draw.random(n) < 10 / n) * draw.normal(0, 1, n))


def walk(draw: np.random.Generator, n: int) -> Floats:
    return np.cumsum(draw.normal(0, 0.1, n))


def saw(draw: np.random.Generator, n: int) -> Floats:
    """A garbage collector's: 25 teeth."""
    return 2 * ((np.arange(n) / n * 25 + draw.random()) % 1) + draw.normal(0, 0.1, n)


SHAPES: dict[str, Shape] = {
    "independent": ar(0),
    "AR .5": ar(0.5),
    "AR .9": ar(0.9),
    "AR .97": ar(0.97),
    "AR .5, t(3)": ar(0.5, 3),
    "exp(AR .5)": lambda draw, n: np.exp(ar(0.5)(draw, n)),
    "outliers": lambda draw, n: (
        ar(0.3)(draw, n) + (draw.random(n) < 0.03) * draw.exponential(10, n)
    ),
    "saw teeth": saw,
    "AR .97 + noise": lambda draw, n: ar(0.97)(draw, n) + draw.normal(0, 1, n),
    "walk": walk,
    "walk + noise": lambda draw, n: walk(draw, n) + draw.normal(0, 0.5, n),
    "steps": steps,
}


def least_squares_holds(times: Floats, values: Floats, slope: float) -> bool:
    fit = stats.linregress(times, values)
    half = stats.t.ppf(0.975, times.size - 2) * fit.stderr
    return bool(abs(fit.slope - slope) <= half)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--series", type=int, default=100)
    parser.add_argument("--samples", type=int, nargs="+", default=[60, 300, 1800])
    options = parser.parse_args()
    print(f"{'noise':<15} {'n':>5} {'covers':>7} {'OLS':>6} {'width':>6} {'false':>6} {'found':>6}")
    for n in options.samples:
        times = np.arange(n) / n * RUN_S
        for place, (name, shape) in enumerate(SHAPES.items()):
            draw = np.random.default_rng([options.seed, n, place])
            rows = []
            for _ in range(options.series):
                noise = shape(draw, n)
                still, found, steep = (
                    trend_line(times, noise + k * times / RUN_S) for k in (0, 1, 10)
                )
                assert still is not None
                assert found is not None
                assert steep is not None
                low, high = found.interval.low * RUN_S, found.interval.high * RUN_S
                ordinary = least_squares_holds(times, noise + times / RUN_S, 1 / RUN_S)
                false = still.direction != "no trend seen"
                rows.append(
                    (low <= 1 <= high, ordinary, false, steep.direction == "rises", high - low)
                )
            covers, ordinary_, false_, found_, _ = np.mean(rows, axis=0)
            width = np.median([row[4] for row in rows])
            print(
                f"{name:<15} {n:5} {covers:7.2f} {ordinary_:6.2f} {width:6.2f} {false_:6.2f}"
                f" {found_:6.2f}",
                flush=True,
            )


if __name__ == "__main__":
    main()
