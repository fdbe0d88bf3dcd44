"""Gauges of real process trees: who belongs, and CPU time counted once."""

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

import psutil
import pytest

from agentbench_tui.instruments.gauges import TreeGauges
from agentbench_tui.instruments.process_tree import TreeProbe

PARENT = """
import subprocess, sys
child = subprocess.Popen([sys.executable, "-c", sys.argv[1]], stdin=subprocess.PIPE,
                         stdout=subprocess.PIPE, text=True)
child.stdout.readline()
print(child.pid, flush=True)
for line in sys.stdin:
    child.stdin.write(line)
    child.stdin.close()
    child.wait()
    print("waited", flush=True)
"""
CHILD = """
import sys, time
print("ready", flush=True)
is_wanted = sys.stdin.readline() != ""
end = time.process_time() + 0.3
while is_wanted and time.process_time() < end:
    pass
"""


@contextmanager
def family() -> Iterator[tuple[subprocess.Popen[str], int]]:
    """A parent that waits for lines, and the pid of its child. A line makes the child use 0.3 s
    of CPU time and end; the parent waits for it and answers."""
    parent = subprocess.Popen(
        [sys.executable, "-c", PARENT, CHILD],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert parent.stdin is not None
    assert parent.stdout is not None
    with parent:
        yield parent, int(parent.stdout.readline())
        parent.stdin.close()


def let_child_work(parent: subprocess.Popen[str]) -> None:
    assert parent.stdin is not None
    assert parent.stdout is not None
    parent.stdin.write("go\n")
    parent.stdin.flush()
    assert parent.stdout.readline() == "waited\n"


def test_the_whole_tree_is_counted() -> None:
    with family() as (parent, child):
        gauges = TreeProbe().read({"mine": [parent.pid]})["mine"]
        both = [psutil.Process(parent.pid), psutil.Process(child)]
        assert gauges.processes == 2
        assert gauges.rss_mb == pytest.approx(
            sum(one.memory_info().rss for one in both) / 1e6, rel=0.2
        )
        assert gauges.threads == 2
        assert gauges.fds == sum(one.num_fds() for one in both)
        assert gauges.cpu_percent is gauges.read_bytes_per_s is None


def test_cpu_time_of_a_child_that_ended_counts_once() -> None:
    with family() as (parent, _):
        probe = TreeProbe()
        clock = time.monotonic
        before_first = clock()
        probe.read({"mine": [parent.pid]})
        after_first = clock()
        let_child_work(parent)
        before_second = clock()
        gauges = probe.read({"mine": [parent.pid]})["mine"]
        after_second = clock()
        while clock() < after_second + 0.06:
            pass
        before_third = clock()
        again = probe.read({"mine": [parent.pid]})["mine"]
    assert gauges.processes == 1
    assert gauges.cpu_percent is not None
    assert again.cpu_percent is not None
    # Between two readings passed no less and no more than this.
    least_s = gauges.cpu_percent / 100 * (before_second - after_first)
    most_s = gauges.cpu_percent / 100 * (after_second - before_first)
    # The child used 0.3 s, the kernel counts in ticks of 10 ms; twice the time would be 0.6 s.
    assert least_s < 0.4
    assert most_s > 0.25
    assert again.cpu_percent / 100 * (before_third - after_second) < 0.1


def test_a_member_stays_one_when_its_parent_ends() -> None:
    with family() as (parent, child):
        probe = TreeProbe()
        probe.read({"mine": [parent.pid]})
        orphan = psutil.Process(child)
        orphan.suspend()  # its input ends with the parent, and then it would too
        parent.kill()
        parent.wait()
        gauges = probe.read({"mine": [parent.pid]})
        orphan.kill()
        assert gauges["mine"].processes == 1


def test_agents_are_kept_apart_and_one_without_processes_has_no_gauges() -> None:
    with family() as (parent, child):
        found = TreeProbe().read({"all": [parent.pid], "child": [child], "none": [], "gone": [-1]})
        assert {name: one.processes for name, one in found.items()} == {"all": 2, "child": 1}


def test_a_dead_root_is_not_mistaken_for_a_living_one() -> None:
    with subprocess.Popen([sys.executable, "-c", ""]) as process:
        # Until it is waited for it stays in the table, dead.
        os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
        assert TreeProbe().read({"mine": [process.pid]}) == {}


def test_no_roots_no_reading() -> None:
    def refuse() -> dict[int, object]:
        raise AssertionError("the process table was read for nothing")

    assert TreeProbe(refuse).read({}) == {}  # type: ignore[arg-type]  # never called


def test_unknown_fields_are_not_zero(monkeypatch: pytest.MonkeyPatch) -> None:
    def denied(_: psutil.Process) -> int:
        raise psutil.AccessDenied

    with family() as (parent, _):
        monkeypatch.setattr(psutil.Process, "io_counters", denied)
        monkeypatch.setattr(psutil.Process, "num_fds", denied)
        probe = TreeProbe()
        probe.read({"mine": [parent.pid]})
        gauges: TreeGauges = probe.read({"mine": [parent.pid]})["mine"]
        assert gauges.fds is gauges.read_bytes_per_s is gauges.write_bytes_per_s is None
        assert gauges.cpu_percent is not None
