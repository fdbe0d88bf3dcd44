"""Drawn lengths against scipy's distributions; made-up prompts word by word."""

import math
import statistics
from itertools import combinations
from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from agentbench_tui.load.spec import LengthSpec, SyntheticSpec
from agentbench_tui.load.workload.corpus import PROMPTS, WORDS
from agentbench_tui.load.workload.synthetic import (
    BYTES_PER_TOKEN,
    draw_lengths,
    length_problem,
    make_prompts,
)

MANY = 20_000


def length(**given: Any) -> LengthSpec:
    return LengthSpec.model_validate(given)


def drawn(spec: int | LengthSpec, count: int = MANY, seed: int = 42) -> list[int]:
    return draw_lengths(spec, count, Random(seed))


def prompts(lengths: list[int], *, turns: int = 1, seed: int = 42, **given: Any) -> list[list[str]]:
    """The words of each prompt."""
    spec = SyntheticSpec.model_validate(given)
    return [prompt.split(" ") for prompt in make_prompts(spec, lengths, Random(seed), turns=turns)]


LAWS = {
    "normal": (length(mean=200, spread=40.0), stats.norm(200, 40)),
    "normal, cut below": (length(mean=20, spread=40.0), stats.norm(20, 40)),
    "normal, cut on both sides": (
        length(mean=100, spread=50.0, low=90, high=160),
        stats.norm(100, 50),
    ),
    # The published moments: mean exp(μ + σ²/2), variance (exp(σ²) - 1)·mean².
    "lognormal": (
        length(mean=300, spread=200.0, distribution="lognormal"),
        stats.lognorm(s=math.sqrt(math.log(1 + 4 / 9)), scale=300 / math.sqrt(1 + 4 / 9)),
    ),
    "lognormal, cut above": (
        length(mean=300, spread=600.0, distribution="lognormal", high=1000),
        stats.lognorm(s=math.sqrt(math.log(5)), scale=300 / math.sqrt(5)),
    ),
}


@pytest.mark.parametrize("law", LAWS)
def test_lengths_have_the_probabilities_of_their_law_cut_at_low_and_high(law: str) -> None:
    spec, whole = LAWS[law]
    high = 100_000 if spec.high is None else spec.high
    edges = np.arange(spec.low, high + 2) - 0.5
    below = (whole.cdf(edges) - whole.cdf(edges[0])) / (whole.cdf(edges[-1]) - whole.cdf(edges[0]))
    lengths = drawn(spec)
    counts = np.searchsorted(np.sort(lengths), edges)
    # One draw in each 20,000th part: no share is off by more than one draw.
    assert np.abs(counts / MANY - below).max() <= 1.5 / MANY


@pytest.mark.parametrize("distribution", ["normal", "lognormal"])
def test_the_given_mean_and_spread_come_out(distribution: str) -> None:
    lengths = drawn(length(mean=500, spread=120.0, distribution=distribution))
    assert statistics.fmean(lengths) == pytest.approx(500, rel=0.001)
    assert statistics.pstdev(lengths) == pytest.approx(120, rel=0.01)


def test_even_the_lengths_of_a_default_set_have_that_mean_and_spread() -> None:
    lengths = drawn(length(mean=500, spread=120.0), count=256)
    assert statistics.fmean(lengths) == pytest.approx(500, rel=0.005)
    assert statistics.pstdev(lengths) == pytest.approx(120, rel=0.02)


def test_uniform_lengths_are_every_whole_number_equally_often() -> None:
    lengths = drawn(length(mean=10, spread=3.0, distribution="uniform"), count=700)
    assert sorted(lengths) == [number for number in range(7, 14) for _ in range(100)]


def test_uniform_lengths_are_cut_too() -> None:
    spec = length(mean=5, spread=10.0, distribution="uniform", low=2, high=8)
    assert sorted(drawn(spec, count=70)) == [number for number in range(2, 9) for _ in range(10)]


def test_lengths_come_in_random_order() -> None:
    lengths = drawn(length(mean=500, spread=120.0), count=1000)
    correlation = stats.spearmanr(range(1000), lengths).statistic
    # Of independent orders it is within 4/√1000 in all but 1 of 15,000.
    assert abs(correlation) < 0.127


def test_a_number_or_a_spread_of_0_is_that_length_every_time() -> None:
    assert drawn(77, count=3) == [77, 77, 77]
    assert drawn(length(mean=77), count=3) == [77, 77, 77]
    for distribution in ("normal", "lognormal", "uniform"):
        hardly = length(mean=77, spread=1e-164, distribution=distribution)
        assert drawn(hardly, count=3) == [77, 77, 77]


