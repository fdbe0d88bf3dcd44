"""Ranks: ties where nothing tells two apart, and no false separations."""

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

from agentbench_tui.analysis.intervals.estimate import Estimate
from agentbench_tui.verdicts.ranking.standing import by_cases, by_intervals, by_repeats, rank_labels

Floats = NDArray[np.float64]


def estimates(*ends: tuple[float, float | None, float | None]) -> list[Estimate]:
    return [Estimate(value, low, high, 10, "made") for value, low, high in ends]


def test_a_shared_rank_is_marked() -> None:
    assert rank_labels([1, 1, 3, None]) == ["1=", "1=", "3", "–"]


def test_two_whose_intervals_hardly_overlap_are_told_apart_and_others_are_not() -> None:
    # half widths 0.1: z = 1.96 × 0.2 / (0.1 √2) = 2.77, p 0.006, and 1.96 × 0.1 / 0.141 = 1.39
    apart = by_intervals(estimates((0.6, 0.5, 0.7), (0.4, 0.3, 0.5)), "higher")
    close = by_intervals(estimates((0.55, 0.45, 0.65), (0.45, 0.35, 0.55)), "higher")
    assert apart.labels() == ["1", "2"]
    assert close.labels() == ["1=", "1="]
    assert [(row.rank_low, row.rank_high) for row in close.rows] == [(1, 2), (1, 2)]
    assert [row.position for row in close.rows] == [1, 2]


def test_where_less_is_better_the_smaller_leads() -> None:
    found = by_intervals(estimates((5, 4, 6), (50, 45, 55)), "lower")
    assert [row.rank for row in found.rows] == [1, 2]
    assert found.rows[0].ahead_of == (1,)
    assert found.rows[1].behind == (0,)


def test_a_score_without_interval_is_ahead_of_nobody() -> None:
    found = by_intervals(estimates((0.9, None, None), (0.1, 0.0, 0.2)), "higher")
    assert found.labels() == ["1=", "1="]
    assert found.rows[0].rank_low is None
    assert found.rows[0].reason


def test_two_agents_by_repeats_are_judged_as_welch_would() -> None:
    draw = np.random.default_rng(3)
    for shift in (0.0, 0.05, 0.1, 0.2, 0.3):
        a = np.exp(draw.normal(0, 0.1, 5))
        b = np.exp(draw.normal(shift, 0.2, 7))
        p = stats.ttest_ind(np.log(a), np.log(b), equal_var=False).pvalue
        found = by_repeats([[a], [b]], "lower", share=False)
        assert (found.rows[0].rank != found.rows[1].rank) == (p < 0.05)
        assert found.rows[0].score == pytest.approx(stats.gmean(a))


def test_repeats_of_shares_are_averaged_as_they_are() -> None:
    found = by_repeats([[np.array([0.2, 0.4])], [np.array([0.9, 0.9])]], "higher", share=True)
    assert [row.score for row in found.rows] == pytest.approx([0.3, 0.9])


def test_one_repeat_ranks_nobody_ahead() -> None:
    found = by_repeats([[np.array([1.0])], [np.array([9.0])]], "lower", share=False)
    assert found.labels() == ["1=", "1="]
    assert found.rows[0].reason == "needs 2 (have 1) repeats (--runs 5)"


@pytest.mark.parametrize("value", [0.0, 7.0])
def test_constants_that_are_equal_tie(value: float) -> None:
    found = by_repeats([[np.full(3, value)]] * 3, "lower", share=False)
    assert found.labels() == ["1=", "1=", "1="]


@pytest.mark.parametrize(
    ("repeats", "labels"), [(2, ["1=", "1="]), (3, ["1=", "1="]), (4, ["1", "2"])]
)
def test_constants_that_differ_are_apart_from_four_repeats_on(
    repeats: int, labels: list[str]
) -> None:
    """2 of the splits of 8 repeats in halves lie as far apart: p = 2 / 70; of 6 repeats 2 / 20."""
    samples = [[np.full(repeats, level)] * 2 for level in (2.0, 3.0)]
    assert by_repeats(samples, "lower", share=False).labels() == labels


