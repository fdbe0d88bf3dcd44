"""A signal is heard by the loop at once, whichever thread of the process the system gives it to."""

import asyncio
import signal
import threading
from pathlib import Path

import pytest

from agentbench_tui.engine.run.signals import Signals

PATIENCE_S = 60.0


def until_the_main_thread_waits() -> None:
    """Until it was asleep at each of many looks: each lets it go on that waits for this thread."""
    state = Path(f"/proc/self/task/{threading.main_thread().native_id}/stat")
    looks = 0
    while looks < 50:
        looks = looks + 1 if state.read_text().rpartition(")")[2].split()[0] == "S" else 0


async def heard_from_a_thread(number: int) -> list[int]:
    """What a loop hears that has nothing else to do, when a thread takes a signal and stays."""
    heard: list[int] = []
    enough, over = asyncio.Event(), threading.Event()

    def hear(one: int) -> None:
        heard.append(one)
        enough.set()

    def stay() -> None:
        until_the_main_thread_waits()
        signal.pthread_kill(threading.get_ident(), number)
        over.wait(PATIENCE_S)  # its end would wake the loop too

    thread = threading.Thread(target=stay)
    with Signals(hear):
        thread.start()
        try:
            async with asyncio.timeout(PATIENCE_S / 2):
                await enough.wait()
        finally:
            over.set()
            thread.join()
    return heard


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="needs /proc")
async def test_a_signal_that_another_thread_takes_wakes_the_loop() -> None:
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        assert await heard_from_a_thread(number) == [number]


async def test_afterwards_signals_are_whose_they_were() -> None:
    before = signal.signal(signal.SIGTERM, handler := lambda *_: None)
    try:
        with Signals(lambda number: None):
            assert signal.getsignal(signal.SIGTERM) is not handler
        assert signal.getsignal(signal.SIGTERM) is handler
    finally:
        signal.signal(signal.SIGTERM, before)


async def test_a_signal_in_the_middle_of_another_is_heard_after_it() -> None:
    heard: list[int] = []
    enough = asyncio.Event()

    def hear(one: int) -> None:
        heard.append(one)
        if len(heard) == 2:
            enough.set()

    loop = asyncio.get_running_loop()
    tell = loop.call_soon_threadsafe
    to_come = [signal.SIGTERM]

    def told(*arguments: object) -> object:
        while to_come:
            signal.raise_signal(to_come.pop())
        return tell(*arguments)  # type: ignore[arg-type]  # whatever it is called with

    with Signals(hear), pytest.MonkeyPatch.context() as patch:
        patch.setattr(loop, "call_soon_threadsafe", told)
        signal.raise_signal(signal.SIGINT)
        async with asyncio.timeout(PATIENCE_S):
            await enough.wait()
    assert heard == [signal.SIGINT, signal.SIGTERM]
