"""Shares of the answers: judged case by case, as `compare` judges them."""

import math
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from run_history import Answer, Measured, RunHistory, near

from agentbench_tui.store.database import reading
from agentbench_tui.verdicts.comparison.compare import compare
from agentbench_tui.verdicts.comparison.comparison import Asked, Comparison
from agentbench_tui.verdicts.evidence.case_numbers import CaseNumbers
from agentbench_tui.verdicts.regression.finding import Finding
from agentbench_tui.verdicts.regression.regression import RegressionAsked, judge_agent
from agentbench_tui.verdicts.selection.side import load_sides

CASES = 50
INPUTS = tuple(str(case) for case in range(200))


@pytest.fixture
def store(tmp_path: Path) -> Iterator[RunHistory]:
    with closing(RunHistory(tmp_path / "x.db", INPUTS)) as history:
        yield history


def answered(*repeats: Sequence[float], times: Sequence[float] = ()) -> Measured:
    """A run's credits, a sequence for each repeat; all answers of a repeat take one time."""
    answers = [
        Answer(case, repeat, credit=float(credit), e2e_ms=times[repeat] if times else 10.0)
        for repeat, of_repeat in enumerate(repeats)
        for case, credit in enumerate(of_repeat)
    ]
    metrics = {"accuracy": float(np.mean(repeats)), "reliability": 1.0}
    if times:
        metrics["e2e_ms.p50"] = float(np.median(times))
    return Measured(metrics, answers)


def of_accuracy(store: RunHistory, **wanted: object) -> Finding:
    with reading(store.path) as connection:
        given = RegressionAsked("bot", metrics=("accuracy",), **wanted)  # type: ignore[arg-type]
        (found,) = judge_agent(connection, given).findings
    return found


def versions(store: RunHistory, old: Sequence[float], new: Sequence[float], runs: int = 5) -> None:
    for version, right in (("1", old), ("2", new)):
        for _ in range(runs):
            store.run({f"bot@{version}": {"b": answered(right)}})


