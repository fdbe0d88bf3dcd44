"""How often the same agent, measured twice, is called better or worse than itself.

    python benchmarks/compare_rates.py [TRIALS]

Times of seven shapes of noise, n = 5, 15 and 30, in percent of the trials. `repeats`: n repeats of
20 answers each, their medians compared, as of load. `cases in repeats`: 20 cases asked in n
repeats, compared case by case and by repeats; repeats differ by 2% in both. `cases`: n cases asked
in one repeat, and `answers`: n answers of one repeat, that are not of the same cases; how much
repeats differ cannot be seen there, so they don't. Beside it how often 10 and 20% more are found.
The bar: 5% of equal ones over the shapes for each n, and two standard errors of the trials (200;
a quarter of them for what is found).
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np

from agentbench_tui.analysis.sample import Floats
from agentbench_tui.verdicts.comparison.comparison import Asked
from agentbench_tui.verdicts.comparison.head_to_head import compare_metric
from agentbench_tui.verdicts.comparison.judgment import judged
from agentbench_tui.verdicts.evidence.evidence import Evidence

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "verdicts"))
from evidence_made import SHAPES, Repeats, asked, noise

TRIALS, SIZES, FACTORS, SEED, BAR = 200, (5, 15, 30), (1.0, 1.1, 1.2), 20261128, 0.05
CASES, BETWEEN = 20, 0.02
HOW = Asked(resamples=2_000)

Draw = np.random.Generator


def repeats(shape: str, n: int, draw: Draw, factor: float) -> Evidence:
    values = factor * noise(shape, n, CASES, draw) * _between(n, draw)
    return Repeats({"e2e_ms.p50": np.median(values, axis=1)})


def cases_in_repeats(shape: str, n: int, draw: Draw, factor: float) -> Evidence:
    values = factor * noise(shape, n, CASES, draw) * _between(n, draw) * _hard(CASES)
    return asked(CASES, n, e2e_ms=values)


def cases(shape: str, n: int, draw: Draw, factor: float) -> Evidence:
    return asked(n, 1, e2e_ms=factor * noise(shape, 1, n, draw) * _hard(n))


def answers(shape: str, n: int, draw: Draw, factor: float) -> Evidence:
    return asked(n, 1, e2e_ms=factor * noise(shape, 1, n, draw))


def _between(n: int, draw: Draw) -> Floats:
    return np.asarray(np.exp(draw.normal(0, BETWEEN, (n, 1))))


def _hard(cases: int) -> Floats:
    """How much longer each case takes, the same on both sides."""
    return np.asarray(np.exp(np.random.default_rng(1).normal(0, 0.3, cases)))


DESIGNS: dict[str, tuple[Callable[[str, int, Draw, float], Evidence], str, bool]] = {
    "repeats": (repeats, "e2e_ms.p50", True),
    "cases in repeats": (cases_in_repeats, "e2e_ms", True),
    "cases": (cases, "e2e_ms", True),
    "answers": (answers, "e2e_ms", False),
}


def called(design: str, shape: str, n: int, trials: int, factor: float = 1.0) -> float:
    """Share of trials with better or worse, when B takes `factor` times as long."""
    make, metric, paired = DESIGNS[design]
    draw = np.random.default_rng((SEED, n, SHAPES.index(shape), list(DESIGNS).index(design)))
    hits = 0
    for _ in range(trials):
        a, b = make(shape, n, draw, 1.0), make(shape, n, draw, factor)
        how = HOW if paired else Asked(paired="no", resamples=HOW.resamples)
        found = compare_metric(metric, a, b, how)
        assert found is not None
        hits += judged(found, found.p_tested).verdict in {"better", "worse"}
    return hits / trials


def main() -> None:
    trials = int(sys.argv[1]) if len(sys.argv) > 1 else TRIALS
    missed = []
    for design in DESIGNS:
        print(f"\n{design:<18}" + "".join(f"   n = {n:<3} +10% +20%" for n in SIZES))
        table = np.array(
            [
                [
                    [
                        called(design, shape, n, trials if by == 1 else trials // 4, by)
                        for by in FACTORS
                    ]
                    for n in SIZES
                ]
                for shape in SHAPES
            ]
        )
        for shape, rates in zip((*SHAPES, "all"), [*table, table.mean(axis=0)], strict=True):
            cells = ("".join(f"{100 * rate:7.1f}" for rate in of_n) for of_n in rates)
            print(f"{shape:<18}" + "  ".join(cells))
        for n, rate in zip(SIZES, table[:, :, 0].mean(axis=0), strict=True):
            if rate > BAR + 2 * np.sqrt(BAR * (1 - BAR) / (trials * len(SHAPES))):
                missed.append(f"{design}, n = {n}: {100 * rate:.1f}%")
    print(f"\nbar: 5% of equal ones, {'held' if not missed else 'MISSED: ' + '; '.join(missed)}")


if __name__ == "__main__":
    main()
