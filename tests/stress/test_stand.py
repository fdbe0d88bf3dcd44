"""Windows on a real practice server: what is measured, stored, bounded, and left behind."""

from __future__ import annotations

import asyncio
import os
import signal
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from staged import QUICK_MOCK, Staged, descendants, on_stand, staged

from agentbench_tui.load.schedule.rate_profile import Steps
from agentbench_tui.stress.budget import Stopped
from agentbench_tui.stress.faults.fault import ErrorReply, Fault
from agentbench_tui.stress.reporter import facts_of
from agentbench_tui.stress.stand.measured import Measured
from agentbench_tui.stress.stand.stand import Stand
from agentbench_tui.stress.stand.window_plan import TimedAction, WindowPlan


@dataclass
class Seen:
    """What one target on its stand showed, window after window."""

    one: Measured
    two: Measured
    three: Measured
    full: Measured
    """Of one place in flight, and many more requests."""
    hung: Measured
    """Stopped in its middle."""
    processes: list[set[int]]
    """Of the run, after the first window and after the second; and once it was over."""
    memory_mb: float | None
    """After the first window."""
    idle: tuple[bool, bool]
    """At its own pace, and at one that it never had."""
    staged: Staged


@pytest.fixture(scope="module")
def seen(tmp_path_factory: pytest.TempPathFactory) -> Seen:
    before = descendants()
    found: dict[str, Any] = {}

    async def act(stand: Stand, *_: Any) -> None:
        assert await stand.idle()
        assert stand.pace_ms is not None
        assert stand.windows == 0  # nothing of it is kept
        with pytest.raises(ValueError, match="more than the 1000/s"):
            await stand.hold(WindowPlan(1, rate=1001), phase="one")
        with pytest.raises(ValueError, match="101 users"):
            await stand.hold(WindowPlan(1, users=101), phase="one")
        found["one"] = await stand.hold(WindowPlan(0.6, rate=50), phase="one")
        found["memory_mb"] = stand.memory_mb()
        processes = [descendants() - before]
        found["two"] = await stand.hold(WindowPlan(0.3, users=2), phase="two")
        processes.append(descendants() - before)
        steps = WindowPlan(0.4, profile=Steps(((50, 0.2), (100, 0.2))))
        found["three"] = await stand.hold(steps, phase="three")
        crowd = WindowPlan(0.2, rate=500, max_in_flight=1, drain_s=0.0)
        found["full"] = await stand.hold(crowd, phase="full")
        found["hung"] = await stopped_in_its_middle(stand)
        assert await stand.idle()
        stand.pace_ms = 0.01
        found["idle"] = True, await stand.idle(0.3)
        found["processes"] = processes

    with pytest.MonkeyPatch.context() as monkeypatch:
        ended = asyncio.run(on_stand(tmp_path_factory.mktemp("stand"), monkeypatch, act))
    found["processes"].append(descendants() - before)
    return Seen(**found, staged=ended)


async def stopped_in_its_middle(stand: Stand) -> Measured:
    """A window in which the target hangs; it goes on afterwards."""
    (root,) = stand.roots

    async def stop() -> None:
        os.kill(root, signal.SIGSTOP)

    action = TimedAction(0.2, "stop", stop)
    course = WindowPlan(0.4, rate=50, drain_s=0.2, actions=(action,), may_die=True)
    try:
        return await stand.hold(course, phase="stopped")
    finally:
        os.kill(root, signal.SIGCONT)


def test_a_window_is_told_request_by_request_and_kept(seen: Seen) -> None:
    one, two, three = seen.one, seen.two, seen.three
    assert one.ok.all()
    assert (len(one), one.asked_per_s, one.users) == (30, 50, None)
    assert np.allclose(one.due_s, np.arange(30) / 50, atol=1e-5)
    assert (one.e2e_ms > 20).all()
    assert (one.end_s > one.due_s).all()
    assert (two.users, two.asked_per_s, len(three)) == (2, None, 30)
    kept = {0: len(one), 1: len(two), 2: len(three)}
    assert kept.items() <= seen.staged.windows.items()
    assert list(seen.staged.windows) == [0, 1, 2, 3, 4]
    assert seen.staged.outcome.status == "complete"
    assert seen.staged.told.status == "complete"


def test_workers_stay_from_one_window_to_the_next(seen: Seen) -> None:
    first, second, afterwards = seen.processes
    assert first == second != set()
    assert afterwards == set()


def test_what_never_got_a_place_counts_as_not_answered(seen: Seen) -> None:
    window = seen.full
    assert len(window) == 100  # whether it was sent or not
    assert window.failures["unsent"] == 100 - int(np.isfinite(window.end_s).sum()) - int(
        window.failures.get("unfinished", 0)
    )
    assert window.sender_limit is None  # the target had one place, and took its time
    assert window.ok.sum() < 20


def test_it_is_idle_at_its_own_pace_alone(seen: Seen) -> None:
    assert seen.idle == (True, False)