@given(
    st.sampled_from(["normal", "lognormal", "uniform"]),
    st.integers(1, 5000),
    st.floats(0, 1e15),
    st.integers(0, 5000),
    st.integers(0, 5000) | st.none(),
    st.integers(0, 2**63),
)
def test_every_length_is_within_its_bounds(
    distribution: str, mean: int, spread: float, under: int, over: int | None, seed: int
) -> None:
    low, high = max(1, mean - under), None if over is None else mean + over
    spec = length(mean=mean, spread=spread, distribution=distribution, low=low, high=high)
    lengths = drawn(spec, count=20, seed=seed)
    assert len(lengths) == 20
    assert min(lengths) >= low
    assert high is None or max(lengths) <= high
    assert lengths == drawn(spec, count=20, seed=seed)


def test_a_mean_outside_its_bounds_is_refused() -> None:
    assert "below `low` of 10" in length_problem(length(mean=5, low=10))
    assert "above `high` of 10" in length_problem(length(mean=50, high=10))
    assert not length_problem(length(mean=10, low=10, high=10))
    assert not length_problem(5)


def test_a_prompt_has_a_word_for_each_token() -> None:
    lengths = [1, 2, 63, 64, 65, 128, 1000, 5000]
    assert [len(words) for words in prompts(lengths)] == lengths
    assert {word for words in prompts(lengths) for word in words} <= set(WORDS)


def test_the_vocabulary_is_single_lower_case_words() -> None:
    assert len(set(WORDS)) == len(WORDS) > 500
    assert all(word.isascii() and word.isalpha() and word.islower() for word in WORDS)
    assert all(prompt.strip() == prompt != "" for prompt in PROMPTS)


def test_the_size_of_a_prompt_is_foreseen() -> None:
    (words,) = prompts([100_000])
    # The spread of the words' lengths, 1.5 letters, is far within 1% for so many.
    assert len(" ".join(words)) / 100_000 == pytest.approx(BYTES_PER_TOKEN, rel=0.02)


def shared_words(one: list[str], other: list[str]) -> int:
    """How many words at the beginning are the same."""
    pairs = zip(one, other, strict=False)
    return next((place for place, (a, b) in enumerate(pairs) if a != b), len(one))


def test_the_shared_beginning_is_exactly_as_long_as_asked() -> None:
    made = prompts([100] * 50, prefix_share=0.3)
    assert {shared_words(one, other) for one, other in combinations(made, 2)} == {30}


def test_prompts_of_different_length_share_the_beginning_of_the_shorter() -> None:
    made = prompts([50, 100, 201], prefix_share=0.5)
    short, middle, long = made
    assert shared_words(short, middle) == shared_words(short, long) == 25
    assert shared_words(middle, long) == 50
    # 100.5 words are rounded to 100, as Python's round does.
    assert len(long) == 201


def test_several_beginnings_are_taken_in_turn() -> None:
    made = prompts([100] * 9, prefix_share=0.4, prefixes=3)
    for (here, one), (there, other) in combinations(enumerate(made), 2):
        assert (shared_words(one, other) >= 40) == (here % 3 == there % 3)


def test_with_a_share_of_1_all_prompts_are_the_same() -> None:
    made = prompts([64] * 5, prefix_share=1.0)
    assert all(words == made[0] for words in made)


def test_no_two_prompts_begin_alike_without_a_shared_beginning() -> None:
    made = prompts([16] * len(WORDS))
    assert len({words[0] for words in made}) == len(WORDS)


def test_two_words_tell_more_prompts_apart_than_there_are_words() -> None:
    made = prompts([2] * 5000)
    assert len({tuple(words) for words in made}) == 5000


def test_only_the_first_turn_of_a_session_has_the_shared_beginning() -> None:
    made = prompts([100] * 6, prefix_share=0.5, turns=3)
    assert shared_words(made[0], made[3]) == 50
    for one, other in combinations((1, 2, 4, 5), 2):
        assert shared_words(made[one], made[other]) == 0
    assert shared_words(made[0], made[1]) == 0


def test_the_seed_decides_the_prompts() -> None:
    assert prompts([100] * 3, seed=1) == prompts([100] * 3, seed=1)
    assert prompts([100] * 3, seed=1) != prompts([100] * 3, seed=2)
