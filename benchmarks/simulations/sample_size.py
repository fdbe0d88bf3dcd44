"""Whether the sizes that `compare` proposes settle what is open in 4 of 5 tries."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from agentbench_tui.verdicts.comparison.comparison import Asked, Comparison
from agentbench_tui.verdicts.comparison.head_to_head import compare_metric
from agentbench_tui.verdicts.comparison.judgment import judged
from agentbench_tui.verdicts.evidence.task_evidence import TaskEvidence
from simulations.evidence import asked
from simulations.guarantee import Guarantee, Rate

_Measure = Callable[[int, float, float, int, np.random.Generator], Rate]
_RIGHT = 0.5
"""Of the cases on which both agree, the share that both get right."""


def _agents(
    cases: int, only_a: float, only_b: float, draw: np.random.Generator
) -> tuple[TaskEvidence, TaskEvidence]:
    """Two agents that are right alone on these shares of the cases."""
    kind = draw.random(cases)
    both = (draw.random(cases) < _RIGHT).astype(float)
    apart = kind < only_a + only_b
    a = np.where(apart, kind < only_a, both)
    b = np.where(apart, kind >= only_a, both)
    return asked(cases, accuracy=a), asked(cases, accuracy=b)


def _judged(cases: int, only_a: float, only_b: float, draw: np.random.Generator) -> Comparison:
    found = compare_metric("accuracy", *_agents(cases, only_a, only_b, draw), Asked())
    assert found is not None
    return judged(found, found.p_tested)


def _detected(
    cases: int, only_a: float, only_b: float, trials: int, draw: np.random.Generator
) -> Rate:
    """First runs that are inconclusive, each run again at the proposed size, with the effect that
    the proposal assumes as the truth."""
    hits = tried = 0
    apart = only_a + only_b
    while tried < trials:
        first = _judged(cases, only_a, only_b, draw)
        effect = first.effect_assumed
        if first.n_needed is None or effect is None or abs(effect) >= apart:
            continue
        tried += 1
        again = _judged(first.n_needed, (apart - effect) / 2, (apart + effect) / 2, draw)
        hits += again.verdict == ("better" if effect > 0 else "worse")
    return Rate(hits, trials)


def _excluded(
    cases: int, only_a: float, only_b: float, trials: int, draw: np.random.Generator
) -> Rate:
    """The same with equal agents, at the size that excludes the margin."""
    hits = tried = 0
    apart = only_a + only_b
    while tried < trials:
        first = _judged(cases, only_a, only_b, draw)
        if first.verdict != "inconclusive" or first.n_to_exclude is None:
            continue
        tried += 1
        again = _judged(first.n_to_exclude, apart / 2, apart / 2, draw)
        hits += again.verdict == "equivalent"
    return Rate(hits, trials)


_SAME = "the new cases are like the old ones"
_RARE = "few of the first cases differ, so that their share is hardly known"


def _row(measure: _Measure, event: str, cases: int, only_a: float, only_b: float) -> Guarantee:
    """The row of a first run in which these shares of the cases are right on one side alone."""
    return Guarantee(
        f"needs N, accuracy, first run of {cases} cases, {100 * only_b:g}% against"
        f" {100 * only_a:g}% right alone",
        event,
        partial(measure, cases, only_a, only_b),
        trials=300,
        lowest=0.75,
        highest=0.88,
        assumes=_SAME,
        breaks=_RARE,
    )


_FOUND = "run at N, the assumed effect is found"
_EXCLUDED = "run at N, the margin is excluded where there is no effect"

ROWS = (
    _row(_detected, _FOUND, 40, 0.1, 0.25),
    _row(_detected, _FOUND, 100, 0.1, 0.2),
    _row(_excluded, _EXCLUDED, 40, 0.15, 0.15),
    _row(_excluded, _EXCLUDED, 100, 0.1, 0.2),
)
