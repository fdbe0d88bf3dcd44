"""Failures around a target: which are tried, what is counted, and how long until it is back."""

import asyncio
import math
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import psutil
import pytest
from proxied import come_true
from scripted_stand import Answered, Notebook, ScriptedStand, normal_load

from agentbench_tui.model.answer import AgentFailure
from agentbench_tui.model.errors import UsageError
from agentbench_tui.stress.faults.failures import BY_PROCESS, BY_PROXY, NAMES, Ease, name_problems
from agentbench_tui.stress.faults.fault import Bandwidth, Fault, Latency
from agentbench_tui.stress.faults.proxy_target import ProxyTarget
from agentbench_tui.stress.faults.script import Counts
from agentbench_tui.stress.report import RecoveryFacts, ScenarioReport
from agentbench_tui.stress.scenarios.failure_recovery import run
from agentbench_tui.stress.spec import StressSpec
from agentbench_tui.stress.stand.outage import LEAD_PIECES, Timeline
from agentbench_tui.stress.stand.window_plan import WindowPlan

URL = "http://127.0.0.1:9/v1"
FAILURE_S = 10
BEGINS_S, ENDS_S = 3.0, 13.0


class CountingProxy:
    """What passed before the failures: 1,000 bytes for each of 50 requests."""

    async def counts(self) -> Counts:
        return Counts(
            at_ns=0, connections=1, open=1, unreachable=0, turned_away=0,
            requests=50, to_target_bytes=5000, to_client_bytes=50_000, held_bytes=0,
        )  # fmt: skip


class Server:
    """Ours, and only in name."""

    pids = ()
    over_limit = None

    def __init__(self) -> None:
        self.log: list[str] = []

    def limit_memory(self, memory_limit_mb: float | None) -> None:
        self.log.append(f"limit {memory_limit_mb}")

    async def kill(self) -> None:
        self.log.append("kill")

    async def restart(self) -> None:
        self.log.append("restart")


def down_until(
    back_s: float, from_s: float = BEGINS_S
) -> Callable[[WindowPlan, str, Any], Answered]:
    """Answers take 25 ms. What is in flight when the failure begins fails, and all until then."""

    def rule(course: WindowPlan, phase: str, due_s: Any) -> Answered:
        fails = (due_s + 0.025 > from_s) & (due_s < back_s)
        return Answered(~fails, np.full(len(due_s), 25.0))

    return rule


async def tried(stand: ScriptedStand, *faults: str, **more: Any) -> ScenarioReport:
    notebook = Notebook("failure_recovery")
    names = list(faults) or None
    spec = StressSpec(scenario="failure_recovery", faults=names, **more)
    await run(stand.typed, spec, normal_load(), notebook)
    return notebook.report


def server_stand(rule: Callable[[WindowPlan, str, Any], Answered], **more: Any) -> ScriptedStand:
    return ScriptedStand(rule, proxy=CountingProxy(), no_proxy="", url=URL, **more)


def only_recovery(report: ScenarioReport) -> RecoveryFacts:
    (found,) = report.recoveries
    return found


async def test_back_at_once() -> None:
    report = await tried(server_stand(down_until(ENDS_S)), "reset")
    recovery = only_recovery(report)
    assert (recovery.after, recovery.seconds) == ("reset", 0)
    assert report.score is not None
    assert report.score.value == 100
    assert report.windows[0].phase == "fault reset"


async def test_back_after_four_seconds() -> None:
    report = await tried(server_stand(down_until(ENDS_S + 4)), "reset")
    assert only_recovery(report).seconds == 4
    assert report.score is not None
    assert report.score.value == pytest.approx(100 * 11 / 15)  # 4 of 15 s watched are lost
    assert report.observations["reset_score"] == report.score.value
    # Of 20 requests a second: what was due while nothing got through is not counted.
    counted = (report.observations["scored_requests"], report.observations["scored_failed"])
    assert counted == (15 * 20, 4 * 20)


async def test_a_backlog_that_takes_as_long_as_the_failure_was_is_seen() -> None:
    report = await tried(server_stand(down_until(ENDS_S + FAILURE_S)), "stall", recovery_s=1)
    assert only_recovery(report).seconds == FAILURE_S


