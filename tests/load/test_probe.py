"""The sender's probe counts what kept its loop from running, under a real loop."""

import asyncio
import gc
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path

import pytest

from agentbench_tui.load.calibration import probe as probe_module
from agentbench_tui.load.calibration.probe import INTERVAL_NS, ProbeReading, SenderProbe
from agentbench_tui.model.errors import AgentbenchError

uvloop = pytest.importorskip("uvloop")

INTERVAL_MS = INTERVAL_NS / 1e6


@pytest.fixture(params=[asyncio.new_event_loop, uvloop.new_event_loop], ids=["asyncio", "uvloop"])
def loop(request: pytest.FixtureRequest) -> Iterator[asyncio.AbstractEventLoop]:
    loop = request.param()
    yield loop
    loop.close()


class HeardProbe(SenderProbe):
    """A probe that one can wait for."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        super().__init__(loop)
        self._ticked = asyncio.Event()

    def _tick(self) -> None:
        super()._tick()
        self._ticked.set()

    async def deadlines(self, count: int) -> None:
        """Wait until so many of its deadlines have passed and been counted."""
        while len(self._late_us) < count:
            self._ticked.clear()
            await self._ticked.wait()


def read(
    loop: asyncio.AbstractEventLoop, meanwhile: Callable[[HeardProbe], Awaitable[None]]
) -> ProbeReading:
    """What a probe says that ran while `meanwhile` did."""

    async def main() -> ProbeReading:
        probe = HeardProbe(loop)
        probe.start()
        await meanwhile(probe)
        return probe.stop()

    return loop.run_until_complete(main())


def open_files() -> int:
    return len(list(Path("/dev/fd").iterdir()))


def busy(milliseconds: float) -> None:
    """Keep the loop's thread, on the clock that the probe uses."""
    end_ns = time.perf_counter_ns() + int(milliseconds * 1e6)
    while time.perf_counter_ns() < end_ns:
        pass


def test_what_blocks_the_loop_shows_as_lateness_from_each_deadline(
    loop: asyncio.AbstractEventLoop,
) -> None:
    async def block(probe: HeardProbe) -> None:
        await probe.deadlines(1)
        busy(20 * INTERVAL_MS)
        await probe.deadlines(22)

    lateness = read(loop, block).lateness
    assert lateness is not None
    # A deadline comes within the first interval, and waits for all that is left.
    assert lateness.max_ms >= 19 * INTERVAL_MS
    # The deadlines that passed meanwhile are counted too, each an interval less late than the one
    # before it: had the stall been one late deadline, half of the 22 would not be late.
    assert lateness.n >= 22
    assert lateness.p50_ms >= 5 * INTERVAL_MS
    assert lateness.p50_ms <= lateness.p99_ms <= lateness.max_ms


def test_a_stall_that_lasts_to_the_end_is_counted(loop: asyncio.AbstractEventLoop) -> None:
    async def stall(_: HeardProbe) -> None:
        busy(3.5 * INTERVAL_MS)

    lateness = read(loop, stall).lateness
    assert lateness is not None
    assert lateness.n >= 3
    assert lateness.max_ms >= 2.5 * INTERVAL_MS


def test_without_a_deadline_no_lateness_is_made_up(loop: asyncio.AbstractEventLoop) -> None:
    async def nothing(probe: HeardProbe) -> None:
        probe._due_ns += 3_600_000_000_000

    assert read(loop, nothing).lateness is None


def test_cpu_and_collections_of_the_process_are_counted(loop: asyncio.AbstractEventLoop) -> None:
    async def work(_: HeardProbe) -> None:
        end = time.process_time() + 0.03
        while time.process_time() < end:
            gc.collect()

    reading = read(loop, work)
    assert reading.cpu_s >= 0.03
    assert 0 < reading.gc_pause_max_ms <= reading.gc_pause_ms
    assert reading.run_queue_wait_ms is None or reading.run_queue_wait_ms >= 0


def test_a_second_window_counts_from_its_own_start(loop: asyncio.AbstractEventLoop) -> None:
    probe = SenderProbe(loop)

    async def window(milliseconds: float) -> ProbeReading:
        probe.start()
        busy(milliseconds)
        return probe.stop()

    began, cpu_began = time.perf_counter(), time.process_time()
    first = loop.run_until_complete(window(20 * INTERVAL_MS))
    second = loop.run_until_complete(window(2.5 * INTERVAL_MS))
    passed_ms, cpu_s = (time.perf_counter() - began) * 1e3, time.process_time() - cpu_began
    assert first.lateness is not None
    assert second.lateness is not None
    # Together no more than passed: what was counted in the first is not in the second.
    assert first.lateness.n >= 20
    assert second.lateness.n >= 2
    assert first.lateness.n + second.lateness.n <= passed_ms / INTERVAL_MS
    assert first.cpu_s + second.cpu_s <= cpu_s


def test_leaves_nothing_behind(loop: asyncio.AbstractEventLoop) -> None:
    watchers, files = list(gc.callbacks), open_files()

    async def nothing(_: HeardProbe) -> None:
        await asyncio.sleep(0)

    read(loop, nothing)
    assert gc.callbacks == watchers
    assert open_files() == files


def test_where_the_kernel_does_not_tell_the_wait_is_unknown(
    loop: asyncio.AbstractEventLoop, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse() -> int:
        raise probe_module.NotAvailable("/proc/self/schedstat: no such file")

    assert issubclass(probe_module.NotAvailable, AgentbenchError)
    monkeypatch.setattr(probe_module, "run_queue_wait_ns", refuse)

    async def nothing(_: HeardProbe) -> None:
        await asyncio.sleep(0)

    assert read(loop, nothing).run_queue_wait_ms is None


PEAK_OF_A_SMALL_CHILD = """
import asyncio
from agentbench_tui.load.calibration.probe import SenderProbe

async def main():
    probe = SenderProbe(asyncio.get_running_loop())
    probe.start()
    kept = bytearray(30_000_000)
    kept[:] = bytes([1]) * len(kept)
    del kept
    print(probe.stop().peak_rss_mb)

asyncio.run(main())
"""


@pytest.mark.skipif(sys.platform != "linux", reason="the kernel's own figure")
def test_the_peak_is_that_of_this_process_not_of_the_one_that_started_it() -> None:
    ballast = bytearray(300_000_000)
    ballast[::4096] = b"1" * len(ballast[::4096])
    said = subprocess.run(
        [sys.executable, "-c", PEAK_OF_A_SMALL_CHILD], capture_output=True, text=True, check=True
    )
    del ballast
    assert 30 < float(said.stdout) < 250


def test_imports_nothing_heavy() -> None:
    program = (
        "import sys, agentbench_tui.load.calibration.probe;"
        "print(*({'numpy', 'psutil', 'pydantic', 'aiohttp'} & set(sys.modules)))"
    )
    said = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert said.stdout.split() == []
