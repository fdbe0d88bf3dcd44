"""Metrics that are ratios of sums are compared and ranked case by case."""

from __future__ import annotations

import sqlite3
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from evidence_made import asked
from numpy.typing import ArrayLike
from scipy.stats import ttest_ind, ttest_rel

from agentbench_tui.analysis.intervals.interval import ratio_of_sums
from agentbench_tui.model.figures.metric import Metric
from agentbench_tui.verdicts.comparison.comparison import Asked, Comparison
from agentbench_tui.verdicts.comparison.head_to_head import compare_metric
from agentbench_tui.verdicts.comparison.judgment import judged
from agentbench_tui.verdicts.evidence.ratio_columns import contributions, sum_columns
from agentbench_tui.verdicts.evidence.task_evidence import TaskEvidence
from agentbench_tui.verdicts.history import version_values
from agentbench_tui.verdicts.ranking.rankable import Rankable
from agentbench_tui.verdicts.ranking.ranked_by_case import case_measure, ranked_by_case
from agentbench_tui.verdicts.ranking.scorecard import Scorecard
from agentbench_tui.verdicts.selection.contenders import Contender

PRECISION = Metric("precision", "share", "higher", "")
PACE = Metric("pace", "s", "lower", "")


def side(metric: Metric, top: ArrayLike, bottom: ArrayLike, repeats: int = 1) -> TaskEvidence:
    columns = dict(zip(sum_columns(metric.name), (top, bottom), strict=True))
    return asked(np.size(np.asarray(top)) // repeats, repeats, **columns)


def compared(metric: Metric, a: TaskEvidence, b: TaskEvidence, **how: Any) -> Comparison:
    found = compare_metric(metric.name, a, b, Asked(columns={metric.name: metric}, **how))
    assert found is not None
    return judged(found, found.p_tested)


def test_a_share_has_a_difference_and_an_amount_a_ratio() -> None:
    """Of bottoms that are all 2, the ratio of sums is half the mean, and the test is t."""
    draw = np.random.default_rng(1)
    x, y = draw.random((2, 30))
    bottom = np.full(30, 2.0)
    share = compared(PRECISION, side(PRECISION, x, bottom), side(PRECISION, y, bottom))
    assert (share.a, share.b) == pytest.approx((x.mean() / 2, y.mean() / 2))
    assert (share.ratio, share.of, share.n, share.paired) == (None, "cases", 30, True)
    assert share.p_value == pytest.approx(float(ttest_rel(x, y).pvalue))
    amount = compared(PACE, side(PACE, x, bottom), side(PACE, y, bottom))
    assert amount.ratio == pytest.approx(y.sum() / x.sum())
    assert amount.ratio_of == share.ratio_of == "ratios of sums"


def test_large_cases_weigh_as_much_as_they_count() -> None:
    """B is better in seven small cases and worse in the large one, which decides the ratio."""
    bottom = [1.0] * 7 + [93.0]
    a, b = [0.0] * 7 + [62.0], [1.0] * 7 + [31.0]
    found = compared(PRECISION, side(PRECISION, a, bottom), side(PRECISION, b, bottom))
    assert (found.a, found.b) == (0.62, 0.38)
    assert found.verdict == "inconclusive"  # of one case that decides, nothing is known


def test_repeats_of_a_case_are_averaged_first() -> None:
    top, bottom = np.arange(20.0), np.arange(1.0, 21)
    twice = [np.tile(one, 2) for one in (top, bottom, bottom - top / 2, bottom)]
    found = compared(
        PRECISION, side(PRECISION, *twice[:2], repeats=2), side(PRECISION, *twice[2:], repeats=2)
    )
    once = compared(PRECISION, side(PRECISION, top, bottom), side(PRECISION, twice[2][:20], bottom))
    assert (found.n, found.low, found.p_value) == (20, once.low, once.p_value)


def test_clusters_are_draws() -> None:
    draw = np.random.default_rng(2)
    columns = np.repeat(draw.integers(1, 9, (4, 12)).astype(float), 5, axis=1)
    a, b = side(PACE, *columns[:2]), side(PACE, *columns[2:])
    alone = compared(PACE, a, b)
    a, b = (replace(one, cluster=one.case // 5) for one in (a, b))
    found = compared(PACE, a, b)
    assert (found.n, found.clusters) == (60, 12)
    assert None not in (found.low, found.high, alone.low, alone.high)
    assert (found.low or 0) < (alone.low or 0) < (alone.high or 0) < (found.high or 0)


def test_other_cases_are_groups() -> None:
    draw = np.random.default_rng(3)
    x, y = draw.random(12), draw.random(20)
    a, b = side(PRECISION, x, np.ones(12)), side(PRECISION, y, np.ones(20))
    b = replace(b, case=b.case + 100, cluster=b.cluster + 100)
    found = compared(PRECISION, a, b)
    assert (found.paired, found.n) == (False, 12)
    assert found.p_value == pytest.approx(float(ttest_ind(y, x, equal_var=False).pvalue))


def test_answers_without_a_pair_are_left_out_and_reported() -> None:
    top, bottom = np.ones(20), np.full(20, 2.0)
    gap = top.copy()
    gap[:3] = np.nan
    found = compared(PACE, side(PACE, top, bottom), side(PACE, gap, bottom))
    assert found.n == 17
    assert "3 of 20 answers of B have no value: left out" in found.notes
    assert "3 of A without a value of B left out" in found.notes


def test_contributions_add_up_to_the_deviation_of_the_ratio() -> None:
    draw = np.random.default_rng(4)
    top, bottom = draw.random((2, 50))
    found = contributions(side(PACE, top, bottom), "pace")
    assert found is not None
    assert found.sum() == pytest.approx(0, abs=1e-9)
    # The ratio without one case, to first order.
    without = (top.sum() - top[7]) / (bottom.sum() - bottom[7]) - top.sum() / bottom.sum()
    assert -found[7] / 50 == pytest.approx(without, rel=0.1)


def test_each_repeat_has_its_ratio_of_sums() -> None:
    evidence = side(PACE, [1, 2, 3, 4], [2, 2, 1, 1], repeats=2)
    assert evidence.per_repeat("pace").tolist() == [0.75, 3.5]


def test_the_history_of_two_equal_runs_is_as_wide_as_of_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The second run of an agent that always says the same tells nothing new."""
    draw = np.random.default_rng(7)
    bottom = draw.integers(1, 9, 40)
    top = draw.binomial(bottom, 0.6)
    once = ratio_of_sums(top, bottom)
    assert once is not None
    both = side(PRECISION, np.tile(top, 2), np.tile(bottom, 2), repeats=2)
    both = replace(both, executions=[{"key": 1}, {"key": 2}])
    value = top.sum() / bottom.sum()
    stored = {"precision": {"value": value, "unit": "share", "low": 0.0, "high": 1.0}}
    monkeypatch.setattr(version_values, "metrics_of", lambda *_: stored)
    connection = sqlite3.connect(":memory:")
    found = version_values.version_value(connection, both, "precision")
    connection.close()
    assert found == pytest.approx((value, once.low, once.high))


def test_a_board_ranks_by_the_ratio_with_the_test_of_compare() -> None:
    draw = np.random.default_rng(5)
    bottom = draw.integers(1, 9, 40).astype(float)
    tops = {"low": 0.2 * bottom, "high": 0.6 * bottom, "noisy": bottom * draw.random(40)}
    tops["none"], nothing = np.zeros(40), np.zeros(40)
    cards = [
        Scorecard(
            Contender(name, name, "1", False, ()),
            {0: side(PRECISION, top, nothing if name == "none" else bottom)},
        )
        for name, top in tops.items()
    ]
    by = Rankable("precision", "share", "higher", "metric")
    measure = case_measure(cards, by)
    assert measure is not None
    (group,), lacking = ranked_by_case(cards, by, measure, 1_000)
    assert [(one.card.contender.name, one.reason) for one in lacking] == [
        ("none", "precision has no value: the second numbers are all 0")
    ]
    rows = dict(zip(("low", "high", "noisy"), group.standings.rows, strict=True))
    assert rows["low"].score == pytest.approx(0.2)
    assert [rows[name].rank for name in ("high", "low")] == [1, 3]
    assert (group.way, len(group.shared)) == ("cases", 40)


def test_the_mean_of_a_distribution_ranks_case_by_case_like_the_plain_mean() -> None:
    draw = np.random.default_rng(6)
    words = {"short": draw.integers(1, 9, 30), "long": draw.integers(20, 40, 30)}
    cards = [
        Scorecard(
            Contender(name, name, "1", False, ()),
            {0: replace(asked(30, words=values), defined=("words",))},
        )
        for name, values in words.items()
    ]
    found = []
    for metric in ("words", "words.mean"):
        by = Rankable(metric, "words", "lower", "metric")
        measure = case_measure(cards, by)
        assert measure is not None
        (group,), _ = ranked_by_case(cards, by, measure, 1_000)
        found.append(group.standings)
    assert found[0] == found[1]
    assert found[0].rows[0].score == words["short"].mean()
    assert case_measure(cards, Rankable("words.p95", "words", "lower", "metric")) is None
