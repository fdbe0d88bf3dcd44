"""Training runs compared, against figures of scipy and of pages worked by hand (data A)."""

import math
from collections.abc import Sequence
from typing import Literal

import numpy as np
import pytest
from scipy import stats

from agentbench_tui.verdicts.training.curve_comparison import (
    AskedOfRuns,
    RunComparison,
    compare_runs,
    judged_runs,
)
from agentbench_tui.verdicts.training.run_summary import Run

CONTROL = (0.812, 0.794, 0.851, 0.777, 0.806, 0.839, 0.765, 0.823, 0.798, 0.845)
USUAL = AskedOfRuns()
CANDIDATE = (0.861, 0.822, 0.874, 0.835, 0.829, 0.902, 0.787, 0.858, 0.901, 0.866)


def runs(values: Sequence[float | None]) -> list[Run]:
    return [
        Run(f"r{place}", value=value, reason="" if value is not None else "stopped at step 4")
        for place, value in enumerate(values)
    ]


def compared(
    control: Sequence[float | None] = CONTROL,
    candidate: Sequence[float | None] = CANDIDATE,
    asked: AskedOfRuns = USUAL,
    *,
    paired: bool = True,
) -> RunComparison:
    found = compare_runs("r", "", "higher", runs(control), runs(candidate), asked, paired=paired)
    return judged_runs(found, found.p_value)


def test_pairs_of_data_a() -> None:
    found = compared(asked=AskedOfRuns(target=0.02))
    assert found.effect == pytest.approx(0.0425, abs=1e-12)
    assert found.bootstrap is not None
    interval = found.bootstrap.interval
    assert (interval.low, interval.high) == pytest.approx((0.0307, 0.0639), abs=3e-4)  # scipy BCa
    assert found.t is not None
    assert found.t.t == pytest.approx(5.090844711875)
    assert found.t.p == pytest.approx(0.000653182882)
    assert (found.t.interval.low, found.t.interval.high) == pytest.approx(
        (0.023614788, 0.061385212)
    )
    assert found.p_value == found.p_rank == pytest.approx(0.001953125)
    assert found.sizes["dz"] == pytest.approx(1.609866450375)
    assert found.sizes["hedges_g"] == pytest.approx(1.250925334912)
    assert found.sizes["cliffs_delta"] == pytest.approx(0.64)
    assert found.gain is not None
    assert found.gain.correlation == pytest.approx(0.687611617224)
    assert found.gain.saved == pytest.approx(
        (0.028751811537**2 + 0.035929715340**2) / 0.026399705386**2
    )
    normal = found.normality["differences"]
    assert normal is not None
    assert normal.p == pytest.approx(0.022171288138)
    assert found.power is not None
    assert (found.power.n, round(found.power.reached, 6)) == (16, 0.570293)
    assert found.verdict == "better"


def test_groups_of_data_a() -> None:
    found = compared(asked=AskedOfRuns(target=0.02), paired=False)
    assert found.bootstrap is not None
    interval = found.bootstrap.interval
    assert (interval.low, interval.high) == pytest.approx((0.0148, 0.0689), abs=3e-4)  # scipy BCa
    assert found.t is not None
    assert found.t.df == pytest.approx(17.1744448558)
    assert found.t.p == pytest.approx(0.009462578212)
    assert found.p_value == pytest.approx(0.010424559960)
    assert found.p_rank == pytest.approx(0.014689644720)
    assert found.sizes["cohens_d"] == pytest.approx(1.306113217334)
    levene = found.normality["levene"]
    assert levene is not None
    assert levene.p == pytest.approx(0.525887664200)
    assert found.power is not None
    assert (found.power.n, round(found.power.reached, 6)) == (43, 0.255714)
    assert found.gain is None


