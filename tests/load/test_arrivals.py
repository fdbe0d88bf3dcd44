"""Schedules: their rates against integrals done by hand, their gaps against scipy's laws."""

import math
import statistics
from collections.abc import Iterator
from fractions import Fraction
from itertools import islice, pairwise

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import integrate, stats

from agentbench_tui.load.schedule.arrivals import (
    Arrivals,
    Constant,
    Profile,
    Ramp,
    Schedule,
    Sine,
    Spike,
    Steps,
    Trace,
    expected_count,
    expected_rate,
    offsets_ns,
    problems,
    slice_of,
)

S = 1_000_000_000


def even(profile: Profile) -> Arrivals:
    return Arrivals(process="constant", profile=profile)


def poisson(profile: Profile) -> Arrivals:
    return Arrivals(process="poisson", profile=profile)


def gamma(profile: Profile, burstiness: float) -> Arrivals:
    return Arrivals(process="gamma", profile=profile, burstiness=burstiness)


def due(schedule: Schedule, seconds: float, seed: int = 42) -> list[int]:
    return list(offsets_ns(schedule, seed, duration_ns=round(seconds * S)))


def first(schedule: Schedule, count: int, seed: int = 42) -> list[int]:
    return list(offsets_ns(schedule, seed, count=count))


def per_interval(offsets: list[int], edges_s: list[float]) -> list[int]:
    return [
        sum(round(low * S) <= offset < round(high * S) for offset in offsets)
        for low, high in pairwise(edges_s)
    ]


# The constant process


def test_constant_arrivals_begin_at_once_and_are_exact() -> None:
    assert due(even(Constant(4)), 1) == [0, 250_000_000, 500_000_000, 750_000_000]
    assert due(even(Constant(3)), 1) == [0, 333_333_333, 666_666_667]


@pytest.mark.parametrize("rate", [0.1, 0.3, 7.0, 29.97, 1000.0, 44_100.0])
def test_constant_arrivals_do_not_drift(rate: float) -> None:
    for number in (1, 2, 999, 100_003):
        exact = number * S / Fraction(rate)
        offset = next(islice(offsets_ns(even(Constant(rate)), 0), number, None))
        assert abs(offset - exact) <= Fraction("0.501")


def test_window_leaves_out_its_end() -> None:
    assert len(due(even(Constant(10)), 1)) == 10
    assert len(due(even(Constant(0.3)), 10)) == 3
    assert due(even(Constant(10)), 0) == []


@pytest.mark.parametrize(("seconds", "count", "expected"), [(1, 50, 10), (10, 7, 7), (1, 0, 0)])
def test_ends_by_time_or_count_whichever_is_first(seconds: int, count: int, expected: int) -> None:
    schedule = even(Constant(10))
    assert len(list(offsets_ns(schedule, 1, duration_ns=seconds * S, count=count))) == expected


# Gaps


def gaps_s(schedule: Schedule, count: int, seed: int) -> list[float]:
    return [(later - earlier) / S for earlier, later in pairwise(first(schedule, count, seed))]


@pytest.mark.parametrize("burstiness", [0.1, 0.5, 1.0, 2.5, 16.0])
def test_gamma_gaps_have_the_shape_asked_for(burstiness: float) -> None:
    rate, count = 200.0, 20_000
    gaps = gaps_s(gamma(Constant(rate), burstiness), count, seed=7)
    law = stats.gamma(burstiness, scale=1 / burstiness / rate)
    # Gaps of few ns are rounded to whole ones, which the test would see as ties.
    assert stats.kstest([gap for gap in gaps if gap > 1e-6], conditional(law, 1e-6)).pvalue > 0.01
    mean, variance = statistics.fmean(gaps), statistics.variance(gaps)
    assert abs(mean - 1 / rate) < 4 * law.std() / math.sqrt(count)
    fourth = law.var() ** 2 * (law.stats("k") + 3)
    assert abs(variance - law.var()) < 4 * math.sqrt((fourth - law.var() ** 2) / count)


