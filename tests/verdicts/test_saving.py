"""Switches among agents whose truth is known: which are said to save."""

from types import SimpleNamespace
from typing import cast

import numpy as np
import pytest
from evidence_made import asked
from numpy.typing import NDArray

from agentbench_tui.verdicts.cost.ledger import Ledger
from agentbench_tui.verdicts.cost.saving import Options, options
from agentbench_tui.verdicts.ranking.scorecard import Scorecard

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


def judged(
    right: Floats, usd: Floats, clusters: Integers | None = None, *, has_current: bool = False
) -> Options:
    cases = np.arange(right.shape[1])
    card = cast(
        "Scorecard", SimpleNamespace(evidence={0: asked(e2e_ms=[1000])})
    )  # of no throughput
    parts = [
        Ledger(card, cases, cases, 0 * cases, paid, won, np.ones(len(cases)), frozenset(), {})
        for paid, won in zip(usd, right, strict=True)
    ]
    independent = cases if clusters is None else clusters
    return options(parts, right, usd, independent, 0.02, has_current=has_current)


def test_equal_agents_seldom_have_a_sure_saving_however_many_they_are() -> None:
    """Unadjusted, 42% of tables of 8 had one."""
    draw = np.random.default_rng(14)
    false = 0
    for _ in range(20):
        right = (draw.random((8, 300)) < 0.99).astype(float)
        usd = np.exp(draw.normal(-5, 0.5, (8, 300)))
        found = judged(right, usd)
        false += any(found.opportunities(current) for current in range(8))
    assert false <= 3


def test_an_agent_at_half_the_price_saves_among_many_too() -> None:
    draw = np.random.default_rng(15)
    usd = np.exp(draw.normal(-5, 0.5, (4, 600)))
    usd[3] /= 2
    found = judged(np.ones((4, 600)), usd)
    assert [found.opportunities(current) for current in range(4)] == [[3], [3], [3], []]
    saving = found.savings[0][3].saving
    assert saving is not None
    assert saving.value == pytest.approx(0.5, abs=0.05)


def test_only_switches_that_are_asked_for_are_adjusted_for() -> None:
    right, usd = np.ones((5, 100)), np.ones((5, 100))
    assert judged(right, usd).level == pytest.approx(1 - 0.05 / 20)
    assert judged(right, usd, has_current=True).level == pytest.approx(1 - 0.05 / 4)


def test_a_saving_compares_totals_whatever_cases_belong_together() -> None:
    """Of 200 clusters half hold three cheap cases, which the other has at half the price, and half
    one dear case of one price: (3 x 0.5 + 10) / (3 x 1 + 10) of the bill."""
    clusters = np.concatenate([np.repeat(np.arange(100), 3), np.arange(100, 200)])
    cheap = clusters < 100
    usd = np.array([np.where(cheap, 1.0, 10.0), np.where(cheap, 0.5, 10.0)])
    found = judged(np.ones((2, 400)), usd, clusters)
    saving = found.savings[0][1].saving
    assert saving is not None
    assert saving.value == pytest.approx(1 - 11.5 / 13)