def test_memory_and_cpu_of_a_target_here_are_read(seen: Seen) -> None:
    window = seen.one
    assert len(window.memory_mb) >= 2
    assert seen.memory_mb == pytest.approx(window.memory_mb[-1][1], rel=0.2)
    assert window.cpu_share is not None
    assert 0 < window.cpu_share < 2
    assert facts_of(window).memory_mb == window.memory_mb[-1][1]


async def test_faults_go_by_the_clock_of_the_window(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found: list[Measured] = []

    async def act(stand: Stand, *_: Any) -> None:
        fault = Fault(ErrorReply(503), start_s=0.2, end_s=0.4)
        found.append(await stand.hold(WindowPlan(0.6, rate=100, faults=(fault,)), phase="fault"))
        found.append(await stand.hold(WindowPlan(0.1, rate=100), phase="after"))

    await on_stand(tmp_path, monkeypatch, act, scenario="failure_recovery")
    faulty, after = found
    failed = faulty.due_s[~faulty.ok]
    assert failed.min() > 0.15
    assert failed.max() < 0.45
    assert faulty.applied == {"error_reply": len(failed)}
    assert faulty.failures == {"server": len(failed)}
    assert after.ok.all()
    assert after.applied == {}


async def test_an_action_that_fails_ends_the_window_with_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def stumble() -> None:
        raise OSError("no such thing")

    async def act(stand: Stand, *_: Any) -> None:
        action = TimedAction(0.1, "a try", stumble)
        await stand.hold(WindowPlan(30, rate=20, actions=(action,)), phase="one")

    staged = await on_stand(tmp_path, monkeypatch, act)
    assert "a try: OSError: no such thing" in str(staged.execution["stop_reason"])
    assert list(staged.windows) == [0]  # what was measured till then


async def test_budgets_hold_whatever_the_scenario_asks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found: list[Measured] = []

    async def act(stand: Stand, *_: Any) -> None:
        while True:
            found.append(await stand.hold(WindowPlan(0.2, rate=100), phase="one"))

    staged = await on_stand(tmp_path, monkeypatch, act, max_requests=30)
    assert [len(window) for window in found] == [20, 10]
    assert staged.told.status == "stopped"
    assert "30 requests (`max_requests`) are used up" in staged.told.reason
    assert staged.outcome.status == "complete"


async def test_a_budget_may_end_while_normal_load_is_looked_for(tmp_path: Path) -> None:
    """Two users are left one of eleven requests."""
    found = await staged(tmp_path, QUICK_MOCK, scenario="high_load", max_requests=11)
    assert found.told.status == "stopped"
    assert "11 requests (`max_requests`) are used up" in found.told.reason
    assert found.told.advice == []


async def test_no_window_outlasts_the_time_of_the_execution(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def act(stand: Stand, *_: Any) -> None:
        await stand.hold(WindowPlan(60, users=1), phase="one")
        await stand.hold(WindowPlan(60, users=1), phase="two")

    staged = await on_stand(tmp_path, monkeypatch, act, max_s=0.3)
    assert "0.3 s (`max_s`) are used up" in staged.told.reason


async def test_a_target_that_dies_ends_the_window_and_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = descendants()

    async def act(stand: Stand, *_: Any) -> None:
        async def strike() -> None:
            os.kill(stand.roots[0], signal.SIGKILL)

        await stand.hold(
            WindowPlan(30, rate=50, actions=(TimedAction(0.2, "strike", strike),)), phase="struck"
        )

    staged = await asyncio.wait_for(on_stand(tmp_path, monkeypatch, act), 60)
    assert list(staged.windows) == [0]
    assert descendants() == before
    assert "ended in the middle of a window" in str(staged.execution["stop_reason"])


def test_a_target_that_hangs_costs_no_more_than_the_drain(seen: Seen) -> None:
    window = seen.hung
    unfinished = window.failures["unfinished"]
    assert 5 <= unfinished <= 15
    assert np.isnan(window.end_s).sum() == unfinished
    assert window.ok.sum() == 20 - unfinished


async def test_a_run_that_is_to_end_ends_the_window_and_the_scenario(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def act(stand: Stand, *_: Any) -> None:
        async def interrupt() -> None:
            stand._context.stop.request("interrupted", interrupted=True)

        action = TimedAction(0.2, "interrupt", interrupt)
        with pytest.raises(Stopped, match="interrupted"):
            await stand.hold(WindowPlan(60, rate=50, actions=(action,)), phase="one")
        await stand.hold(WindowPlan(60, rate=50), phase="two")

    staged = await on_stand(tmp_path, monkeypatch, act, QUICK_MOCK, QUICK_MOCK)
    assert staged.outcome.status == "interrupted"
    assert [one["status"] for one in staged.others] == ["interrupted"]  # it never had its turn
    assert list(staged.windows) == [0]  # as far as it went
    assert (staged.told.status, staged.told.reason) == ("stopped", "interrupted")


def test_a_course_says_one_thing() -> None:
    with pytest.raises(ValueError, match="one of rate, profile and users"):
        WindowPlan(1, rate=1, users=1)
    with pytest.raises(ValueError, match="one of rate, profile and users"):
        WindowPlan(1)
    assert WindowPlan(2, profile=Steps(((10, 1), (30, 1)))).asked == pytest.approx(40)
