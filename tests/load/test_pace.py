"""A load whose rate or users are changed while it runs: what was asked stays true."""

from __future__ import annotations

import asyncio
from itertools import pairwise
from time import perf_counter_ns
from typing import Any

import pytest
from driving import constant, model_target, plan, practice_server, users
from hypothesis import given
from hypothesis import strategies as st

from agentbench_tui.load.results.recent import Moment, RecentRates
from agentbench_tui.load.schedule.pace import Pace
from agentbench_tui.load.schedule.steering import Steering
from agentbench_tui.load.sending.measurement import asked_by
from agentbench_tui.load.sending.workers import LoadWorkers
from agentbench_tui.load.spec import LoadSpec

NS = 1_000_000_000


@given(st.lists(st.tuples(st.floats(0.01, 50), st.floats(0.1, 10)), max_size=5), st.floats(0, 1000))
def test_window_and_schedule_time_are_inverse_of_each_other(
    changes: list[tuple[float, float]], at_s: float
) -> None:
    pace, now = Pace(), 0.0
    for later, factor in changes:
        now += later
        pace.change(now, factor)
    assert pace.window_s(pace.schedule_s(at_s)) == pytest.approx(at_s, rel=1e-9, abs=1e-9)
    assert pace.schedule_s(at_s + 1) > pace.schedule_s(at_s)


def test_what_is_asked_counts_each_pace_for_its_time() -> None:
    pace = Pace()
    pace.change(4.0, 2.0)
    spec = LoadSpec.model_validate({"rate": 10, "duration_s": 10})
    arrivals = constant(10).arrivals
    # 4 s at 10/s and 6 s at 20/s.
    assert asked_by(spec, arrivals, None, pace) == pytest.approx((160, 16.0))
    # Ended by its 100 requests: 40 in 4 s, 60 at 20/s in 3 s.
    counted = LoadSpec.model_validate({"rate": 10, "requests": 100})
    assert asked_by(counted, arrivals, None, pace) == pytest.approx((100, 100 / 7))


def test_the_recent_rate_that_is_asked_follows_the_pace() -> None:
    pace = Pace()
    pace.change(10.0, 3.0)
    recent = RecentRates(constant(20).arrivals, pace)
    for tenth in range(200):
        at_s = tenth / 10
        sent = int(20 * pace.schedule_s(at_s))
        recent.take(Moment(at_s, sent, sent))
    assert recent.asked_per_s() == pytest.approx(60)
    assert recent.sent_per_s() == pytest.approx(60, rel=0.02)


async def steered(asked: list[Any], change: Any, *, after_sent: int) -> tuple[Any, list[int]]:
    """Change a window when so many were sent; its ends, and when each request was due, in µs."""
    from driving import rows_of

    due: list[int] = []
    sent: dict[int, int] = {}
    reached = asyncio.Event()

    def take(worker: int, chunk: Any) -> None:
        sent[worker] = chunk.sent
        if chunk.rows:
            due.extend(row["due_us"] for row in rows_of(chunk.samples))
        if sum(sent.values()) >= after_sent:
            reached.set()

    async with asyncio.timeout(30), LoadWorkers(asked, take) as workers:
        await workers.ready()
        began_ns = workers.start()
        await reached.wait()
        change(workers, began_ns)
        done = await workers.done()
    return done, sorted(due)


async def test_arrivals_come_at_the_new_pace_from_its_moment_on_from_all_workers() -> None:
    async with practice_server(ttft="1ms", itl="0ms", tokens=1) as server:
        target = model_target(server.url)
        asked = [plan(target, constant(100), duration_s=1.5, worker=n, workers=2) for n in range(2)]
        at: list[int] = []

        def faster(workers: LoadWorkers, began_ns: int) -> None:
            at.append(perf_counter_ns() + 20_000_000 - began_ns)
            workers.set_pace(4.0, began_ns + at[0])

        done, due = await steered(asked, faster, after_sent=30)

    changed_us = at[0] / 1e3
    before = [us for us in due if us <= changed_us]
    after = [us for us in due if us > changed_us]
    # Constant arrivals: 10 ms apart before, 2.5 ms after, whichever worker sends them.
    assert [b - a for a, b in pairwise(before)] == pytest.approx(
        [10_000] * (len(before) - 1), abs=2
    )
    assert [b - a for a, b in pairwise(after)] == pytest.approx([2_500] * (len(after) - 1), abs=2)
    assert sum(one.offered for one in done) == len(due)
    assert len(due) == pytest.approx(100 * (changed_us + 4 * (1.5e6 - changed_us)) / 1e6, abs=2)


async def test_users_are_added_and_retired() -> None:
    async with practice_server(ttft="20ms", itl="0ms", tokens=1) as server:
        asked = [plan(model_target(server.url), users(1), duration_s=0.8)]
        more, _ = await steered(
            asked, lambda w, ns: w.set_users(4, perf_counter_ns()), after_sent=3
        )
        asked = [plan(model_target(server.url), users(4), duration_s=0.8)]
        fewer, _ = await steered(
            asked, lambda w, ns: w.set_users(1, perf_counter_ns()), after_sent=8
        )
    assert more[0].most_in_flight == 4
    # One user at 20 ms a request sends 40 in 0.8 s at most, four 160.
    assert fewer[0].sent < 80


class Workers:
    """Stands in for load workers: knows what they were told."""

    count = 2

    def __init__(self) -> None:
        self.told: list[tuple[str, float]] = []

    def set_pace(self, factor: float, at_ns: int) -> None:
        self.told.append(("pace", factor))

    def set_users(self, users: int, at_ns: int) -> None:
        self.told.append(("users", users))


def test_what_cannot_be_changed_is_refused_with_a_reason() -> None:
    workers: Any = Workers()
    stress = Steering(None, fixed="it is the plan")
    stress.begin(workers, perf_counter_ns())
    assert stress.set_pace(2.0) == "it is the plan"
    open_loop = Steering(None)
    assert open_loop.set_pace(2.0) == "the window has not begun"
    open_loop.begin(workers, perf_counter_ns() - NS)
    assert "no users" in (open_loop.set_users(3) or "")
    assert "1000 times" in (open_loop.set_pace(1000.0) or "")
    assert open_loop.set_pace(1.25) is None
    assert open_loop.set_pace(1.5) is None
    assert workers.told == [("pace", 1.25), ("pace", 1.5)]
    assert [(one.what, one.to) for one in open_loop.changes] == [("pace", 1.25), ("pace", 1.5)]
    open_loop.end()
    assert open_loop.set_pace(1.0) == "the window is over"
    closed = Steering(8)
    closed.begin(workers, perf_counter_ns())
    assert "no rate" in (closed.set_pace(2.0) or "")
    assert "2 to" in (closed.set_users(1) or "")
    assert closed.set_users(10) is None
    assert closed.users == 10
