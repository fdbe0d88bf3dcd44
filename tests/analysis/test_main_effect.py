"""Main effects of a sweep: against hand computation, Welch's test, and planted truth."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from agentbench_tui.analysis.groups.main_effect import LevelEffect, SweepCell, main_effects


def of(found: list[LevelEffect], parameter: str, level: str) -> LevelEffect:
    return next(one for one in found if (one.parameter, one.level) == (parameter, level))


def test_one_parameter_of_two_levels_is_welchs_interval() -> None:
    x, y = [10.1, 11.4, 9.7, 10.9], [13.0, 15.8, 12.2, 14.9, 13.3]
    found = main_effects([SweepCell({"a": "1"}, x), SweepCell({"a": "2"}, y)])
    theirs = stats.ttest_ind(y, x, equal_var=False).confidence_interval(0.95)
    two = of(found, "a", "2")
    assert two.difference == pytest.approx(np.mean(y) - np.mean(x))
    assert two.interval is not None
    assert (two.interval.low, two.interval.high) == pytest.approx(tuple(theirs))


def test_in_a_full_sweep_effects_are_plain_differences_of_means() -> None:
    # By hand: a=2 is 4 and 8 above a=1, b=y 1 and 5 above b=x.
    means = {("1", "x"): 10.0, ("2", "x"): 14.0, ("1", "y"): 11.0, ("2", "y"): 19.0}
    cells = [SweepCell({"a": a, "b": b}, [mean]) for (a, b), mean in means.items()]
    found = main_effects(cells)
    two, y = of(found, "a", "2"), of(found, "b", "y")
    assert (two.single, two.mean, two.cells, y.single) == ((4.0, 8.0), 16.5, 2, (1.0, 5.0))
    assert (two.difference, y.difference) == (pytest.approx(6.0), pytest.approx(3.0))
    assert two.interval is None
    assert of(found, "a", "1").difference == 0.0


def test_the_interval_of_what_is_rounding_alone_lies_about_0() -> None:
    cells = [
        SweepCell({"a": a, "b": b}, [10.0**power] * 3)
        for (a, power), b in itertools.product((("1", 1), ("2", 2), ("3", 3), ("4", 4)), "xy")
    ]
    y = of(main_effects(cells), "b", "y")
    assert y.interval is not None
    assert (y.difference, y.interval.low, y.interval.high) == (0.0, 0.0, 0.0)


def test_intervals_in_a_full_sweep_are_of_the_cells_errors_together() -> None:
    # Four cells of variance 2 (two values 2 apart): the squared error of the difference of the
    # means of two cells each is 4 x (2/2) / 2^2 = 1, with 4 degrees of freedom.
    cells = [
        SweepCell({"a": a, "b": b}, [level - 1.0, level + 1.0])
        for a, b, level in (("1", "x", 5.0), ("1", "y", 6.0), ("2", "x", 8.0), ("2", "y", 9.0))
    ]
    two = of(main_effects(cells), "a", "2")
    assert two.interval is not None
    assert two.interval.high - 3.0 == pytest.approx(stats.t.ppf(0.975, 4))


@given(
    st.lists(st.floats(-100, 100), min_size=3, max_size=3),
    st.lists(st.floats(-100, 100), min_size=4, max_size=4),
    st.sets(st.integers(0, 11), max_size=5),
)
def test_additive_effects_are_found_also_where_points_are_missing(
    of_a: list[float], of_b: list[float], missing: set[int]
) -> None:
    points = list(itertools.product(enumerate(of_a), enumerate(of_b)))
    cells = [
        SweepCell({"a": str(i), "b": str(j)}, [x + y])
        for number, ((i, x), (j, y)) in enumerate(points)
        if number not in missing
    ]
    for one in main_effects(cells):
        if one.difference is None:
            assert one.reason
            continue
        first = next(cell.levels[one.parameter] for cell in cells)
        true = of_a if one.parameter == "a" else of_b
        expected = true[int(one.level)] - true[int(first)]
        assert math.isclose(one.difference, expected, rel_tol=1e-6, abs_tol=1e-6)


def test_levels_that_always_go_together_are_not_told_apart() -> None:
    found = main_effects([SweepCell({"a": n, "b": n}, [float(n)]) for n in ("1", "2")])
    assert [one.difference for one in found if one.level == "2"] == [None, None]
    assert all("apart" in one.reason for one in found if one.level == "2")


def test_a_parameter_of_one_level_has_no_effect_and_unlike_cells_are_refused() -> None:
    assert main_effects([]) == []
    assert main_effects([SweepCell({"a": "1"}, [1.0, 2.0])]) == []
    with pytest.raises(ValueError, match="same parameters"):
        main_effects([SweepCell({"a": "1"}, [1.0]), SweepCell({"b": "1"}, [1.0])])
