"""No process of an agent outlives it, and no process of anyone else is touched."""

import asyncio
import os
import signal
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import psutil
import pytest

from agentbench_tui.process import adoption
from agentbench_tui.process.child import Child, SpawnError
from agentbench_tui.process.environment import child_environment
from agentbench_tui.process.snapshot import (
    environment_value,
    family,
    peak_resident_bytes,
    read_process,
    snapshot,
)

sys.path.insert(0, str(Path(__file__).parent))

from programs import ESCAPEES, program

linux_only = pytest.mark.skipif(sys.platform != "linux", reason="needs /proc and subreapers")


class Listener:
    """A child with what it said."""

    def __init__(self, code: str, **options: float) -> None:
        self.lines: asyncio.Queue[str] = asyncio.Queue()
        self.ended = asyncio.Event()
        self._partial = b""
        self.child = Child(
            program(code),
            environment=child_environment(),
            on_output=self._take,
            on_end=self.ended.set,
            **options,  # type: ignore[arg-type]  # limits only
        )

    def _take(self, data: bytes) -> None:
        *whole, self._partial = (self._partial + data).split(b"\n")
        for line in whole:
            self.lines.put_nowait(line.decode())

    async def line(self) -> str:
        return await asyncio.wait_for(self.lines.get(), 10)

    async def pids(self) -> list[int]:
        return [int(word) for word in (await self.line()).split()]


@asynccontextmanager
async def running(code: str, **options: float) -> AsyncIterator[Listener]:
    listener = Listener(code, **options)
    try:
        yield listener
    finally:
        await listener.child.close()


async def until(condition: Callable[[], bool]) -> None:
    """Wait for what other processes bring about; nothing announces it."""
    async with asyncio.timeout(60):
        while not condition():  # noqa: ASYNC110 (another process's doing)
            await asyncio.sleep(0.005)


def gone(pids: list[int]) -> bool:
    """None is left, not even as a zombie."""
    return not any(psutil.pid_exists(pid) for pid in pids)


@linux_only
async def test_kill_ends_children_own_sessions_and_daemons_and_leaves_no_zombie() -> None:
    async with running(ESCAPEES + "print(*spawn(), flush=True); rest()") as agent:
        pids = await agent.pids()
        assert len(pids) == 3
        assert not gone(pids)
        await agent.child.close()
        assert gone([agent.child.pid, *pids])


@linux_only
async def test_escapees_of_a_root_that_has_already_ended_are_ended_too() -> None:
    async with running(ESCAPEES + "print(*spawn(), flush=True)") as agent:
        pids = await agent.pids()
        await asyncio.wait_for(agent.child.exited.wait(), 60)
        assert agent.child.exit_code == 0
        assert not gone(pids)
        await agent.child.close()
        assert gone(pids)


@linux_only
async def test_killing_one_agent_leaves_the_escapees_of_another() -> None:
    async with (
        running(ESCAPEES + "print(*spawn(), flush=True)") as first,
        running(ESCAPEES + "print(*spawn(), flush=True)") as second,
    ):
        first_pids, second_pids = await first.pids(), await second.pids()
        await first.child.close()
        assert gone(first_pids)
        assert all(psutil.pid_exists(pid) for pid in second_pids)
        await second.child.close()
        assert gone(second_pids)


async def test_processes_that_are_not_ours_are_left_alone() -> None:
    waiting = [sys.executable, "-I", "-S", "-c", "input()"]
    other = subprocess.Popen(waiting, stdin=subprocess.PIPE)  # noqa: ASYNC220 (of another's making)
    try:
        async with running("signal.pause()"):
            pass
        assert other.poll() is None
    finally:
        other.communicate(b"\n")
    assert other.returncode == 0


@linux_only
async def test_a_daemon_that_ends_by_itself_is_reaped() -> None:
    code = """
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        print(os.getpid(), flush=True)
        os._exit(0)
    os._exit(0)
os.wait()
signal.pause()
"""
    async with running(code) as agent:
        pids = await agent.pids()
        await until(lambda: gone(pids))


async def test_polite_close_lets_a_program_end_at_end_of_input() -> None:
    async with running("sys.stdin.read(); print('bye', flush=True); sys.exit(7)") as agent:
        await agent.child.close(grace_s=10)
        assert agent.child.exit_code == 7
        assert await agent.line() == "bye"


