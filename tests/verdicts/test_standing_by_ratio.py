"""Ranks by a ratio of totals: which test, and what it gives."""

import numpy as np
import pytest
from scipy.stats import ttest_1samp

from agentbench_tui.analysis.boards.ranking import sign_flip_p
from agentbench_tui.analysis.differences.multiplicity import holm
from agentbench_tui.analysis.intervals.estimate import Estimate
from agentbench_tui.analysis.resampling.permutation import sign_flip_test
from agentbench_tui.verdicts.ranking.standing import Standings
from agentbench_tui.verdicts.ranking.standing_by_ratio import by_ratios


def ranked(costs: np.ndarray, right: np.ndarray) -> Standings:
    values = costs.sum(axis=1) / right.sum(axis=1)
    scores = [Estimate(one, None, None, costs.shape[1], "ratio") for one in values.tolist()]
    return by_ratios(costs, right, scores, "lower")


def many(agents: int, cases: int, cheaper: int) -> tuple[np.ndarray, np.ndarray]:
    """Costs and right answers, of which the first agents pay a tenth."""
    draw = np.random.default_rng(3)
    costs = draw.lognormal(size=(agents, cases))
    costs[:cheaper] /= 10
    return costs, (draw.random((agents, cases)) < 0.6).astype(float)


@pytest.mark.parametrize("cases", [9, 40])
def test_p_of_flipped_signs_is_that_of_each_pair_alone(cases: int) -> None:
    differences = np.random.default_rng(5).normal(0.4, 1, (6, cases))
    differences[0] = 0
    p = sign_flip_p(differences, seed=2, resamples=20_000)
    assert p[0] == 1
    for one, row in zip(p[1:].tolist(), differences[1:], strict=True):
        alone = sign_flip_test(row, seed=7, draws=20_000)
        assert alone is not None
        assert one == pytest.approx(alone.p, abs=1e-12 if cases == 9 else 0.015)


def test_of_few_agents_the_signs_are_flipped() -> None:
    found = ranked(*many(4, 40, 1))
    assert found.method == "ratios of totals by case: sign flips, Holm"
    assert [len(one.ahead_of) for one in found.rows] == [3, 0, 0, 0]


def test_of_many_agents_student_decides() -> None:
    costs, right = many(80, 100, 2)
    found = ranked(costs, right)
    assert found.method == "ratios of totals by case: t, Holm"
    p = {}
    for a in range(80):
        for b in range(a):
            ratio = (costs[a] + costs[b]).sum() / (right[a] + right[b]).sum()
            p[a, b] = float(
                ttest_1samp(costs[a] - costs[b] - ratio * (right[a] - right[b]), 0).pvalue
            )
    clear = {pair for pair, one in zip(p, holm([*p.values()]), strict=True) if one < 0.05}
    for row, one in enumerate(found.rows):
        both = {*one.ahead_of, *one.behind}
        assert both == {a + b - row for a, b in clear if row in (a, b)}
    assert len(clear) > 50
