"""What is paid is compared by totals, and not at all where prices are unknown."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from evidence_made import Repeats, asked

from agentbench_tui.model.figures.metric import METRICS, Metric
from agentbench_tui.verdicts.comparison.comparison import Asked, Comparison
from agentbench_tui.verdicts.comparison.head_to_head import compare_metric
from agentbench_tui.verdicts.comparison.judgment import judged
from agentbench_tui.verdicts.comparison.paid import is_paid


def compared(metric: str, a: Any, b: Any, **how: Any) -> Comparison:
    found = compare_metric(metric, a, b, Asked(**{"resamples": 2000, **how}))
    assert found is not None
    return judged(found, found.p_tested)


@pytest.mark.parametrize("metric", ["cost_usd_per_task", "output_tokens"])
def test_the_agent_with_the_higher_bill_is_not_the_cheaper_one(metric: str) -> None:
    draw = np.random.default_rng(1)
    a = 0.01 * np.exp(draw.normal(0, 0.1, 60))
    b = np.where(draw.random(60) < 0.25, 4.5, 0.5) * a
    values: list[dict[str, Any]] = [{metric: a}, {metric: b}]
    found = compared(metric, *(asked(60, **one) for one in values))
    assert found.ratio == pytest.approx(b.sum() / a.sum())
    assert found.ratio_of == "totals"
    assert found.geometric_ratio == pytest.approx(np.exp(np.log(b / a).mean()))
    assert found.ratio is not None
    assert found.geometric_ratio is not None
    assert found.geometric_ratio < 1 < found.ratio
    assert found.verdict != "better"
    assert (found.a, found.b) == pytest.approx((a.mean(), b.mean()))
    assert any("geometric mean" in note for note in found.notes)


def test_a_time_is_still_a_ratio_of_geometric_means() -> None:
    draw = np.random.default_rng(2)
    a, b = np.exp(draw.normal(0, 1, (2, 20)))
    found = compared("e2e_ms", asked(20, e2e_ms=a), asked(20, e2e_ms=b))
    assert found.ratio == pytest.approx(np.exp(np.log(b / a).mean()))
    assert (found.ratio_of, found.geometric_ratio) == ("geometric means", None)


def test_repeats_of_a_case_are_averaged_before_totals_are_compared() -> None:
    a, b = np.arange(1.0, 21).reshape(2, 10), np.arange(2.0, 22).reshape(2, 10)
    found = compared("output_tokens", asked(10, 2, output_tokens=a), asked(10, 2, output_tokens=b))
    assert found.ratio == pytest.approx(b.sum() / a.sum())
    assert found.n == 10


def test_totals_of_whole_repeats_are_compared_by_their_means() -> None:
    a, b = [100.0, 120.0, 140.0], [150.0, 160.0, 230.0]
    found = compared("tokens_used", Repeats({"tokens_used": a}), Repeats({"tokens_used": b}))
    assert found.ratio == pytest.approx(540 / 360)
    assert found.ratio_of == "totals"


def test_a_cost_that_is_partly_unknown_has_no_verdict_and_says_how_much_of_it() -> None:
    cost = np.where(np.arange(60) % 2, 0.005, np.nan)
    a, b = asked(60, cost_usd_per_task=np.full(60, 0.01)), asked(60, cost_usd_per_task=cost)
    found = compared("cost_usd_per_task", a, b)
    assert (found.verdict, found.comparable, found.n_needed) == ("inconclusive", False, None)
    assert found.unknown == (0, 30)
    assert "unknown for 30 of 60 answers of B: no verdict" in found.notes


def test_a_failed_answer_without_a_cost_is_no_unknown_price() -> None:
    tokens = np.where(np.arange(60) < 10, np.nan, 50.0)
    b = asked(60, output_tokens=tokens, reliability=~np.isnan(tokens))
    a = asked(60, output_tokens=np.full(60, 100.0), reliability=np.ones(60))
    found = compared("output_tokens", a, b)
    assert (found.unknown, found.verdict) == ((0, 0), "better")


def test_equal_bills_of_skewed_costs_are_hardly_ever_called_different() -> None:
    draw, called = np.random.default_rng(20261129), 0
    for _ in range(300):
        hard = draw.normal(0, 1, 30)
        a, b = np.exp(hard + draw.normal(0, 0.6, (2, 30)))
        found = compared(
            "cost_usd_per_task", asked(30, cost_usd_per_task=a), asked(30, cost_usd_per_task=b),
            resamples=400,
        )  # fmt: skip
        called += found.verdict in {"better", "worse"}
    assert called / 300 <= 0.05 + 2 * (0.05 * 0.95 / 300) ** 0.5


@pytest.mark.parametrize(
    ("metric", "part", "paid"),
    [
        (METRICS["cost_usd_per_task"], "", True),
        (METRICS["output_tokens"], "", True),
        (METRICS["output_tokens"], "p50", False),
        (METRICS["output_tokens_per_s"], "", False),
        (METRICS["e2e_ms"], "", False),
        (Metric("total_cost", "", "lower", "A column."), "", True),
        (Metric("prompt tokens", "", "lower", "A column."), "", True),
        (Metric("fluency", "", "higher", "A column."), "", False),
    ],
)
def test_what_is_paid_is_known_by_its_unit_or_name(metric: Metric, part: str, paid: bool) -> None:
    assert is_paid(metric, part) == paid


def test_costs_of_clusters_stay_together() -> None:
    draw = np.random.default_rng(4)
    a = np.exp(draw.normal(0, 0.5, 60))
    b = a * np.repeat(np.exp(draw.normal(0.1, 0.4, 6)), 10)
    clusters = np.repeat(np.arange(6), 10)
    sides = [replace(asked(60, output_tokens=one), cluster=clusters) for one in (a, b)]
    alone = compared("output_tokens", asked(60, output_tokens=a), asked(60, output_tokens=b))
    together = compared("output_tokens", *sides)
    assert together.clusters == 6
    assert together.p_value > alone.p_value  # type: ignore[operator]
