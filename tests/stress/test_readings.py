"""What is read beside a window counts from the window's beginning."""

from __future__ import annotations

import asyncio
import sys
from time import perf_counter_ns

import pytest

from agentbench_tui.stress.stand import readings as read_beside
from agentbench_tui.stress.stand.readings import Readings

IDLE_THEN_BUSY = """
import sys, time
sys.stdin.readline()
while time.process_time() < 0.4:
    pass
print("burnt", flush=True)
sys.stdin.readline()
"""


async def test_what_a_target_did_before_the_window_is_not_counted_in_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(read_beside, "EVERY_S", 0.01)
    pipe = asyncio.subprocess.PIPE
    target = await asyncio.create_subprocess_exec(
        sys.executable, "-c", IDLE_THEN_BUSY, stdin=pipe, stdout=pipe
    )
    assert target.stdin is not None
    assert target.stdout is not None
    loop, asked = asyncio.get_running_loop(), asyncio.Queue[None]()

    def roots() -> tuple[int, ...]:
        loop.call_soon_threadsafe(asked.put_nowait, None)
        return (target.pid,)

    async def read_twice() -> None:
        while not asked.empty():
            asked.get_nowait()
        for _ in range(3):  # the first may have been asked for before
            await asked.get()

    async with asyncio.timeout(30), Readings(roots, 1.0) as readings:
        await asked.get()
        target.stdin.write(b"\n")
        assert await target.stdout.readline() == b"burnt\n"
        await read_twice()
        before, whole = len(readings.memory_mb), readings.cores
        readings.begin(perf_counter_ns())
        await read_twice()
    await target.communicate(b"\n")
    assert whole is not None
    assert readings.cores is not None
    # How much of a core it got depends on what else the machine does.
    assert whole > 0.01
    assert readings.cores < whole / 2
    assert before > 1
    times = [at_s for at_s, _ in readings.memory_mb]
    assert times[0] == 0.0
    assert times == sorted(times)
    assert all(held > 1 for _, held in readings.memory_mb)


async def test_what_a_target_does_once_the_load_is_over_is_not_counted_in_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(read_beside, "EVERY_S", 0.01)
    pipe = asyncio.subprocess.PIPE
    target = await asyncio.create_subprocess_exec(
        sys.executable, "-c", IDLE_THEN_BUSY, stdin=pipe, stdout=pipe
    )
    assert target.stdin is not None
    assert target.stdout is not None
    loop, asked = asyncio.get_running_loop(), asyncio.Queue[None]()

    def roots() -> tuple[int, ...]:
        loop.call_soon_threadsafe(asked.put_nowait, None)
        return (target.pid,)

    async with asyncio.timeout(30), Readings(roots, 0.01) as readings:
        readings.begin(perf_counter_ns())
        for _ in range(8):  # a hundredth of a second lies between two, and the load lasts as long
            await asked.get()
        under_load = readings.cores
        target.stdin.write(b"\n")
        assert await target.stdout.readline() == b"burnt\n"
    await target.communicate(b"\n")
    assert under_load is not None
    assert readings.cores == under_load
