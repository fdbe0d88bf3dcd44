"""pass@k and pass^k of several attempts at each case."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentbench_tui.analysis.attempts import (
    Attempts,
    attempts_at,
    estimate_passes,
    pass_names,
    pass_values,
)


def attempts(*cases: str) -> Attempts:
    """Attempts at cases, each written as `110`: right, right, wrong."""
    labels = np.array([7 * n for n, case in enumerate(cases) for _ in case], np.int64)
    right = np.array([one == "1" for case in cases for one in case], np.bool_)
    return attempts_at(labels, right)


@given(st.text("01", min_size=1, max_size=7), st.data())
def test_estimates_are_the_shares_of_all_draws_of_k_attempts(
    case: str, data: st.DataObject
) -> None:
    k = data.draw(st.integers(1, len(case)))
    draws = list(itertools.combinations(case, k))
    any_right = sum("1" in draw for draw in draws) / len(draws)
    all_right = sum("0" not in draw for draw in draws) / len(draws)
    made = attempts(case)
    assert pass_values(made, f"pass@{k}") == pytest.approx([any_right])
    assert pass_values(made, f"pass^{k}") == pytest.approx([all_right])


def test_each_case_has_equal_weight_whatever_its_attempts() -> None:
    # C(1,1)/C(3,2) = 1/3 of two right in three, 1 of two in two.
    found = estimate_passes(attempts("110", "11"), "pass^2")
    assert found.value == pytest.approx(2 / 3)
    assert (found.n, found.reason) == (2, "")
    assert found.low is not None
    assert found.high is not None
    assert 0 < found.low < 2 / 3 < found.high < 1


def test_cases_with_fewer_attempts_are_left_out_and_counted() -> None:
    found = estimate_passes(attempts("111", "000", "1"), "pass@3")
    assert (found.value, found.n) == (0.5, 2)
    assert found.reason == "2 of 3 cases have 3 attempts"


def test_there_is_no_value_where_most_cases_have_fewer_attempts() -> None:
    found = estimate_passes(attempts("111", "0", "1"), "pass@3")
    assert found.value is None
    assert found.reason == "only 1 of 3 cases have 3 attempts"


def test_cases_of_one_cluster_count_as_one_unit() -> None:
    made = attempts(*["11", "00"] * 10)
    clusters = np.repeat(np.arange(10), 2)  # each holds a case always and one never right
    apart = estimate_passes(made, "pass^2")
    alike = np.array([0, 1] * 10)  # one cluster is all right, the other all wrong
    together = estimate_passes(made, "pass^2", alike)
    assert apart.value == together.value == 0.5
    assert apart.low is not None
    assert together.low is not None
    assert 0.5 - together.low > 2 * (0.5 - apart.low)
    assert estimate_passes(made, "pass^2", clusters).value == 0.5


def test_every_small_number_of_attempts_is_reported_and_the_largest() -> None:
    assert pass_names(attempts("1", "0")) == []
    assert pass_names(attempts("111", "00")) == ["pass@2", "pass@3", "pass^2", "pass^3"]
    numbers = [name[5:] for name in pass_names(attempts("1" * 20)) if "^" in name]
    assert numbers == ["2", "3", "4", "5", "6", "7", "8", "9", "10", "16", "20"]


def test_another_name_is_refused() -> None:
    with pytest.raises(ValueError, match="neither pass@k nor pass"):
        pass_values(attempts("11"), "accuracy")
