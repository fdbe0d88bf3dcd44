"""The search for the breaking point: scripted verdicts, its laws, and queues with a known truth."""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable, Iterator
from itertools import pairwise

import msgspec
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentbench_tui.analysis.load.level_verdict import (
    Check,
    LevelVerdict,
    Limits,
    Outcome,
    judge_level,
)
from agentbench_tui.stress.search.axis import Axis
from agentbench_tui.stress.search.breaking_point import BreakingPoint, Probe, Search

RATE = Axis(on="rate", start=10, most=1000, unit="requests/s")
BROKEN = Check("p95 of latency", 812.0, 790.0, 850.0, 500.0, "above", "ms")

Oracle = Callable[[Probe], Outcome]


def verdict(outcome: Outcome) -> LevelVerdict:
    return LevelVerdict(outcome, (BROKEN,) if outcome == "fail" else ())


def driven(oracle: Oracle, axis: Axis = RATE, **options: int) -> tuple[BreakingPoint, list[Probe]]:
    """A search whose verdicts the oracle gives; and all that was asked."""
    search, asked = Search(axis, **options), []
    while (probe := search.probe) is not None:
        asked.append(probe)
        search.take(verdict(oracle(probe)))
    return search.report(), asked


def sharp(capacity: float) -> Oracle:
    return lambda probe: "pass" if probe.level <= capacity else "fail"


def script(at: float, outcomes: Iterator[Outcome], capacity: float = 1e9) -> Oracle:
    """What happens at one level, in order; elsewhere a sharp limit."""
    otherwise = sharp(capacity)
    return lambda probe: next(outcomes) if probe.level == at else otherwise(probe)


def levels(asked: list[Probe], purpose: str) -> list[float]:
    return [probe.level for probe in asked if probe.purpose == purpose]


def test_doubles_then_bisects_then_repeats_both_ends_then_tries_again() -> None:
    found, asked = driven(sharp(60))
    assert levels(asked, "climb") == [10, 20, 40, 80]
    middle = math.sqrt(40 * 80)
    assert levels(asked, "bisect")[:2] == pytest.approx([middle, math.sqrt(middle * 80)])
    assert found.passes is not None
    assert found.fails is not None
    assert found.passes <= 60 < found.fails <= 1.1 * found.passes
    assert levels(asked, "repeat") == [found.passes] * 2 + [found.fails] * 2
    assert [(probe.level, probe.purpose) for probe in asked[-2:]] == [
        (found.passes, "hysteresis"),
        (found.passes, "drift"),
    ]
    assert (found.status, found.stable, found.before, found.unclear) == ("found", True, None, ())
    assert found.measurements == found.lengths == len(asked) == 4 + 3 + 4 + 2


def test_says_what_broke_with_its_figures() -> None:
    found, _ = driven(sharp(60))
    assert found.broke == ("p95 of latency",)
    assert found.reason == "p95 of latency 812 ms [790, 850], limit 500 ms"
    assert found.words == (
        "passes at 56.57 requests/s, fails at 61.69"
        " (p95 of latency 812 ms [790, 850], limit 500 ms)"
    )


def test_written_down_as_pass_and_fail() -> None:
    found, _ = driven(sharp(60))
    document = msgspec.to_builtins(found)
    assert (document["pass"], document["fail"]) == (found.passes, found.fails)
    assert (document["on"], document["status"]) == ("rate", "found")
    assert msgspec.convert(document, BreakingPoint) == found


def test_the_target_cools_down_after_whatever_overloaded_it() -> None:
    _, asked = driven(sharp(60))
    for before, after in pairwise(asked):
        again = after.purpose in ("hysteresis", "drift")
        assert after.cool_down == (before.level > 60 or again)


