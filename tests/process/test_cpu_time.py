"""CPU time of an agent's tree is exact, so that quick agents can be told apart."""

import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from agentbench_tui.process.environment import child_environment
from agentbench_tui.process.snapshot import least_cpu_seconds
from agentbench_tui.process.worker import JsonLinesWorker

sys.path.insert(0, str(Path(__file__).parent))

from programs import program

exact_only = pytest.mark.skipif(least_cpu_seconds() > 0, reason="needs CPU clocks of processes")

# Answers with its own count of its CPU time, after a few hundred microseconds of work.
TELLS = """
hello()
for task in tasks():
    sum(range(10_000))
    send({"id": task["id"], "used_s": time.process_time()})
"""

# Works in a thread that ends before the answer; a child that lives on has its own count.
THREAD = """
import threading
hello()
def work():
    while time.thread_time() < 0.03: pass
for task in tasks():
    thread = threading.Thread(target=work); thread.start(); thread.join()
    send({"id": task["id"], "used_s": time.process_time()})
"""

FORKS = """
hello()
for task in tasks():
    reader, writer = os.pipe()
    if os.fork() == 0:
        while time.process_time() < 0.02: pass
        os.write(writer, str(time.process_time()).encode())
        signal.pause()
    used = float(os.read(reader, 40))
    send({"id": task["id"], "used_s": used + time.process_time()})
"""


@asynccontextmanager
async def worker(code: str) -> AsyncIterator[JsonLinesWorker]:
    made = JsonLinesWorker(program(code), environment=child_environment())
    try:
        await made.start()
        yield made
    finally:
        await made.close()


@exact_only
async def test_less_than_a_clock_tick_is_counted() -> None:
    async with worker(TELLS) as made:
        for _ in range(5):
            before = made.cpu_seconds
            told = (await made.call({}, 10))["used_s"]
            used = made.cpu_seconds
            assert before < told <= used < told + 0.005


@exact_only
@pytest.mark.parametrize("code", [THREAD, FORKS], ids=["ended thread", "child just started"])
async def test_threads_that_ended_and_children_just_started_count(code: str) -> None:
    async with worker(code) as made:
        told = (await made.call({}, 10))["used_s"]
        assert told <= made.cpu_seconds < told + 0.005
