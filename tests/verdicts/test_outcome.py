"""Who wins: never who leans worse by more than matters in a metric that is open."""

from __future__ import annotations

from dataclasses import replace

import pytest

from agentbench_tui.verdicts.comparison.comparison import Comparison
from agentbench_tui.verdicts.comparison.open_question import decided_words, open_words
from agentbench_tui.verdicts.comparison.outcome import outcome

FASTER = Comparison("e2e_ms", "ms", "lower", 0.05, ratio=0.7, verdict="better")
ACCURACY = Comparison("accuracy", "share", "higher", 0.02, a=0.9, verdict="inconclusive")


def accuracy(difference: float, **more: object) -> Comparison:
    return replace(ACCURACY, difference=difference, **more)


@pytest.mark.parametrize(
    ("difference", "verdict"),
    [(-0.225, "tie"), (-0.02, "tie"), (-0.019, "better"), (0.3, "better")],
)
def test_faster_wins_only_if_it_does_not_seem_to_be_less_right(
    difference: float, verdict: str
) -> None:
    found = outcome([FASTER, accuracy(difference)])
    assert found.verdict == verdict
    assert not found.is_settled


def test_it_holds_for_the_control_as_well() -> None:
    slower = replace(FASTER, ratio=1.4, verdict="worse")
    assert outcome([slower, accuracy(-0.2)]).verdict == "worse"
    found = outcome([slower, accuracy(0.2)])
    assert found.verdict == "tie"
    assert found.swapped().verdict == "tie"


def test_a_share_of_which_less_is_better_leans_the_other_way() -> None:
    errors = replace(ACCURACY, metric="error_rate", better="lower", difference=0.1)
    assert outcome([FASTER, errors]).verdict == "tie"


def test_what_is_shown_decides_whatever_seems() -> None:
    lost = accuracy(-0.3, verdict="worse")
    assert outcome([FASTER, lost]).verdict == "trade-off"
    assert outcome([FASTER, accuracy(-0.01, verdict="equivalent")]).verdict == "better"


COST = Comparison(
    "cost_usd_per_task", "USD", "lower", 0.05, a=1.0, b=1.8, difference=0.8, ratio=1.8,
    low=0.98, high=5.05,
)  # fmt: skip


@pytest.mark.parametrize(("ratio", "verdict"), [(1.8, "tie"), (1.06, "tie"), (1.04, "better")])
def test_faster_wins_only_if_it_does_not_seem_to_cost_more(ratio: float, verdict: str) -> None:
    cost = replace(COST, ratio=ratio, difference=ratio - 1)
    assert outcome([FASTER, cost]).verdict == verdict
    assert outcome([FASTER, replace(cost, ratio=1 / ratio, difference=-0.1)]).verdict == "better"


def test_what_cannot_be_compared_leans_no_way() -> None:
    assert outcome([FASTER, replace(COST, comparable=False)]).verdict == "better"


def test_what_is_open_is_told_by_the_worst_that_it_may_be() -> None:
    assert decided_words(replace(FASTER, ratio=0.85)) == "faster (15%)"
    assert open_words(COST, for_b=True) == "its cost may be up to 5 times as high"
    mild = replace(COST, low=0.9, high=1.3)
    assert open_words(mild, for_b=True) == "its cost may be up to 30% higher"
    assert (
        open_words(replace(COST, high=None), for_b=True) == "its cost may be higher by any amount"
    )
    lost = accuracy(-0.075, low=-0.152, high=0.003)
    assert open_words(lost, for_b=True) == "its accuracy may be up to 15.2 points lower"
    won = accuracy(0.075, low=-0.003, high=0.152)
    assert open_words(won, for_b=False) == "its accuracy may be up to 15.2 points lower"
