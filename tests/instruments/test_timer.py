"""A deadline timer calls back at its deadline, once, on both loops and on every kind of clock."""

import asyncio
import errno
import os
import select
import sys
from collections.abc import Awaitable, Callable, Iterator
from functools import partial
from pathlib import Path

import pytest

from agentbench_tui.instruments import timer as timer_module
from agentbench_tui.instruments.timer import DeadlineTimer, now_ns

uvloop = pytest.importorskip("uvloop")

MS = 1_000_000
PATIENCE_S = 60


def refuse_timerfd(*_: object) -> tuple[int, Callable[[int], object]]:
    raise OSError(errno.ENOSYS, os.strerror(errno.ENOSYS))


ALARMS = {
    "best": timer_module._open_timerfd,
    "ctypes": timer_module._open_timerfd_by_ctypes,
    "loop": refuse_timerfd,
}


@pytest.fixture(params=[asyncio.new_event_loop, uvloop.new_event_loop], ids=["asyncio", "uvloop"])
def loop(request: pytest.FixtureRequest) -> Iterator[asyncio.AbstractEventLoop]:
    loop = request.param()
    yield loop
    loop.close()


@pytest.fixture(params=ALARMS)
def alarm(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    name: str = request.param
    if name != "loop" and sys.platform != "linux":
        pytest.skip("timerfd is of Linux")
    monkeypatch.setattr(timer_module, "_open_timerfd", ALARMS[name])
    return name


class Bell:
    """Notes when it is called, and lets a test wait for the next call."""

    def __init__(self) -> None:
        self.calls_ns: list[int] = []
        self.rung = asyncio.Event()

    def __call__(self) -> None:
        self.calls_ns.append(now_ns())
        self.rung.set()

    async def wait(self) -> None:
        await asyncio.wait_for(self.rung.wait(), PATIENCE_S)
        self.rung.clear()


Body = Callable[[DeadlineTimer, Bell], Awaitable[None]]


async def turns(count: int = 3) -> None:
    for _ in range(count):
        await asyncio.sleep(0)


def run(loop: asyncio.AbstractEventLoop, body: Body) -> None:
    """Run `body(timer, bell)` and close its timer."""

    async def main() -> None:
        bell = Bell()
        timer = DeadlineTimer(loop, bell)
        try:
            await body(timer, bell)
        finally:
            timer.close()

    loop.run_until_complete(main())


def test_says_whether_the_kernel_keeps_the_deadlines(
    loop: asyncio.AbstractEventLoop, alarm: str
) -> None:
    async def body(timer: DeadlineTimer, bell: Bell) -> None:
        assert timer.precise == (alarm != "loop")

    run(loop, body)


def test_rings_once_and_not_before_its_deadline(
    loop: asyncio.AbstractEventLoop, alarm: str
) -> None:
    async def body(timer: DeadlineTimer, bell: Bell) -> None:
        for wait_ns in (50_000, 700_000, 1_300_000, 5 * MS):
            due_ns = now_ns() + wait_ns
            timer.arm(due_ns)
            await bell.wait()
            assert bell.calls_ns[-1] >= due_ns
        await turns()
        assert len(bell.calls_ns) == 4

    run(loop, body)


@pytest.mark.parametrize("due_ns", [-5, 0, 1])
def test_deadline_in_the_past_rings_in_the_next_turn(
    loop: asyncio.AbstractEventLoop, alarm: str, due_ns: int
) -> None:
    async def body(timer: DeadlineTimer, bell: Bell) -> None:
        timer.arm(due_ns)
        assert bell.calls_ns == []
        await bell.wait()
        await turns()
        assert len(bell.calls_ns) == 1

    run(loop, body)


def test_arming_replaces_the_deadline_before(loop: asyncio.AbstractEventLoop, alarm: str) -> None:
    async def body(timer: DeadlineTimer, bell: Bell) -> None:
        began_ns = now_ns()
        timer.arm(began_ns + 3600 * 1000 * MS)
        timer.arm(began_ns + 2 * MS)
        await bell.wait()
        timer.arm(began_ns)  # already past, but put off before the loop turns
        due_ns = now_ns() + 4 * MS
        timer.arm(due_ns)
        await bell.wait()
        assert bell.calls_ns[1] >= due_ns
        await turns()
        assert len(bell.calls_ns) == 2

    run(loop, body)


def test_deadline_put_off_in_the_turn_it_comes_in_does_not_ring_early(
    loop: asyncio.AbstractEventLoop, alarm: str
) -> None:
    async def main() -> None:
        bell = Bell()
        put_off_ns: list[int] = []

        # Both are due in one turn of the loop; whichever rings first puts the other off.
        def ring(other: int) -> None:
            if not put_off_ns:
                put_off_ns.append(now_ns() + 3 * MS)
                timers[other].arm(put_off_ns[0])
            else:
                bell()

        timers = [DeadlineTimer(loop, partial(ring, 1)), DeadlineTimer(loop, partial(ring, 0))]
        for timer in timers:
            timer.arm(1)
        await bell.wait()
        await turns()
        for timer in timers:
            timer.close()
        assert len(bell.calls_ns) == 1
        assert bell.calls_ns[0] >= put_off_ns[0]

    loop.run_until_complete(main())


def test_disarmed_deadline_does_not_ring(loop: asyncio.AbstractEventLoop, alarm: str) -> None:
    async def main() -> None:
        dropped, kept = Bell(), Bell()
        first, second = DeadlineTimer(loop, dropped), DeadlineTimer(loop, kept)
        due_ns = now_ns() + MS
        first.arm(due_ns)
        first.disarm()
        first.disarm()
        second.arm(due_ns + 2 * MS)
        await kept.wait()
        await turns()
        first.close()
        second.close()
        assert dropped.calls_ns == []

    loop.run_until_complete(main())


def test_deadline_disarmed_in_the_turn_it_comes_in_does_not_ring(
    loop: asyncio.AbstractEventLoop, alarm: str
) -> None:
    async def main() -> None:
        rung: list[int] = []

        def ring(me: int) -> None:
            rung.append(me)
            timers[1 - me].disarm()

        timers = [DeadlineTimer(loop, partial(ring, 0)), DeadlineTimer(loop, partial(ring, 1))]
        last = Bell()
        end = DeadlineTimer(loop, last)
        for timer in timers:
            timer.arm(1)
        end.arm(now_ns() + 2 * MS)
        await last.wait()
        for timer in (*timers, end):
            timer.close()
        assert len(rung) == 1

    loop.run_until_complete(main())


def test_timer_closed_before_leaves_the_next_one_alone(
    loop: asyncio.AbstractEventLoop, alarm: str
) -> None:
    async def main() -> None:
        bell = Bell()
        first = DeadlineTimer(loop, lambda: None)
        first.close()
        second = DeadlineTimer(loop, bell)  # has the file descriptor that the first one had
        second.arm(now_ns() + MS)
        first.disarm()
        first.close()
        await bell.wait()
        second.close()
        assert len(bell.calls_ns) == 1

    loop.run_until_complete(main())


@pytest.mark.skipif(sys.platform != "linux", reason="timerfd is of Linux")
def test_loop_is_at_rest_once_a_deadline_has_rung(
    loop: asyncio.AbstractEventLoop, monkeypatch: pytest.MonkeyPatch
) -> None:
    descriptors = []
    real = timer_module._open_timerfd

    def noting() -> tuple[int, Callable[[int], object]]:
        opened = real()
        descriptors.append(opened[0])
        return opened

    monkeypatch.setattr(timer_module, "_open_timerfd", noting)

    async def body(timer: DeadlineTimer, bell: Bell) -> None:
        timer.arm(1)
        assert select.select(descriptors, [], [], 0)[0] == descriptors
        await bell.wait()
        await turns()
        assert select.select(descriptors, [], [], 0)[0] == []

    run(loop, body)


def test_closed_while_armed_does_not_ring_and_holds_no_file(
    loop: asyncio.AbstractEventLoop, alarm: str
) -> None:
    async def main() -> None:
        kept, dropped = Bell(), Bell()
        other = DeadlineTimer(loop, kept)
        before = open_files()
        for due_ns in (0, now_ns() + MS, now_ns() + 3600 * 1000 * MS):
            timer = DeadlineTimer(loop, dropped)
            timer.arm(due_ns)
            timer.close()
            timer.close()
            timer.disarm()
        assert open_files() == before
        other.arm(now_ns() + 2 * MS)
        await kept.wait()
        await turns()
        other.close()
        assert dropped.calls_ns == []

    loop.run_until_complete(main())


def open_files() -> int:
    folder = "/proc/self/fd" if sys.platform == "linux" else "/dev/fd"
    return len(list(Path(folder).iterdir()))


def test_closed_timer_refuses_a_deadline(loop: asyncio.AbstractEventLoop, alarm: str) -> None:
    async def body(timer: DeadlineTimer, bell: Bell) -> None:
        timer.close()
        with pytest.raises(RuntimeError, match="closed timer"):
            timer.arm(1)

    run(loop, body)


def test_callback_arms_the_next_of_many_deadlines(
    loop: asyncio.AbstractEventLoop, alarm: str
) -> None:
    async def main() -> None:
        began_ns = now_ns() + MS
        due_ns = [began_ns + number * number * 500 for number in range(200)]
        fired: list[tuple[int, int]] = []
        done = asyncio.Event()

        def fire() -> None:
            while len(fired) < len(due_ns) and due_ns[len(fired)] <= now_ns():
                fired.append((due_ns[len(fired)], now_ns()))
            if len(fired) < len(due_ns):
                timer.arm(due_ns[len(fired)])
            else:
                done.set()

        timer = DeadlineTimer(loop, fire)
        timer.arm(due_ns[0])
        await asyncio.wait_for(done.wait(), PATIENCE_S)
        timer.close()
        assert [due for due, _ in fired] == due_ns
        assert all(at >= due for due, at in fired)

    loop.run_until_complete(main())


def test_fault_of_the_callback_is_told_once_and_the_timer_goes_on(
    loop: asyncio.AbstractEventLoop, alarm: str
) -> None:
    async def main() -> None:
        told: list[str] = []
        loop.set_exception_handler(lambda _, context: told.append(str(context.get("exception"))))
        bell = Bell()
        broken = True

        def ring() -> None:
            bell()
            if broken:
                raise ValueError("no good")

        timer = DeadlineTimer(loop, ring)
        timer.arm(now_ns() + MS)
        await bell.wait()
        await turns()
        broken = False
        timer.arm(now_ns() + MS)
        await bell.wait()
        timer.close()
        assert told == ["no good"]
        assert len(bell.calls_ns) == 2

    loop.run_until_complete(main())


def test_callback_may_close_its_timer(loop: asyncio.AbstractEventLoop, alarm: str) -> None:
    async def main() -> None:
        bell = Bell()

        def ring() -> None:
            timer.close()
            bell()

        timer = DeadlineTimer(loop, ring)
        timer.arm(now_ns() + MS)
        await bell.wait()
        await turns()
        assert len(bell.calls_ns) == 1

    loop.run_until_complete(main())


@pytest.mark.skipif(sys.platform != "linux", reason="timerfd is of Linux")
def test_lack_of_files_is_an_error_and_not_a_coarser_clock(
    monkeypatch: pytest.MonkeyPatch, loop: asyncio.AbstractEventLoop
) -> None:
    def none_left() -> tuple[int, Callable[[int], object]]:
        raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))

    monkeypatch.setattr(timer_module, "_open_timerfd", none_left)
    with pytest.raises(OSError, match="Too many open files"):
        DeadlineTimer(loop, lambda: None)
