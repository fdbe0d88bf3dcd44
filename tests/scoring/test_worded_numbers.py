"""Numbers with words around them that change their value, or take it back."""

import pytest

from agentbench_tui.model.answer import Answer, Case, Score
from agentbench_tui.scoring.registry import make_scorer


def score(expected: object, said: str) -> Score:
    result = make_scorer("numeric").score(Case("case", "", expected), Answer(said))
    assert isinstance(result, Score)
    return result


@pytest.mark.parametrize(
    ("written", "value", "digits"),
    [
        ("5 hundred", 500, 5),
        ("3 hundred thousand", 300_000, 3),
        ("2 millions", 2_000_000, 2),
        ("2bn", 2 * 10**9, 2),
        ("3.5 lakh", 350_000, 3.5),
        ("4 crore", 40_000_000, 4),
        ("2,5 Millionen", 2_500_000, 2.5),
        ("2,5 Mio. €", 2_500_000, 2.5),
        ("7 Mrd. Euro", 7 * 10**9, 7),
        ("3 Billionen", 3 * 10**12, 3),
        ("4 milliards", 4 * 10**9, 4),
        ("答案是5万。", 50_000, 5),
        ("3千万", 30_000_000, 3),
        ("5億円", 500_000_000, 5),
        ("1万亿", 10**12, 1),
        ("5만 명", 50_000, 5),
        ("5千円", 5_000, 5),
        ("3천 원", 3_000, 3),
        ("3百", 300, 3),
    ],
)
def test_words_for_powers_of_ten_multiply(written: str, value: int, digits: float) -> None:
    assert score(value, written).correct
    assert score(value, f"The answer is {written}").correct
    assert not score(digits, written).correct


@pytest.mark.parametrize("part", [3, 30_000, 5, 5_000])
def test_a_number_in_several_parts_of_characters_is_none_of_them(part: int) -> None:
    assert not score(part, "3万5千").correct


@pytest.mark.parametrize("unit", ["千克", "千米", "千瓦"])  # kilograms, kilometers, kilowatts
def test_a_character_that_begins_a_unit_is_no_power_of_ten(unit: str) -> None:
    assert score(5, f"5{unit}").correct


@pytest.mark.parametrize(
    "answer",
    [
        "__7__", "_7_", "___7___", "The answer is __7__.", "Answer: _7_", "(_7_)", "_Total:_ 7",
        "9 - 2 -> 7", "9 - 2 --> 7", "x->7",
        "It is 7 rather than 4.", "7 instead of 4", "7, as opposed to 4",
        "{'answer': '7', 'confidence': 0.9}", "Ans: 7\nConfidence: 90",
        "greater than or equal to 7", "see below: 7", "From the above, 7",
    ],
)  # fmt: skip
def test_the_number_in_its_markup_and_words(answer: str) -> None:
    assert score(7, answer).correct
    assert not score(4, answer).correct


@pytest.mark.parametrize("answer", ["x_7", "a_7 = 3", "-7 -> 3"])
def test_an_index_and_a_number_before_an_arrow_are_not_the_answer(answer: str) -> None:
    assert not score(7, answer).correct


@pytest.mark.parametrize(
    ("bound", "same", "other"),
    [
        ("under 5", "< 5", "> 5"),
        ("below 5", "less than 5", "5"),
        ("above 5", "> 5", "≥ 5"),
        ("exceeds 5", "more than 5", "5"),
        ("in excess of 5", "> 5", "< 5"),
        ("less than or equal to 5", "≤ 5", "< 5"),
        ("greater than or equal to 5", "at least 5", "> 5"),
    ],
)
def test_bounds_in_words(bound: str, same: str, other: str) -> None:
    assert score(bound, same).correct
    assert score(same, bound).correct
    assert not score(bound, other).correct
    assert not score(other, bound).correct


@pytest.mark.parametrize("hyphen", ["\u2010", "\u2011", "\ufe63", "\uff0d", "\u2212", "-"])
@pytest.mark.parametrize("answer", ["{}5", "The answer is {}5.", "x = {}5", "**{}5**", "({}5)"])
def test_every_hyphen_before_a_number_is_its_sign(hyphen: str, answer: str) -> None:
    assert score(-5, answer.format(hyphen)).correct
    assert not score(5, answer.format(hyphen)).correct


@pytest.mark.parametrize(
    ("answer", "value", "other"),
    [
        ("5 and a half", 5.5, 5),
        ("2 and three quarters hours", 2.75, 2),
        ("1,000 and a half", 1000.5, 0.5),
        ("7 out of 10", 7, 10),
        ("6 ~~5~~", 6, 5),
        ("~~5~~ 6", 6, 5),
    ],
)
def test_parts_totals_and_struck_numbers(answer: str, value: float, other: float) -> None:
    assert not score(other, answer).correct
    assert score(value, answer).correct


@pytest.mark.parametrize(
    ("expected", "answer"),
    [
        ("$5", "₹5"),
        ("₹5", "5 rubles"),
        ("€5", "5 CHF"),
        ("$5", "5 CAD"),
        ("5 ppm", "5%"),
        ("5 ‰", "5%"),
        ("5 basis points", "5%"),
        ("5 bar", "5 Pa"),
        ("5 gal", "5 g"),
        ("5 fl oz", "5 oz"),
    ],
)
def test_other_currencies_shares_and_volumes_differ(expected: str, answer: str) -> None:
    assert not score(expected, answer).correct
    assert not score(answer, expected).correct


@pytest.mark.parametrize(
    ("expected", "answer"),
    [
        ("5 rupees", "₹5"),
        ("5 ‰", "0.5%"),
        ("50 basis points", "0.5%"),
        ("200 ppm", "0.02%"),
        ("2 bar", "200 kPa"),
        ("1 gal", "128 fl oz"),  # both defined by the inch
        (5, "5 bar"),
    ],
)
def test_the_same_in_other_currencies_shares_and_volumes(expected: object, answer: str) -> None:
    assert score(expected, answer).correct
