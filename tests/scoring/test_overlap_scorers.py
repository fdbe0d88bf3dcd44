"""Overlap of words: values from the papers and by hand."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentbench_tui.model.answer import Answer, Case, Score
from agentbench_tui.scoring.overlap import common_length, rouge_l, token_overlap
from agentbench_tui.scoring.registry import make_scorer

WORDS = st.lists(st.sampled_from("abcd"), max_size=12)


def test_rouge_l_of_the_papers_examples() -> None:
    """Lin 2004, section 3.1: candidates 2 and 3 against "police killed the gunman"."""
    reference = "police killed the gunman"
    assert rouge_l("police kill the gunman", reference)[0] == pytest.approx(3 / 4)
    assert rouge_l("the gunman kill police", reference)[0] == pytest.approx(2 / 4)


def test_token_f1_by_hand() -> None:
    """Articles and punctuation left out: {cat, sat} of {cat, sat, down} share 2."""
    assert token_overlap("The cat sat.", "cat sat down") == pytest.approx((0.8, 1.0, 2 / 3))
    assert token_overlap("dog", "cat") == (0, 0, 0)
    assert token_overlap("the", "a") == (1, 1, 1)
    assert token_overlap("", "cat") == (0, 0, 0)
    assert token_overlap("cat cat", "cat")[0] == pytest.approx(2 / 3)


def plain_common_length(left: list[str], right: list[str]) -> int:
    """The textbook recurrence."""
    rows = [[0] * (len(right) + 1) for _ in range(len(left) + 1)]
    for i, a in enumerate(left):
        for j, b in enumerate(right):
            rows[i + 1][j + 1] = rows[i][j] + 1 if a == b else max(rows[i][j + 1], rows[i + 1][j])
    return rows[-1][-1]


@given(WORDS, WORDS)
def test_bit_parallel_length_is_the_textbooks(left: list[str], right: list[str]) -> None:
    assert common_length(left, right) == plain_common_length(left, right)


@given(WORDS, WORDS)
def test_both_measures_are_symmetric_and_bounded(left: list[str], right: list[str]) -> None:
    for measure in (rouge_l, token_overlap):
        f, precision, recall = measure(" ".join(left), " ".join(right))
        assert measure(" ".join(right), " ".join(left)) == (f, recall, precision)
        assert 0 <= f <= 1


def test_best_of_several_references_and_pass_mark() -> None:
    scorer = make_scorer({"rouge_l": {"pass_at": 0.7}}).score
    result = scorer(Case("case", "", ["no", "police killed the gunman"]), Answer("police killed"))
    assert isinstance(result, Score)
    assert result.value == pytest.approx(2 / 3)
    assert not result.correct
    assert (result.relevance, result.completeness) == (1.0, 0.5)
