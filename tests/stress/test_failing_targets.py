"""Real targets that are stopped, killed, cut off and limited, and what is left of them: nothing."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import psutil
import pytest
from proxied import come_true
from scripted_stand import normal_load
from staged import Staged, descendants, on_stand

from agentbench_tui.stress.faults.process_fault import ProcessFault
from agentbench_tui.stress.report import RecoveryFacts, ScoreFacts
from agentbench_tui.stress.reporter import Reporter
from agentbench_tui.stress.scenarios import failure_recovery, memory_pressure
from agentbench_tui.stress.spec import StressSpec
from agentbench_tui.stress.stand.normal import Normal
from agentbench_tui.stress.stand.outage import Outage, score_of_outages
from agentbench_tui.stress.stand.stand import Stand

ECHO = """
import json, sys, time
for line in iter(sys.stdin.readline, ""):
    asked = json.loads(line)
    if asked.get("type") == "hello":
        said = {"type": "hello", "protocol": 1, "name": "echo"}
    else:
        time.sleep(0.05)  # at work on it
        said = {"id": asked["id"], "text": "yes"}
    sys.stdout.write(json.dumps(said) + "\\n"); sys.stdout.flush()
"""
NORMAL = normal_load(60, p95_ms=100, piece_s=0.1)


async def recover(stand: Stand, spec: StressSpec, _: Normal, reporter: Reporter) -> None:
    await failure_recovery.run(stand, spec, NORMAL, reporter)


async def press(stand: Stand, spec: StressSpec, _: Normal, reporter: Reporter) -> None:
    await memory_pressure.run(stand, spec, NORMAL, reporter)


@pytest.fixture(autouse=True)
async def nothing_is_left(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[None]:
    monkeypatch.setattr(failure_recovery, "LEAST_RESTART_S", 2.0)
    before = descendants()
    yield
    await come_true(lambda: descendants() <= before)


def recoveries(staged: Staged) -> dict[str, RecoveryFacts]:
    return {one.after: one for one in staged.told.recoveries}


def worker(tmp_path: Path) -> str:
    program = tmp_path / "echo.py"
    program.write_text(ECHO)
    return f"worker:{sys.executable} {program}"


async def test_a_server_comes_back_when_it_goes_on_and_when_it_is_started_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    outages: list[Outage] = []

    def kept(found: list[Outage]) -> ScoreFacts | None:
        outages[:] = found
        return score_of_outages(found)

    monkeypatch.setattr(failure_recovery, "score_of_outages", kept)
    staged = await on_stand(
        tmp_path,
        monkeypatch,
        recover,
        scenario="failure_recovery",
        faults=["stop", "kill"],
    )
    found = recoveries(staged)
    assert list(found) == ["stop", "kill"]
    assert staged.told.missing == {}
    observations = staged.told.observations
    window, timeline = outages[-1].measured, outages[-1].timeline
    failed = ~window.ok & (window.due_s >= timeline.begins_s) & (window.due_s < timeline.ends_s)
    assert observations["kill_during_failed"] == failed.sum() > 0
    # The signal takes its time on a busy machine, and so may sending: but what was due when the
    # first had failed, and well before the start, found nobody.
    known_s = window.end_s[failed].min()
    down = (window.due_s > known_s) & (window.due_s < timeline.ends_s - timeline.piece_s)
    assert not window.ok[down].any()
    assert float(observations["kill_after_failed"]) < float(observations["kill_after_requests"])
    assert float(observations["stop_in_flight_requests"]) > 0
    assert observations["stop_after_failed"] == 0
    assert staged.told.score is not None
    assert 0 < staged.told.score.value <= 100


async def test_a_program_that_is_killed_is_started_again_with_the_next_request(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    staged = await on_stand(
        tmp_path,
        monkeypatch,
        recover,
        worker(tmp_path),
        scenario="failure_recovery",
        faults=["kill", "stall"],
    )
    assert list(recoveries(staged)) == ["kill"]
    assert set(staged.told.missing) == {"stall"}
    kill = next(one for one in staged.told.windows if one.phase == "fault kill")
    assert kill.failures.get("agent", 0) >= 1


async def test_canceled_in_the_middle_of_a_stop(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stopped: asyncio.Future[int] = asyncio.get_running_loop().create_future()

    class Watched(ProcessFault):
        async def stop(self) -> int:
            count = await super().stop()
            stopped.set_result(count)
            return count

    monkeypatch.setattr(failure_recovery, "ProcessFault", Watched)
    block: dict[str, Any] = {"scenario": "failure_recovery", "faults": ["stop"]}
    run = asyncio.create_task(on_stand(tmp_path, monkeypatch, recover, **block, time_scale=1))
    async with asyncio.timeout(60):
        assert await stopped >= 1
    run.cancel()
    with pytest.raises(asyncio.CancelledError):
        await run
    states = [psutil.Process(pid).status() for pid in descendants()]
    assert psutil.STATUS_STOPPED not in states


async def test_a_server_over_its_memory_limit_is_killed_and_comes_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    staged = await on_stand(
        tmp_path,
        monkeypatch,
        press,
        scenario="memory_pressure",
        duration_s=60,
        ballast_mb=64,
        memory_limit_mb=5,
        multiple=1,
    )
    observations = staged.told.observations
    assert observations["killed_by_limit"] is True
    assert "of 5 MB" in str(observations["over_limit"])
    assert recoveries(staged)["memory limit"].seconds is not None
    assert float(observations["memory_peak_mb"]) > 5
    assert observations["ballast_mb"] == pytest.approx(64, abs=0.1)
