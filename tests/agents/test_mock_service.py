"""The practice server's schedule, on a clock of the test's: times worked out by hand, in ms."""

import statistics
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentbench_tui.agents.mock.options import read_options
from agentbench_tui.agents.mock.service import Job, Service, Step, StepKind, TokenBucket

MS = 1_000_000
START_NS = 7_000_000_123
"""Clocks start anywhere."""
BEGIN, CHUNK, LAST, CUT = StepKind.BEGIN, StepKind.CHUNK, StepKind.LAST, StepKind.CUT


def service(**options: Any) -> Service:
    return Service(read_options({name: str(value) for name, value in options.items()}))


def drive(
    served: Service,
    arrivals_ms: Sequence[float],
    *,
    tokens: int = 1,
    reasoning: int = 0,
    streamed: bool = True,
    leaves_ms: dict[int, float] | None = None,
    late_ms: float = 0,
) -> list[tuple[float, StepKind, int, int]]:
    """(due ms, kind, number, tokens) of all that happens; the clock wakes `late_ms` too late."""
    jobs = [Job(tokens, reasoning, streamed=streamed) for _ in arrivals_ms]
    outside = [(ms, 0, number) for number, ms in enumerate(arrivals_ms)]
    outside += [(ms, 1, number) for number, ms in (leaves_ms or {}).items()]
    outside.sort()
    steps: list[Step] = []
    while outside or served.next_ns is not None:
        next_ns = served.next_ns
        if outside and (next_ns is None or START_NS + outside[0][0] * MS <= next_ns):
            ms, leaves, number = outside.pop(0)
            now_ns = START_NS + round(ms * MS)
            if leaves:
                served.leave(jobs[number], now_ns)
            else:
                served.arrive(jobs[number], now_ns)
        else:
            assert next_ns is not None
            now_ns = next_ns + round(late_ms * MS)
        while (step := served.next_step(now_ns)) is not None:
            steps.append(step)
    return [((s.due_ns - START_NS) / MS, s.kind, s.job.number, s.tokens) for s in steps]


@pytest.mark.parametrize("late_ms", [0, 3, 1000])
def test_tokens_are_due_by_the_arrival_however_late_the_clock_wakes(late_ms: float) -> None:
    steps = drive(service(ttft="50ms", itl="10ms"), [0], tokens=4, late_ms=late_ms)
    assert steps == [
        (0, BEGIN, 0, 0), (50, CHUNK, 0, 1), (60, CHUNK, 0, 1), (70, CHUNK, 0, 1), (80, LAST, 0, 1),
    ]  # fmt: skip


def test_a_chunk_takes_the_time_of_its_tokens() -> None:
    steps = drive(service(ttft="50ms", itl="10ms", chunk_tokens=3), [0], tokens=7)
    assert steps[1:] == [(50, CHUNK, 0, 3), (80, CHUNK, 0, 3), (90, LAST, 0, 1)]


def test_no_chunk_is_half_reasoning() -> None:
    served = service(ttft="50ms", itl="10ms", chunk_tokens=3)
    steps = drive(served, [0], tokens=7, reasoning=4)
    assert [tokens for *_, tokens in steps[1:]] == [3, 1, 3]


@pytest.mark.parametrize(
    "options", [{}, {"stall": "20ms/100ms"}, {"itl_dist": "lognormal"}, {"chunk_tokens": 4}]
)
def test_an_answer_in_one_piece_comes_when_the_last_chunk_would(options: dict[str, Any]) -> None:
    streamed = drive(service(**options), [0, 5], tokens=10)
    whole = drive(service(**options), [0, 5], tokens=10, streamed=False)
    ends = [step[0] for step in streamed if step[1] is LAST]
    assert [step[0] for step in whole if step[1] is LAST] == ends
    assert [step[3] for step in whole if step[1] is not BEGIN] == [10, 10]


def test_slots_queue_first_come_first_served() -> None:
    served = service(ttft="0ms", slots=2, service_time="50ms")
    begun = [step[:3] for step in drive(served, [0, 1, 2, 3, 4]) if step[1] is BEGIN]
    assert begun == [
        (0, BEGIN, 0), (1, BEGIN, 1), (50, BEGIN, 2), (51, BEGIN, 3), (100, BEGIN, 4),
    ]  # fmt: skip


