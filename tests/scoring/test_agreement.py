"""Agreement of judges: the worked examples of the papers and of statistics textbooks."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentbench_tui.model.answer import Score
from agentbench_tui.scoring.judge.agreement import (
    cohen_kappa,
    fleiss_kappa,
    judge_agreement,
    raw_agreement,
)

GRADES = st.integers(1, 3)


def test_cohen_of_a_two_by_two_table() -> None:
    """20 both yes, 15 both no, 5 and 10 apart: po = 0.7, pe = 0.5, kappa = 0.4."""
    left = ["y"] * 25 + ["n"] * 25
    right = ["y"] * 20 + ["n"] * 5 + ["y"] * 10 + ["n"] * 15
    assert cohen_kappa(left, right) == pytest.approx(0.4)


def test_fleiss_of_the_worked_example() -> None:
    """14 raters, 10 items, 5 grades: kappa = 0.210 (the table that textbooks repeat)."""
    table = [
        (0, 0, 0, 0, 14), (0, 2, 6, 4, 2), (0, 0, 3, 5, 6), (0, 3, 9, 2, 0), (2, 2, 8, 1, 1),
        (7, 7, 0, 0, 0), (3, 2, 6, 3, 0), (2, 5, 3, 2, 2), (6, 5, 2, 1, 0), (0, 2, 2, 3, 7),
    ]  # fmt: skip
    rows = [[grade for grade, n in enumerate(row) for _ in range(n)] for row in table]
    assert fleiss_kappa(rows) == pytest.approx(0.210, abs=5e-4)
    assert raw_agreement(rows) == pytest.approx(0.378, abs=5e-4)


@given(st.lists(st.tuples(GRADES, GRADES), min_size=1))
def test_kappa_is_symmetric_and_at_most_one(pairs: list[tuple[int, int]]) -> None:
    left, right = [a for a, _ in pairs], [b for _, b in pairs]
    kappa = cohen_kappa(left, right)
    assert kappa == (pytest.approx(cohen_kappa(right, left)) if kappa is not None else None)
    assert kappa is None or kappa <= 1
    assert cohen_kappa(left, left) in {None, 1.0}


def test_kappa_is_not_defined_without_variation() -> None:
    assert cohen_kappa([1, 1], [1, 1]) is None
    assert fleiss_kappa([[1, 1, 1]]) is None
    assert fleiss_kappa([[1]]) is None
    assert cohen_kappa([], []) is None
    with pytest.raises(ValueError, match="same items"):
        cohen_kappa([1], [1, 2])


def test_agreement_from_stored_scores() -> None:
    def score(**grades: int) -> Score:
        return Score("model_graded", 1.0, True, metadata={"grades": grades})

    two = judge_agreement([score(a=5, b=5), score(a=1, b=1), score(a=5), score(a=4, b=5)])
    assert (two.answers, two.judges, two.raw) == (3, 2, pytest.approx(2 / 3))
    assert two.kappa == cohen_kappa([5, 1, 4], [5, 1, 5])
    three = judge_agreement([score(a=5, b=5, c=5), score(a=1, b=1, c=2)])
    assert three.kappa == fleiss_kappa([[5, 5, 5], [1, 1, 2]])
    alone = judge_agreement([score(a=5)])
    assert (alone.raw, alone.kappa) == (None, None)
    assert judge_agreement([]).answers == 0
