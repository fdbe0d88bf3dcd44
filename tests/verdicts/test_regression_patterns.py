"""Where a regression lies and what it touches, from runs in which just that was changed."""

import json
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from run_history import Answer, Measured, RunHistory, near, repeats

from agentbench_tui.contracts.document import plain
from agentbench_tui.store.database import reading
from agentbench_tui.store.locking import Lease
from agentbench_tui.verdicts.regression.regression import RegressionAsked, judge_agent
from agentbench_tui.verdicts.regression.regression_document import regressions_document

INPUTS = ["x" * length for length in (5, 6, 7, 8, 9, 90, 91, 92, 93, 94)]


@pytest.fixture
def store(tmp_path: Path) -> Iterator[RunHistory]:
    with closing(RunHistory(tmp_path / "x.db", INPUTS)) as history:
        yield history


def document(store: RunHistory, per_day: float | None = None) -> dict[str, Any]:
    with reading(store.path) as connection:
        judgment = judge_agent(connection, RegressionAsked("bot"))
        found = regressions_document(connection, judgment, per_day)
    printed: dict[str, Any] = json.loads(json.dumps(plain(found)))
    return printed


def patterns(store: RunHistory) -> dict[str, dict[str, Any]]:
    return {one["pattern"]: one["numbers"] for one in document(store)["patterns"]}


def in_five_repeats(times: dict[bool, tuple[float, float]], *, is_new: bool) -> list[Answer]:
    """`times`: long input or not → before, now."""
    return [
        Answer(case, repeat, e2e_ms=times[len(text) > 50][is_new] * off)
        for repeat, off in enumerate(near(1.0, 5))
        for case, text in enumerate(INPUTS)
    ]


def run_both(store: RunHistory, old: Measured, new: Measured) -> None:
    """A run for each repeat, that measured what its answers say."""
    for version, side in (("1", old), ("2", new)):
        for number in sorted({one.repeat for one in side.answers}):
            answers = [replace(one, repeat=0) for one in side.answers if one.repeat == number]
            values = {name: value_of(name, answers) for name in side.metrics}
            store.run({f"bot@{version}": {"b": Measured(values, answers)}})


def value_of(metric: str, answers: list[Answer]) -> float:
    if metric == "reliability":
        return float(np.mean([one.failure is None for one in answers]))
    return float(np.percentile([one.e2e_ms for one in answers], float(metric.partition(".p")[2])))


def test_only_long_inputs(store: RunHistory) -> None:
    times = {False: (100.0, 100.5), True: (100.0, 150.0)}
    sides = [in_five_repeats(times, is_new=is_new) for is_new in (False, True)]
    run_both(store, *(Measured({"e2e_ms.p50": 1}, side) for side in sides))
    found = patterns(store)["long inputs"]
    assert found["factor_long"] == pytest.approx(1.5)
    assert found["factor_short"] == pytest.approx(1.005)
    assert found["median_characters"] == 49.5


def test_inputs_of_all_lengths_are_no_pattern(store: RunHistory) -> None:
    times = {False: (100.0, 150.0), True: (200.0, 300.0)}
    sides = [in_five_repeats(times, is_new=is_new) for is_new in (False, True)]
    run_both(store, *(Measured({"e2e_ms.p50": 1}, side) for side in sides))
    assert "long inputs" not in patterns(store)


def passes(first: float, later: float) -> Measured:
    answers = [
        Answer(case, repeat, iteration, (first if iteration == 0 else later) * off)
        for repeat, off in enumerate(near(1.0, 6))
        for iteration in range(2)
        for case in range(3)
    ]
    return Measured({"e2e_ms.p50": first, "e2e_ms.p95": first}, answers)


def test_only_the_cold_start(store: RunHistory) -> None:
    run_both(store, passes(110, 100), passes(300, 100))
    found = patterns(store)["cold start"]
    assert found["factor_first"] == pytest.approx(300 / 110)
    assert found["factor_later"] == pytest.approx(1)


def test_what_is_slow_throughout_is_no_cold_start(store: RunHistory) -> None:
    run_both(store, passes(110, 100), passes(220, 200))
    assert "cold start" not in patterns(store)


