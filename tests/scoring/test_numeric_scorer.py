"""Numbers in text: which one is meant, and when two are equal."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentbench_tui.model.answer import Answer, Case, GraderFailure, Score
from agentbench_tui.scoring.numbers.latex import plain_text
from agentbench_tui.scoring.numbers.number_reader import readings_of
from agentbench_tui.scoring.numbers.tokens import DecimalMark
from agentbench_tui.scoring.registry import check_scorer, make_scorer


def score(options: dict[str, object], expected: object, said: str) -> Score:
    result = make_scorer({"numeric": options}).score(Case("case", "", expected), Answer(said))
    assert isinstance(result, Score)
    return result


def values_in(text: str, mark: DecimalMark | None = ".") -> list[float | None]:
    """Each number of a text as a float; None for an expression that is not one number."""
    numbers = [reading.number for reading in readings_of(plain_text(text), mark)]
    return [None if number is None else float(number.value) for number in numbers]


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("-1,250.50", [-1250.5]),
        ("\u22123", [-3]),
        ("1\u00a0000", [1000]),
        ("1,00,000", [100_000]),  # grouped as in India
        ("100 200", [100, 200]),
        ("2.5e-3", [0.0025]),
        ("1.2 × 10^5", [120_000]),
        ("6.02*10^{23}", [6.02e23]),
        ("3 × 10⁵", [300_000]),
        ("3/4", [0.75]),
        ("1 3/4 cups", [1.75]),
        ("1½ cups", [1.5]),
        ("3/0", [None]),
        ("-$5 and $-6", [-5, -6]),
        ("1.8 billion", [1.8e9]),
        ("16-3=13", [13]),
        ("2 hours 30 minutes", [2.5]),
        ("pages 5-10", [None]),
        ("3/4/2024", [None]),
        ("2024-03-15", [None]),
        ("at 12:30:15", [None]),
        ("4,5,6", [None]),
        ("4, 5, 6", [4, 5, 6]),
        ("1,2345", [None]),
        ("3,14", [None]),
        ("1.2.3", [None]),
        (".5", [0.5]),
        ("12.", [12]),
        ("1e99999", [None]),
        ("9" * 5000, [None]),
        ("9" * 5000 + "/3", [None]),
        ("1 × 10^" + "9" * 5000, [None]),
        ("1 × 10^-" + "9" * 5000, [None]),
        ("2^{2^{2^{2^{2^2}}}}", [None]),
        ("twelve", []),
        ("6 m^2", [6]),
        ("x^2 + 1", [None]),
        ("3x", [None]),
        ("**18** 3 eggs", [18, 3]),
    ],
)
def test_numbers_are_read_as_people_write_them(text: str, values: list[float | None]) -> None:
    assert values_in(text) == pytest.approx(values)


def test_decimal_comma_on_request() -> None:
    assert values_in("1.234,5", ",") == [1234.5]
    assert values_in("3.14", ",") == [None]


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("3,5", [3.5]),
        ("Es sind 3,5.", [3.5]),
        ("-0,5 °C", [-0.5]),
        ("0,125", [0.125]),
        ("12,3456", [12.3456]),
        ("12345,67", [12345.67]),
        ("1.234,5", [1234.5]),
        ("1.234.567,891", [1234567.891]),
        ("1\u00a0234,5", [1234.5]),
        ("1,5e3", [1500]),
        ("10,5%", [10.5]),
        ("(3,5 km)", [3.5]),
        ("3,5 + 4,5 = 8", [8]),
        ("3{,}5", [3.5]),
        ("3,5, aber", [3.5]),
        ("1,234", [1234]),
        ("1,00,000", [100_000]),
        ("3.5", [3.5]),
        # Lists, pairs and what could be either.
        ("(3,5)", [None]),
        ("( -3,5 )", [None]),
        ("[3,5]", [None]),
        (r"\{3,5\}", [None]),
        (r"\left(3,5\right)", [None]),
        ("3, 5", [3, 5]),
        ("1,2,3", [None]),
        ("3,5,-2", [None, 2]),
        ("3,5, 7", [None, 7]),
        ("1,234,5", [None]),
        ("1234,567", [None]),
        ("1.2.3", [None]),
    ],
)
def test_a_comma_that_cannot_separate_thousands_is_a_decimal_comma(
    text: str, values: list[float | None]
) -> None:
    assert values_in(text, None) == pytest.approx(values)


def test_decimal_comma_needs_no_option_but_can_be_refused() -> None:
    assert score({}, 3.5, "Die Antwort ist 3,5.").correct
    assert score({"decimal": ","}, 3.5, "Die Antwort ist 3,5.").correct
    assert not score({"decimal": "."}, 3.5, "Die Antwort ist 3,5.").correct
    assert score({"marker": "A:"}, "A: 3,5", "A: 3.5").correct
    assert score({"extract": r"= (\S+)"}, 3.5, "x = 3,5").correct


@pytest.mark.parametrize(
    ("expected", "answer", "right"),
    [
        (1234, "答えは１，２３４です。", True),
        (1234567, "合計￥１，２３４，５６７", True),
        (3.5, "答え：３．５", True),
        (-5, "気温は－５度です。", True),
        (-5, "気温は-5度です。", True),
        (5, "気温は-5度です。", False),
        (0.75, "答案是３／４。", True),
        ("25%", "２５％です", True),
        (5, "答案是（５）。", True),
        (7, "答案是7（5個）", True),
        (3, "答え（5個）は3", True),
        (3, "比は３：４です", False),
        (3, "答案：（3，7）", False),
        (7, "（3，7）", False),
        (3500, "（3，500）", False),
        (5100, "答案是5，100个人都知道", False),  # the comma separates clauses
    ],
)
def test_numbers_of_full_width(expected: object, answer: str, right: bool) -> None:
    assert score({}, expected, answer).correct is right


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_every_float_is_read_back(value: float) -> None:
    assert values_in(repr(value)) == [value]


@given(st.integers(-(10**12), 10**12))
def test_thousands_separators_do_not_matter(value: int) -> None:
    assert score({}, value, f"The total is {value:,}.").correct


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
        (0.25, "25%", True),
        (25, "25%", True),
        (5, "5 km", True),
        ("5 m", "5 m/s", False),
        ("5 apples", "5 fruits", True),  # an unknown unit is no unit
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


@pytest.mark.parametrize(
    ("expected", "answer", "right"),
    [
        (9007199255, "9007199254", False),  # within 1e-9 of each other
        (9007199254740993, "9007199254740992", False),  # one float
        (9007199254740993, "9,007,199,254,740,993", True),
        (2**200 + 1, str(2**200), False),
        (2**200 + 1, str(2**200 + 1), True),
        (10**3000, "9" * 3000, False),
        (10**3000, str(10**3000), True),
        (1000, "1000.0000001", True),  # rounding of what is not whole
        (0.1, "0.1", True),
        (3, "3.0", True),
    ],
)
def test_whole_numbers_are_compared_exactly(expected: object, answer: str, right: bool) -> None:
    assert score({}, expected, answer).correct is right


def test_a_tolerance_that_is_set_applies_to_whole_numbers() -> None:
    assert score({"relative_tolerance": 1e-9}, 9007199255, "9007199254").correct
    assert score({"tolerance": 1}, 9007199255, "9007199254").correct


@pytest.mark.parametrize("answer", ["9" * 5000, "-" + "9" * 5000, "0." + "1" * 5000, "1e99999"])
def test_a_number_beyond_the_limits_is_one_wrong_answer(answer: str) -> None:
    assert not score({}, 3, f"The answer is {answer}").correct
    assert not score({}, 3, f"It is 3. The answer is {answer}").correct


def test_an_expected_number_beyond_the_limits_is_the_graders_failure() -> None:
    with pytest.raises(GraderFailure, match="too many digits"):
        score({}, 10**5000, "3")
    with pytest.raises(GraderFailure, match="no number"):
        score({}, "9" * 5000, "3")


@pytest.mark.parametrize(
    ("expected", "answer"),
    [
        (36, "12 * 3 = 36"),
        (36, "The answer is 12 * 3 = 36"),
        (36, "The answer is 12 times 3 = 36."),
        (13, "Answer: 16 eggs - 3 eggs = 13 eggs"),
        (36, "Answer: = 36"),
        (0.5, "Answer: 1/2 = 0.5"),
        (12, "The answer is about 12."),
        (6, "The answer is not 5 but 6."),
        (15, "15 = 3 * 5"),
        (-3, "The answer is minus 3."),
        (-3, "It is negative 3"),
        (2, "5 minus 3 = 2"),
        (42, "It is 42, not 41."),
        (42, "Answer: 42 because x = 7"),
        (42, "Answer: 42 (6 × 7)"),
        (42, '{"answer": 42, "confidence": 0.9}'),
        (42, "<answer>42</answer>\nI used 2 steps."),
        (42, "**Answer**: 42 of 50"),
        (42, "Antwort: 42 (2 Schritte)"),
        (42, "答案：42。共2步"),
        (42, "정답: 42 (2)"),
        (18, "Step 1: 16 - 7 = 9. So it is 18, by step 2"),
        (18, "#### Step 2: multiply by 2\nThis gives 9 * 2 = 18"),
        ("2.5 hours", "2 hours and 30 minutes"),
        ("18.50 USD", "18 dollars and 50 cents"),
    ],
)
def test_the_answer_of_a_statement(expected: object, answer: str) -> None:
    assert score({}, expected, answer).correct


@pytest.mark.parametrize(
    ("expected", "answer"),
    [
        (12, "12 * 3 = 36"),
        (12, "The answer is 12 * 3 = 36"),
        (36, "The answer is 12 * 3"),  # not worked out, as an echo of the question is
        (42, "You asked: what is 17 + 25?"),
        (8, "The answer is 5 and then (5 + 3)"),
        (3, "The answer is 3-4"),
        (4, "It takes 3 to 4"),
        (3, "Answer: 3 or 4"),
        (4, "It is 3 or 4"),
        (3, "Answer: 3, 7"),
        (3, "Answer: 3 apples and 4 pears"),
        (3, "Answer: (3, 7)"),
        (7, "(3, 7)"),
        (1, "Answer: 1 000 000"),
        (5, "The answer is not 5."),
        (3, "The answer is minus 3."),
        (-3, "5 minus 3"),
        (-3, "5 eggs minus 3"),
        (5, "Answer: 5k"),
        (2, "The answer is 2x + 3"),
        (3, "The answer is x + 3"),
        (3, "3:30"),
        (2, "2 hours 30 minutes"),
        (10, "between 5 and 10"),
    ],
)
def test_an_answer_that_is_not_this_number(expected: object, answer: str) -> None:
    assert not score({}, expected, answer).correct


DIFFERENT = [
    ("5 MB", "5 GB"), ("5 GB", "5 GiB"), ("5 GB", "5 Gb"), ("5 mL", "5 L"), ("5 V", "5 mV"),
    ("5 mV", "5 MV"), ("12 m^2", "12 cm^2"), ("12 m^2", "12 m"), ("12 m", "12 m²"),
    ("5 m²", "5 m³"), ("12 m/s", "12 km/h"), ("3 mol", "3 mmol"), ("5 kJ", "5 J"), ("5 kg", "5 N"),
    ("5 kWh", "5 kW"), ("10 µm", "10 mm"), ("5 °C", "5 °F"),
    ("5 degrees Celsius", "5 degrees Fahrenheit"), ("3 rad", "3 degrees"),
    ("5 years", "5 months"), ("5 km per hour", "5 km"),
    ("5 ft 3 in", "6 ft 3 in"), ("2 years 3 months", "3 years 3 months"), ("5° 30'", "6° 30'"),
    ("5 days", "2 months and 5 days"),
]  # fmt: skip
SAME = [
    ("5 GB", "5000 MB"), ("1 GiB", "1024 MiB"), ("5 L", "5000 mL"), ("5 liters", "5 L"),
    ("5 V", "5000 mV"), ("12 m^2", "120000 cm^2"), ("12 m²", "12 square meters"),
    ("12 cm^3", "12 mL"), ("36 km/h", "10 m/s"), ("60 mph", "60 miles per hour"),
    ("60 m/s", "60 meters per second"), ("9.8 m/s^2", "9.8 m s^{-2}"), ("3 mol", "3000 mmol"),
    ("9.8 m/s^2", "9.8 meters per second squared"), ("20 N·m", "20 newton-meters"),
    ("20 J", "20 N m"), ("5 W", "5 J/s"), ("50 Hz", "50 s^-1"),
    ("5 kW", "5000 watts"), ("5 MHz", "5000000 Hz"), ("5 kPa", "5000 Pa"), ("1 kWh", "3.6 MJ"),
    ("25 °C", "25 degrees Celsius"), ("25 °C", "25 degrees"), ("90 degrees", "90°"),
    ("5 apples", "5 L"), (5, "5 people"), (5, "5 MB"), ("5 MB", "5"), ("12 m^2", "12"),
    ("63 inches", "5 ft 3 in"), ("5 ft 3 in", "63 inches"), ("27 months", "2 years 3 months"),
    ("5.5°", "5° 30'"), ("20 hours", "20 hours per week"), ("£5", "5 pounds"), ("£5", "£5"),
    ("5 lbs", "5 pounds"),
]  # fmt: skip


@pytest.mark.parametrize(("expected", "answer"), DIFFERENT)
def test_quantities_of_other_units_are_different(expected: object, answer: str) -> None:
    assert not score({}, expected, answer).correct
    assert not score({}, expected, f"The answer is {answer}.").correct


@pytest.mark.parametrize(("expected", "answer"), SAME)
def test_equal_quantities_in_other_units(expected: object, answer: str) -> None:
    assert score({}, expected, answer).correct
    assert score({}, expected, f"The answer is {answer}.").correct


@pytest.mark.parametrize(
    "answer",
    [
        "<5",
        "> 5",
        "≥ 5",
        "x > 5",
        r"$x \leq 5$",
        "less than 5",
        "more than 5",
        "5 is wrong",
        "5 is not correct.",
        "Answer: 5!",
        "5!",
        r"\boxed{5!}",
        r"\boxed{\geq 5}",
        r"\boxed{4}, \boxed{5}",
        r"$\boxed{4}$ and $\boxed{5}$",
    ],
)
def test_a_bound_a_denial_and_a_factorial_are_not_the_number(answer: str) -> None:
    assert not score({}, 5, answer).correct


@pytest.mark.parametrize(
    "answer",
    [
        "She can buy at most 12 books.",
        "You can fit up to 12 boxes",
        "The answer is at least 12.",
        "no more than 12",
        "12 or more",
        "The answer is:\n\n> 12",
        "Thus\n> > **12**",
    ],
)
def test_the_largest_or_smallest_number_and_a_quoted_line_are_the_number(answer: str) -> None:
    assert score({}, 12, answer).correct
    assert not score({}, 11, answer).correct


@pytest.mark.parametrize("answer", ["5", "at most 5", "more than 5", "≤ 5"])
def test_another_bound_than_the_expected_one_is_wrong(answer: str) -> None:
    assert not score({}, "at least 5", answer).correct


@pytest.mark.parametrize(
    ("expected", "answer"),
    [
        ("<5", "< 5"),
        ("at least 5", "≥ 5"),
        ("x > 5", "more than 5"),
        (120, "5!"),
        (120, "$5!$"),
        (5, "**5!**"),
        (5, "The answer is 5!"),
        (5, "x -> 5"),
        (5, "<b>5</b>"),
        (5, "At least 3 people say that the answer is 5."),
        (5, r"\boxed{5}, \boxed{5}"),
        (5, r"First \boxed{4}. After a check: \boxed{5}"),
        (0.75, r"\boxed{3 \over 4}"),
        ("1/3", r"0.\overline{3}"),
        ("5/6", r"\boxed{0.8\overline{3}}"),
        (-5, "- 5"),
        (-5, "The answer is - 5"),
    ],
)
def test_bounds_factorials_and_repeating_decimals_are_read(expected: object, answer: str) -> None:
    assert score({}, expected, answer).correct
