"""Ratios of sums, such as precision: equal agents, and whether the interval holds the truth."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from agentbench_tui.model.figures.metric import Metric
from agentbench_tui.verdicts.comparison.comparison import Asked, Comparison
from agentbench_tui.verdicts.comparison.head_to_head import compare_metric
from agentbench_tui.verdicts.comparison.judgment import judged
from agentbench_tui.verdicts.evidence.ratio_columns import sum_columns
from agentbench_tui.verdicts.evidence.task_evidence import TaskEvidence
from simulations.evidence import asked
from simulations.guarantee import Guarantee, Rate

Floats = NDArray[np.float64]
Sums = tuple[Floats, Floats]
Draw = Callable[[int, np.random.Generator], tuple[Sums, Sums]]
NAME = "ratio"
FACTOR = 1.3
ASSUMES = "cases are independent, or their cluster is declared"
BREAKS = "one case in a hundred holds most of what is counted, and the sample has none"


def counted(cases: int, draw: np.random.Generator) -> tuple[Sums, Sums]:
    """Right ones of a case's items, whose number has log-sd 1; the share varies by case."""
    hard = draw.beta(4, 2, cases)
    size = np.exp(draw.normal(1, 1, cases))
    sides = []
    for _ in range(2):
        bottom = np.maximum(1, np.round(size * np.exp(draw.normal(0, 0.3, cases))))
        share = np.clip(hard + draw.normal(0, 0.1, cases), 0.01, 0.99)
        sides.append((draw.binomial(bottom.astype(int), share).astype(float), bottom))
    return sides[0], sides[1]


def larger_are_harder(cases: int, draw: np.random.Generator) -> tuple[Sums, Sums]:
    """The same number of items for both, of which large cases have fewer right ones."""
    z = draw.normal(0, 1, cases)
    bottom = np.maximum(1, np.round(np.exp(1.5 + z)))
    sides = []
    for _ in range(2):
        share = 1 / (1 + np.exp(-(1 - 0.7 * z + draw.normal(0, 0.5, cases))))
        sides.append((draw.binomial(bottom.astype(int), share).astype(float), bottom))
    return sides[0], sides[1]


def heavy_amounts(cases: int, draw: np.random.Generator) -> tuple[Sums, Sums]:
    """Amounts: the second numbers have log-sd 1.5."""
    size, rate = draw.normal(0, 1.5, cases), draw.normal(0, 0.5, cases)
    sides = []
    for _ in range(2):
        bottom = np.exp(size + draw.normal(0, 0.3, cases))
        sides.append((bottom * np.exp(rate + draw.normal(0, 0.3, cases)), bottom))
    return sides[0], sides[1]


def f1_of_yes_and_no(cases: int, draw: np.random.Generator) -> tuple[Sums, Sums]:
    """F1 of a filter that is right in three of four cases: (2 TP, 2 TP + FP + FN)."""
    true = draw.random(cases) < 0.5
    hard = draw.normal(0, 1, cases)
    sides = []
    for _ in range(2):
        right = hard + draw.normal(0, 1, cases) < 0.954
        said = np.where(right, true, ~true)
        sides.append((2.0 * (said & true), said.astype(float) + true))
    return sides[0], sides[1]


SHARES = (counted, larger_are_harder, f1_of_yes_and_no)


def compared(
    of: Draw,
    cases: int,
    trials: int,
    draw: np.random.Generator,
    *,
    factor: float = 1.0,
    copies: int = 1,
    is_paired: bool = True,
) -> Iterator[Comparison]:
    """B's first numbers are `factor` times as large. Each case is a cluster of so many copies;
    unless `is_paired` both sides are asked other cases."""
    unit = "share" if of in SHARES else "amounts"
    how = Asked("auto" if is_paired else "no", columns={NAME: Metric(NAME, unit, "higher", "")})
    for _ in range(trials):
        a, b = of(cases, draw)
        if not is_paired:
            b = of(cases, draw)[1]
        sides = _side(a, 1.0, copies), _side(b, factor, copies)
        found = compare_metric(NAME, *sides, how)
        assert found is not None
        yield judged(found, found.p_tested)


def _side(sums: Sums, factor: float, copies: int) -> TaskEvidence:
    top, bottom = (np.repeat(one, copies) for one in sums)
    values = dict(zip(sum_columns(NAME), (factor * top, bottom), strict=True))
    side = asked(len(top), **values)
    return replace(side, cluster=side.case // copies)


def called_different(
    of: Draw, cases: int, copies: int = 1
) -> Callable[[int, np.random.Generator], Rate]:
    def measure(trials: int, draw: np.random.Generator) -> Rate:
        found = compared(of, cases, trials, draw, copies=copies)
        return Rate(sum(one.verdict in {"better", "worse"} for one in found), trials)

    return measure


def covered(
    of: Draw, cases: int, copies: int = 1, *, is_paired: bool = True
) -> Callable[[int, np.random.Generator], Rate]:
    """Count which of so many shown intervals hold the truth; few cases have none in some draws."""
    factor, truth = (1.0, 0.0) if of in SHARES else (FACTOR, FACTOR)

    def measure(trials: int, draw: np.random.Generator) -> Rate:
        most = 10 * trials
        found = compared(of, cases, most, draw, factor=factor, copies=copies, is_paired=is_paired)
        ends = ((x.low, x.high) for x in found if x.low is not None and x.high is not None)
        shown = [*islice(ends, trials)]
        return Rate(sum(low <= truth <= high for low, high in shown), len(shown))

    return measure


def _rows() -> Iterator[Guarantee]:
    for of, name in (
        (counted, "items of log-sd 1"),
        (larger_are_harder, "items of log-sd 1, large cases are harder"),
        (heavy_amounts, "second numbers of log-sd 1.5"),
        (f1_of_yes_and_no, "F1 of yes and no"),
    ):
        for cases in (10, 30, 100):
            topic = f"compare, ratio of sums of {cases} cases, {name}"
            yield Guarantee(
                topic, "equal agents called different", called_different(of, cases),
                trials=2_000, highest=0.05, assumes=ASSUMES, breaks=BREAKS,
            )  # fmt: skip
            yield Guarantee(
                topic, "shown 95% interval holds the truth", covered(of, cases),
                trials=2_000, lowest=0.93, highest=1.0 if cases == 10 else 0.97,
                assumes=ASSUMES, breaks=BREAKS,
            )  # fmt: skip
    topic = "compare, ratio of sums of 12 clusters of 5 cases, items of log-sd 1"
    yield Guarantee(
        topic, "shown 95% interval holds the truth", covered(counted, 12, 5),
        trials=2_000, lowest=0.93, highest=0.97, assumes="clusters are declared", breaks=BREAKS,
    )  # fmt: skip
    for cases in (10, 30):
        topic = f"compare, ratio of sums of {cases} cases, no case in common, items of log-sd 1"
        yield Guarantee(
            topic, "shown 95% interval holds the truth", covered(counted, cases, is_paired=False),
            trials=2_000, lowest=0.93, highest=0.97, assumes=ASSUMES, breaks=BREAKS,
        )  # fmt: skip


ROWS = tuple(_rows())
