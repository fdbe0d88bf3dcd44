"""Overlap of words: values from the papers and by hand."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentbench_tui.model.answer import Answer, Case, Score
from agentbench_tui.scoring.registry import make_scorer
from agentbench_tui.scoring.text.overlap import common_length, rouge_l, token_overlap

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


@pytest.mark.parametrize("compute", [token_overlap, rouge_l])
def test_characters_are_the_words_of_scripts_without_spaces(compute: Any) -> None:
    """By hand: 今天天气好, 5 characters, is a subsequence of 今天天气很好, 6 characters."""
    assert compute("今天天气很好", "今天天气好") == pytest.approx((10 / 11, 5 / 6, 1))
    assert compute("今天 天气，很好。", "「今天天气好」")[0] == pytest.approx(10 / 11)
    assert compute("苹果香蕉", "今天天气好") == (0, 0, 0)
    assert compute("ไปกิน", "กินไป")[1] == (1 if compute is token_overlap else 0.5)
    assert compute("私はiPhone 15を買う", "私はiPhone 16を買う")[0] == pytest.approx(6 / 7)


@pytest.mark.parametrize("compute", [token_overlap, rouge_l])
def test_words_with_spaces_stay_words_and_quotes_and_accents_are_alike(compute: Any) -> None:
    assert compute("오늘 날씨가 좋다", "오늘 날씨가 나쁘다")[0] == pytest.approx(2 / 3)
    assert compute("It\u2019s \u201cso\u201d", 'it\'s "so"') == (1, 1, 1)
    assert compute("cafe\u0301", "café") == (1, 1, 1)


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