def conditional(law, low):
    """The distribution function of what lies above `low`."""
    return lambda x: (law.cdf(x) - law.cdf(low)) / law.sf(low)


def test_poisson_gaps_are_exponential_and_independent() -> None:
    rate, count = 1000.0, 20_000
    gaps = gaps_s(poisson(Constant(rate)), count, seed=3)
    assert stats.kstest(gaps, stats.expon(scale=1 / rate).cdf).pvalue > 0.01
    assert abs(statistics.fmean(gaps) * rate - 1) < 4 / math.sqrt(count)
    assert abs(statistics.correlation(gaps[:-1], gaps[1:])) < 4 / math.sqrt(count)


@pytest.mark.parametrize("profile", [Ramp(0, 400, 60), Sine(200, 200, 9), Spike(50, 900, 20, 10)])
@pytest.mark.parametrize("burstiness", [0.5, 1.0, 4.0])
def test_gaps_keep_their_law_on_a_changing_rate(profile: Profile, burstiness: float) -> None:
    offsets = first(gamma(profile, burstiness), 10_000, seed=5)
    gaps = [b - a for a, b in pairwise(profile.count_until(offset / S) for offset in offsets)]
    law = stats.gamma(burstiness, scale=1 / burstiness)
    assert stats.kstest([gap for gap in gaps if gap > 1e-5], conditional(law, 1e-5)).pvalue > 0.01


@pytest.mark.parametrize("burstiness", [0.05, 1.0, 20.0])
def test_short_windows_get_the_count_asked_for_however_bursty(burstiness: float) -> None:
    windows = 3000
    counts = [len(due(gamma(Constant(10), burstiness), 0.35, seed)) for seed in range(windows)]
    error = statistics.stdev(counts) / math.sqrt(windows)
    assert abs(statistics.fmean(counts) - 3.5) < 4 * error


def test_poisson_counts_vary_as_much_as_their_mean() -> None:
    windows = 2000
    counts = [len(due(poisson(Ramp(0, 40, 2)), 1, seed)) for seed in range(windows)]
    assert abs(statistics.fmean(counts) - 10) < 4 * math.sqrt(10 / windows)
    assert abs(statistics.variance(counts) / 10 - 1) < 4 * math.sqrt(2.1 / windows)


# Profiles


@pytest.mark.parametrize(
    ("profile", "edges_s", "counts"),
    [
        # 0 → 100/s in 10 s: the integral is 5t².
        (Ramp(0, 100, 10), [0, 2, 5, 10, 12], [20, 105, 375, 200]),
        # 100/s → 0 in 10 s: 100t − 5t².
        (Ramp(100, 0, 10), [0, 2, 5, 10, 20], [180, 195, 125, 0]),
        (Ramp(50, 50, 10), [0, 4, 20], [200, 800]),
        (Steps(((10, 5), (40, 2), (20, 3))), [0, 5, 7, 10, 12], [50, 80, 60, 40]),
        (Steps(((0, 1), (10, 1), (0, 2), (30, 1))), [0, 1, 2, 4, 5], [0, 10, 0, 30]),
        (Steps(((10, 1), (0, 1))), [0, 1, 100], [10, 0]),
        (Spike(10, 200, 4, 0.5), [0, 4, 4.5, 10], [40, 100, 55]),
        # mean·t + 8·20/2π·(1 − cos(2πt/20)): a half period adds 2·8·20/2π to the mean's.
        (Sine(10, 8, 20), [0, 10, 20, 30, 40], [151, 49, 151, 49]),
        (Sine(10, 0, 20), [0, 1, 7], [10, 60]),
    ],
    ids=str,
)
def test_each_interval_gets_the_integral_of_the_rate(
    profile: Profile, edges_s: list[float], counts: list[int]
) -> None:
    offsets = due(even(profile), edges_s[-1])
    found = per_interval(offsets, edges_s)
    assert all(abs(have - want) <= 1 for have, want in zip(found, counts, strict=True)), found
    assert abs(len(offsets) - sum(counts)) <= 1


