"""Cost by totals: equal bills, and whether the interval holds the true ratio of the bills."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from agentbench_tui.verdicts.comparison.comparison import Asked, Comparison, Paired
from agentbench_tui.verdicts.comparison.head_to_head import compare_metric
from agentbench_tui.verdicts.comparison.judgment import judged
from simulations.evidence import asked
from simulations.guarantee import Guarantee, Rate

Floats = NDArray[np.float64]
Costs = Callable[[int, np.random.Generator], tuple[Floats, Floats]]
METRIC = "cost_usd_per_task"
FACTOR = 1.3
ASSUMES = "every price is known; cases are independent, or their cluster is declared"
BREAKS = "one case in a hundred costs most of the bill, and the sample has none"


def both_skewed(cases: int, draw: np.random.Generator) -> tuple[Floats, Floats]:
    """Hard cases cost both agents more: log-sd 1 between cases, 0.5 between answers."""
    hard = draw.normal(0, 1, cases)
    a, b = np.exp(hard + draw.normal(0, 0.5, (2, cases)))
    return a, b


def one_flat(cases: int, draw: np.random.Generator) -> tuple[Floats, Floats]:
    """A costs the same everywhere; B has log-sd 1 and the same expected bill."""
    return np.ones(cases), np.exp(draw.normal(-0.5, 1, cases))


def one_flat_heavy(cases: int, draw: np.random.Generator) -> tuple[Floats, Floats]:
    """The same with log-sd 1.2."""
    return np.ones(cases), np.exp(draw.normal(-0.72, 1.2, cases))


def compared(
    costs: Costs,
    cases: int,
    factor: float,
    trials: int,
    draw: np.random.Generator,
    paired: Paired = "auto",
) -> Iterator[Comparison]:
    """B's expected bill is `factor` times A's."""
    for _ in range(trials):
        a, b = costs(cases, draw)
        of_a, of_b = (asked(cases, cost_usd_per_task=one) for one in (a, factor * b))
        how = Asked(paired, seed=int(draw.integers(1 << 30)), resamples=2000)
        found = compare_metric(METRIC, of_a, of_b, how)
        assert found is not None
        yield judged(found, found.p_tested)


def called_different(costs: Costs, cases: int) -> Callable[[int, np.random.Generator], Rate]:
    def measure(trials: int, draw: np.random.Generator) -> Rate:
        found = compared(costs, cases, 1.0, trials, draw)
        return Rate(sum(one.verdict in {"better", "worse"} for one in found), trials)

    return measure


def covered(
    costs: Costs, cases: int, paired: Paired = "auto"
) -> Callable[[int, np.random.Generator], Rate]:
    def measure(trials: int, draw: np.random.Generator) -> Rate:
        found = compared(costs, cases, FACTOR, trials, draw, paired)
        return Rate(sum(_holds(one, FACTOR) for one in found), trials)

    return measure


def _holds(found: Comparison, truth: float) -> bool:
    low = -np.inf if found.low is None else found.low
    return bool(low <= truth <= (np.inf if found.high is None else found.high))


def _rows() -> Iterator[Guarantee]:
    for costs, name in (
        (both_skewed, "log-sd 1 on both sides"),
        (one_flat, "log-sd 1 against a flat price"),
    ):
        for cases in (15, 30, 100):
            topic = f"compare, cost of {cases} cases, {name}"
            if costs is both_skewed:
                yield Guarantee(
                    topic, "equal bills called different", called_different(costs, cases),
                    trials=1_000, highest=0.05, assumes=ASSUMES, breaks=BREAKS,
                )  # fmt: skip
            yield Guarantee(
                topic, "95% interval holds the true ratio", covered(costs, cases),
                trials=1_000, lowest=0.93, assumes=ASSUMES, breaks=BREAKS,
            )  # fmt: skip
    for cases in (10, 15, 30):
        yield Guarantee(
            f"compare, cost of {cases} cases, no case in common, log-sd 1.2 against a flat price",
            "95% interval holds the true ratio", covered(one_flat_heavy, cases, "no"),
            trials=1_000, lowest=0.93, assumes=ASSUMES, breaks=BREAKS,
        )  # fmt: skip


ROWS = tuple(_rows())
