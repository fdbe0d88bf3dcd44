"""Multiple choice: which letter is picked."""

import pytest
from bounded_work import bounded_work

from agentbench_tui.model.answer import Answer, Case, GraderFailure, Score
from agentbench_tui.scoring.choices.picked import SEVERAL, find_choice
from agentbench_tui.scoring.registry import make_scorer

TEXTS = ["London", "Paris", "Rome", "Paris Texas"]


@pytest.mark.parametrize(
    ("said", "picked"),
    [
        ("B", "B"),
        ("(b)", "B"),
        ("b.", "B"),
        ("The answer is B.", "B"),
        ("**C**", "C"),
        ("answer: **(D)**", "D"),
        ("I think A is wrong. The answer is C", "C"),
        ("The answer is A. No: the answer is B.", "B"),
        ("the correct answer is option D", "D"),
        ("Answer: B", "B"),
        ("He had to choose.\n\n**Answer:** C", "C"),
        ("ANSWER IS D", "D"),
        ("Option B", "B"),
        ("The answer is B. Option C is wrong", "B"),
        ("B. Paris", "B"),
        ("b) Paris", "B"),
        (r"so \boxed{\text{C}}", "C"),
        ("It is Paris.", "B"),
        ("It is Paris, Texas.", "D"),
        ("London or Rome", None),
        ("Either (A) or (B)", SEVERAL),
        ("A cat sat there", None),
        ("The answer is a city in Europe", None),
        ("The answer is E", None),
        ("", None),
    ],
)
def test_the_choice_that_is_picked(said: str, picked: str | None) -> None:
    assert find_choice(said, "ABCD", TEXTS) == picked


@pytest.mark.parametrize("begins", ["answer", "answer:", r"\boxed{", "(", "**"])
def test_an_answer_that_never_comes_to_its_letter_costs_no_more_than_its_length(
    begins: str,
) -> None:
    with bounded_work():
        assert find_choice(begins + " " * 100_000 + "1", "ABCD", TEXTS) is None


@pytest.mark.parametrize("expected", ["B", "(b)", 1, "paris"])
def test_expectation_by_letter_index_or_text(expected: object) -> None:
    case = Case("case", "", expected, metadata={"choices": TEXTS})
    result = make_scorer("multiple_choice").score(case, Answer("B"))
    assert isinstance(result, Score)
    assert result.correct


@pytest.mark.parametrize("expected", ["E", 4, "Berlin", True, 1.0])
def test_expectation_that_is_no_choice_is_the_graders_failure(expected: object) -> None:
    case = Case("case", "", expected, metadata={"choices": TEXTS})
    with pytest.raises(GraderFailure, match="not one of the choices"):
        make_scorer("multiple_choice").score(case, Answer("B"))