def test_agents_that_do_not_differ_are_rarely_told_apart() -> None:
    draw = np.random.default_rng(11)
    false = 0
    for _ in range(120):
        # three benchmarks of unlike speed, five repeats, four agents that are all the same
        samples = [
            [level * np.exp(draw.normal(0, 0.1, 5)) for level in (1.0, 10.0, 50.0)]
            for _ in range(4)
        ]
        found = by_repeats(samples, "lower", share=False)
        false += any(row.rank > 1 for row in found.rows)
    assert false <= stats.binom.ppf(0.999, 120, 0.05)


def test_by_cases_the_place_and_the_interval_of_the_score_stand_together() -> None:
    table = np.zeros((3, 40))
    table[0, :36] = table[1, 4:] = table[2, :8] = 1
    shown = estimates((0.9, 0.8, 1.0), (0.9, 0.8, 1.0), (0.2, 0.1, 0.3))
    found = by_cases(table, shown, "higher")
    assert found.labels() == ["1=", "1=", "3"]
    assert [row.position for row in found.rows] == [1, 1, 3]
    assert [(row.low, row.high) for row in found.rows] == [(0.8, 1.0), (0.8, 1.0), (0.1, 0.3)]
    assert found.rows[2].rank_low == found.rows[2].rank_high == 3


def test_boards_of_hundreds_are_resampled_less_often() -> None:
    table = np.random.default_rng(1).random((300, 5))  # 44,850 pairs
    scores = estimates(*[(float(row.mean()), None, None) for row in table])
    assert "1,000 resamples" in by_cases(table, scores, "higher").method
    assert "10,000 resamples" in by_cases(table[:3], scores[:3], "higher").method


def test_times_of_unlike_runs_are_told_apart_by_more_than_runs_differ() -> None:
    """Beyond 10% by 1.96 √2 × 5%, and by 2.13 or so among three pairs: 26 and 30%."""
    drawn = np.random.default_rng(3)
    times = [[np.exp(drawn.normal(np.log(level), 0.002, 5))] for level in (100, 120, 140)]
    found = {
        name: by_repeats(times, "lower", share=False, runs=runs)
        for name, runs in (
            ("in turns", [[{1}], [{1}], [{1}]]),
            ("one after another", [[{1}], [{2}], [{3}]]),
            ("no times", []),
        )
    }
    ranks = {name: [row.rank for row in one.rows] for name, one in found.items()}
    assert ranks == {"in turns": [1, 2, 3], "one after another": [1, 1, 2], "no times": [1, 2, 3]}
    first = found["one after another"].rows[0]
    assert first.low is not None
    assert first.high is not None
    half = np.log(first.high / first.low) / 2
    assert half == pytest.approx(stats.norm.ppf(0.975) * 0.05, rel=0.01)
    assert found["in turns"].rows[0].high == pytest.approx(first.score, rel=0.01)


def test_shares_of_times_of_unlike_runs_are_not_told_apart() -> None:
    values = [[np.full(5, 0.95) + step] for step in (0.0, np.linspace(0, 0.01, 5) - 0.3)]
    apart = by_repeats(values, "higher", share=True, runs=[[{1}], [{2}]])
    assert apart.labels() == ["1=", "1="]
    assert by_repeats(values, "higher", share=True, runs=[[{1}], [{1}]]).labels() == ["1", "2"]


def test_equal_agents_of_a_run_each_are_rarely_told_apart() -> None:
    draw = np.random.default_rng(12)
    runs = [[{agent}] for agent in range(20)]
    false = 0
    for _ in range(60):
        luck = draw.normal(0, 0.06, 20)
        samples = [[np.exp(draw.normal(of, 0.02, 5))] for of in luck]
        found = by_repeats(samples, "lower", share=False, runs=runs)
        false += any(row.rank > 1 for row in found.rows)
    assert false <= stats.binom.ppf(0.999, 60, 0.05)