async def test_never_back_ends_it() -> None:
    stand = server_stand(down_until(math.inf), idles=[False])
    report = await tried(stand, "reset", "stall")
    assert only_recovery(report).seconds is None
    assert "not recovered within 15 s" in only_recovery(report).words
    assert report.missing == {"stall": "it had not come back from reset"}
    assert len(stand.held) == 1
    assert report.score is not None
    assert report.score.value == 0


async def test_a_target_that_a_failure_has_ended_is_lost() -> None:
    stand = server_stand(down_until(math.inf), idles=[False], gone=True)
    notebook = Notebook("failure_recovery")
    spec = StressSpec(scenario="failure_recovery", faults=["reset", "stall"])
    with pytest.raises(AgentFailure, match=f"no process listens any more at {URL} since reset"):
        await run(stand.typed, spec, normal_load(), notebook)
    assert notebook.report.missing == {"stall": "it had not come back from reset"}
    assert stand.idles == [False]  # nobody waited for what is plainly gone to come to rest


async def test_a_server_of_ours_is_started_again_and_the_others_are_tried() -> None:
    server = Server()
    stand = server_stand(down_until(math.inf), idles=[False], owned=server)
    report = await tried(stand, "reset", "stall")
    assert server.log == ["restart"]
    assert [one.after for one in report.recoveries] == ["reset", "stall"]


async def test_requests_are_accounted_for() -> None:
    report = await tried(server_stand(down_until(ENDS_S + 1)), "reset")
    found = report.observations
    # 20/s, due at 0.025, 0.075, …; answers take 25 ms: one is in flight when it begins.
    assert (found["reset_during_requests"], found["reset_during_failed"]) == (200, 200)
    assert (found["reset_after_requests"], found["reset_after_failed"]) == (300, 20)
    assert (found["reset_in_flight_requests"], found["reset_in_flight_failed"]) == (0, 0)
    assert (
        "failed: 0 of 0 in flight at its beginning, 200 of 200 during it, 20 of 300 after it"
        in (only_recovery(report).words)
    )


async def test_those_in_flight_are_seen() -> None:
    def rule(course: WindowPlan, phase: str, due_s: Any) -> Answered:
        late = (due_s >= BEGINS_S - 0.5) & (due_s < BEGINS_S)
        return Answered(~late, np.where(late, 600.0, 25.0))

    found = (await tried(server_stand(rule), "cut")).observations
    assert (found["cut_in_flight_requests"], found["cut_in_flight_failed"]) == (10, 10)


async def test_what_passes_counts_while_it_lasts() -> None:
    report = await tried(server_stand(down_until(ENDS_S)), "latency")
    assert report.score is not None
    assert report.score.value == pytest.approx(60)  # 15 of 25 s


async def test_before_an_upstream_all_counts() -> None:
    stand = server_stand(down_until(ENDS_S))
    report = await tried(stand, "reset", upstream="http://127.0.0.1:8/")
    assert report.score is not None
    assert report.score.value == pytest.approx(60)


async def test_the_fault_lies_in_the_middle_of_normal_load() -> None:
    stand = server_stand(down_until(ENDS_S))
    await tried(stand, "bandwidth", "latency")
    (first, _), (second, _) = stand.held
    assert first.faults == (Fault(Bandwidth(10_000.0), BEGINS_S, ENDS_S),)  # half of 20 × 1,000
    assert second.faults == (Fault(Latency(50.0), BEGINS_S, ENDS_S),)
    assert (first.rate, first.length_s, first.may_die) == (20.0, 28.0, True)
    assert first.time_limit_s == first.drain_s == FAILURE_S


async def test_all_that_a_target_can_have() -> None:
    report = await tried(server_stand(down_until(0), owned=Server()))
    assert {one.after for one in report.recoveries} == set(NAMES)
    assert report.missing == {}


async def test_a_server_that_is_not_ours_has_no_failing_processes() -> None:
    report = await tried(server_stand(down_until(0)))
    assert set(report.missing) == set(BY_PROCESS)
    assert all("serve" in reason for reason in report.missing.values())


