"""What every statistic takes, against numpy."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import norm, rankdata

from agentbench_tui.analysis.intervals.serial_dependence import _normal_scores
from agentbench_tui.analysis.sample import count_distinct, grouped, median
from agentbench_tui.analysis.summary import quantile

NUMBERS = st.lists(st.floats(-1e9, 1e9), min_size=1, max_size=30)
LABELS = st.lists(st.integers(-3, 3), min_size=0, max_size=30)


@given(NUMBERS)
def test_the_median_is_that_of_numpy(values: list[float]) -> None:
    assert median(np.array(values)) == np.median(values)


@given(NUMBERS, st.floats(0, 1))
def test_a_quantile_is_that_of_numpy(values: list[float], q: float) -> None:
    assert quantile(values, q) == np.quantile(values, q)


@given(LABELS)
def test_labels_are_counted_and_renumbered_as_numpy_does(labels: list[int]) -> None:
    array = np.array(labels, np.int64)
    names, numbers = np.unique(array, return_inverse=True)
    found, count = grouped(np.zeros(len(labels)), array)
    assert count == count_distinct(array) == len(names)
    assert found.tolist() == numbers.tolist()


@given(st.lists(st.integers(0, 9), min_size=1, max_size=40))
def test_normal_scores_are_those_of_ranks_with_ties_averaged(values: list[int]) -> None:
    wanted = norm.ppf((rankdata(values) - 0.5) / len(values))
    assert np.abs(_normal_scores(np.array(values, float)) - wanted).max() < 2e-6
