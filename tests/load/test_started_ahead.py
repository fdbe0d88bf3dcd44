"""Load workers that are started before there is a plan for them."""

import os
import signal
from collections.abc import Iterator

import pytest

from agentbench_tui.load.sending import worker_process
from agentbench_tui.process import adoption
from agentbench_tui.process.snapshot import snapshot


@pytest.fixture(autouse=True)
def none_left() -> Iterator[None]:
    yield
    worker_process.end_ahead()


def test_one_is_taken_once() -> None:
    worker_process.start_ahead()
    taken = worker_process.take_ahead()
    assert taken is not None
    assert worker_process.take_ahead() is None
    taken.end()
    assert taken.popen.pid not in adoption.roots


def test_one_that_died_is_neither_taken_nor_reaped_by_others_and_another_can_be_started() -> None:
    worker_process.start_ahead()
    (program,) = worker_process._ahead
    os.kill(program.popen.pid, signal.SIGKILL)
    os.waitid(os.P_PID, program.popen.pid, os.WEXITED | os.WNOWAIT)
    adoption.reap_strays(snapshot())
    assert os.waitid(os.P_PID, program.popen.pid, os.WEXITED | os.WNOWAIT) is not None
    assert worker_process.take_ahead() is None
    worker_process.start_ahead()
    other = worker_process.take_ahead()
    assert other is not None
    other.end()
