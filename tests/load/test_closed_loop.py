"""A closed loop: when its window ends, and its rates where the window holds few answers."""

import heapq
import random
from collections.abc import Callable
from itertools import count
from typing import Any, cast

import pytest
from driving import model_target, plan
from samples import Sample, columns, done, window

from agentbench_tui.load.results.aggregate import aggregate
from agentbench_tui.load.results.requests import Requests
from agentbench_tui.load.results.summary import summarize
from agentbench_tui.load.schedule import schedule as schedules
from agentbench_tui.load.schedule.schedule import ClosedSchedule
from agentbench_tui.load.sending.protocol import ClosedLoop
from agentbench_tui.model.agent import AgentSpec
from agentbench_tui.model.answer import AgentFailure, FailureKind

AGENT = AgentSpec("a", "1", "openai:http://127.0.0.1/v1#m")
MS = 1_000_000


class Simulated:
    """Clock, timer, agenda and sender of a schedule; every session takes as long."""

    now_ns = 0

    def __init__(self, takes_ns: int, failure: AgentFailure | None = None) -> None:
        self._takes_ns = takes_ns
        self._failure = failure
        self._events: list[tuple[int, int, Callable[[int], None]]] = []
        self._number = count()
        self.begun: list[int] = []
        self.ended_at: int | None = None
        """When the schedule said that it is over."""
        self.session_ended: Callable[[AgentFailure | None], None] = lambda _: None

    def at(self, due_ns: int, action: Callable[[int], None]) -> None:
        heapq.heappush(self._events, (due_ns, next(self._number), action))

    def begin(self, index: int, due_ns: int) -> None:
        del index
        self.begun.append(due_ns)
        self.at(due_ns + self._takes_ns, lambda _: self.session_ended(self._failure))

    def over(self, *, cut: bool) -> None:
        del cut
        self.ended_at = self.now_ns

    def run(self) -> None:
        while self._events:
            self.now_ns, _, action = heapq.heappop(self._events)
            action(self.now_ns)


def carried_out(
    loop: ClosedLoop,
    monkeypatch: pytest.MonkeyPatch,
    *,
    requests: int | None,
    duration_s: float | None = None,
    takes_ms: int = 300,
    failure: AgentFailure | None = None,
) -> tuple[Simulated, float]:
    """What was simulated, and the length of the window in ms."""
    world = Simulated(takes_ms * MS, failure)

    class Timer:
        def __init__(self, _: object, fire: Callable[[], None]) -> None:
            self._fire, self._open = fire, True

        def arm(self, due_ns: int) -> None:
            world.at(due_ns, lambda _: self._fire() if self._open else None)

        def close(self) -> None:
            self._open = False

    monkeypatch.setattr(schedules, "DeadlineTimer", Timer)
    monkeypatch.setattr(schedules, "perf_counter_ns", lambda: world.now_ns)
    asked = plan(
        model_target("http://127.0.0.1:1/v1"), loop, requests=requests, duration_s=duration_s
    )
    held: Any = world
    schedule = ClosedSchedule(asked, loop, cast("Any", None), held, held, world.over)
    schedule.start(0)
    world.run()
    return world, schedule.window_ns / MS


