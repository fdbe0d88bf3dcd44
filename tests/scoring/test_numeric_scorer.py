"""Numbers in text: which one is meant, and when two are equal."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentbench_tui.model.answer import Answer, Case, GraderFailure, Score
from agentbench_tui.scoring.registry import check_scorer, make_scorer
from agentbench_tui.scoring.units import read_numbers


def score(options: dict[str, object], expected: object, said: str) -> Score:
    result = make_scorer({"numeric": options}).score(Case("case", "", expected), Answer(said))
    assert isinstance(result, Score)
    return result


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("-1,250.50", [-1250.5]),
        ("\u22123", [-3]),
        ("1\u00a0000", [1000]),
        ("100 200", [100, 200]),
        ("2.5e-3", [0.0025]),
        ("1.2 × 10^5", [120_000]),
        ("6.02*10^{23}", [6.02e23]),
        ("3/4", [0.75]),
        ("1 3/4 cups", [1.75]),
        ("3/0", []),
        ("-$5 and $-6", [-5, -6]),
        ("1.8 billion", [1.8e9]),
        ("16-3=13", [16, 3, 13]),
        ("pages 5-10", [5, 10]),
        ("3/4/2024", [3, 4, 2024]),
        ("4,5,6", [4, 5, 6]),
        ("1,2345", [1, 2345]),
        (".5", [0.5]),
        ("12.", [12]),
        ("1e999", []),
        ("9" * 5000, []),
        ("9" * 5000 + "/3", []),
        ("1 × 10^" + "9" * 5000, []),
        ("1 × 10^-" + "9" * 5000, [0]),
        ("twelve", []),
    ],
)
def test_numbers_are_read_as_people_write_them(text: str, values: list[float]) -> None:
    assert [number.value for number in read_numbers(text)] == pytest.approx(values)


def test_decimal_comma_on_request() -> None:
    assert [number.value for number in read_numbers("1.234,5", ",")] == [1234.5]


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_every_float_is_read_back(value: float) -> None:
    (number,) = read_numbers(repr(value))
    assert number.value == value


@given(st.integers(-(10**12), 10**12))
def test_thousands_separators_do_not_matter(value: int) -> None:
    assert score({}, value, f"The total is {value:,}.").correct


@given(st.text(max_size=200))
def test_any_text_can_be_read(text: str) -> None:
    assert all(math.isfinite(number.value) for number in read_numbers(text))


@pytest.mark.parametrize(
    ("expected", "said", "right"),
    [
        ("1.5 km", "1500 m", True),
        ("1 mile", "1.609344 km", True),  # by definition
        ("2 lbs", "907.18474 g", True),  # by definition
        ("90 min", "1.5 hours", True),
        ("$3", "300 cents", True),
        ("$3", "3 €", False),
        ("3 kg", "3 m", False),
        ("3 kg", "3", True),
        ("25%", "25", True),
        ("25%", "0.25", False),
        (0.25, "25 %", True),
        (25, "25%", True),
        (5, "5 km", True),
        ("5 m", "5 m/s", True),  # an unknown unit is no unit
    ],
)
def test_units_are_converted(expected: object, said: str, right: bool) -> None:
    assert score({}, expected, said).correct is right


def test_unit_can_be_required() -> None:
    assert not score({"unit_required": True}, "3 kg", "3").correct
    assert score({"unit_required": True}, "3 kg", "3000 g").correct


def test_tolerances_absolute_or_relative() -> None:
    assert score({"tolerance": 0.5}, 10, "10.5").correct
    assert not score({"tolerance": 0.5}, 10, "10.6").correct
    assert score({"relative_tolerance": 0.1}, 10, "11").correct
    assert not score({"relative_tolerance": 0.1}, 10, "11.1").correct
    assert not score({}, 10, "10.001").correct


@pytest.mark.parametrize(
    ("said", "right"),
    [
        ("The answer is 42. I checked it 3 times.", True),
        ("Answer: 42 (from 6 × 7)", True),
        # Six letters that are longer in lower case.
        ("İİİİİİ, answer: 42 (from 6 × 7)", True),
        ("6 times 7 gives 42", True),
        (r"so \boxed{42}, in 2 steps", True),
        ("42 is 6 times 7", False),
        ("no idea", False),
    ],
)
def test_the_number_that_is_meant(said: str, right: bool) -> None:
    assert score({}, 42, said).correct is right


def test_marker_is_required_where_one_is_given() -> None:
    assert score({"marker": "A:"}, "1 + 1 = 2\nA: 2", "A: 1? No.\nA: 2 eggs, not 3").correct
    result = score({"marker": "A:"}, 2, "it is 2")
    assert not result.correct
    assert "no number" in result.reason


def test_extract_by_pattern() -> None:
    options: dict[str, object] = {"extract": r"total: (\S+)"}
    assert score(options, 7, "total: 7 of 9").correct
    assert not score(options, 7, "sum: 7").correct


def test_one_of_several_expected_numbers() -> None:
    assert score({}, [3, "4"], "4").correct


def test_expectation_without_number_is_the_graders_failure() -> None:
    with pytest.raises(GraderFailure, match="no number"):
        score({}, "many", "4")


def test_contradicting_or_broken_options_are_told() -> None:
    assert check_scorer({"numeric": {"marker": "A:", "extract": "x"}}) == [
        "numeric: give `marker` or `extract`, not both"
    ]
    (problem,) = check_scorer({"numeric": {"extract": "("}})
    assert "regular expression" in problem
    assert len(check_scorer({"numeric": {"tolerance": -1, "decimal": ";"}})) == 2