@settings(max_examples=200, deadline=None)
@given(
    st.floats(0.5, 5e3),
    st.floats(1, 100),
    st.floats(1, 100),
    st.sampled_from(["rate", "concurrency", "input"]),
)
def test_laws_of_a_sharp_limit(capacity: float, start: float, room: float, on: str) -> None:
    """Found within 10% or between neighbors, in few measurements, and never beyond the most."""
    if on != "rate":
        start, room = math.ceil(start), math.ceil(room)
    axis = Axis(on=on, start=start, most=start * room)  # type: ignore[arg-type]
    found, asked = driven(sharp(capacity), axis)
    assert all(axis.lowest <= probe.level <= axis.most for probe in asked)
    assert on == "rate" or all(probe.level == int(probe.level) for probe in asked)
    assert len(asked) <= 2 * abs(math.log2(capacity / start)) + 20
    if capacity >= axis.most:
        assert (found.status, found.passes, found.fails) == ("not reached", axis.most, None)
    elif capacity < axis.lowest:
        assert (found.status, found.passes, found.fails) == ("below the least", None, axis.lowest)
        assert found.stable is None
    else:
        assert found.status == "found"
        assert found.passes is not None
        assert found.fails is not None
        assert found.passes <= capacity < found.fails
        assert found.fails <= 1.1 * found.passes * 1.0001 or (
            on != "rate" and found.fails == found.passes + 1
        )
        assert found.middle == pytest.approx(math.sqrt(found.passes * found.fails))


@settings(max_examples=100, deadline=None)
@given(st.integers(0, 2**32 - 1), st.booleans())
def test_a_target_that_answers_at_random_ends_the_search(seed: int, whole: bool) -> None:
    draw = np.random.default_rng(seed)
    outcomes: list[Outcome] = ["pass", "fail", "extend", "unclear"]
    axis = Axis(on="input", start=3, most=500) if whole else RATE
    found, asked = driven(lambda _: outcomes[draw.integers(4)], axis)
    assert found.measurements <= 60
    assert all(axis.lowest <= probe.level <= axis.most for probe in asked)
    if found.passes is not None and found.fails is not None:
        assert found.passes < found.fails
        assert all(found.passes < level < found.fails for level in found.unclear)
    assert bool(found.words)


def test_a_start_that_fails_is_halved_until_something_passes() -> None:
    found, asked = driven(sharp(3))
    assert levels(asked, "descend") == [5, 2.5]
    assert found.status == "found"
    assert found.passes is not None
    assert 3 / 1.1 <= found.passes <= 3


def test_the_most_that_may_be_measured_is_the_last_doubling() -> None:
    axis = Axis(on="rate", start=10, most=50)
    found, asked = driven(sharp(1e9), axis)
    assert levels(asked, "climb") == [10, 20, 40, 50]
    assert (found.status, found.hysteresis, found.drift) == ("not reached", None, False)
    assert found.words == "passes up to 50, the most that was tried"


def test_a_fail_by_chance_does_not_stand() -> None:
    """The first fail, at 20, is not repeated by two others, so the climb goes on."""
    found, asked = driven(script(20, iter(["fail", "pass", "pass"]), 60))
    assert levels(asked, "repeat")[2:4] == [20, 20]
    assert found.passes is not None
    assert found.fails is not None
    assert found.passes <= 60 < found.fails
    assert 40 in levels(asked, "climb")


def test_a_pass_by_chance_does_not_stand() -> None:
    found, _ = driven(script(80, iter(["pass", "fail", "fail", *["fail"] * 9]), 60))
    assert found.passes is not None
    assert found.fails is not None
    assert found.passes <= 60 < found.fails <= 1.1 * found.passes


def test_two_of_three_repeats_decide_and_the_first_is_no_vote() -> None:
    axis = Axis(on="concurrency", start=4, most=5)
    one_of_three = iter(["fail", "pass", "fail", "fail"])
    found, _ = driven(script(5, one_of_three, 4), axis)
    assert (found.status, found.passes, found.fails) == ("found", 4, 5)
    two_of_three = iter(["fail", "pass", "fail", "pass", "pass"])
    found, _ = driven(script(5, two_of_three, 4), axis)
    assert (found.status, found.passes, found.fails) == ("not reached", 5, None)
    neither = iter(["fail", "pass", "fail", "unclear"])
    found, _ = driven(script(5, neither, 4), axis)
    assert (found.status, found.passes, found.fails, found.unclear) == ("wide", 4, None, (5,))


