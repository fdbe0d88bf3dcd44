"""As many pairs as can be, held against every way to pair."""

from itertools import permutations

from hypothesis import given
from hypothesis import strategies as st

from agentbench_tui.scoring.structure.pairing import most_pairs

GIVEN = 5
ROWS = st.lists(
    st.lists(st.sampled_from(["no", "fits", "sooner"]), min_size=GIVEN, max_size=GIVEN), max_size=5
)
"""Of each expected thing, how it fits each given one."""


@given(ROWS)
def test_no_way_to_pair_has_more_pairs(rows: list[list[str]]) -> None:
    pairs = most_pairs(
        len(rows),
        GIVEN,
        lambda one, at: rows[one][at] != "no",
        sooner=lambda one, at: rows[one][at] == "sooner",
    )
    made = [(one, at) for one, at in enumerate(pairs) if at is not None]
    assert len({at for _, at in made}) == len(made)
    assert all(rows[one][at] != "no" for one, at in made)
    assert len(made) == max(
        sum(row[at] != "no" for row, at in zip(rows, way, strict=True))
        for way in permutations(range(GIVEN), len(rows))
    )


def test_one_that_comes_last_may_move_all_before_it() -> None:
    """Thing n fits the places n - 1 and n, and takes the first; thing 0 fits place 0 alone."""
    things = [*range(1, 1_200), 0]
    pairs = most_pairs(1_200, 1_200, lambda one, at: things[one] - at in {0, 1})
    assert pairs == things