async def test_polite_close_asks_before_it_kills() -> None:
    code = """
def stop(*_):
    print("asked", flush=True)
    os._exit(5)
signal.signal(signal.SIGTERM, stop)
print("ready", flush=True)
while True:
    signal.pause()
"""
    async with running(code) as agent:
        assert await agent.line() == "ready"
        await agent.child.close(grace_s=1.0)
        assert agent.child.exit_code == 5


async def test_a_program_that_ignores_sigterm_is_killed() -> None:
    code = """
signal.signal(signal.SIGTERM, signal.SIG_IGN)
print("ready", flush=True)
while True:
    signal.pause()
"""
    async with running(code) as agent:
        await agent.line()
        await agent.child.close(grace_s=0.05)
        assert agent.child.exit_code == -signal.SIGKILL


async def test_close_can_be_called_again() -> None:
    async with running("signal.pause()") as agent:
        await agent.child.close()
        await agent.child.close()
        assert agent.ended.is_set()


async def test_what_stderr_keeps_is_its_end_and_bounded() -> None:
    code = "sys.stderr.write('x' * 3_000_000 + 'the end'); sys.stderr.flush(); sys.exit(2)"
    async with running(code) as agent:
        await asyncio.wait_for(agent.child.exited.wait(), 60)
        tail = agent.child.stderr_tail()
        assert tail.endswith("the end")
        assert len(tail) == 16 * 1024
        assert agent.child.ending().startswith("exited with code 2: ")


async def test_output_written_just_before_the_end_is_not_lost() -> None:
    async with running("print('a' * 60_000, flush=True)") as agent:
        assert await agent.line() == "a" * 60_000


async def test_the_end_is_told_although_a_descendant_holds_the_output_open() -> None:
    code = """
if os.fork() == 0:
    signal.pause()
os._exit(4)
"""
    async with running(code) as agent:
        await asyncio.wait_for(agent.ended.wait(), 60)
        assert agent.child.exit_code == 4


async def test_input_larger_than_the_pipe_arrives_whole() -> None:
    async with running("print(len(sys.stdin.buffer.read()), flush=True)") as agent:
        agent.child.write(b"x" * 1_000_000, close=True)
        assert await agent.line() == "1000000"


async def test_a_program_that_is_not_there_is_named() -> None:
    with pytest.raises(SpawnError, match=r"cannot start `no-such-program`: No such file"):
        Child(
            ["no-such-program"],
            environment={},
            on_output=lambda data: None,
            on_end=lambda: None,
        )


async def test_memory_of_a_whole_tree_counts_against_its_limit() -> None:
    code = """
if os.fork() == 0:
    held = b"x" * 150_000_000
    signal.pause()
signal.pause()
"""
    async with running(code, memory_limit_mb=100) as agent:
        await asyncio.wait_for(agent.child.exited.wait(), 60)
        assert agent.child.tree.over_limit is not None
        assert agent.child.tree.over_limit.endswith(" of 100 MB")
        assert agent.child.exit_code == -signal.SIGKILL
        assert (agent.child.tree.peak_memory_mb or 0) > 100


@linux_only
async def test_pages_that_forked_workers_share_count_once_against_the_limit() -> None:
    code = """
held = b"x" * 60_000_000
for _ in range(3):
    if os.fork() == 0:
        signal.pause()
print("ready", flush=True)
signal.pause()
"""
    async with running(code, memory_limit_mb=150) as agent:
        await agent.line()
        tree = agent.child.tree
        await until(lambda: (tree.peak_memory_mb or 0) > 240)  # four times 60 MB, by plain sum
        for _ in range(3):
            assert tree.sample(family(os.getpid()))
        assert tree.over_limit is None


@linux_only
async def test_address_space_is_limited_when_asked() -> None:
    code = """
sys.stdin.read(1)
try:
    held = bytearray(400_000_000)
except MemoryError:
    print("refused", flush=True)
"""
    async with running(code, address_space_mb=200) as agent:
        agent.child.write(b"x")
        assert await agent.line() == "refused"


async def test_cpu_time_covers_children_and_escapees_that_have_ended(tmp_path: Path) -> None:
    """An escapee whose process was read while it lived; one that ends unread cannot be known."""
    seen = tmp_path / "seen"
    burn = "while time.process_time() < 0.15: pass"
    code = f"""
if os.fork() == 0:
    {burn}
    os._exit(0)
os.wait()
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        {burn}
        print("done", flush=True)
        while not os.path.exists({str(seen)!r}):
            time.sleep(0.001)
        os._exit(0)
    os._exit(0)
os.wait()
{burn}
sys.stdin.read()
"""
    async with running(code) as agent:
        await agent.line()
        agent.child.tree.sample(snapshot())
        seen.touch()
        await agent.child.close(grace_s=10)
        assert 0.42 <= agent.child.tree.cpu_seconds <= 1.0


