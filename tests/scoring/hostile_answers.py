"""Texts that agents may send, and a bound on what reading one may cost."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

CPU_SECONDS = 20
"""Of what takes milliseconds: no machine is so slow, and without a bound it would be years."""


@contextmanager
def bounded_work() -> Iterator[None]:
    """Fails when the block takes more processor time than `CPU_SECONDS`."""

    def spent(_signal: int, _frame: FrameType | None) -> None:
        raise AssertionError(f"more than {CPU_SECONDS} seconds of processor time")

    before = signal.signal(signal.SIGVTALRM, spent)
    signal.setitimer(signal.ITIMER_VIRTUAL, CPU_SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)
