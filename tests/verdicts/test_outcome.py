"""Who wins: never who seems to be less right by more than matters while that is open."""

from __future__ import annotations

from dataclasses import replace

import pytest

from agentbench_tui.verdicts.comparison import Comparison
from agentbench_tui.verdicts.outcome import outcome

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