def failing(share: float, *kinds: str) -> Measured:
    """100 answers in 5 repeats, of which so many fail, of the kinds in turn."""
    answers = []
    for repeat in range(5):
        failed = round(20 * share) + (repeat % 2 if share else 0)
        for number in range(20):
            kind = kinds[number % len(kinds)] if number < failed else None
            answers.append(Answer(number % 10, repeat, number // 10, failure=kind))
    return Measured({"reliability": 1 - share}, answers)


def test_only_one_failure_kind(store: RunHistory) -> None:
    run_both(store, failing(0), failing(0.6, "timeout"))
    found = patterns(store)["one failure kind"]
    assert found == {"kind": "timeout", "now": 62, "of": 100, "before": 0, "of_before": 100}


def test_failures_of_all_kinds_are_no_pattern(store: RunHistory) -> None:
    run_both(store, failing(0), failing(0.6, "timeout", "server", "parse"))
    assert document(store)["has_regressions"]
    assert "one failure kind" not in patterns(store)


def test_speed_against_accuracy_is_a_trade(store: RunHistory) -> None:
    for version, time, accuracy in (("1", 100, 0.95), ("2", 70, 0.85)):
        for factor in near(1.0, 5):
            metrics = {"e2e_ms.p50": time * factor, "accuracy": accuracy * factor}
            store.run({f"bot@{version}": {"b": Measured(metrics)}})
    told = document(store)
    (found,) = told["patterns"]
    assert found["pattern"] == "trade"
    assert found["numbers"] == {
        "accuracy": pytest.approx(-0.1, abs=0.01),
        "e2e_ms.p50": pytest.approx(0.7),
    }
    assert told["recommended_action"] == "block"
    assert "if it is wanted, `agentbench baseline accept`: a trade" in told["reason"]


@pytest.mark.parametrize(
    ("others", "pattern"), [(None, "same factor"), (1.0, "version"), (1.2, "host")]
)
def test_one_factor_on_all_is_the_version_or_the_host(
    store: RunHistory, others: float | None, pattern: str
) -> None:
    for version, factor in (("1", 1.0), ("2", 1.2)):
        for value in near(100, 5):
            agents = {f"bot@{version}": times_on(value * factor)}
            if others is not None:
                agents["other@7"] = times_on(value * (others if version == "2" else 1))
            store.run(agents)
    told = document(store)
    (found,) = told["patterns"]
    assert found["pattern"] == pattern
    assert found["numbers"]["factor"] == pytest.approx(1.2)
    assert found["numbers"]["factor_of_others"] == (others and pytest.approx(others))
    assert told["recommended_action"] == ("investigate" if pattern == "host" else "block")


def times_on(value: float) -> dict[str, Measured]:
    return {
        name: Measured({"e2e_ms.p50": value * size})
        for name, size in (("small", 1), ("middle", 3), ("large", 10))
    }


def test_different_factors_are_no_pattern(store: RunHistory) -> None:
    for version, factors in (("1", (1, 1, 1)), ("2", (1.1, 1.5, 2))):
        for value in near(100, 5):
            of_all = {
                name: Measured({"e2e_ms.p50": value * factor})
                for name, factor in zip("abc", factors, strict=True)
            }
            store.run({f"bot@{version}": of_all})
    assert patterns(store) == {}


def test_impact_counts_cases_both_ways_and_says_what_is_not_known(store: RunHistory) -> None:
    def side(factors: dict[int, float]) -> Measured:
        answers = [
            Answer(case, repeat, e2e_ms=100 * factors.get(case, 1.0) * off)
            for repeat, off in enumerate(near(1.0, 5))
            for case in range(10)
        ]
        return Measured({"e2e_ms.p50": 1}, answers)

    run_both(store, side({}), side(dict.fromkeys(range(7), 1.2) | {8: 0.8}))
    (found,) = document(store)["regressions"]
    impact = found["impact_analysis"]
    assert (impact["cases"], impact["cases_worse"], impact["cases_better"]) == (10, 7, 1)
    assert impact["share_of_cases"] == pytest.approx(0.6)
    assert impact["weight"] == pytest.approx(0.2)
    assert impact["per_day"] is None
    assert impact["reasons"] == ["per day: requests a day are not known (--per-day)"]


def test_a_few_cases_lost_for_good_are_not_outweighed_by_many_that_once_failed(
    tmp_path: Path,
) -> None:
    """8 of 20 cases right in all repeats, then in none; 4 others wrong in one repeat, then not."""

    def side(*, is_new: bool) -> Measured:
        answers = []
        for case in range(20):
            for repeat in range(5):
                lost, flaky = is_new and case < 8, not is_new and case > 15 and repeat == case - 15
                answers.append(Answer(case, repeat, credit=0.0 if lost or flaky else 1.0))
        return Measured({"accuracy": sum(one.credit for one in answers) / 100}, answers)

    old, new = side(is_new=False), side(is_new=True)
    with closing(RunHistory(tmp_path / "y.db", [*INPUTS, *INPUTS])) as store:
        for version, of_version in (("1", old), ("2", new)):
            for _ in range(5):
                store.run({f"bot@{version}": {"b": of_version}})
        (found,) = document(store)["regressions"]
    impact = found["impact_analysis"]
    assert (impact["cases_worse"], impact["cases_better"], impact["cases"]) == (8, 4, 20)
    assert (impact["share_worse"], impact["share_better"]) == (
        pytest.approx(0.4),
        pytest.approx(0.04),
    )
    assert impact["share_of_cases"] == pytest.approx(-found["change"])
    assert impact["share_of"] == "answers"


def test_impact_of_a_day(store: RunHistory) -> None:
    for version, cost in (("1", 0.010), ("2", 0.013)):
        for value in near(cost, 5):
            store.run({f"bot@{version}": {"b": Measured({"cost_usd_per_task": value})}})
    (found,) = document(store, per_day=1000)["regressions"]
    impact = found["impact_analysis"]
    assert (impact["per_day"], impact["per_day_unit"]) == (pytest.approx(3.0, rel=1e-3), "USD")


# Health and advice


def slower(store: RunHistory, factor: float, benchmarks: int = 1) -> dict[str, Any]:
    names = [f"b{number}" for number in range(benchmarks)]
    for version, now in (("1", 1.0), ("2", factor)):
        for value in near(100, 5, spread=0.001):
            of_all = {
                name: Measured({"e2e_ms.p50": value * (now if name == "b0" else 1),
                                "accuracy": 0.9})
                for name in names
            }  # fmt: skip
            store.run({f"bot@{version}": of_all})
    return document(store)


def test_health_weighs_what_was_judged(store: RunHistory) -> None:
    """Speed weighs .2, accuracy .3; a factor above 1.25 loses the whole of speed."""
    assert slower(store, 1.5)["overall_health"] == pytest.approx(100 * (1 - 0.2 / 0.5))


def test_health_is_the_mean_over_benchmarks(store: RunHistory) -> None:
    assert slower(store, 1.5, 4)["overall_health"] == pytest.approx(100 * (1 - 0.1))


@pytest.mark.parametrize(
    ("factor", "action", "severity"),
    [
        (1.08, "investigate", "minor"),
        (1.2, "block", "major"),
        (1.5, "block", "critical"),
        (0.8, "accept as new baseline", None),
        (1.0, "none", None),
    ],
)
def test_advice_goes_by_what_is_proved(
    store: RunHistory, factor: float, action: str, severity: str | None
) -> None:
    told = slower(store, factor)
    assert told["recommended_action"] == action
    assert [one["severity"] for one in told["regressions"]] == ([severity] if severity else [])


def test_nothing_judged_has_no_health(store: RunHistory) -> None:
    store.run({"bot@1": {"b": Measured({"accuracy": 1.0}, repeats(1, 1))}})
    told = document(store)
    assert (told["overall_health"], told["verdict"]) == (None, "not enough data")
    assert told["recommended_action"] == "re-run"


def test_what_is_missing_is_told(store: RunHistory) -> None:
    for version, names in (("1", "abc"), ("2", "ab")):
        for value in near(100, 5):
            of_all = {name: Measured({"e2e_ms.p50": value}) for name in names}
            store.run({f"bot@{version}": of_all})
    store.run({"bot@2": {"a": Measured({"e2e_ms.p50": 900.0})}}, status="interrupted")
    told = document(store)
    assert told["unmeasured"] == ["c"]
    assert told["unfinished"] == 1


def test_what_was_not_measured_is_no_reason_to_accept_the_rest(store: RunHistory) -> None:
    for version, level in (("1", 100), ("2", 80)):
        for value in near(level, 5):
            names = "abc" if version == "1" else "a"
            store.run({f"bot@{version}": {one: Measured({"e2e_ms.p50": value}) for one in names}})
    told = document(store)
    assert (told["recommended_action"], told["reason"]) == (
        "re-run",
        "nothing was measured of b, c",
    )


def test_an_interrupted_newest_run_is_told_and_nothing_is_said_of_it(store: RunHistory) -> None:
    for version in ("1", "2"):
        store.times(near(100, 5), version)
    run = store.run({"bot@2": {"b": Measured({"e2e_ms.p50": 900.0})}}, status="interrupted")
    told = document(store)
    assert (told["verdict"], told["interrupted_run"]) == ("not enough data", run)
    assert told["recommended_action"] == "re-run"
    store.times([100], "2")
    assert document(store)["verdict"] == "no regression"


def test_a_killed_newest_run_is_told_like_an_interrupted_one_but_not_one_that_goes_on(
    store: RunHistory,
) -> None:
    for version in ("1", "2"):
        store.times(near(100, 5), version)
    run = store.run({"bot@2": {"b": Measured({"e2e_ms.p50": 900.0})}}, status="running")
    lease = Lease.take(store.path, run)
    assert lease is not None
    assert document(store)["interrupted_run"] is None
    lease.release()
    told = document(store)
    assert (told["verdict"], told["interrupted_run"]) == ("not enough data", run)


def test_a_reason_to_block_names_each_severity(store: RunHistory) -> None:
    for version, factors in (("1", (1, 1)), ("2", (1.2, 1.6))):
        for value in near(100, 5):
            of_all = {
                name: Measured({"e2e_ms.p50": value * factor})
                for name, factor in zip("ab", factors, strict=True)
            }
            store.run({f"bot@{version}": of_all})
    assert document(store)["reason"] == "critical: e2e_ms.p50 of b; major: e2e_ms.p50 of a"


def test_the_same_factor_without_any_scatter_is_the_same(store: RunHistory) -> None:
    for version, factor in (("1", 1.0), ("2", 1.2)):
        for _ in range(5):
            store.run({f"bot@{version}": times_on(7.0 * factor)})
    assert patterns(store)["same factor"]["factor"] == pytest.approx(1.2)