def test_more_is_measured_up_to_three_lengths_before_a_level_is_unclear() -> None:
    search = Search(RATE)
    lengths = []
    for _ in range(3):
        assert search.probe is not None
        lengths.append((search.probe.level, search.probe.length, search.probe.cool_down))
        search.take(verdict("extend"))
    assert lengths == [(10, 1, False), (10, 2, False), (10, 3, False)]
    assert search.probe is not None
    assert (search.probe.level, search.probe.length, search.probe.cool_down) == (20, 1, True)
    assert (search.measurements[0].verdict, search.measurements[0].lengths) == ("unclear", 3)


def test_unclear_levels_leave_the_bracket_as_wide_as_it_is() -> None:
    def foggy(probe: Probe) -> Outcome:
        if 50 <= probe.level <= 70:
            return "unclear"
        return "pass" if probe.level < 50 else "fail"

    found, asked = driven(foggy)
    assert found.status == "wide"
    assert found.passes is not None
    assert found.fails is not None
    assert 50 / 1.06 < found.passes < 50
    assert 70 < found.fails < 70 * 1.06
    assert found.unclear
    assert all(50 <= level <= 70 for level in found.unclear)
    assert "unclear at" in found.words
    assert len(asked) < 25


@settings(max_examples=60, deadline=None)
@given(st.floats(12, 100), st.floats(1.1, 3))
def test_both_sides_of_what_is_unclear_are_narrowed(low: float, width: float) -> None:
    def foggy(probe: Probe) -> Outcome:
        if low <= probe.level <= low * width:
            return "unclear"
        return "pass" if probe.level < low else "fail"

    found, _ = driven(foggy)
    assert found.passes is not None
    assert found.fails is not None
    assert found.passes < low
    assert found.fails > low * width
    if found.fails > 1.1 * found.passes * 1.0001:
        assert found.passes > low / math.sqrt(1.1001)
        assert found.fails < low * width * math.sqrt(1.1001)


def test_one_end_that_was_repeated_is_not_enough() -> None:
    found, asked = driven(sharp(60), most_measurements=9)
    assert levels(asked, "repeat") == [found.passes] * 2
    assert (found.confirmed, found.status) == (False, "wide")


def test_nothing_clear_is_an_answer() -> None:
    found, _ = driven(lambda _: "unclear")
    assert (found.status, found.passes, found.fails) == ("nothing clear", None, None)
    assert found.words.startswith("no level of rate passed or failed clearly")


def test_after_an_overload_that_it_does_not_get_over() -> None:
    """Fails once after each overload, and passes again after a second rest."""

    def sulking(probe: Probe) -> Outcome:
        return "fail" if probe.purpose == "hysteresis" else sharp(60)(probe)

    found, asked = driven(sulking)
    assert (found.hysteresis, found.drift, found.stable) == (True, False, False)
    assert levels(asked, "overload") == [found.fails]
    assert "does not come back after an overload" in found.words


def test_one_fail_at_the_end_is_not_believed() -> None:
    bad = iter(["fail", "pass"])

    def hiccup(probe: Probe) -> Outcome:
        return next(bad) if probe.purpose == "drift" else sharp(60)(probe)

    found, _ = driven(hiccup)
    assert (found.drift, found.stable) == (False, True)


def test_what_slows_down_during_the_search_is_seen() -> None:
    left = iter(range(1000))

    def throttled(probe: Probe) -> Outcome:
        return sharp(60 if next(left) < 11 else 40)(probe)

    found, _ = driven(throttled)
    assert (found.drift, found.stable) == (True, False)
    assert "no longer passes at the end" in found.words


def test_what_an_overload_breaks_for_good_is_seen_by_what_had_passed_before() -> None:
    hurt: list[bool] = []

    def fragile(probe: Probe) -> Outcome:
        if probe.level > 160:
            hurt.append(True)
        return sharp(80 if hurt else 160)(probe)

    found, _ = driven(fragile, Axis(on="rate", start=16, most=1600))
    assert found.passes is not None
    assert found.passes <= 80
    assert (found.before, found.stable) == (128, False)
    assert "128 had passed before" in found.words