async def test_https_has_no_faults_of_requests() -> None:
    stand = ScriptedStand(down_until(0), proxy=CountingProxy(), url="https://127.0.0.1:9/v1")
    report = await tried(stand, "reset", "error_reply", "truncation", "slow_headers")
    assert set(report.missing) == {"error_reply", "truncation", "slow_headers"}
    assert only_recovery(report).after == "reset"


async def test_an_agent_inside_the_senders_has_none_at_all() -> None:
    stand = ScriptedStand(down_until(0), scheme="python", no_proxy="no server")
    report = await tried(stand)
    assert set(report.missing) == set(NAMES)
    assert report.missing["reset"] == "no server"
    assert "inside the senders" in report.missing["kill"]
    assert (report.score, stand.held, report.status) == (None, [], "not applicable")
    assert "no server" in report.reason
    assert "inside the senders" in report.reason


async def test_a_program_has_those_of_processes() -> None:
    stand = ScriptedStand(down_until(0), scheme="worker", no_proxy="no server")
    report = await tried(stand)
    assert set(report.missing) == set(BY_PROXY)
    assert {one.after for one in report.recoveries} == set(BY_PROCESS)


async def test_a_program_is_back_from_the_moment_it_was_killed() -> None:
    """Nobody keeps it down: the next request starts it again."""
    stand = ScriptedStand(down_until(BEGINS_S + 2), scheme="worker", no_proxy="no server")
    report = await tried(stand, "kill")
    assert only_recovery(report).seconds == 2
    ((course, _),) = stand.held
    assert [(action.at_s, action.name) for action in course.actions] == [
        (BEGINS_S, "SIGKILL of the target")
    ]


async def test_a_server_of_ours_is_down_for_the_time_of_the_failure() -> None:
    server = Server()
    stand = server_stand(down_until(ENDS_S), owned=server, acts=True)
    report = await tried(stand, "kill")
    assert server.log == ["kill", "restart"]
    assert [action.at_s for action in stand.held[0][0].actions] == [BEGINS_S, ENDS_S]
    assert only_recovery(report).seconds == 0


async def test_a_name_that_there_is_not() -> None:
    with pytest.raises(UsageError, match=r'no fault "rest".* "reset"'):
        await tried(server_stand(down_until(0)), "rest")
    assert name_problems(NAMES) == []


@pytest.mark.parametrize("name", BY_PROXY)
def test_every_fault_can_be_put_before_plain_http(name: str) -> None:
    kinds = BY_PROXY[name](Ease(room_ms=-1.0, bytes_per_s=0.0))
    faults = [Fault(kind, 1.0, 2.0) for kind in kinds]
    assert faults[-1].name == name
    ProxyTarget.of(URL).check(faults)


def test_a_short_time_is_still_watched_for_eight_pieces() -> None:
    timeline = Timeline.of(failure_s=0.05, watched_s=0.05, piece_s=0.2)
    assert (timeline.during, timeline.after) == (1, 8)
    assert timeline.begins_s == pytest.approx(LEAD_PIECES * 0.2)
    assert timeline.length_s == pytest.approx((LEAD_PIECES + 9) * 0.2)


async def test_the_stopped_go_on_when_it_is_canceled() -> None:
    """In the middle of the failure, with a real process."""
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-I", "-S", "-c", "import signal; signal.pause()"
    )
    stopped = asyncio.Event()

    def is_stopped() -> bool:
        return bool(psutil.Process(process.pid).status() == psutil.STATUS_STOPPED)

    class Held(ScriptedStand):
        async def hold(self, course: WindowPlan, *, phase: str) -> Any:
            await course.actions[0].act()
            await come_true(is_stopped)
            stopped.set()
            await asyncio.Event().wait()

    stand = Held(down_until(0), scheme="worker", roots=(process.pid,))
    try:
        task = asyncio.create_task(tried(stand, "stop"))
        async with asyncio.timeout(60):
            await stopped.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await come_true(lambda: not is_stopped())
    finally:
        process.kill()
        await process.wait()
