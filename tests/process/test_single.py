"""A program that is run once is ended once it has answered, and nothing of it lives on."""

import asyncio
import sys
from pathlib import Path

import psutil
import pytest

from agentbench_tui.process.environment import child_environment
from agentbench_tui.process.single import Finished, run_program

sys.path.insert(0, str(Path(__file__).parent))

from programs import ESCAPEES, program


async def run(code: str, data: bytes = b"", **options: float) -> Finished:
    return await run_program(
        program(code),
        environment=child_environment(),
        data=data,
        **options,  # type: ignore[arg-type]  # limits only
    )


async def test_input_goes_in_and_output_comes_out() -> None:
    done = await run("sys.stdout.write(sys.stdin.read().upper())", b"abc")
    assert (done.output, done.exit_code, done.timed_out) == (b"ABC", 0, False)
    assert done.cpu_seconds > 0


async def test_an_exit_code_comes_with_the_end_of_stderr() -> None:
    done = await run("sys.stderr.write('boom'); sys.exit(9)")
    assert done.exit_code == 9
    assert done.ending == "exited with code 9: boom"


async def test_a_program_out_of_time_is_ended() -> None:
    done = await run("print('partial', flush=True); signal.pause()", timeout_s=2.0)
    assert done.timed_out


async def test_a_program_that_says_too_much_is_ended() -> None:
    code = "while True: sys.stdout.write('x' * 65536)"
    done = await run(code, max_output_bytes=100_000)
    assert done.too_long
    assert len(done.output) == 100_000


async def test_a_program_that_never_reads_its_input_still_answers() -> None:
    done = await run("print('ok')", b"x" * 1_000_000)
    assert done.output == b"ok\n"


SMALL_HARNESS = """
import asyncio, sys
from agentbench_tui.process.single import run_program
code = "held = b'x' * 300_000_000; del held; print('ok', flush=True)"
command = [sys.executable, "-c", code]
done = asyncio.run(run_program(command, environment={}, memory_limit_mb=250))
print(done.over_limit, done.peak_memory_mb, done.exit_code)
"""
# In a process of its own: a child's peak is known for sure where it is above its parent's.
LARGE_HARNESS = """
import asyncio, sys
from agentbench_tui.process.single import run_program
held = bytearray(400_000_000)
held[::4096] = b"x" * len(held[::4096])
code = '''
import array, fcntl, termios
held = b"x" * 60_000_000
del held
print("ok", flush=True)
unread = array.array("i", [1])
while unread[0]:  # until the harness has taken the answer
    fcntl.ioctl(1, termios.FIONREAD, unread)
'''
done = asyncio.run(run_program([sys.executable, "-c", code], environment={}))
print(done.peak_memory_mb)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="needs the kernel's word on a child's peak")
async def test_memory_of_a_program_that_is_gone_at_once_is_known() -> None:
    command = [sys.executable, "-c", SMALL_HARNESS]
    done = await run_program(command, environment=child_environment())
    peak = float(done.output.split()[-2])
    assert 250 < peak < 400
    assert done.output.startswith(b"used ")


@pytest.mark.skipif(sys.platform != "linux", reason="reads what the kernel keeps")
async def test_a_small_peak_is_seen_by_a_large_harness() -> None:
    done = await run_program([sys.executable, "-c", LARGE_HARNESS], environment=child_environment())
    assert 60 < float(done.output) < 120


@pytest.mark.skipif(sys.platform != "linux", reason="needs subreapers")
async def test_nothing_that_it_started_lives_on() -> None:
    done = await run(ESCAPEES + "print(*spawn(), flush=True)")
    pids = [int(word) for word in done.output.split()]
    assert len(pids) == 3
    assert not any(psutil.pid_exists(pid) for pid in pids)


async def test_canceling_ends_the_program() -> None:
    started: asyncio.Queue[int] = asyncio.Queue()
    task = asyncio.create_task(
        run_program(
            program("signal.pause()"),
            environment=child_environment(),
            on_start=started.put_nowait,
        )
    )
    pid = await started.get()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert not psutil.pid_exists(pid)