def test_a_search_that_is_stopped_tells_what_it_knows() -> None:
    search = Search(RATE)
    for outcome in ("pass", "pass", "fail"):
        search.take(verdict(outcome))  # type: ignore[arg-type]
    search.stop("the time budget of 60 s is used up")
    found = search.report()
    assert (search.probe, found.status, found.passes, found.fails) == (None, "wide", 20, 40)
    assert found.words.endswith("; not repeated; stopped: the time budget of 60 s is used up")
    assert (found.hysteresis, found.drift, found.stable) == (None, None, None)
    with pytest.raises(ValueError, match="over"):
        search.take(verdict("pass"))


def test_no_more_is_measured_than_allowed() -> None:
    found, asked = driven(sharp(60), most_measurements=5)
    assert (len(asked), found.status, found.stopped) == (5, "wide", "5 measurements")


def test_a_finished_search_is_not_stopped_afterwards() -> None:
    search = Search(Axis(on="concurrency", start=1, most=1))
    while search.probe is not None:
        search.take(verdict("pass"))
    search.stop("too late")
    assert search.report().stopped == ""


@pytest.mark.parametrize(
    ("axis", "message"),
    [
        ({"start": 0}, "0 < least <= start <= most"),
        ({"start": 20, "most": 10}, "got 0.0195312, 20 and 10"),
        ({"most": math.inf}, "start <= most"),
        ({"least": 11}, "least <= start"),
        ({"on": "concurrency", "start": 1.5}, "whole"),
    ],
)
def test_an_axis_that_cannot_be_searched_is_refused(axis: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Axis(**{"on": "rate", "start": 10, "most": 100, **axis})  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="at least 1"):
        Search(RATE, most_measurements=0)


SLOTS, SERVICE_S, SLO_S = 8, 0.05, 0.3


def share_over(rate: float, limit_s: float) -> float:
    """P(time in an M/M/8 queue > limit): Erlang's C, then service plus an exponential wait."""
    busy = rate * SERVICE_S
    terms = [busy**k / math.factorial(k) for k in range(SLOTS)]
    last = busy**SLOTS / math.factorial(SLOTS) / (1 - busy / SLOTS)
    waits = last / (sum(terms) + last)
    mu, left = 1 / SERVICE_S, SLOTS / SERVICE_S - rate
    both = (mu * math.exp(-left * limit_s) - left * math.exp(-mu * limit_s)) / (mu - left)
    return (1 - waits) * math.exp(-mu * limit_s) + waits * both


def queue(draw: np.random.Generator, rate: float, window_s: float) -> LevelVerdict:
    """A window of an M/M/8 queue, after 3 s of warm-up."""
    due = np.cumsum(draw.exponential(1 / rate, int(1.1 * rate * (window_s + 3)) + 20))
    due = due[due < window_s + 3]
    free, ends = [0.0] * SLOTS, []
    for at, work in zip(due.tolist(), draw.exponential(SERVICE_S, due.size).tolist(), strict=True):
        ends.append(max(at, free[0]) + work)
        heapq.heapreplace(free, ends[-1])
    latency, inside = np.array(ends) - due, due >= 3
    completed = int(np.count_nonzero((np.array(ends) >= 3) & (np.array(ends) < window_s + 3)))
    limits = Limits(latency=((0.95, SLO_S),), latency_unit="s")
    return judge_level(np.ones(inside.sum()), latency[inside], completed, limits, length=3)


def test_finds_where_a_queue_breaks_its_limit() -> None:
    rates = np.linspace(100, 159.9, 2000)
    truth = rates[np.searchsorted([share_over(rate, SLO_S) for rate in rates], 0.05)]
    near = 0
    for seed in range(5):
        draw = np.random.default_rng(seed)
        search = Search(Axis(on="rate", start=16, most=1600))
        while (probe := search.probe) is not None:
            search.take(queue(draw, probe.level, 20.0))
        found = search.report()
        assert found.middle is not None
        assert found.broke[0] == "p95 of latency"
        near += truth / 1.1 <= found.middle <= truth * 1.1
    assert near >= 4
