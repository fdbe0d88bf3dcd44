r"""`numeric` on LaTeX: fractions, powers, thousands and dollar signs are read by value."""

import json
from fractions import Fraction
from pathlib import Path

import pytest
from bounded_work import bounded_work
from hypothesis import given
from hypothesis import strategies as st

from agentbench_tui.model.answer import Answer, Case, GraderFailure, Score
from agentbench_tui.scoring.registry import make_scorer

RECORDS = [
    json.loads(line)
    for line in (Path(__file__).parent / "data" / "numbers.jsonl").read_text("utf-8").splitlines()
]
SCORER = make_scorer("numeric")


def is_correct(expected: object, answer: str) -> bool:
    score = SCORER.score(Case("case", "", expected), Answer(answer))
    assert isinstance(score, Score)
    return bool(score.correct)


@pytest.mark.parametrize("record", RECORDS, ids=lambda record: record["id"])
def test_recorded_answers_are_judged_as_they_should_be(record: dict[str, object]) -> None:
    if record["id"] == "pair-wrong":
        with pytest.raises(GraderFailure, match="no number"):
            is_correct(record["expected"], str(record["answer"]))
    else:
        assert is_correct(record["expected"], str(record["answer"])) is record["correct"]


@pytest.mark.parametrize(
    ("expected", "answer"),
    [
        (0.75, r"\boxed{\frac{3}{4}}"),
        (0.75, r"\dfrac34"),
        (0.5, r"$\tfrac12$"),
        ("3/4", r"\boxed{\dfrac{3}{4}}"),
        ("3/4", r"\frac{3}{4} = 0.75"),
        (r"\frac{3}{4}", "0.75"),
        (-0.5, r"\boxed{-\frac{1}{2}}"),
        (-0.5, r"$\frac{-1}{2}$"),
        (1.75, r"1\frac{3}{4}"),
        (1.5, r"$1\dfrac12$"),
        (0.125, r"\left(\frac{1}{2}\right)^3"),
        (1.5, r"\frac{\frac{3}{2}}{1}"),
        (r"2\sqrt{3}", r"\boxed{2\sqrt 3}"),
        (r"2\sqrt{3}", r"$\sqrt{12}$"),
        (4, r"\sqrt{16}"),
        (2, r"\sqrt[3]{8}"),
        (1024, r"\boxed{2^{10}}"),
        (1024, "2**10"),
        (6.02e23, r"$6.02 \times 10^{23}$"),
        (6.02e-23, r"6.02\cdot10^{-23}"),
        (6.02e23, "6.02 × 10²³"),
        (12345, "12{,}345"),
        (12345, r"12,\!345"),
        (12345, r"$12\,345$"),
        (1234567, r"\boxed{1{,}234{,}567}"),
        ("45%", r"\boxed{45\%}"),
        ("$45", r"\boxed{\$45}"),
        ("$45", r"It costs \$45."),
        ("$45", "It costs $45."),
        ("$11", "So $5 + $6 = $11"),
        ("12 cm", r"$12\,\text{cm}$"),
        ("12 cm", r"\boxed{12 \mathrm{~cm}}"),
        ("12 cm", r"\(12\) cm"),
        (45, r"\[ x = 45 \]"),
        (30, r"\boxed{30^\circ}"),
        (5, r"\boxed{x = 5}"),
        (18, r"\boxed{18 \text{ eggs}}"),
        ("1/3", r"\boxed{\frac{1}{3} \approx 0.333}"),
        (0.333, r"\boxed{\frac{1}{3} \approx 0.333}"),
        (5, r"\boxed{\boxed{5}}"),
        (5, r"\boxed{f(2) = 5}"),
        (30, r"\boxed{30^{\circ}\text{C}}"),
        (5, r"\boxed{5^{\text{th}}}"),
        (32348, r"$32,\! 348$"),
        (r"\frac{1 + \sqrt{5}}{2}", r"\boxed{\frac{\sqrt{5} + 1}{2}}"),
        (3.141592653589793, r"\pi"),
    ],
)
def test_latex_is_read_by_value(expected: object, answer: str) -> None:
    assert is_correct(expected, answer)


