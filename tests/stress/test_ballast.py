"""Ballast holds what it says, leaves the machine its floor, and is gone with whoever took it."""

import asyncio
import signal
import sys
from pathlib import Path

import psutil
import pytest
from proxied import PATIENCE_S, come_true

from agentbench_tui.model.answer import AgentFailure
from agentbench_tui.stress.faults import ballast_process
from agentbench_tui.stress.faults.ballast import Ballast
from agentbench_tui.stress.faults.host_memory import (
    HostMemory,
    host_guard,
    oom_kills,
    read_host_memory,
)

GIB = 1 << 30
STEP = ballast_process.STEP_BYTES


def resident_mb(pid: int) -> float:
    return float(psutil.Process(pid).memory_info().rss) / 1e6


async def test_it_holds_what_it_says_and_frees_it() -> None:
    async with Ballast() as ballast:
        held = await ballast.hold(80)
        assert held.held_mb == pytest.approx(80, abs=0.01)
        assert held.available_bytes > 0
        assert 80 < resident_mb(ballast.pid) < 160
        assert (await ballast.hold(20)).held_mb < 50
        assert resident_mb(ballast.pid) < 100
        assert (await ballast.hold(0)).held_mb == 0
        pid = ballast.pid
    assert not psutil.pid_exists(pid)


async def test_a_floor_above_what_there_is_leaves_nothing_to_take() -> None:
    async with Ballast(floor_bytes=1 << 60) as ballast:
        assert (await ballast.hold(10_000)).held_mb == 0


class Machine:
    """So many bytes are left, less what the ballast holds."""

    def __init__(self, left_bytes: int) -> None:
        self.left_bytes = left_bytes
        self.ballast: ballast_process.Ballast | None = None

    def read(self) -> HostMemory:
        held = 0 if self.ballast is None else self.ballast.held_bytes
        return HostMemory(8 * GIB, self.left_bytes - held)


def ballast_on(machine: Machine, floor: int, monkeypatch: pytest.MonkeyPatch) -> Machine:
    monkeypatch.setattr(ballast_process, "read_host_memory", machine.read)
    machine.ballast = ballast_process.Ballast(floor)
    return machine


def test_growth_ends_above_the_floor(monkeypatch: pytest.MonkeyPatch) -> None:
    machine = ballast_on(Machine(5 * STEP + 100), 2 * STEP, monkeypatch)
    assert machine.ballast is not None
    while machine.ballast.grow(100 * STEP):
        pass
    assert machine.ballast.held_bytes == 3 * STEP
    assert machine.read().available_bytes == 2 * STEP + 100


def test_it_lets_go_when_others_take_what_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    machine = ballast_on(Machine(5 * STEP), 2 * STEP, monkeypatch)
    assert machine.ballast is not None
    while machine.ballast.grow(3 * STEP):
        pass
    assert not machine.ballast.keep_floor()
    machine.left_bytes -= STEP // 2
    assert machine.ballast.keep_floor()
    assert machine.ballast.held_bytes == 2 * STEP
    machine.left_bytes = 0
    assert machine.ballast.keep_floor()
    assert machine.ballast.held_bytes == 0


async def test_a_canceled_block_frees_it() -> None:
    holding: asyncio.Future[int] = asyncio.get_running_loop().create_future()

    async def hold() -> None:
        async with Ballast() as ballast:
            await ballast.hold(40)
            holding.set_result(ballast.pid)
            await asyncio.Event().wait()

    task = asyncio.create_task(hold())
    pid = await holding
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert not psutil.pid_exists(pid)


HOLDS = """
import asyncio
from agentbench_tui.stress.faults.ballast import Ballast
async def main():
    async with Ballast() as ballast:
        await ballast.hold(40)
        print(ballast.pid, flush=True)
        await asyncio.Event().wait()
asyncio.run(main())
"""


async def test_it_is_gone_when_its_parent_is_killed() -> None:
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", HOLDS, stdout=asyncio.subprocess.PIPE
    )
    assert process.stdout is not None
    async with asyncio.timeout(PATIENCE_S):
        pid = int(await process.stdout.readline())
    assert resident_mb(pid) > 40
    process.send_signal(signal.SIGKILL)
    await process.wait()
    await come_true(
        lambda: not psutil.pid_exists(pid) or psutil.Process(pid).status() == psutil.STATUS_ZOMBIE
    )


async def test_one_that_was_killed_is_told() -> None:
    async with Ballast() as ballast:
        await ballast.hold(10)
        psutil.Process(ballast.pid).kill()
        with pytest.raises(AgentFailure, match=r"ballast was ended by SIGKILL"):
            await ballast.hold(20)


@pytest.mark.parametrize(
    ("total", "available", "stops"),
    [
        (8 * GIB, 2 * GIB, False),
        (8 * GIB, 0.61 * GIB, False),  # half of 15% of 8 GiB is 0.6
        (8 * GIB, 0.59 * GIB, True),
        (2 * GIB, 0.51 * GIB, False),  # half of 1 GiB
        (2 * GIB, 0.49 * GIB, True),
    ],
)
def test_when_a_scenario_must_end(total: float, available: float, *, stops: bool) -> None:
    reason = host_guard(HostMemory(int(total), int(available)))
    assert (reason is not None) is stops
    if reason is not None:
        assert f"only {available / 1e6:.0f} of {total / 1e6:.0f} MB" in reason


def test_this_machine_has_memory() -> None:
    now = read_host_memory()
    assert 0 < now.available_bytes <= now.total_bytes <= psutil.virtual_memory().total


def test_kills_for_want_of_memory_are_counted(tmp_path: Path) -> None:
    statistics = tmp_path / "vmstat"
    statistics.write_text("nr_free_pages 5\noom_kill 12\n")
    assert oom_kills(statistics) == 12
    statistics.write_text("nr_free_pages 5\n")
    assert oom_kills(statistics) is None
    assert oom_kills(tmp_path / "none") is None
