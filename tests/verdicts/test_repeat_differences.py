"""p of differences between agents by whole repeats, against scipy, pair by pair."""

import numpy as np
import pytest
from scipy import stats

from agentbench_tui.verdicts.ranking.repeat_differences import Strata, repeat_differences


@pytest.mark.parametrize("agents", [6, 210], ids=["few pairs", "21,945 pairs"])
def test_at_one_place_each_pair_is_judged_as_welch_would(agents: int) -> None:
    draw = np.random.default_rng(2)
    samples = [draw.normal(draw.uniform(0, 3), 1, 3 + number % 4) for number in range(agents)]
    found = repeat_differences([Strata.of([one]) for one in samples])
    assert np.isnan(found[np.triu_indices(agents)]).all()
    for a in range(agents):
        for b in range(max(0, a - 3), a):
            expected = stats.ttest_ind(samples[a], samples[b], equal_var=False).pvalue
            assert found[a, b] == pytest.approx(expected, rel=1e-9)


def test_a_known_error_is_added_and_what_is_allowed_does_not_count() -> None:
    one, other = Strata(3.0, (0.04,), (4,), True), Strata(2.0, (0.05,), (6,), True)
    # z of 1 - 0.2 over √(0.04 + 0.05 + 100²): the known error is all there is of it.
    found = repeat_differences([one, other], 0.2, 100.0)
    assert found[1, 0] == pytest.approx(2 * stats.norm.sf(0.8 / 100), rel=1e-6)
    assert repeat_differences([one, other], 1.0)[1, 0] == 1.0


def test_who_has_one_repeat_is_not_tested() -> None:
    known = Strata.of([np.array([1.0, 2.0])])
    found = repeat_differences([known, Strata.of([np.array([1.0])]), known])
    assert np.isnan(found[1]).all()
    assert found[2, 0] == 1.0
    assert np.isnan(found[2, 1])
