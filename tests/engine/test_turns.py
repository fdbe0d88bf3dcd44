"""The order of turns: drawn, and fair to each."""

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from agentbench_tui.engine.run.turns import in_turn


@given(st.integers(1, 5), st.integers(0, 2**62), st.integers(0, 6), st.integers(0, 6))
def test_each_stands_at_each_place_as_often_over_repeats_and_over_blocks(
    size: int, seed: int, repeat: int, nth: int
) -> None:
    ones = range(size)
    square = repeat * size, nth * size  # where one begins
    over_repeats = [in_turn(ones, seed, square[0] + one, nth) for one in ones]
    over_blocks = [in_turn(ones, seed, repeat, square[1] + one) for one in ones]
    for blocks in (over_repeats, over_blocks):
        for placed in zip(*blocks, strict=True):
            assert sorted(placed) == [*ones]


def test_who_comes_first_is_drawn_and_not_foreseen() -> None:
    first = Counter(in_turn("ab", seed, 0, 0)[0] for seed in range(1000))
    assert 420 <= first["a"] <= 580  # five standard deviations
    assert in_turn("ab", 7, 3, 5) == in_turn("ab", 7, 3, 5)