@pytest.mark.parametrize(
    ("expected", "answer"),
    [
        (3, r"\boxed{(3, 7)}"),
        (7, r"\boxed{(3, 7)}"),
        (3, r"\boxed{3, 7}"),
        (3, r"\boxed{3x}"),
        (3, r"\boxed{x > 3}"),
        (3, r"\boxed{\{3\}}"),
        (5, r"\boxed{5!}"),
        (5, r"\boxed{\binom{5}{2}}"),
        (2, r"\boxed{\log_2 8}"),
        (8, r"The answer is $\log_2 8$"),
        (2, r"\boxed{2\sqrt{3}}"),
        (3, r"\boxed{\frac{3}{0}}"),
        (3, r"\boxed{\frac{3}{n}}"),
        (3, r"3\frac{5}{4}"),
        (0.333, r"\boxed{\frac{1}{3}}"),
        (7, r"I first had 7. \boxed{\text{no solution}}"),
        ("$12", "It is $12$ euros"),
    ],
)
def test_what_is_not_this_number_is_wrong(expected: object, answer: str) -> None:
    assert not is_correct(expected, answer)


@given(st.integers(-(10**6), 10**6), st.integers(1, 1000))
def test_a_fraction_in_latex_is_that_fraction(top: int, bottom: int) -> None:
    value = Fraction(top, bottom)
    text = rf"\frac{{{value.numerator}}}{{{value.denominator}}}"
    assert is_correct(f"{value.numerator}/{value.denominator}", rf"So it is $\boxed{{{text}}}$.")
    other = rf"\frac{{{value.numerator + 1}}}{{{value.denominator}}}"
    assert not is_correct(text, rf"\boxed{{{other}}}")


@given(st.integers(0, 10**4), st.integers(1, 999), st.integers(2, 1000))
def test_a_mixed_number_in_latex_is_its_sum(whole: int, top: int, bottom: int) -> None:
    value = whole + Fraction(top % bottom, bottom)
    answer = rf"${whole}\frac{{{top % bottom}}}{{{bottom}}}$"
    if whole and top % bottom:
        assert is_correct(f"{value.numerator}/{value.denominator}", answer)


@given(st.integers(1, 10**15))
def test_thousands_in_latex_do_not_matter(value: int) -> None:
    for separator in ("{,}", r",\!", r"\,"):
        assert is_correct(value, f"${value:,}$".replace(",", separator))


PIECES = st.sampled_from(
    [
        *"0123456789.,:;+-*/^_=≈()[]{}$%€½²π√±|!#\\ \n",
        *(r"\frac", r"\sqrt", r"\boxed{", r"\text{", r"\left(", r"\times", r"\log", r"\$", r"\%"),
        *(r"\,", r"\!", "{,}", "**", "####", "x", "A", "B", "or", "not"),
        *("Answer:", "answer is", "<answer>", "Step", "million", "cm", "10^", "99999", "to", "e5"),
    ]
)


@given(st.lists(PIECES, max_size=60).map("".join))
def test_no_text_makes_the_scorer_raise(text: str) -> None:
    is_correct(5, text)


HOSTILE = {
    "backslashes": "\\" * 250_000,
    "open braces": "{" * 250_000,
    "brackets": "(" * 10_000 + "5" + ")" * 10_000,
    "fractions": r"\frac{1}{" * 10_000,
    "roots": r"\sqrt{" * 10_000 + "2",
    "boxes": r"\boxed{" * 25_000,
    "markers": "answer: " * 25_000,
    "dollars": "$5 " * 75_000,
    "spaces": "answer" + " " * 250_000,
    "digits": "1" * 250_000,
    "sum": "1+" * 500_000,
    "chain": "1=" * 500_000,
    "powers": "2^" * 400_000,
    "list": "1, " * 75_000,
    "words": "1 word " * 25_000,
    "stars": "*" * 250_000,
    "annotations": "<<" * 500_000,
}


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE.keys())
def test_hostile_text_costs_bounded_time(text: str) -> None:
    with bounded_work():
        is_correct(5, text)