@pytest.mark.parametrize(
    ("loop", "requests", "duration_s", "begun", "window_ms", "over_ms"),
    [
        # Two waves of 300 ms; the 17th request would begin with the end of the second.
        (ClosedLoop(8), 16, None, 16, 600, 600),
        (ClosedLoop(8), 16, 0.5, 16, 500, 500),
        # The third would begin at 2 × (300 + 1,500) ms. Nobody waits for that to say so.
        (ClosedLoop(1, think_time_ms=1500), 2, None, 2, 3600, 2100),
        # The second user, who thinks since 450 ms until 1,450, would be the next one.
        (ClosedLoop(2, think_time_ms=1000, ramp_s=0.3), 3, None, 3, 1450, 1450),
        (ClosedLoop(4), None, 1.0, 16, 1000, 1000),
        (ClosedLoop(4), 0, None, 0, 0, 0),
    ],
)
def test_a_window_lasts_until_one_more_would_have_begun_or_its_time_is_over(
    loop: ClosedLoop,
    requests: int | None,
    duration_s: float | None,
    begun: int,
    window_ms: float,
    over_ms: float,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    world, found_ms = carried_out(loop, monkeypatch, requests=requests, duration_s=duration_s)

    assert len(world.begun) == begun
    assert found_ms == pytest.approx(window_ms)
    assert world.ended_at == over_ms * MS


def test_users_pause_before_a_port_where_nobody_listens(monkeypatch: pytest.MonkeyPatch) -> None:
    refused = AgentFailure(FailureKind.CONNECTION, "refused")
    world, window_ms = carried_out(
        ClosedLoop(1), monkeypatch, requests=3, takes_ms=0, failure=refused
    )

    assert [due / MS for due in world.begun] == [0, 100, 200]
    assert window_ms == 300


def refused(retry_after_s: float | None = None) -> AgentFailure:
    return AgentFailure(FailureKind.RATE_LIMITED, "HTTP 429", retry_after_s=retry_after_s)


def test_users_who_are_told_to_wait_do_so(monkeypatch: pytest.MonkeyPatch) -> None:
    world, window_ms = carried_out(
        ClosedLoop(1), monkeypatch, requests=3, takes_ms=1, failure=refused(2.0)
    )

    assert [due / MS for due in world.begun] == [0, 2001, 4002]
    assert window_ms == 6003


def test_users_of_a_server_that_is_away_wait_as_it_says(monkeypatch: pytest.MonkeyPatch) -> None:
    away = AgentFailure(FailureKind.SERVER, "HTTP 503", retry_after_s=2.0)
    world, _ = carried_out(ClosedLoop(1), monkeypatch, requests=3, takes_ms=1, failure=away)
    assert [due / MS for due in world.begun] == [0, 2001, 4002]


def test_users_who_are_refused_without_a_time_wait_longer_and_longer(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """As long again as nobody has been let in for, 100 ms at least and 5 s at most."""
    world, _ = carried_out(ClosedLoop(1), monkeypatch, requests=9, takes_ms=0, failure=refused())

    begun = [due / MS for due in world.begun]
    assert begun == [0, 100, 200, 400, 800, 1600, 3200, 6400, 11400]


def test_a_told_time_is_kept_for_a_minute_at_most(monkeypatch: pytest.MonkeyPatch) -> None:
    world, _ = carried_out(
        ClosedLoop(1), monkeypatch, requests=2, takes_ms=0, failure=refused(600.0)
    )
    assert [due / MS for due in world.begun] == [0, 60_000]


def closed(
    samples: list[Sample], users: int, window_s: float, **known: Any
) -> tuple[Requests, dict[str, Any]]:
    worker = done(offered=len(samples), sent=len(samples), window_s=window_s, most_in_flight=users)
    one = window(worker, **{"is_open": False, "ramp_s": None, **known})
    requests = Requests(columns(samples), {0: one})
    return requests, aggregate(requests, AGENT).metrics


def in_step(users: int, waves: int, takes_s: float, **known: Any) -> list[Sample]:
    return [Sample(takes_s * wave, takes_s, **known) for wave in range(waves) for _ in range(users)]


@pytest.mark.parametrize("waves", range(1, 9))
@pytest.mark.parametrize("cut_s", [0.0, 0.1, 0.29])
def test_users_in_step_are_as_fast_in_a_short_window_as_in_a_long_one(
    waves: int, cut_s: float
) -> None:
    samples = in_step(8, waves, 0.3, tokens=5, input_tokens=7)
    _, found = closed(samples, 8, 0.3 * waves - cut_s, slo={"e2e_ms": 5000.0})

    rate = found["request_throughput_per_s"].value
    assert rate == pytest.approx(8 / 0.3, rel=0.05)
    assert found["goodput_per_s"].value == rate
    assert found["output_tokens_per_s"].value == pytest.approx(5 * rate)
    assert found["input_tokens_per_s"].value == pytest.approx(7 * rate)


def test_where_answers_are_few_it_is_said() -> None:
    few, metrics = closed(in_step(8, 5, 0.3), 8, 1.5)
    many, _ = closed(in_step(8, 6, 0.3), 8, 1.8)

    (told,) = [line for line in _warnings(few) if "steady part" in line]
    assert told.startswith("too few answers for a steady part (5 of each user are needed)")
    assert not [line for line in _warnings(many) if "steady part" in line]
    assert metrics["request_throughput_per_s"].value == pytest.approx(8 / 0.3)


def _warnings(requests: Requests) -> tuple[str, ...]:
    return summarize(requests, aggregate(requests, AGENT)).warnings


def test_a_few_answers_of_random_length_give_the_rate_without_bias() -> None:
    """Of 8 users with log-normal times of 300 ms on average the rate is 8 ÷ 0.3 s."""
    draw, rates, until_last = random.Random(1), [], []
    for _ in range(200):
        ready = [0.0] * 8
        samples = []
        for _ in range(24):
            due = heapq.heappop(ready)
            takes = round(0.3 * draw.lognormvariate(-0.125, 0.5), 6)
            samples.append(Sample(round(due, 6), takes))
            heapq.heappush(ready, due + takes)
        _, found = closed(samples, 8, ready[0])
        rates.append(found["request_throughput_per_s"].value)
        until_last.append(found["throughput_per_s"].value)

    assert sum(rates) / 200 == pytest.approx(8 / 0.3, rel=0.04)
    # In the drain ever fewer users ask.
    assert sum(until_last) / 200 < 0.85 * 8 / 0.3


def test_failures_are_no_answers_and_a_ramp_is_left_out() -> None:
    samples = in_step(4, 2, 0.5)
    for sample in samples[::2]:
        sample.status = "server"
    _, found = closed(samples, 4, 1.0, slo={"e2e_ms": 5000.0})
    assert found["request_throughput_per_s"].value == pytest.approx(4 / 0.5 / 2)
    assert found["goodput_per_s"].value == pytest.approx(4 / 0.5 / 2)

    # One user for a second, then a second one with it.
    samples = [Sample(0.0, 0.5), *(Sample(at, 0.5) for at in (0.5, 1.0, 1.0, 1.5, 1.5))]
    _, found = closed(samples, 2, 2.0, ramp_s=1.0)
    assert found["request_throughput_per_s"].value == pytest.approx(2 / 0.5)


@pytest.mark.parametrize("good", range(0, 41, 8))
def test_goodput_is_never_above_the_rate_of_answers(good: int) -> None:
    samples = in_step(4, 10, 0.1)
    for number, sample in enumerate(samples):
        sample.ttft = 0.01 if number < good else 0.09
    _, found = closed(samples, 4, 1.0, slo={"ttft_ms": 50.0})

    assert 0 <= found["goodput_per_s"].value <= found["request_throughput_per_s"].value
    if good == 40:
        assert found["goodput_per_s"].value == found["request_throughput_per_s"].value
