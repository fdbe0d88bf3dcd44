"""A level of load: bounds by hand and by scipy, what breaks, what is not known, and the laws."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import stats

from agentbench_tui.analysis.load.level_verdict import (
    Check,
    LevelVerdict,
    Limits,
    design_effect,
    judge_level,
    requests_needed,
    windows_check,
)

LIMITS = Limits(error_share=0.01, latency=((0.95, 100.0),))


def level(
    latency: NDArray[np.float64],
    errors: int = 0,
    completed: int | None = None,
    limits: Limits = LIMITS,
    length: int = 1,
) -> LevelVerdict:
    """Errors spread evenly over the window."""
    ok = np.ones(latency.size, dtype=bool)
    if errors:
        ok[np.linspace(0, latency.size - 1, errors).astype(int)] = False
    done = latency.size if completed is None else completed
    return judge_level(ok, latency, done, limits, length=length)


def times(n: int, median: float, seed: int = 1) -> NDArray[np.float64]:
    return np.random.default_rng(seed).lognormal(math.log(median), 0.3, n)


def named(verdict: LevelVerdict, name: str) -> Check:
    return next(check for check in verdict.checks if check.name == name)


def test_quick_answers_without_errors_pass() -> None:
    verdict = level(times(500, 40))
    assert (verdict.outcome, verdict.broke, verdict.requests) == ("pass", (), 500)
    assert verdict.reason.startswith("errors 0% [0, 0.5974], limit 1%; p95 of latency ")


def test_slow_answers_fail_by_the_lower_bound_of_the_percentile() -> None:
    latency = np.arange(1.0, 1001.0)
    np.random.default_rng(5).shuffle(latency)
    verdict = level(latency)
    p95 = named(verdict, "p95 of latency")
    low = int(stats.binom.ppf(0.025, 1000, 0.95))  # the largest r with P(K < r) <= 2.5%
    high = int(stats.binom.ppf(0.975, 1000, 0.95)) + 1
    assert (p95.low, p95.high) == (low, high)
    assert p95.value == pytest.approx(np.quantile(latency, 0.95))
    assert (verdict.outcome, [check.name for check in verdict.broke]) == ("fail", [p95.name])
    assert verdict.reason == "p95 of latency 950 ms [936, 964], limit 100 ms"


def test_errors_fail_by_wilsons_lower_bound() -> None:
    n = 400
    for errors, outcome in ((10, "fail"), (7, "extend"), (3, "extend"), (0, "pass")):
        verdict = level(times(n, 40), errors=errors)
        assert verdict.outcome == outcome
        share = named(verdict, "errors")
        if errors:
            wilson = stats.binomtest(errors, n).proportion_ci(method="wilson")
            assert (share.low, share.high) == pytest.approx((wilson.low, wilson.high))
    # without an error the exact bound holds: 1 - 0.05^(1/n)
    assert level(times(299, 40)).outcome == "pass"
    assert level(times(298, 40)).outcome == "extend"


def test_a_backlog_fails_though_every_answer_was_quick() -> None:
    verdict = level(times(1000, 40), completed=900)
    assert (verdict.outcome, verdict.reason) == (
        "fail",
        "completed of offered 90% [87.98, 91.71], limit 95%",
    )
    assert level(times(1000, 40), completed=950).outcome == "extend"
    assert level(times(1000, 40), completed=1100).outcome == "pass"  # an older backlog went


def test_what_stays_between_is_measured_longer_and_then_unclear() -> None:
    at_the_limit = times(600, 100 / math.exp(0.3 * 1.645))
    outcomes = [level(at_the_limit, length=length).outcome for length in (1, 2, 3)]
    assert outcomes == ["extend", "extend", "unclear"]
    verdict = level(at_the_limit, length=3)
    assert [check.name for check in verdict.open] == ["p95 of latency"]
    assert verdict.reason.startswith("p95 of latency ")


def test_few_values_can_fail_but_not_pass() -> None:
    assert level(np.full(10, 1000.0)).outcome == "fail"
    few = level(np.full(10, 1.0))
    assert (few.outcome, named(few, "p95 of latency").high) == ("extend", math.inf)
    assert "[1, ?]" in named(few, "p95 of latency").words


def test_everything_that_broke_is_named() -> None:
    verdict = level(times(1000, 500), errors=300, completed=400)
    assert [check.name for check in verdict.broke] == [
        "errors",
        "p95 of latency",
        "completed of offered",
    ]


def test_a_target_that_answers_nothing_right_fails_by_its_errors() -> None:
    verdict = judge_level(np.zeros(200, dtype=bool), np.zeros(200), 200, LIMITS)
    assert [check.name for check in verdict.broke] == ["errors"]
    assert named(verdict, "p95 of latency").words == "p95 of latency not known, limit 100 ms"


def test_a_window_without_requests_tells_nothing() -> None:
    assert judge_level([], [], 0, LIMITS).outcome == "extend"
    assert judge_level([], [], 0, LIMITS, length=3).outcome == "unclear"


def test_failed_requests_have_no_latency() -> None:
    ok = np.arange(1000) % 4 > 0
    for ignored in (1e9, math.nan):
        verdict = judge_level(ok, np.where(ok, 40.0, ignored), 1000, LIMITS)
        assert named(verdict, "p95 of latency").value == 40.0


@pytest.mark.parametrize(
    ("worse", "low", "high", "outcome"),
    [
        ("above", 5.0, 9.0, "pass"),
        ("above", 11.0, 12.0, "fail"),
        ("above", 9.0, 11.0, "extend"),
        ("below", 11.0, 12.0, "pass"),
        ("below", 5.0, 9.0, "fail"),
        ("below", 9.0, 11.0, "extend"),
    ],
)
def test_checks_from_elsewhere_count_as_well(
    worse: str, low: float, high: float, outcome: str
) -> None:
    memory = Check("memory", (low + high) / 2, low, high, 10.0, worse, "GB")  # type: ignore[arg-type]
    verdict = judge_level(np.ones(500), np.full(500, 1.0), 500, LIMITS, further=[memory])
    assert verdict.outcome == outcome
    assert (memory in verdict.broke) == (outcome == "fail")


def test_throughput_of_windows_against_the_best_seen() -> None:
    values = np.arange(40.0).reshape(10, 4) + 60  # batches of 4: means 61.5, 65.5, …
    check = windows_check("throughput", values.ravel(), 100.0, "below", "/s")
    low, high = stats.t.interval(0.95, 9, 79.5, 4 * np.std(np.arange(10), ddof=1) / math.sqrt(10))
    assert (check.value, check.low, check.high) == pytest.approx((79.5, low, high))
    assert (check.broken, check.kept) == (True, False)
    assert check.words == "throughput 79.5 /s [70.84, 88.16], limit 100 /s"
    few = windows_check("throughput", [1.0] * 19, 100.0, "below")
    assert (few.value, few.broken, few.kept) == (1, False, False)
    assert windows_check("throughput", [], 100.0, "below").value is None


def test_requests_needed_is_the_fewest_that_pass() -> None:
    for limits in (
        LIMITS,
        Limits(0.2, ((0.95, 100.0),)),
        Limits(0.2, ((0.99, 100.0),)),
        Limits(0.2),
    ):
        n = requests_needed(limits)
        assert level(np.full(n, 1.0), limits=limits).outcome == "pass"
        assert level(np.full(n - 1, 1.0), limits=limits).outcome == "extend"


def test_design_effect_of_a_chain_whose_truth_is_known() -> None:
    """A two-state chain with lag-1 correlation r: (1 + r) / (1 - r)."""
    draw = np.random.default_rng(2)
    for r in (0.0, 0.8):
        found = []
        for _ in range(60):
            stay = draw.random(2000) < r
            fresh = draw.random(2000) < 0.3
            starts = np.maximum.accumulate(np.where(~stay, np.arange(2000), 0))
            found.append(design_effect(fresh[starts]))
        assert np.median(found) == pytest.approx((1 + r) / (1 - r), rel=0.15)
    assert design_effect(np.ones(500)) == design_effect([]) == design_effect(np.zeros(19)) == 1


def test_slow_requests_in_one_burst_count_for_less_than_spread_ones() -> None:
    """80 of 1,000 are slow, so that the p95 is: beyond doubt only if that is not one incident."""
    spread, burst = np.full(1000, 10.0), np.full(1000, 10.0)
    spread[np.linspace(0, 999, 80).astype(int)] = 200.0
    burst[300:380] = 200.0
    assert (level(spread).outcome, level(burst).outcome) == ("fail", "extend")
    both = [named(level(latency), "p95 of latency") for latency in (spread, burst)]
    assert [check.value for check in both] == [200, 200]
    assert [check.low for check in both] == [200, 10]
    assert [check.high for check in both] == [200, math.inf]
    # the whole of it is one swing, but far below the limit
    assert level(np.linspace(10, 20, 1000)).outcome == "pass"
    assert level(np.linspace(110, 200, 1000)).outcome == "fail"
    # 3% are slow: the p95 is quick, beyond doubt only if not by luck
    spread[:] = burst[330:380] = 10.0
    spread[np.linspace(0, 999, 30).astype(int)] = 200.0
    assert (level(spread).outcome, level(burst).outcome) == ("pass", "extend")


def test_errors_in_one_burst_count_for_less_than_spread_ones() -> None:
    spread, burst = np.ones(3000, dtype=bool), np.ones(3000, dtype=bool)
    spread[np.linspace(0, 2999, 50).astype(int)] = False
    burst[1000:1050] = False
    found = [judge_level(ok, times(3000, 40), 3000, LIMITS) for ok in (spread, burst)]
    assert [verdict.outcome for verdict in found] == ["fail", "extend"]
    shares = [named(verdict, "errors") for verdict in found]
    assert shares[0].value == pytest.approx(shares[1].value)
    assert shares[1].low < shares[0].low < shares[0].high < shares[1].high


def test_independent_windows_at_the_limit_are_told_from_it_as_rarely_as_promised() -> None:
    draw = np.random.default_rng(3)
    limits = Limits(0.5, ((0.95, 1.0),))
    quantile = stats.lognorm.ppf(0.95, 0.5)
    clear = 0
    for _ in range(150):
        latency = draw.lognormal(0, 0.5, 600) / quantile
        clear += level(latency, limits=limits).outcome != "extend"
    assert clear <= 15  # 5% of 150, and three standard deviations


@settings(max_examples=40, deadline=None)
@given(
    st.integers(0, 400),
    st.integers(0, 2**32 - 1),
    st.floats(1e-3, 1e3),
    st.floats(0, 0.3),
    st.floats(1e-6, 1e6),
)
def test_laws(n: int, seed: int, median: float, error: float, factor: float) -> None:
    """Units change nothing, slower or more errors is never better, and broken is not kept."""
    draw = np.random.default_rng(seed)
    latency = draw.lognormal(math.log(median), 0.5, n)
    ok = draw.random(n) >= error
    limits = Limits(0.05, ((0.5, 1.0), (0.95, 3.0)))
    scaled = Limits(0.05, ((0.5, factor), (0.95, 3.0 * factor)))
    verdict = judge_level(ok, latency, n, limits)
    assert judge_level(ok, latency * factor, n, scaled).outcome == verdict.outcome
    assert not any(check.broken and check.kept for check in verdict.checks)
    assert (verdict.outcome == "fail") == bool(verdict.broke)
    if verdict.outcome == "fail" and any("latency" in check.name for check in verdict.broke):
        assert judge_level(ok, latency * 10, n, limits).outcome == "fail"
    if verdict.outcome == "pass":
        assert judge_level(ok, latency / 10, n, limits).outcome == "pass"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"ok": [True]}, "1 outcomes but 2 latencies"),
        ({"latency": [1.0, math.nan]}, "NaN"),
        ({"completed": -1}, "completed >= 0"),
        ({"length": 0}, "length >= 1"),
    ],
)
def test_what_cannot_be_judged_is_refused(change: dict[str, object], message: str) -> None:
    given_ = {"ok": [True, True], "latency": [1.0, 2.0], "completed": 2, "limits": LIMITS, **change}
    with pytest.raises(ValueError, match=message):
        judge_level(**given_)  # type: ignore[arg-type]


def test_limits_that_mean_nothing_are_refused() -> None:
    for wrong in ({"error_share": 0.0}, {"completed_share": 1.0}, {"latency": ((0.95, 0.0),)}):
        with pytest.raises(ValueError, match="between 0 and 1"):
            Limits(**wrong)  # type: ignore[arg-type]
