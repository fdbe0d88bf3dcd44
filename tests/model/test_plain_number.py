"""Numbers as people write them."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentbench_tui.model.text.plain_number import counted, plain


@pytest.mark.parametrize(
    ("value", "digits", "text"),
    [
        (1e6, 12, "1,000,000"),
        (1_234_567, 12, "1,234,567"),
        (50.0, 12, "50"),
        (0.00005, 12, "0.00005"),
        (1e22, 12, "10,000,000,000,000,000,000,000"),
        (0.1 + 0.2, 12, "0.3"),
        (-12_345.678, 4, "-12,350"),
        (3e-9, 4, "3e-09"),
        (0.0, 4, "0"),
        (math.inf, 12, "inf"),
        (math.nan, 12, "nan"),
    ],
)
def test_a_number_as_people_write_it(value: float, digits: int, text: str) -> None:
    assert plain(value, digits) == text


@given(st.floats(1e-6, 1e300) | st.floats(-1e300, -1e-6))
def test_no_exponent_and_the_same_number(value: float) -> None:
    text = plain(value)
    assert "e" not in text
    assert float(text.replace(",", "")) == pytest.approx(value, rel=1e-11)


@pytest.mark.parametrize(
    ("value", "digits", "text"), [(0.5, 2, "0.50"), (0.00001, 2, "0.000010"), (99.96, 3, "100")]
)
def test_zeros_fill_up_to_the_digits_that_matter(value: float, digits: int, text: str) -> None:
    assert plain(value, digits, filled=True) == text


def test_what_is_read_again_has_no_commas() -> None:
    assert plain(1_234_567.5, grouped=False) == "1234567.5"


def test_one_thing_is_no_plural() -> None:
    told = [counted(count, "case") for count in (0, 1, 2, 1200)]
    assert told == ["0 cases", "1 case", "2 cases", "1,200 cases"]