@pytest.mark.parametrize("side", ["greater", "less"])
def test_one_side_leaves_the_other_end_open(side: Literal["greater", "less"]) -> None:
    found = compared(asked=AskedOfRuns(side=side))
    d = np.subtract(CANDIDATE, CONTROL)
    theirs = stats.bootstrap(
        (d,), np.mean, n_resamples=20_000, alternative=side, rng=np.random.default_rng(1)
    ).confidence_interval
    assert found.bootstrap is not None
    interval = found.bootstrap.interval
    assert (interval.low, interval.high) == pytest.approx((theirs.low, theirs.high), abs=5e-4)
    assert math.inf in {abs(interval.low), abs(interval.high)}
    assert found.p_value == pytest.approx(1 / 1024 if side == "greater" else 1)


def test_one_sided_tests_of_groups_look_at_the_candidate_above_the_control() -> None:
    found = compared(asked=AskedOfRuns(side="greater"), paired=False)
    assert found.p_rank == pytest.approx(
        stats.mannwhitneyu(CANDIDATE, CONTROL, alternative="greater", method="exact").pvalue
    )
    assert found.t is not None
    assert found.t.p == pytest.approx(0.009462578212 / 2)
    assert found.p_value == pytest.approx(0.010424559960 / 2)


def test_percentile_ends_and_the_number_of_resamples() -> None:
    found = compared(asked=AskedOfRuns(method="percentile", resamples=10_000))
    assert found.bootstrap is not None
    assert found.bootstrap.resampled.size == 10_000
    interval = found.bootstrap.interval
    assert (interval.low, interval.high) == pytest.approx((0.0288, 0.0598), abs=1e-3)


def test_the_same_seed_gives_the_same_interval() -> None:
    first, second, other = (
        compared(asked=AskedOfRuns(seed=seed, resamples=500)).bootstrap for seed in (1, 1, 2)
    )
    assert first is not None
    assert second is not None
    assert other is not None
    assert first.interval == second.interval
    assert first.interval != other.interval


def test_normality_decides_nothing() -> None:
    """Shapiro's p is 0.02 of these differences, and the t test is there all the same."""
    found = compared()
    assert found.t is not None
    assert found.p_value != found.t.p


def test_swapped_sides_say_the_opposite() -> None:
    for paired in (True, False):
        one, other = compared(paired=paired), compared(CANDIDATE, CONTROL, paired=paired)
        assert one.effect == pytest.approx(-(other.effect or 0))
        assert one.p_value == pytest.approx(other.p_value)
        assert (one.verdict, other.verdict) == ("better", "worse")


def test_a_unit_changes_no_verdict() -> None:
    found = compared([1000 * x for x in CONTROL], [1000 * x for x in CANDIDATE])
    assert found.verdict == "better"
    assert found.margin == pytest.approx(1000 * compared().margin)
    assert found.p_value == compared().p_value


def test_the_same_runs_again_are_equivalent() -> None:
    for paired in (True, False):
        found = compared(CONTROL, [x + 1e-4 for x in CONTROL[::-1]], paired=paired)
        assert found.verdict == "equivalent" if not paired else found.verdict != "better"


def test_unfinished_runs_are_counted_and_the_worst_case_told() -> None:
    candidate = [None, None, None, *CANDIDATE[3:]]
    found = compared(CONTROL, candidate)
    assert (found.n, found.finished(found.candidate)) == (7, 7)
    assert found.effect == pytest.approx(np.subtract(CANDIDATE[3:], CONTROL[3:]).mean())
    assert found.worst is not None
    assert (found.worst.control, found.worst.candidate) == (None, min(CONTROL[3:]))
    filled = [min(CONTROL[3:])] * 3 + list(CANDIDATE[3:])
    assert found.worst.effect == pytest.approx(np.subtract(filled, CONTROL).mean())
    theirs = stats.ttest_1samp(np.subtract(filled, CONTROL), 0).confidence_interval(0.95)
    assert (found.worst.low, found.worst.high) == pytest.approx((theirs.low, theirs.high))
    assert not found.is_robust


def test_without_unfinished_runs_there_is_no_worst_case() -> None:
    assert compared().worst is None
    assert compared().is_robust


