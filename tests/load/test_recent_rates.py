"""Rates that are told while a load goes on: right from the first one on, or not told."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentbench_tui.load.results.recent import (
    FEWEST,
    LEAST_S,
    LONGEST_S,
    RECENT_S,
    Moment,
    RecentRates,
)
from agentbench_tui.load.schedule.arrivals import Arrivals, Constant, Schedule, Spike, Trace

CHUNK_S = 0.25


def constant(rate: float) -> Arrivals:
    return Arrivals(process="constant", profile=Constant(rate))


def even(rate: float, latency_s: float, tokens: int, at_s: float) -> Moment:
    """By then, of a request every 1/rate seconds from 0 on, each answered after so long."""
    sent = math.floor(at_s * rate + 1e-9) + 1 if at_s >= 0 else 0
    answered = max(0, math.floor((at_s - latency_s) * rate + 1e-9) + 1)
    return Moment(at_s, sent, answered, answered * tokens)


def told_over(
    seconds: float, rate: float, latency_s: float = 0.5, phase_s: float = 0.0
) -> RecentRates:
    recent = RecentRates(constant(rate))
    recent.ends_s = seconds
    for number in range(round((seconds + 3) / CHUNK_S)):
        recent.take(even(rate, latency_s, 32, phase_s + number * CHUNK_S))
    return recent


def test_a_load_at_20_a_second_is_told_as_that_also_after_its_end() -> None:
    recent = told_over(3.0, 20.0)  # the moments go on for 3 s, in which what is left is answered
    assert recent.asked_per_s() == pytest.approx(20)
    assert recent.sent_per_s() == pytest.approx(20, rel=0.05)
    assert recent.tokens_per_s() == pytest.approx(640, rel=0.05)


@given(
    st.floats(1.0, 5000.0), st.floats(0.01, 3.0), st.floats(-CHUNK_S, CHUNK_S), st.integers(8, 200)
)
def test_a_rate_that_is_told_is_right_within_one_request_of_the_fewest(
    rate: float, latency_s: float, phase_s: float, count: int
) -> None:
    recent = RecentRates(constant(rate))
    for number in range(count):
        recent.take(even(rate, latency_s, 10, phase_s + number * CHUNK_S))
        for found, true in ((recent.sent_per_s(), rate), (recent.tokens_per_s(), 10 * rate)):
            assert found is None or found == pytest.approx(true, rel=1 / FEWEST + 1e-6)
    if count * CHUNK_S > max(LEAST_S, FEWEST / rate) + 1.5 and FEWEST / rate < LONGEST_S - 2:
        assert recent.sent_per_s() is not None


def test_too_little_is_no_rate() -> None:
    assert told_over(LEAST_S - CHUNK_S, 1000.0).sent_per_s() is None
    assert told_over(RECENT_S, (FEWEST - 1) / RECENT_S).sent_per_s() is None
    assert RecentRates(constant(5)).asked_per_s() is None


def test_users_that_all_send_and_wait_at_once_have_the_rate_that_they_have() -> None:
    recent = RecentRates(None)
    for number in range(40):
        rounds = math.floor(number * CHUNK_S / 1.5)  # 30 users, answered all together every 1.5 s
        recent.take(
            Moment(number * CHUNK_S, 30 * (rounds + 1) * (number > 0), 30 * rounds, 600 * rounds)
        )
    assert recent.sent_per_s() == pytest.approx(20, rel=0.06)
    assert recent.tokens_per_s() == pytest.approx(400)
    assert recent.asked_per_s() is None


def test_what_has_come_to_a_standstill_is_not_told_as_if_it_went_on() -> None:
    recent = told_over(6.0, 20.0)
    recent.ends_s = math.inf
    last = even(20.0, 0.5, 32, 9.0)
    assert recent.sent_per_s() is not None
    for number in range(24):
        recent.take(last._replace(at_s=9.0 + number * CHUNK_S))
    assert recent.sent_per_s() is None
    assert recent.tokens_per_s() is None


SPIKE = Arrivals(process="constant", profile=Spike(10.0, 100.0, 10.0, 10.0))
TRACE = Trace((*(n / 10 for n in range(100)), *(10 + n / 100 for n in range(1000))))


@pytest.mark.parametrize("arrivals", [SPIKE, TRACE], ids=["spike", "trace"])
def test_asked_is_what_is_asked_now_and_over_the_seconds_of_what_was_sent(
    arrivals: Schedule,
) -> None:
    recent = RecentRates(arrivals)
    told = {}
    for number in range(80):
        at_s = number * CHUNK_S
        sent = math.floor(min(at_s, 10) * 10 + max(0, at_s - 10) * 100 + 1e-9) + 1
        recent.take(Moment(at_s, sent))
        told[at_s] = recent.asked_per_s(), recent.sent_per_s()
    assert told[1.0] == (pytest.approx(10), None)
    assert told[9.0] == (pytest.approx(10), pytest.approx(10, rel=0.05))
    assert told[16.0] == (pytest.approx(100), pytest.approx(100, rel=0.05))
    asked, sent = told[12.0]  # three seconds of the calm, two of the spike
    assert asked == pytest.approx(46)
    assert sent == pytest.approx(asked, rel=0.05)
