"""What would settle a comparison has to settle it among all the tests that it stands among."""

from __future__ import annotations

from dataclasses import replace

import pytest

from agentbench_tui.verdicts.comparison.comparison import Comparison
from agentbench_tui.verdicts.comparison.judgment import judged

ALL_ONE_WAY = Comparison(
    "accuracy",
    "share",
    "higher",
    0.02,
    a=0.0,
    b=1.0,
    difference=1.0,
    paired=True,
    sd=0.0,
    only_a=0,
)


@pytest.mark.parametrize(
    ("pairs", "tests", "needed"),
    # The first n with 2 / 2^n below 0.05 / tests: 2/64 = 0.031, 2/256 = 0.0078, 2/512 = 0.0039.
    [(5, 1, 6), (6, 6, 8), (5, 12, 9), (7, 12, 9)],
)
def test_a_difference_that_goes_all_one_way(pairs: int, tests: int, needed: int) -> None:
    p = 2 / 2**pairs
    found = replace(ALL_ONE_WAY, n=pairs, only_b=pairs, p_value=p)
    said = judged(found, min(1.0, tests * p))
    assert (said.verdict, said.n_needed) == ("inconclusive", needed)
