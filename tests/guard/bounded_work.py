"""A bound on the work of a test whose subject would take years where it is wrong."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

CPU_SECONDS = 20
"""Of what takes milliseconds: no machine is so slow."""


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
