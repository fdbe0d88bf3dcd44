"""The tables of a run of experiments."""

from __future__ import annotations

from typing import Any

import pytest
from run_documents import execution

from agentbench_tui.cli.experiments.effects import print_effects
from agentbench_tui.contracts.run import CaseCounts
from agentbench_tui.presentation.run import execution_row


@pytest.mark.parametrize(("kind", "shown"), [("experiment", "–/3/4"), ("task", "0/3/4")])
def test_what_code_returned_is_neither_right_nor_wrong(kind: str, shown: str) -> None:
    cases = CaseCounts(total=4, observed=4, answered=3, correct=0)
    assert execution_row(execution(kind=kind, cases=cases))["cases"] == shown


def test_no_effect_is_no_share_below_0(capfd: pytest.CaptureFixture[str]) -> None:
    level: dict[str, Any] = {"parameter": "p", "mean": -2.0, "least": None, "most": None}
    first = dict.fromkeys(("difference", "low", "high", "relative"))
    other = {"difference": 0.0, "low": 0.0, "high": 0.0, "relative": -0.0}
    levels = [
        {**level, **first, "level": "a", "reason": ""},
        {**level, **other, "level": "b", "reason": ""},
    ]
    one = {"benchmark_id": "it", "metric": "m", "unit": "", "of": "repeats", "levels": levels}
    print_effects({"effects": [{**one, "missing": 0, "points": 2}]})
    shown = capfd.readouterr().out
    assert "0%" in shown
    assert "-0.0" not in shown
