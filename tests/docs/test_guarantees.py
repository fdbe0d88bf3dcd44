"""The table of guarantees in docs/decisions.md is what benchmarks/guarantees.py writes."""

import re
import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))

from guarantees import bound_words, shown
from simulations import ROWS
from simulations.guarantee import Guarantee, Rate


def test_the_page_has_the_rows_that_are_simulated() -> None:
    assert list(shown()) == [(row.topic, row.event) for row in ROWS]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row.topic}: {row.event}")
def test_the_rates_in_the_page_are_within_their_bounds(row: Guarantee) -> None:
    _, _, bound, measured, *_ = shown()[row.topic, row.event]
    assert bound == bound_words(row)
    parsed = re.fullmatch(r"([\d.]+)% of ([\d,]+)", measured)
    assert parsed is not None
    trials = int(parsed[2].replace(",", ""))
    assert trials >= row.trials
    assert row.is_held_by(Rate(round(float(parsed[1]) / 100 * trials), trials))


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row.topic}: {row.event}")
def test_every_row_can_be_simulated(row: Guarantee) -> None:
    """A few trials, so that a change of what is simulated is seen before CI runs all of them."""
    assert row.measure(3, np.random.default_rng(7)).trials >= 1


def test_a_rate_beyond_its_bound_by_more_than_chance_is_missed() -> None:
    row = Guarantee("a", "b", lambda trials, _: Rate(0, trials), trials=400, highest=0.05)
    assert row.is_held_by(Rate(20, 400))
    assert row.is_held_by(Rate(28, 400))  # 7%, within two standard errors of 1.3 points
    assert not row.is_held_by(Rate(33, 400))