def test_ramp_arrivals_stand_where_the_integral_says() -> None:
    # 5t² = n
    offsets = due(even(Ramp(0, 100, 10)), 10)
    assert offsets == [round(math.sqrt(n / 5) * S) for n in range(500)]


def test_arrival_at_a_pause_comes_when_it_ends() -> None:
    assert due(even(Steps(((2, 1), (0, 3), (1, 9)))), 6.5) == [0, S // 2, 4 * S, 5 * S, 6 * S]


def rates() -> st.SearchStrategy[float]:
    return st.floats(0.5, 300)


def times() -> st.SearchStrategy[float]:
    return st.floats(0.05, 20)


PROFILES = st.one_of(
    st.builds(Constant, rates()),
    st.builds(Ramp, st.one_of(st.just(0.0), rates()), rates(), times()),
    st.builds(Ramp, rates(), st.one_of(st.just(0.0), rates()), times()),
    st.lists(st.tuples(st.one_of(st.just(0.0), rates()), times()), min_size=1, max_size=4)
    .filter(lambda steps: any(rate for rate, _ in steps))
    .map(lambda steps: Steps(tuple(steps))),
    st.builds(Spike, rates(), rates(), st.one_of(st.just(0.0), times()), times()),
    st.tuples(rates(), st.floats(0, 1), times()).map(lambda t: Sine(t[0], t[0] * t[1], t[2])),
)


@given(PROFILES)
def test_possible_profiles_have_no_problems(profile: Profile) -> None:
    assert problems(even(profile)) == []


@given(PROFILES, st.floats(0.01, 30))
def test_expected_count_is_the_integral_of_the_expected_rate(
    profile: Profile, seconds: float
) -> None:
    schedule = even(profile)
    kinks = {
        Ramp: lambda: [profile.over_s],
        Steps: lambda: [sum(s for _, s in profile.steps[:n]) for n in range(1, 5)],
        Spike: lambda: [profile.at_s, profile.at_s + profile.for_s],
        Sine: lambda: [profile.period_s * n / 2 for n in range(1, int(2 * seconds / 0.05) + 1)],
    }.get(type(profile), list)()
    edges = [0.0, *sorted({kink for kink in kinks if 0 < kink < seconds}), seconds]
    area = sum(
        integrate.fixed_quad(
            lambda ts: [expected_rate(schedule, float(t)) for t in ts], low, high, n=12
        )[0]
        for low, high in pairwise(edges)
    )
    assert expected_count(schedule, seconds) == pytest.approx(area, rel=1e-7, abs=1e-9)


@given(PROFILES, st.floats(0.01, 8))
def test_constant_arrivals_come_to_within_one_of_the_integral(
    profile: Profile, seconds: float
) -> None:
    schedule = even(profile)
    offsets = due(schedule, seconds)
    assert abs(len(offsets) - expected_count(schedule, round(seconds * S) / S)) <= 1 + 1e-6
    for number, offset in enumerate(offsets):
        reached = expected_count(schedule, offset / S)
        assert reached == pytest.approx(number, abs=1e-6)


@given(
    PROFILES,
    st.sampled_from(["constant", "poisson", "gamma"]),
    st.floats(0.01, 100),
    st.integers(0, 2**63),
    st.floats(0, 4),
)
def test_offsets_ascend_within_the_window(
    profile: Profile, process: str, burstiness: float, seed: int, seconds: float
) -> None:
    schedule = msgspec.convert(
        {"type": "arrivals", "process": process, "burstiness": burstiness, "profile": profile},
        Schedule,
    )
    offsets = due(schedule, seconds, seed)
    assert all(type(offset) is int for offset in offsets)
    assert offsets == sorted(offsets)
    assert not offsets or (offsets[0] >= 0 and offsets[-1] < round(seconds * S))


@given(st.floats(0.0, 1.0), st.lists(st.floats(0, 500), min_size=1, max_size=50))
def test_sine_is_inverted_to_the_last_digits_at_any_swing(share: float, counts: list[float]):
    profile = Sine(10.0, 10.0 * share, 7.0)
    time_of = profile.inverse()
    for count in counts:  # in any order, though arrivals ascend
        assert profile.count_until(time_of(count)) == pytest.approx(count, abs=1e-9)


@pytest.mark.parametrize("share", [0.0, 0.5, 0.999, 1 - 1e-12, 1.0])
def test_sine_is_inverted_where_its_rate_is_almost_nothing(share: float) -> None:
    profile = Sine(10.0, 10.0 * share, 7.0)
    trough_s = 0.75 * profile.period_s
    times_s = [trough_s + way * 1.3**-step for step in range(60) for way in (-1, 1)]
    time_of = profile.inverse()
    for time_s in (trough_s, *times_s, trough_s, 0.0, trough_s, profile.period_s, *times_s):
        count = profile.count_until(time_s)
        assert profile.count_until(time_of(count)) == pytest.approx(count, abs=1e-12)


def test_arrivals_almost_at_once_keep_their_order_on_a_long_sine() -> None:
    offsets = first(gamma(Sine(100, 100, 86_400), 0.01), 20_000, seed=0)
    assert offsets == sorted(offsets)


# Seeds and slices


@pytest.mark.parametrize("process", ["poisson", "gamma"])
def test_same_seed_same_arrivals_another_seed_others(process: str) -> None:
    schedule = Arrivals(process=process, profile=Constant(100), burstiness=0.5)
    assert first(schedule, 500, seed=1) == first(schedule, 500, seed=1)
    assert not set(first(schedule, 500, seed=1)) & set(first(schedule, 500, seed=2))


def test_arrivals_of_a_seed_are_the_same_in_every_version() -> None:
    schedule = poisson(Constant(1000))
    # Sums of −log(1 − U), U from the Mersenne twister seeded with the text "arrivals 42".
    assert first(schedule, 4) == [3_402_290, 6_067_294, 6_295_249, 7_899_789]
    assert first(gamma(Constant(1000), 0.5), 4) == [7_695_796, 8_506_813, 8_795_712, 9_060_984]


@pytest.mark.parametrize("workers", [1, 2, 3, 7])
def test_slices_of_workers_are_together_the_whole(workers: int) -> None:
    schedule = gamma(Ramp(0, 200, 4), 0.3)

    def whole() -> Iterator[int]:
        return offsets_ns(schedule, 9, duration_ns=5 * S)

    shares = [list(slice_of(whole(), worker, workers)) for worker in range(workers)]
    assert sorted(offset for share in shares for offset in share) == list(whole())
    assert max(map(len, shares)) - min(map(len, shares)) <= 1


def test_plan_survives_the_way_to_a_worker() -> None:
    for schedule in (
        even(Constant(1.5)),
        poisson(Steps(((1, 2), (3, 4)))),
        gamma(Sine(3, 2, 1), 0.5),
        even(Ramp(1, 2, 3)),
        even(Spike(1, 2, 3, 4)),
        Trace((0.0, 1.5), 2.0),
    ):
        sent = msgspec.json.encode(schedule)
        assert msgspec.json.decode(sent, type=Schedule) == schedule


# Traces


def test_trace_is_replayed_at_its_speed() -> None:
    trace = Trace((0.0, 0.5, 0.5, 3.25), speed=2.0)
    assert first(trace, 9) == [0, S // 4, S // 4, 1_625_000_000]
    assert due(trace, 1) == [0, S // 4, S // 4]
    assert due(trace, 0.25) == [0]


def test_arrival_that_rounds_to_the_end_is_outside() -> None:
    trace = Trace((0.0, 2.5e-9, 9e-9))
    assert list(offsets_ns(trace, 0, duration_ns=3)) == [0]
    assert list(offsets_ns(trace, 0, duration_ns=4)) == [0, 3]


@given(st.lists(st.floats(0, 50), min_size=1).map(sorted), st.floats(0.1, 9), st.floats(0, 60))
def test_expected_count_of_a_trace_is_exact(
    offsets: list[float], speed: float, seconds: float
) -> None:
    trace = Trace(tuple(offsets), speed)
    assert expected_count(trace, seconds) == len(due(trace, seconds))


def test_expected_rate_of_a_trace_counts_the_second() -> None:
    trace = Trace((0.0, 0.5, 1.0, 4.0, 4.5, 5.9), speed=2.0)
    assert [expected_rate(trace, t) for t in (0, 0.9, 1.5, 2.0, 9.0)] == [3, 3, 0, 3, 0]


# Impossible values


@pytest.mark.parametrize(
    ("schedule", "words"),
    [
        (even(Constant(0)), "profile.rate: 0 is not"),
        (even(Constant(-1)), "profile.rate: -1 is not"),
        (even(Constant(math.nan)), "profile.rate: nan is not"),
        (even(Constant(math.inf)), "profile.rate: inf is not"),
        (even(Ramp(-1, 5, 1)), "profile.start: -1"),
        (even(Ramp(1, math.inf, 1)), "profile.end: inf"),
        (even(Ramp(1, 5, 0)), "profile.over_s: 0"),
        (even(Ramp(0, 0, 1)), "every rate is 0"),
        (even(Steps(())), "profile.steps: there are none"),
        (even(Steps(((1, 2), (-3, 1)))), "profile.steps.1.rate: -3"),
        (even(Steps(((1, 0),))), "profile.steps.0.seconds: 0"),
        (even(Steps(((0, 1), (0, 2)))), "every rate is 0"),
        (even(Spike(1, -2, 3, 4)), "profile.peak: -2"),
        (even(Spike(1, 2, -3, 4)), "profile.at_s: -3"),
        (even(Spike(1, 2, 3, 0)), "profile.for_s: 0"),
        (even(Spike(0, 0, 3, 4)), "every rate is 0"),
        (even(Sine(0, 0, 1)), "profile.mean: 0"),
        (even(Sine(5, -1, 1)), "profile.amplitude: -1"),
        (even(Sine(5, 5.5, 1)), "profile.amplitude: 5.5 is more than the mean, 5"),
        (even(Sine(5, 1, 0)), "profile.period_s: 0"),
        (gamma(Constant(1), 0), "burstiness: 0 is not between"),
        (gamma(Constant(1), math.nan), "burstiness: nan is not between"),
        (gamma(Constant(1), math.inf), "burstiness: inf is not between"),
        (Trace((), 1.0), "offsets_s: there are none"),
        (Trace((0.0, 2.0, 1.0), 1.0), "offsets_s.2: 1 is not a finite number of 2 or more"),
        (Trace((-1.0, 2.0), 1.0), "offsets_s.0: -1"),
        (Trace((0.0, math.nan), 1.0), "offsets_s.1: nan"),
        (Trace((0.0, math.inf), 1.0), "offsets_s.1: inf"),
        (Trace((0.0,), 0.0), "speed: 0"),
        (Trace((0.0,), math.inf), "speed: inf"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_impossible_values_are_told_one_a_line(schedule: Schedule, words: str) -> None:
    lines = problems(schedule)
    assert len(lines) == 1
    assert words in lines[0]


def test_all_impossible_values_are_told_at_once() -> None:
    lines = problems(gamma(Ramp(-1, -2, -3), 0))
    assert [line.split(":")[0] for line in lines] == [
        "profile.start",
        "profile.end",
        "profile.over_s",
        "burstiness",
    ]
