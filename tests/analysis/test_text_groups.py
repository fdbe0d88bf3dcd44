"""Texts that belong together, and texts that do not."""

import random

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from agentbench_tui.analysis.groups.text_groups import (
    duplicate_groups,
    ending_groups,
    prefix_groups,
    stem_groups,
    template_groups,
)

_WORDS = [f"{a}{b}{c}" for a in "bdfgklmn" for b in "aeiou" for c in "rstvz"]


def words(count: int, seed: int) -> str:
    return " ".join(random.Random(seed).choices(_WORDS, k=count))


def groups(labels: np.ndarray) -> list[list[int]]:
    """Places that share a label, each group of two or more."""
    found = [np.flatnonzero(labels == label).tolist() for label in np.unique(labels)]
    return sorted(group for group in found if len(group) > 1)


def test_one_template_with_other_names_and_numbers_is_one_group() -> None:
    texts = [
        "Anna has 3 apples and buys 14 more. How many does she have?",
        "Tom Smith has 1,250 apples and buys 9 more. How many does she have?",
        'What does "open sesame" mean?',
        "What does “nil desperandum” mean?",
        "Anna sells 3 apples.",
    ]
    assert groups(template_groups(texts)) == [[0, 1], [2, 3]]


def test_questions_on_one_passage_share_their_beginning_or_their_end() -> None:
    passages = [words(60, seed) for seed in (1, 2, 3)]
    questions = [words(8, seed) for seed in range(10, 16)]
    first = [f"Read.\n{passages[n % 3]}\n{question}" for n, question in enumerate(questions)]
    last = [f"{question}\n{passages[n % 3]}\nAnswer:" for n, question in enumerate(questions)]
    assert groups(prefix_groups(first)) == [[0, 3], [1, 4], [2, 5]]
    assert groups(prefix_groups(last)) == []
    assert groups(ending_groups([text.removesuffix("\nAnswer:") for text in last])) == [
        [0, 3], [1, 4], [2, 5],
    ]  # fmt: skip
    assert groups(ending_groups(last)) == [[0, 3], [1, 4], [2, 5]]
    assert groups(duplicate_groups(first)) == [[0, 3], [1, 4], [2, 5]]


def test_instructions_that_all_share_group_nothing() -> None:
    texts = [f"{words(100, 0)} Question: {words(12, seed)}" for seed in range(1, 9)]
    for function in (prefix_groups, ending_groups, duplicate_groups, template_groups):
        assert groups(function(texts)) == [], function.__name__


def test_near_duplicates_differ_in_a_few_words_wherever_those_are() -> None:
    base = words(50, 1).split()
    changed = [*base[:20], "other", *base[21:40], "things", *base[41:]]
    texts = [" ".join(base), words(50, 2), " ".join(changed), words(50, 3)]
    assert groups(duplicate_groups(texts)) == [[0, 2]]


def test_ids_share_what_comes_before_the_last_separator() -> None:
    names = ["doc12-q3", "doc12-q4", "doc1-q3", "django__django-11099", "django__django-2", "x"]
    assert groups(stem_groups(names)) == [[0, 1], [3, 4]]


@given(st.lists(st.text(max_size=60), max_size=12))
def test_any_texts_give_a_label_each_and_equal_texts_the_same(texts: list[str]) -> None:
    for function in (template_groups, stem_groups):
        labels = function(texts)
        assert len(labels) == len(texts)
        for a, one in enumerate(texts):
            assert all(labels[a] == labels[b] for b, other in enumerate(texts) if one == other)
    for function in (prefix_groups, ending_groups, duplicate_groups):
        assert len(function(texts)) == len(texts)


def test_long_texts_of_one_character_are_quick_and_harmless() -> None:
    texts = ["a" * 100_000, "'" * 100_000, "A " * 50_000, "1," * 50_000, "\ud800" * 100_000]
    for function in (template_groups, prefix_groups, ending_groups, duplicate_groups):
        assert len(function(texts)) == 5
