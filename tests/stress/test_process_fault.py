"""Stopping and killing real processes: exactly those of the target, and nothing stays stopped."""

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager

import psutil
import pytest
from proxied import PATIENCE_S, come_true

from agentbench_tui.model.answer import AgentFailure
from agentbench_tui.process.snapshot import read_process
from agentbench_tui.stress.faults.process_fault import ProcessFault, tree_of
from agentbench_tui.stress.faults.stop_guard import let_go_on

FAMILY = """
import os, signal, sys
child = os.fork()
if child == 0:
    signal.pause()
print(child, flush=True)
signal.pause()
"""

FORKER = """
import os, signal, sys
for _ in sys.stdin:
    child = os.fork()
    if child == 0:
        signal.pause()
    print(child, flush=True)
"""


@contextmanager
def program(code: str) -> Iterator[subprocess.Popen[str]]:
    with subprocess.Popen(
        [sys.executable, "-I", "-S", "-c", code],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as process:
        try:
            yield process
        finally:
            for one in tree_of([process.pid]):
                os.kill(one, signal.SIGKILL)


def next_number(process: subprocess.Popen[str]) -> int:
    assert process.stdout is not None
    return int(process.stdout.readline())


def is_stopped(pid: int) -> bool:
    return psutil.Process(pid).status() == psutil.STATUS_STOPPED


def guards() -> list[psutil.Process]:
    """Those of our own process that run."""
    living = [one for one in psutil.Process().children() if one.status() != psutil.STATUS_ZOMBIE]
    return [one for one in living if "agentbench_tui.stress.faults.stop_guard" in one.cmdline()]


async def none_stopped(*pids: int) -> None:
    await come_true(lambda: not any(is_stopped(pid) for pid in pids))


@asynccontextmanager
async def family() -> AsyncIterator[tuple[int, int]]:
    with program(FAMILY) as process:
        yield process.pid, next_number(process)


async def test_a_tree_stops_and_goes_on() -> None:
    async with family() as pids, ProcessFault(lambda: pids[:1]) as fault:
        assert await fault.stop() == 2
        await come_true(lambda: all(is_stopped(pid) for pid in pids))
        await fault.resume()
        await none_stopped(*pids)
        assert fault.stopped == 0


async def test_who_is_not_of_the_tree_runs_on() -> None:
    async with family() as ours, family() as others, ProcessFault(lambda: ours[:1]) as fault:
        await fault.stop()
        await come_true(lambda: all(is_stopped(pid) for pid in ours))
        assert not any(is_stopped(pid) for pid in others)


async def test_the_end_of_the_block_lets_go() -> None:
    async with family() as pids:

        async def fail() -> None:
            async with ProcessFault(lambda: pids[:1]) as fault:
                await fault.stop()
                await come_true(lambda: all(is_stopped(pid) for pid in pids))
                raise ZeroDivisionError

        with pytest.raises(ZeroDivisionError):
            await fail()
        await none_stopped(*pids)


async def test_a_canceled_block_lets_go_and_leaves_no_guard() -> None:
    async with family() as pids:
        begun = asyncio.Event()

        async def hold() -> None:
            async with ProcessFault(lambda: pids[:1]) as fault:
                await fault.stop()
                begun.set()
                await asyncio.Event().wait()

        task = asyncio.create_task(hold())
        await begun.wait()
        await come_true(lambda: all(is_stopped(pid) for pid in pids))
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await none_stopped(*pids)
        assert not guards()


async def test_a_process_that_comes_meanwhile_is_stopped_too() -> None:
    with program(FORKER) as first, program(FORKER) as second:
        roots = [first.pid]
        async with ProcessFault(lambda: roots) as fault:
            await fault.stop()
            roots.append(second.pid)  # such as a worker that was started anew
            await come_true(lambda: is_stopped(second.pid))
            assert fault.stopped == 2
        await none_stopped(first.pid, second.pid)


async def test_kill_ends_the_whole_tree() -> None:
    async with family() as pids, ProcessFault(lambda: pids[:1]) as fault:
        await fault.stop()
        assert fault.kill() == 2
        await come_true(lambda: not tree_of(pids))
        assert fault.kill() == 0


async def test_our_own_process_is_refused() -> None:
    async with ProcessFault(lambda: [os.getppid()]) as fault:
        with pytest.raises(ValueError, match="our own"):
            fault.kill()
        with pytest.raises(ValueError, match="our own"):
            await fault.stop()


async def test_a_later_process_with_the_same_pid_is_left_alone() -> None:
    async with family() as pids:
        os.kill(pids[0], signal.SIGSTOP)
        await come_true(lambda: is_stopped(pids[0]))
        seen = read_process(pids[0])
        assert seen is not None
        let_go_on([(seen.pid, seen.started - 1)])
        assert is_stopped(pids[0])
        let_go_on([seen.key])
        await none_stopped(pids[0])


async def test_nothing_is_stopped_without_a_guard() -> None:
    async with family() as pids, ProcessFault(lambda: pids[:1]) as fault:
        (guard,) = guards()
        guard.kill()
        with pytest.raises(AgentFailure, match=r"guard .* SIGKILL"):
            await fault.stop()
        assert not any(is_stopped(pid) for pid in pids)


HOLDS = """
import asyncio, sys
from agentbench_tui.stress.faults.process_fault import ProcessFault
async def main():
    async with ProcessFault(lambda: [int(sys.argv[1])]) as fault:
        await fault.stop()
        print("stopped", flush=True)
        await asyncio.Event().wait()
asyncio.run(main())
"""


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
async def test_whoever_stopped_is_ended_outright(number: signal.Signals) -> None:
    async with family() as pids:
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-c", HOLDS, str(pids[0]),
            stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.DEVNULL,
        )  # fmt: skip
        assert process.stdout is not None
        async with asyncio.timeout(PATIENCE_S):
            assert await process.stdout.readline() == b"stopped\n"
        await come_true(lambda: all(is_stopped(pid) for pid in pids))
        process.send_signal(number)
        await process.wait()
        await none_stopped(*pids)