def lost_and_won(cases: int, lost: int, won: int) -> tuple[list[float], list[float]]:
    """Half right before; some of these lost, and some of the others won."""
    old = [1.0] * (cases // 2) + [0.0] * (cases - cases // 2)
    new = [0.0] * lost + old[lost : cases - won] + [1.0] * won
    return old, new


def test_the_test_and_the_interval_are_those_of_compare(store: RunHistory) -> None:
    """11 of 50 cases differ, 10 of them lost: the score z is 9 / √11, mid-p 13 / 2^11."""
    versions(store, *lost_and_won(CASES, lost=10, won=1))
    found = of_accuracy(store)
    assert (found.verdict, found.values, found.unit_of_values) == ("regression", (50, 50), "cases")
    assert found.p is not None
    assert found.p == pytest.approx(math.erfc(9 / math.sqrt(11) / math.sqrt(2)))
    assert found.p > 13 / 2048
    assert found.before == pytest.approx(0.5)
    assert found.now == pytest.approx(0.32)
    assert found.change == pytest.approx(-0.18)
    assert found.low is not None
    assert found.high is not None
    # Tango's score interval: z of the score is 1.96 at both ends
    assert found.low == pytest.approx(-0.3155, abs=1e-4)
    assert found.high == pytest.approx(-0.0610, abs=1e-4)


@pytest.mark.parametrize(("lost", "won"), [(0, 0), (1, 0), (3, 1), (4, 4), (0, 2)])
def test_few_changed_cases_are_no_regression_and_the_interval_has_a_width(
    store: RunHistory, lost: int, won: int
) -> None:
    """Five runs that repeat exactly are no more cases than one."""
    versions(store, *lost_and_won(CASES, lost=lost, won=won))
    found = of_accuracy(store)
    assert found.verdict == "no change seen"
    assert found.low is not None
    assert found.high is not None
    assert found.high - found.low > 0.02
    assert found.low <= (won - lost) / CASES <= found.high
    assert found.smallest is not None
    assert found.smallest > 0.1


def test_one_run_a_side_is_enough_for_a_verdict_on_the_cases(store: RunHistory) -> None:
    versions(store, *lost_and_won(CASES, lost=20, won=0), runs=1)
    assert of_accuracy(store).verdict == "regression"


@pytest.mark.parametrize(("lost", "verdict"), [(0, "no change seen"), (1, "not enough data")])
def test_of_three_cases_only_that_nothing_changed_is_known(
    store: RunHistory, lost: int, verdict: str
) -> None:
    versions(store, [1, 1, 0], [1 - lost, 1, 0])
    found = of_accuracy(store)
    assert (found.verdict, found.smallest) == (verdict, None)
    assert ("too few cases" in found.reason) == (lost == 1)


@pytest.mark.parametrize("share", [0.1, 0.3])
def test_an_equally_good_version_that_answers_some_cases_anew_is_rarely_called(
    tmp_path: Path, share: float
) -> None:
    """A deterministic agent of which a new version answers some cases by another draw."""
    draw, called = np.random.default_rng(73), 0
    for trial in range(40):
        with closing(RunHistory(tmp_path / f"{trial}.db", INPUTS)) as history:
            old = (draw.random(CASES) < 0.7).astype(float)
            anew = draw.random(CASES) < share
            new = np.where(anew, draw.random(CASES) < 0.7, old)
            versions(history, old.tolist(), new.astype(float).tolist())
            called += of_accuracy(history).verdict == "regression"
    assert called <= 3


def test_a_history_takes_a_changed_case_for_no_regression(store: RunHistory) -> None:
    old, new = lost_and_won(CASES, lost=3, won=0)
    for number in range(14):
        store.run({f"bot@{number}": {"b": answered(old)}})
    for number in (14, 15):
        store.run({f"bot@{number}": {"b": answered(new)}})
        found = of_accuracy(store)
        assert (found.gate, found.verdict) == ("history", "no change seen")
        assert found.low is not None
        assert found.high is not None
        assert found.low < -0.06 < found.high


def test_a_history_sees_many_lost_cases_at_once_and_then_for_good(store: RunHistory) -> None:
    old, new = lost_and_won(CASES, lost=20, won=1)
    for number in range(14):
        store.run({f"bot@{number}": {"b": answered(old)}})
    store.run({"bot@14": {"b": answered(new)}})
    assert of_accuracy(store).verdict == "suspect"
    store.run({"bot@15": {"b": answered(new)}})
    found = of_accuracy(store)
    assert (found.verdict, found.severity, found.unit_of_values) == (
        "regression",
        "critical",
        "cases",
    )
    assert found.low is not None
    assert found.high is not None
    assert found.low < found.high


# Against `compare`, on the same runs

AGAINST = {"regression": {"better", "equivalent"}, "improvement": {"worse"}}
CREDITS = st.sampled_from([0.0, 0.0, 1.0, 1.0, 1.0, 0.5])


@st.composite
def sides(draw: st.DrawFn) -> list[list[Measured]]:
    """Runs of two versions: deterministic or not, right or wrong or in between, 3 to 60 cases."""
    cases, repeats = draw(st.integers(3, 60)), draw(st.sampled_from([1, 1, 2, 5]))
    seed = draw(st.integers(0, 2**32))
    noise = np.random.default_rng(seed)
    base = noise.random(cases)
    is_graded = draw(st.booleans())
    found = []
    for shift in (0.0, draw(st.sampled_from([0.0, 0.01, -0.02, -0.1, -0.3, 0.2]))):
        is_fixed, level = draw(st.booleans()), draw(st.sampled_from([0.5, 0.8, 0.97]))
        slower = draw(st.sampled_from([1.0, 1.03, 1.1, 1.3, 0.8]))
        fixed = noise.random(cases) if draw(st.booleans()) else base
        runs = []
        for _ in range(draw(st.sampled_from([1, 2, 5]))):
            luck = np.exp(noise.normal(0, 0.02))
            of_run = []
            for _ in range(repeats):
                value = (fixed if is_fixed else noise.random(cases)) < level + shift
                half = noise.random(cases) < 0.2
                of_run.append(np.where(value & half & is_graded, 0.5, value).tolist())
            times = (100 * slower * luck * np.exp(noise.normal(0, 0.01, repeats))).tolist()
            runs.append(answered(*of_run, times=times))
        found.append(runs)
    return found


@settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(sides())
def test_compare_and_regressions_never_contradict_each_other(
    tmp_path_factory: pytest.TempPathFactory, measured: list[list[Measured]]
) -> None:
    metrics = ("accuracy", "reliability", "e2e_ms.p50")
    path = tmp_path_factory.mktemp("either") / "x.db"
    with closing(RunHistory(path, INPUTS)) as history:
        for version, runs in zip("12", measured, strict=True):
            for run in runs:
                history.run({f"bot@{version}": {"b": run}}, tags=[f"v{version}"])
    with reading(path) as connection:
        numbers = CaseNumbers(connection)
        pair = load_sides(connection, ["tag:v1", "tag:v2"], None, None, numbers)
        ((compared,),) = [compare(connection, pair, numbers, Asked(), metrics).pairs]
        said: dict[str, Comparison] = {one.metric: one for one in compared.metrics}
        wanted = RegressionAsked("bot", metrics=metrics, baseline="1")
        for found in judge_agent(connection, wanted).findings:
            assert said[found.metric].verdict not in AGAINST.get(found.verdict, set())
            if found.metric != "e2e_ms.p50" and found.low is not None:
                assert found.high is not None
                assert found.low < found.high
                assert found.change == pytest.approx(said[found.metric].difference)


def test_the_times_of_a_history_are_still_judged_by_run(store: RunHistory) -> None:
    store.times([*near(100, 14), 120, 121, 119])
    with reading(store.path) as connection:
        (found,) = judge_agent(connection, RegressionAsked("bot")).findings
    assert (found.verdict, found.unit_of_values) == ("regression", "runs")


def test_what_chance_may_explain_among_many_checks_is_suspect_at_first(store: RunHistory) -> None:
    """8 lost and 1 won: McNemar's mid-p is 2 (1 + 9 / 2) / 2^9, below 5% and above 1%."""
    versions(store, *lost_and_won(CASES, lost=8, won=1))
    found = of_accuracy(store)
    assert found.verdict == "suspect"
    assert found.p == pytest.approx(11 / 512)
    assert "run the version again" in found.reason
