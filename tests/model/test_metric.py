"""Metrics are named once, and a part of one is known where it can be reported."""

import pytest

from agentbench_tui.model.errors import UsageError
from agentbench_tui.model.figures.metric import (
    LOAD_PARTS,
    METRICS,
    SHARES,
    find_metric,
    known_metrics,
)
from agentbench_tui.verdicts.explanation import explain


def test_a_latency_has_the_parts_that_load_reports() -> None:
    assert METRICS["e2e_ms"].parts == ("mean", "p50", "p90", "p95", "p99", "p999", "max")
    assert METRICS["waiting_ms"].parts == ("mean", "p50", "p90", "p95", "p99")
    assert METRICS["accuracy"].parts == ()


def test_every_percentile_has_its_share() -> None:
    assert {f"p{str(share)[2:].ljust(2, '0')}" for share in SHARES.values()} == set(SHARES)
    assert set(LOAD_PARTS) == {"mean", *SHARES, "max"}


@pytest.mark.parametrize("name", ["e2e_ms.p999", "ttft_ms.max", "goodput_share", "itl_ms.p50"])
def test_names_of_load_stand_in_gates_and_rubrics(name: str) -> None:
    assert name in known_metrics()
    assert find_metric(name) is METRICS[name.partition(".")[0]]


@pytest.mark.parametrize("name", ["waiting_ms.p999", "accuracy.p50", "e2e_ms.p98", "nothing"])
def test_other_names_are_not_known(name: str) -> None:
    assert name not in known_metrics()
    assert find_metric(name) is None
    with pytest.raises(UsageError, match="no metric or score"):
        explain(name)


def test_words_that_tools_use_differently_are_told_apart_by_formula() -> None:
    assert "(output_tokens - 1)" in explain("tpot_ms")["formula"]
    assert "every gap between two content-bearing events" in explain("icl_ms")["formula"]
    assert "÷ tokens per chunk" in explain("itl_ms")["formula"]
    assert "from the due time" in explain("e2e_ms.p95")["formula"]
    assert "unsent requests are not good" in explain("goodput_share")["formula"]


def test_every_name_is_that_of_its_entry_and_has_a_unit() -> None:
    for name, metric in METRICS.items():
        assert metric.name == name
        assert metric.unit
        assert metric.formula.endswith("."), name
        assert (metric.unit != "ms") or "_ms" in name