async def test_cpu_time_of_a_running_program_is_read_at_once() -> None:
    code = "while time.process_time() < 0.2: pass\nprint(1, flush=True); signal.pause()"
    async with running(code) as agent:
        await agent.line()
        assert agent.child.tree.cpu_seconds >= 0.17


@linux_only
def test_a_reading_agrees_with_psutil() -> None:
    other = psutil.Process()
    info = read_process(os.getpid())
    assert info is not None
    assert info.parent == other.ppid()
    assert info.session == os.getsid(0)
    assert info.resident_bytes == pytest.approx(other.memory_info().rss, rel=0.05)
    times = other.cpu_times()
    assert info.cpu_seconds == pytest.approx(
        times.user + times.system + times.children_user + times.children_system, abs=0.05
    )
    assert snapshot().keys() >= {os.getpid(), os.getppid()}
    assert peak_resident_bytes(os.getpid()) >= info.resident_bytes * 0.95


@linux_only
def test_a_name_with_parentheses_and_blanks_is_read_right(tmp_path: Path) -> None:
    odd = tmp_path / "a) S 1 (b"
    odd.symlink_to("/bin/sleep")
    process = subprocess.Popen([odd, "60"])
    try:
        info = read_process(process.pid)
        assert info is not None
        assert info.parent == os.getpid()
        assert process.pid in family(os.getpid())
    finally:
        process.kill()
        process.wait()
    assert read_process(process.pid) is None


@linux_only
def test_leftovers_of_a_killed_harness_are_ended_by_the_next_one(tmp_path: Path) -> None:
    root = Path(__file__).parents[2]
    code = f"""
import asyncio, sys
sys.path.insert(0, {str(root)!r})
from agentbench_tui.process.child import Child
async def main():
    child = Child(["sleep", "600"], environment={{"PATH": "/usr/bin:/bin"}},
                  on_output=print, on_end=print)
    print(child.pid, flush=True)
    await asyncio.sleep(600)
asyncio.run(main())
"""
    harness = subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, start_new_session=True
    )
    assert harness.stdout is not None
    pid = int(harness.stdout.readline())
    adoption.end_leftovers()
    assert psutil.Process(pid).status() != psutil.STATUS_ZOMBIE, "its harness lives"
    # A program that has only just begun has no environment to be read yet, for some moments.
    began = time.monotonic()
    while environment_value(pid, adoption.MARK_NAME) is None and time.monotonic() < began + 60:
        pass
    assert environment_value(pid, adoption.MARK_NAME) is not None
    harness.kill()
    harness.wait()
    harness.stdout.close()
    # Any harness that begins now may be the one that ends it: tests beside this one have theirs.
    adoption.end_leftovers()
    info = read_process(pid)
    deadline = time.monotonic() + 60
    while info is not None and not info.zombie and time.monotonic() < deadline:
        info = read_process(pid)
        adoption.reap_strays(snapshot())
    assert info is None or info.zombie


@linux_only
def test_a_signal_never_reaches_a_later_process_with_the_same_pid() -> None:
    process = subprocess.Popen(["sleep", "60"])
    try:
        info = read_process(process.pid)
        assert info is not None
        earlier = type(info)(
            **{
                **{name: getattr(info, name) for name in info.__slots__},
                "started": info.started - 1,
            }
        )
        assert not adoption.send_signal(earlier, signal.SIGKILL)
        assert process.poll() is None
        assert adoption.send_signal(info, signal.SIGKILL)
    finally:
        process.kill()
        assert process.wait() == -signal.SIGKILL


def test_a_child_sees_no_secrets_unless_named() -> None:
    source = {
        "PATH": "/bin", "HOME": "/h", "LC_ALL": "C", "PYTHONPATH": "x", "VIRTUAL_ENV": "/v",
        "OPENAI_API_KEY": "secret", "MODEL": "m",
    }  # fmt: skip
    assert child_environment(source=source).keys() == {
        "PATH", "HOME", "LC_ALL", "PYTHONPATH", "VIRTUAL_ENV",
    }  # fmt: skip
    assert child_environment(["OPENAI_API_KEY", "ABSENT"], source)["OPENAI_API_KEY"] == "secret"