def test_a_slot_is_held_for_the_whole_answer_where_no_service_time_is_given() -> None:
    served = service(ttft="30ms", itl="10ms", slots=1)
    steps = [step for step in drive(served, [0, 1], tokens=3) if step[1] in {BEGIN, LAST}]
    assert steps == [(0, BEGIN, 0, 0), (50, LAST, 0, 1), (50, BEGIN, 1, 0), (100, LAST, 1, 1)]


@pytest.mark.parametrize("late_ms", [0, 7])
def test_throughput_saturates_at_slots_by_service_time(late_ms: float) -> None:
    served = service(ttft="0ms", slots=4, service_time="20ms")
    steps = drive(served, [i * 0.01 for i in range(400)], late_ms=late_ms)
    begun = [due for due, kind, *_ in steps if kind is BEGIN]
    assert len(begun) == 400
    assert 399 / (begun[-1] - begun[0]) == pytest.approx(4 / 20, rel=0.02)


def test_who_leaves_the_queue_is_passed_over_and_who_leaves_a_slot_frees_it() -> None:
    served = service(ttft="100ms", slots=1)
    steps = drive(served, [0, 1, 2], leaves_ms={1: 5, 0: 10})
    assert steps == [(0, BEGIN, 0, 0), (10, BEGIN, 2, 0), (110, LAST, 2, 1)]


def test_who_leaves_after_its_end_frees_no_second_slot() -> None:
    served = service(ttft="10ms", slots=1)
    steps = drive(served, [0, 1, 2, 3], leaves_ms={0: 11})
    assert [step[0] for step in steps if step[1] is BEGIN] == [0, 10, 20, 30]


@pytest.mark.parametrize(
    ("arrivals", "dues"),
    [
        # Frozen from 50 to 70, 150 to 170, … counted from the first request, which takes
        # 5 + 10 + 10 … ms and meets the stall at 55: due at its end, the rest from there.
        ([0], [5, 15, 25, 35, 45, 70, 80, 90]),
        # Comes in the stall: starts at its end.
        ([0, 60], [75, 85, 95, 105, 115, 125, 135, 145]),
        # Meets the next one at 155.
        ([0, 100], [105, 115, 125, 135, 145, 170, 180, 190]),
    ],
)
def test_a_stall_shifts_what_falls_into_it(arrivals: list[float], dues: list[float]) -> None:
    served = service(ttft="5ms", itl="10ms", stall="20ms/100ms")
    steps = drive(served, arrivals, tokens=8)
    last = len(arrivals) - 1
    assert [due for due, kind, number, _ in steps if number == last and kind is not BEGIN] == dues


@given(st.integers(0, 1000 * MS), st.integers(1, 99))
def test_nothing_is_due_in_a_stall(at_ns: int, length_ms: int) -> None:
    served = service(stall=f"{length_ms}ms/100ms")
    drive(served, [0])
    due_ns = served.not_frozen(START_NS + at_ns) - START_NS
    assert due_ns < 50 * MS or (due_ns - 50 * MS) % (100 * MS) >= length_ms * MS
    assert 0 <= due_ns - at_ns <= length_ms * MS


@given(
    arrivals=st.lists(st.integers(0, 300), max_size=12),
    leaves=st.dictionaries(st.integers(0, 11), st.integers(0, 500)),
    tokens=st.integers(1, 9),
    reasoning=st.integers(0, 3),
    options=st.fixed_dictionaries(
        {"error_rate": st.sampled_from([0, 0.3]), "cut_rate": st.sampled_from([0, 0.3])},
        optional={
            "slots": st.integers(1, 3),
            "stall": st.sampled_from(["30ms/100ms", "99ms/100ms"]),
            "rate_limit": st.integers(1, 50),
            "itl_dist": st.sampled_from(["lognormal", "bimodal"]),
            "chunk_tokens": st.integers(1, 4),
        },
    ),
    streamed=st.booleans(),
)
def test_a_request_ends_once_and_whole_unless_it_is_cut_or_its_client_leaves(
    arrivals: list[int],
    leaves: dict[int, int],
    tokens: int,
    reasoning: int,
    options: dict[str, Any],
    streamed: bool,
) -> None:
    arrivals = sorted(arrivals)
    left = {n: arrivals[n] + after for n, after in leaves.items() if n < len(arrivals)}
    steps = drive(
        service(**options), arrivals, tokens=tokens, reasoning=min(reasoning, tokens - 1),
        streamed=streamed, leaves_ms=left,
    )  # fmt: skip
    assert [due for due, *_ in steps] == sorted(due for due, *_ in steps)
    for number in range(len(arrivals)):
        own = [(kind, said) for _, kind, one, said in steps if one == number]
        ends = [kind for kind, _ in own if kind not in {BEGIN, CHUNK}]
        assert len(ends) == 1 or (not ends and number in left)
        if ends == [LAST]:
            assert own[0][0] is BEGIN
            assert sum(said for _, said in own) == tokens


