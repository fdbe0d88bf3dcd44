"""Who can be ranked together: those that were measured on enough of the same."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from agentbench_tui.verdicts.ranking.scorecard import by_cluster, case_table, comparable_groups


def found(rows: list[str]) -> list[tuple[tuple[int, ...], int]]:
    """Members and number of shared columns of each group; `x` is measured."""
    present = np.array([[cell == "x" for cell in row] for row in rows])
    return [(group.members, len(group.shared)) for group in comparable_groups(present)]


def test_all_that_were_asked_the_same_are_one_group() -> None:
    assert found(["xxxx", "xxxx", "xxxx"]) == [((0, 1, 2), 4)]


def test_a_few_missing_cases_are_left_out_for_everybody() -> None:
    assert found(["xxxx", "xxx.", "xxxx"]) == [((0, 1, 2), 3)]


def test_who_was_asked_little_does_not_take_the_cases_of_the_others_away() -> None:
    assert found(["xxxxxx", "xx....", "xxxxxx"]) == [((0, 2), 6), ((1,), 2)]


def test_agents_of_unlike_suites_are_groups_of_their_own() -> None:
    assert found(["xxx...", "...xxx", "xxx...", "...xxx", "xxx..."]) == [
        ((0, 2, 4), 3),
        ((1, 3), 3),
    ]


def test_who_was_measured_on_nothing_is_in_no_group() -> None:
    assert found(["xx", ".."]) == [((0,), 2)]
    assert found([".."]) == []


@given(st.integers(1, 6).flatmap(
    lambda n: st.lists(st.lists(st.booleans(), min_size=n, max_size=n), min_size=1, max_size=6)
))  # fmt: skip
def test_everyone_is_in_one_group_that_shares_half_of_what_each_has(rows: list[list[bool]]) -> None:
    present: NDArray[np.bool_] = np.array(rows)
    groups = comparable_groups(present)
    members = [one for group in groups for one in group.members]
    assert sorted(members) == np.flatnonzero(present.any(axis=1)).tolist()
    for group in groups:
        own = present[list(group.members)]
        assert own[:, group.shared].all()
        assert len(group.shared) * 2 >= own.sum(axis=1).max()


def test_values_are_put_in_columns_of_their_case() -> None:
    cases, table = case_table(
        [(np.array([3, 7]), np.array([0.3, 0.7])), (np.array([5]), np.array([0.5]))]
    )
    assert cases.tolist() == [3, 5, 7]
    assert np.nan_to_num(table, nan=-1).tolist() == [[0.3, -1, 0.7], [-1, 0.5, -1]]


def test_clusters_of_unlike_size_keep_the_mean_over_cases() -> None:
    table = np.array([[1.0, 1.0, 1.0, 0.0, 1.0], [0.0, 0.0, 1.0, 1.0, 0.0]])
    units = by_cluster(table, np.array([-1, -1, -1, 4, 5]))
    assert units.shape == (2, 3)
    assert units.mean(axis=1) == pytest.approx(table.mean(axis=1))
