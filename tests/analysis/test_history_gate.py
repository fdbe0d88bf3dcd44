"""The history gate: its formulas by scipy, what alarms and what does not, and how often."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import stats

from agentbench_tui.analysis.runs.history_gate import HistoryTest, Shift, judge_history
from agentbench_tui.analysis.scale import Scale

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
TIME, SUCCESS = Scale("lower"), Scale("higher", "points")


@pytest.fixture(scope="module")
def gate_benchmark() -> Iterator[ModuleType]:
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(BENCHMARKS)
        import regression_gate

        yield regression_gate


def quiet(runs: int = 40, noise: float = 0.01, seed: int = 1) -> NDArray[np.float64]:
    """A history in ms without a change."""
    return np.exp(np.random.default_rng(seed).normal(math.log(850), noise, runs))


def there(shift: Shift | None) -> Shift:
    assert shift is not None
    return shift


def test_at_once_by_the_prediction_interval() -> None:
    values = np.append(quiet(30), 935.0)
    logs = np.log(values[10:30])
    median = np.median(logs)
    reach = 4 * stats.median_abs_deviation(logs, scale="normal")
    s = np.clip(logs, median - reach, median + reach).std(ddof=1)
    t = (math.log(935) - median) / (s * math.sqrt(1 + math.pi / 40))
    instant = there(judge_history(values, TIME).instant)
    assert instant.p == pytest.approx(stats.t.sf(t, 19), rel=1e-6)
    assert instant.change == pytest.approx(935 / math.exp(median))
    assert (instant.worse, instant.passes) == (True, True)
    assert instant.low < instant.change < instant.high


def test_sustained_by_ranks_of_five_against_twenty() -> None:
    values = quiet(40, noise=0.02)
    values[35:] *= 1.06
    sustained = there(judge_history(values, TIME).sustained)
    recent, earlier = values[35:], values[15:35]
    expected = stats.mannwhitneyu(recent, earlier, alternative="greater", method="exact")
    assert sustained.p == pytest.approx(expected.pvalue)
    assert sustained.change == pytest.approx(np.median(recent) / np.median(earlier), rel=1e-3)
    assert sustained.limit == pytest.approx(0.05)


def test_a_suspect_run_alarms_only_if_its_re_run_is_as_bad() -> None:
    values = np.append(quiet(30), 1000.0)
    suspect = judge_history(values, TIME)
    assert (suspect.verdict, suspect.evidence) == ("suspect", suspect.instant)
    assert "run again" in suspect.reason
    harmless = judge_history(values, TIME, confirmation=852.0)
    assert (harmless.verdict, harmless.evidence) == ("no change seen", None)
    assert "re-run was not" in harmless.reason
    confirmed = judge_history(values, TIME, confirmation=960.0)
    assert (confirmed.verdict, confirmed.evidence) == ("regression", confirmed.confirmation)
    assert there(confirmed.evidence).change == pytest.approx(960 / 850, rel=0.01)
    faster = judge_history(values, TIME, confirmation=700.0)
    assert faster.verdict == "no change seen"


def test_a_better_run_is_an_improvement_once_confirmed() -> None:
    values = np.append(quiet(30), 700.0)
    alone = judge_history(values, TIME)
    assert alone.verdict == "no change seen"
    assert "better than the earlier ones predict" in alone.reason
    assert judge_history(values, TIME, confirmation=705.0).verdict == "improvement"
    faster = quiet(40)
    faster[35:] *= 0.9
    test = judge_history(faster, TIME)
    assert (test.verdict, test.evidence) == ("improvement", test.sustained)


def test_a_lasting_step_alarms_without_a_re_run() -> None:
    values = quiet(40)
    values[35:] *= 1.08
    test = judge_history(values, TIME)
    assert (test.verdict, test.evidence) == ("regression", test.sustained)
    assert there(test.evidence).low < 1.08 < there(test.evidence).high


def test_what_creeps_is_seen_against_runs_long_ago() -> None:
    """0.2% a run: 1.6% in the runs that the other questions compare, 5% against long ago."""
    values = quiet(60, noise=0.004) * 1.002 ** np.arange(60)
    test = judge_history(values, TIME)
    assert (test.verdict, test.evidence) == ("regression", test.drift)
    assert not there(test.sustained).passes
    assert judge_history(values[:30], TIME).drift is None


def test_two_modes_visited_at_random_are_not_suspect() -> None:
    """One run in five is a cold start; the runs before show that this is ordinary."""
    values = quiet(41)
    values[np.arange(0, 41, 5)] *= 30
    test = judge_history(values, TIME, confirmation=850.0 * 30)
    assert test.verdict == "no change seen"
    assert there(test.instant).p is not None


@pytest.mark.parametrize("runs", [0, 1, 5, 12])
def test_a_short_history_says_how_much_it_needs(runs: int) -> None:
    test = judge_history([100.0] * (runs - 1) + [500.0] * min(runs, 1), TIME)
    assert test.verdict == "not enough data"
    assert test.reason == f"needs 12 earlier runs (have {max(0, runs - 1)})"
    assert (test.instant, test.smallest, test.evidence) == (None, None, None)


def test_the_questions_come_as_the_history_grows() -> None:
    asked = {runs: judge_history(quiet(runs), TIME) for runs in (13, 16, 17, 31, 32)}
    assert [test.sustained is not None for test in asked.values()] == [False, False, *[True] * 3]
    assert [test.drift is not None for test in asked.values()] == [False] * 4 + [True]


def test_histories_without_spread() -> None:
    same = judge_history([20.0] * 30, TIME)
    assert (same.verdict, there(same.instant).p) == ("no change seen", 0.5)
    assert same.smallest == pytest.approx(0.05)
    assert judge_history([20.0] * 30 + [20.5], TIME).verdict == "no change seen"
    assert judge_history([20.0] * 30 + [21.5], TIME).verdict == "suspect"


def test_success_rates_change_by_points() -> None:
    values = [0.9, 0.92, 0.88, 0.91, 0.89] * 5
    assert judge_history([*values, 0.95], SUCCESS).verdict == "no change seen"
    assert judge_history([*values, 0.75], SUCCESS).verdict == "suspect"
    worse = judge_history([*values, 0.75], SUCCESS, confirmation=0.76)
    assert worse.verdict == "regression"
    assert there(worse.evidence).change == pytest.approx(-0.14)
    perfect = [1.0] * 25
    assert judge_history([*perfect, 0.985], SUCCESS).verdict == "no change seen"
    assert judge_history([*perfect, 0.98], SUCCESS).verdict == "suspect"
    assert judge_history([0.0] * 30, SUCCESS).verdict == "no change seen"


@given(st.integers(0, 10_000), st.floats(0.001, 1000), st.floats(0.8, 1.25))
def test_unit_and_direction_change_nothing(seed: int, unit: float, factor: float) -> None:
    values = quiet(40, noise=0.02, seed=seed)
    values[36:] *= factor
    again = float(values[-1]) * 1.001

    def essence(test: HistoryTest) -> tuple[object, ...]:
        shifts = (test.instant, test.confirmation, test.sustained, test.drift)
        return test.verdict, [(s.worse, s.passes) for s in shifts if s is not None]

    expected = essence(judge_history(values, TIME, None, again))
    assert essence(judge_history(values * unit, TIME, None, again * unit)) == expected
    inverse = judge_history(unit / values, Scale("higher"), None, unit / again)
    assert essence(inverse) == expected


def test_what_has_no_value_is_refused() -> None:
    with pytest.raises(ValueError, match="no ratio"):
        judge_history([0.0, *quiet(20)], TIME)
    with pytest.raises(ValueError, match="NaN"):
        judge_history(quiet(20), TIME, confirmation=float("nan"))


@pytest.mark.parametrize("noise", [0.01, 0.05])
def test_the_smallest_change_is_seen_in_four_of_five_or_more(noise: float) -> None:
    """Within 5 runs, each suspect one run again."""
    draw = np.random.default_rng(20261128)
    seen, sizes = [], []
    for _ in range(150):
        logs = draw.normal(0, noise, 45)
        smallest = judge_history(np.exp(logs[:40]), TIME).smallest
        assert smallest is not None
        logs[40:] += math.log1p(smallest)
        again = np.exp(draw.normal(math.log1p(smallest), noise, 45))
        verdicts = [
            judge_history(np.exp(logs[: run + 1]), TIME, None, again[run]).verdict
            for run in range(40, 45)
        ]
        seen.append("regression" in verdicts)
        sizes.append(smallest)
    assert np.mean(seen) >= 0.75
    # what 2.5 standard deviations are, or little more than the margin: no empty promise
    assert np.mean(sizes) <= max(0.06, 2.6 * noise)


def test_steps_of_ten_percent_are_found_without_crying_wolf(gate_benchmark: ModuleType) -> None:
    """Six shapes of noise of 1 and 2%; the full size is benchmarks/regression_gate.py."""
    tally = gate_benchmark.Tally()
    for noise in (0.01, 0.02):
        for place, shape in enumerate(gate_benchmark.SHAPES):
            for step in (0.0, 0.1, 0.2):
                draw = np.random.default_rng([99, place, round(1e3 * noise), round(1e3 * step)])
                made = gate_benchmark.histories(shape, noise, step, 3, draw)
                for values in made.values:
                    gate_benchmark.one_history(values, step, tally)
    assert (tally.steps, tally.series) == (72, 108)
    assert tally.recall >= 0.95
    assert tally.per_thousand <= 5
    assert tally.f1 >= 0.95
    assert np.median(tally.delays) <= 3