@pytest.mark.parametrize(("lost", "verdict"), [(4.0, "inconclusive"), (1.0, "equivalent")])
def test_runs_that_are_equivalent_are_so_wherever_the_lost_ones_had_been(
    lost: float, verdict: str
) -> None:
    """Of values within 1%; one that is four times as large makes a bad worst case."""
    control = [1.0 + 0.001 * (place % 5) for place in range(20)]
    found = compared([lost, *control[1:]], [None, *control[:0:-1]])
    assert found.worst is not None
    assert found.verdict == verdict
    if verdict == "inconclusive":
        assert found.notes[0].startswith("equivalent among what finished")


def test_the_worst_case_is_adjusted_for_the_other_metrics_as_well() -> None:
    candidate = [None, *(value + 0.1 for value in CONTROL[1:])]
    found = compare_runs("r", "", "higher", runs(CONTROL), runs(candidate), USUAL, paired=True)
    assert found.worst is not None
    assert found.worst.p is not None
    assert found.worst.p < 0.05
    assert judged_runs(found, 0.01).verdict == "better"
    assert judged_runs(found, 0.01, 0.06).verdict == "inconclusive"


def test_against_a_worse_candidate_the_worst_case_lifts_it() -> None:
    found = compared([None, *CANDIDATE[1:]], [*CONTROL[:9], None], paired=False)
    assert found.worst is not None
    assert (found.worst.control, found.worst.candidate) == (min(CONTROL[:9]), max(CANDIDATE[1:]))


@pytest.mark.parametrize(
    ("control", "candidate"),
    [([1.0], [2.0]), ([1.0, None], [None, 2.0]), ([1.0, 1.0], [1.0, 1.0]), ([0.0] * 6, [0.0] * 6)],
)
@pytest.mark.parametrize("paired", [True, False])
def test_too_little_or_no_spread_crashes_nothing_and_wins_nothing(
    control: list[float | None], candidate: list[float | None], *, paired: bool
) -> None:
    found = compared(control, candidate, AskedOfRuns(target=0.1), paired=paired)
    assert found.verdict in {"inconclusive", "equivalent"}


def test_of_three_runs_a_side_welch_decides() -> None:
    found = compared([1.0, 1.1, 1.05], [2.0, 2.1, 2.05], paired=False)
    assert found.permutation is not None
    assert found.permutation.p == pytest.approx(0.1)
    assert found.t is not None
    assert found.p_value == found.t.p
    assert found.verdict == "better"


@pytest.mark.parametrize(("n", "told"), [(10, "of 10 in 90%"), (15, "of 15 it"), (40, "")])
def test_how_much_too_narrow_a_plain_bootstrap_is_is_told(n: int, told: str) -> None:
    values = np.random.default_rng(n).normal(1, 0.1, (2, n)).tolist()
    notes = compared(*values, paired=True).notes
    narrow = [note for note in notes if "too narrow" in note]
    assert bool(narrow) == bool(told)
    assert all(told in note and note.endswith("trust the t interval") for note in narrow)


def test_same_runs_are_rarely_called_different() -> None:
    """60 comparisons of one distribution with itself: at 5% more than 9 has a chance of 0.2%."""
    draws = np.random.default_rng(5)
    asked = AskedOfRuns(resamples=100)
    found = [
        compared(draws.normal(1, 0.2, 8).tolist(), draws.normal(1, 0.2, 8).tolist(), asked)
        for _ in range(60)
    ]
    assert sum(one.verdict in {"better", "worse"} for one in found) <= 9


def test_differences_that_rounding_alone_tells_apart_are_alike() -> None:
    found = compared(CONTROL, [x + 0.7 for x in CONTROL])
    assert np.ptp(np.subtract([x + 0.7 for x in CONTROL], CONTROL)) > 0
    assert found.sd == 0
    assert found.sizes["dz"] is None
    assert found.verdict == "better"
