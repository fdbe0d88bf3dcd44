"""Roots, against scipy's."""

import math
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import brentq

from agentbench_tui.analysis.root import root_between

FUNCTIONS: dict[str, tuple[Callable[[float], float], float, float]] = {
    "a polynomial": (lambda x: x**3 - 2 * x - 5, 2.0, 3.0),
    "a steep exponential": (lambda x: math.exp(20 * x) - 1e5, 0.0, 1.0),
    "a step that is nearly flat": (lambda x: math.tanh(50 * (x - 0.3)), 0.0, 8.0),
    "a logarithm over eight decades": (lambda x: math.log(x) - 3, 1e-4, 1e4),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_it_is_where_scipy_finds_it(name: str) -> None:
    function, low, high = FUNCTIONS[name]
    calls = 0

    def counted(x: float) -> float:
        nonlocal calls
        calls += 1
        return function(x)

    found = root_between(counted, low, high, 1e-12)
    assert found == pytest.approx(brentq(function, low, high, xtol=1e-13), abs=1e-11)
    assert calls < 120


def test_a_root_of_many_equal_ones_is_found_too() -> None:
    found = root_between(lambda x: (x - 1) ** 3, 0.0, 5.0, 1e-12)
    assert found == pytest.approx(1, abs=1e-5)


@given(st.floats(-1e3, 1e3), st.floats(0.1, 1e3), st.floats(0.1, 1e3))
def test_the_root_of_a_line_is_found_from_any_ends(root: float, left: float, right: float) -> None:
    found = root_between(lambda x: x - root, root - left, root + right, 1e-12)
    assert found == pytest.approx(root, abs=1e-9)


def test_a_root_at_an_end_is_returned_and_without_a_change_of_sign_there_is_none() -> None:
    assert root_between(lambda x: x, 0.0, 1.0, 1e-12) == 0.0
    assert root_between(lambda x: x - 1, 0.0, 1.0, 1e-12) == 1.0
    with pytest.raises(ValueError, match="change of sign"):
        root_between(lambda x: x + 1, 0.0, 1.0, 1e-12)
