"""Labels by counting give what sorting gives, and random groups keep means and errors."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from agentbench_tui.analysis.sample import (
    distinct,
    grouped,
    mean_by,
    random_groups,
    sorted_distinct,
)

labels = st.one_of(
    st.lists(st.integers(-5, 20), max_size=40),
    st.lists(st.integers(-(2**40), 2**40), max_size=20),
)


@given(labels)
def test_labels_are_those_of_sorting(drawn: list[int]) -> None:
    array = np.array(drawn, np.int64)
    names, first, place, counts = np.unique(
        array, return_index=True, return_inverse=True, return_counts=True
    )
    found = distinct(array)
    np.testing.assert_array_equal(found.names, names)
    np.testing.assert_array_equal(found.first, first)
    np.testing.assert_array_equal(found.place, place.reshape(-1))
    np.testing.assert_array_equal(found.counts, counts)
    np.testing.assert_array_equal(sorted_distinct(array), names)
    numbers, count = grouped(np.zeros(len(array)), array)
    np.testing.assert_array_equal(numbers, place.reshape(-1))
    assert count == len(names)


@given(labels)
def test_means_by_label_are_those_of_each_label(drawn: list[int]) -> None:
    array = np.array(drawn, np.int64)
    values = np.sqrt(np.arange(len(array), dtype=np.float64))
    names, means = mean_by(array, values)
    assert names.tolist() == sorted(set(drawn))
    for name, value in zip(names.tolist(), means.tolist(), strict=True):
        np.testing.assert_allclose(value, values[array == name].mean())


def test_random_groups_keep_means_and_their_errors() -> None:
    draw = np.random.default_rng(1)
    table = np.stack([draw.random(60_000) < 0.3, draw.exponential(2.0, 60_000)]).astype(float)
    found = random_groups(table, 2_000, seed=3)
    assert found.shape == (2, 2_000)
    np.testing.assert_allclose(found.mean(axis=1), table.mean(axis=1), rtol=1e-12)
    of_cases = table.std(axis=1, ddof=1) / np.sqrt(60_000)
    of_groups = found.std(axis=1, ddof=1) / np.sqrt(2_000)
    # The relative error of a standard deviation of 2,000 values is 1.6%; four of them.
    np.testing.assert_allclose(of_groups, of_cases, rtol=0.064)
    together = np.corrcoef(table)[0, 1], np.corrcoef(found)[0, 1]
    np.testing.assert_allclose(*together, atol=0.09)
