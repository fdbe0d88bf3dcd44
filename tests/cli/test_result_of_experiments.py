"""The tables of a run of experiments."""

from __future__ import annotations

import pytest
from run_documents import execution

from agentbench_tui.cli.console.reports import print_report
from agentbench_tui.contracts.experiments import EffectOfLevel, EffectsDocument, MetricEffects
from agentbench_tui.contracts.run import CaseCounts
from agentbench_tui.presentation.effects import effects_report
from agentbench_tui.presentation.run import execution_row


@pytest.mark.parametrize(("kind", "shown"), [("experiment", "–/3/4"), ("task", "0/3/4")])
def test_what_code_returned_is_neither_right_nor_wrong(kind: str, shown: str) -> None:
    cases = CaseCounts(total=4, observed=4, answered=3, correct=0)
    assert execution_row(execution(kind=kind, cases=cases))["cases"] == shown


def level(name: str, difference: float | None, relative: float | None) -> EffectOfLevel:
    return EffectOfLevel(
        parameter="p", level=name, points=1, mean=-2.0, difference=difference, low=difference,
        high=difference, relative=relative, least=None, most=None, reason="",
    )  # fmt: skip


def test_no_effect_is_no_share_below_0(capfd: pytest.CaptureFixture[str]) -> None:
    levels = (level("a", None, None), level("b", 0.0, -0.0))
    one = MetricEffects(
        benchmark_id="it", metric="m", unit="", points=2, missing=0, of="repeats", levels=levels
    )
    document = EffectsDocument(run_id="r", level=0.95, effects=(one,))
    print_report(effects_report(document), "table", None)
    shown = capfd.readouterr().out
    assert "0%" in shown
    assert "-0.0" not in shown