def test_lognormal_first_tokens_have_the_median_and_spread_that_were_asked_for() -> None:
    served = service(ttft="50ms", ttft_dist="lognormal", sigma=0.5)
    dues = [step[0] for step in drive(served, [0] * 4000) if step[1] is LAST]
    assert statistics.median(dues) == pytest.approx(50, rel=0.05)
    mean = 50 * 2.718281828 ** (0.5**2 / 2)
    assert statistics.fmean(dues) == pytest.approx(mean, rel=0.05)


def test_bimodal_gaps_are_one_or_the_other() -> None:
    served = service(ttft="0ms", itl="10ms", itl_dist="bimodal", slow_share=0.25, slow_factor=3)
    dues = [step[0] for step in drive(served, [0], tokens=4001) if step[1] is not BEGIN]
    gaps = [round(later - earlier) for earlier, later in pairwise(dues)]
    assert set(gaps) == {10, 30}
    assert gaps.count(30) / len(gaps) == pytest.approx(0.25, abs=0.03)


_RANDOM = {
    "ttft_dist": "lognormal", "itl_dist": "bimodal", "error_rate": 0.2, "cut_rate": 0.2,
}  # fmt: skip


def test_the_same_seed_gives_the_same_again_and_another_seed_something_else() -> None:
    first, again, other = (
        drive(service(**_RANDOM, seed=seed), list(range(50)), tokens=5) for seed in (1, 1, 2)
    )
    assert first == again
    assert first != other


def test_what_one_request_draws_does_not_depend_on_the_others() -> None:
    """So that more load changes nothing but the load."""
    alone = drive(service(**_RANDOM), [0], tokens=5)
    among = drive(service(**_RANDOM), [0, 1, 2], tokens=5)
    assert alone == [step for step in among if step[2] == 0]


def test_errors_and_cuts_come_at_their_rates() -> None:
    steps = drive(service(error_rate=0.3, cut_rate=0.5), [0] * 2000, tokens=6)
    kinds = [kind for _, kind, *_ in steps]
    assert kinds.count(StepKind.FAIL) / 2000 == pytest.approx(0.3, abs=0.04)
    assert kinds.count(CUT) / (2000 - kinds.count(StepKind.FAIL)) == pytest.approx(0.5, abs=0.04)
    assert kinds.count(LAST) + kinds.count(CUT) + kinds.count(StepKind.FAIL) == 2000


@pytest.mark.parametrize("streamed", [True, False])
@pytest.mark.parametrize("chunk_tokens", [1, 4])
def test_a_cut_answer_lacks_something(streamed: bool, chunk_tokens: int) -> None:
    served = service(cut_rate=1, chunk_tokens=chunk_tokens)
    steps = drive(served, [0] * 100, tokens=6, streamed=streamed)
    said = [0] * 100
    for _, _, number, tokens in steps:
        said[number] += tokens
    assert {kind for _, kind, *_ in steps} <= {BEGIN, CHUNK, CUT}
    assert set(said) == {1, 2, 3, 4, 5}


def test_over_the_rate_limit_is_refused_and_takes_no_slot() -> None:
    served = service(ttft="0ms", rate_limit="2/s", slots=1, service_time="1ms")
    steps = drive(served, [0, 100, 200, 700, 710])
    assert [(kind, number) for _, kind, number, _ in steps if kind in {BEGIN, StepKind.REFUSE}] == [
        (BEGIN, 0), (BEGIN, 1), (StepKind.REFUSE, 2), (BEGIN, 3), (StepKind.REFUSE, 4),
    ]  # fmt: skip


def test_a_bucket_gives_its_rate_and_a_second_at_once() -> None:
    bucket = TokenBucket(10)
    assert [bucket.take(0) for _ in range(12)] == [True] * 10 + [False] * 2
    assert [bucket.take(ms * MS) for ms in (50, 100, 150, 200, 250)] == [
        False, True, False, True, False,
    ]  # fmt: skip
    assert [bucket.take(3600_000 * MS) for _ in range(11)] == [True] * 10 + [False]
