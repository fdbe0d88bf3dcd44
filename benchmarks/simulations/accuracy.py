"""Accuracy by case: equal agents, and agents that are equivalent or not."""

from __future__ import annotations

import numpy as np

from agentbench_tui.verdicts.comparison.comparison import Asked
from agentbench_tui.verdicts.comparison.head_to_head import compare_metric
from agentbench_tui.verdicts.comparison.judgment import judged
from simulations.evidence import asked
from simulations.guarantee import Guarantee, Rate

CASES = 100


def _verdicts(
    p_a: float, p_b: float, cases: int, trials: int, draw: np.random.Generator
) -> list[str]:
    """Of answers right with these probabilities, independent between the agents."""
    found = []
    for _ in range(trials):
        a, b = (asked(cases, accuracy=draw.random(cases) < p) for p in (p_a, p_b))
        compared = compare_metric("accuracy", a, b, Asked())
        assert compared is not None
        found.append(judged(compared, compared.p_tested).verdict)
    return found


def _called_different(trials: int, draw: np.random.Generator) -> Rate:
    found = _verdicts(0.8, 0.8, CASES, trials, draw)
    return Rate(sum(one in {"better", "worse"} for one in found), trials)


def _called_equivalent(trials: int, draw: np.random.Generator) -> Rate:
    """At a true difference of exactly the margin (2 points), with enough cases to say so."""
    found = _verdicts(0.90, 0.88, 2_000, trials, draw)
    return Rate(found.count("equivalent"), trials)


ROWS = (
    Guarantee(
        "compare, accuracy of 100 cases",
        "equal agents called different",
        _called_different,
        trials=1_000,
        highest=0.05,
        assumes="cases are independent, or their cluster is declared",
        breaks="questions share a document or template and no cluster is declared",
    ),
    Guarantee(
        "compare, accuracy of 2,000 cases, 2 points apart",
        "called equivalent",
        _called_equivalent,
        trials=1_000,
        highest=0.05,
        assumes="cases are independent, or their cluster is declared",
        breaks="questions share a document or template and no cluster is declared",
    ),
)
