"""The sampler with a real child: what arrives, what it costs, what cannot end it."""

import json
import queue
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from fake_nvml import FakeGpu, FakeNvml

from agentbench_tui.instruments.gpu import GpuSource, open_gpus
from agentbench_tui.instruments.sampler import Sampler

Arrived = tuple[str, float, dict[str, object]]
QUICK_S = 0.02
PATIENCE_S = 60.0


class Inbox:
    """A sink whose readings can be waited for."""

    def __init__(self) -> None:
        self._queue: queue.Queue[Arrived] = queue.Queue()

    def __call__(self, scope: str, at: float, fields: dict[str, object]) -> None:
        self._queue.put((scope, at, fields))

    def wait_for(self, scope: str, field: str) -> Arrived:
        """The next reading of the scope that has the field."""
        deadline = time.monotonic() + PATIENCE_S
        while True:
            arrived = self._queue.get(timeout=max(0.0, deadline - time.monotonic()))
            if arrived[0] == scope and field in arrived[2]:
                return arrived


@pytest.fixture
def child() -> Iterator[int]:
    """Pid of a process that waits."""
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as process:
        yield process.pid
        process.communicate(b"\n")


def no_gpus(tmp_path: Path) -> Callable[[], GpuSource]:
    return lambda: open_gpus(nvml=FakeNvml, root=tmp_path)


def test_host_agent_and_gpu_arrive(child: int, tmp_path: Path) -> None:
    inbox = Inbox()
    sampler = Sampler(
        roots=lambda: {"mine": [child]},
        sink=inbox,
        interval_s=QUICK_S,
        disk_path=tmp_path,
        gpus=lambda: open_gpus(nvml=lambda: FakeNvml(FakeGpu()), root=tmp_path),
    )
    began = time.time()
    sampler.start()
    try:
        _, at, agent = inbox.wait_for("agent:mine", "cpu_percent")
        assert agent["processes"] == 1
        assert began <= at <= time.time()
        _, _, host = inbox.wait_for("host", "memory_used_mb")
        _, _, gpu = inbox.wait_for("gpu:0", "utilisation_percent")
        assert gpu["power_w"] == 251.5
        json.dumps([agent, host, gpu])  # what the store keeps
    finally:
        sampler.stop()
    summary = sampler.summary()
    assert summary["agent:mine"]["processes"].mean == 1
    assert summary["gpu:0"]["utilisation_percent"].high == 87
    assert sampler.gpu_reason is None
    cost = sampler.cost
    assert cost.errors == 0
    assert cost.readings >= 2
    assert cost.p50_ms is not None
    assert cost.max_ms is not None
    assert 0 < cost.p50_ms <= cost.max_ms
    assert cost.cpu_seconds > 0


def test_an_agent_without_processes_leaves_no_reading(tmp_path: Path) -> None:
    inbox = Inbox()
    sampler = Sampler(
        roots=lambda: {"python": []}, sink=inbox, interval_s=QUICK_S, gpus=no_gpus(tmp_path)
    )
    sampler.start()
    inbox.wait_for("host", "cpu_percent")
    sampler.stop()
    assert set(sampler.summary()) == {"host"}


def test_no_gpu_is_a_reason_and_nothing_printed(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    inbox = Inbox()
    sampler = Sampler(roots=dict, sink=inbox, gpus=no_gpus(tmp_path))
    sampler.start()
    inbox.wait_for("host", "memory_used_mb")
    sampler.stop()
    assert sampler.gpu_reason is not None
    assert sampler.gpu_reason.startswith("no GPU found")
    assert capfd.readouterr() == ("", "")


def test_stopping_takes_a_last_reading_and_does_not_wait_for_the_interval(tmp_path: Path) -> None:
    inbox = Inbox()
    sampler = Sampler(roots=dict, sink=inbox, interval_s=3600, gpus=no_gpus(tmp_path))
    sampler.start()
    inbox.wait_for("host", "memory_used_mb")
    end = time.monotonic() + 0.06  # more than the shortest stretch over which rates are told
    while time.monotonic() < end:
        sum(range(1000))
    began = time.monotonic()
    sampler.stop()
    sampler.stop()
    assert time.monotonic() - began < PATIENCE_S
    assert sampler.cost.readings == 2
    inbox.wait_for("host", "memory_used_mb")


def test_what_fails_is_counted_and_ends_nothing(tmp_path: Path) -> None:
    inbox = Inbox()

    def roots() -> dict[str, list[int]]:
        raise ZeroDivisionError("no roots today")

    sampler = Sampler(roots=roots, sink=inbox, interval_s=QUICK_S, gpus=no_gpus(tmp_path))
    sampler.start()
    inbox.wait_for("host", "cpu_percent")
    sampler.stop()
    assert sampler.cost.errors >= 2
    assert sampler.cost.last_error == "ZeroDivisionError: no roots today"


def test_a_slow_reading_skips_turns_instead_of_piling_up(tmp_path: Path) -> None:
    slow, asked = threading.Event(), threading.Semaphore(0)

    def roots() -> dict[str, list[int]]:
        slow.wait(0.2)  # ten intervals, the first time
        slow.set()
        asked.release()
        return {}

    sampler = Sampler(roots=roots, sink=lambda *_: None, interval_s=QUICK_S, gpus=no_gpus(tmp_path))
    sampler.start()
    for _ in range(2):
        assert asked.acquire(timeout=PATIENCE_S)
    sampler.stop()
    assert sampler.cost.skipped >= 9


def test_a_broken_driver_takes_no_other_gauge_along(tmp_path: Path) -> None:
    def broken() -> GpuSource:
        raise OSError("driver lost")

    inbox = Inbox()
    sampler = Sampler(roots=dict, sink=inbox, interval_s=QUICK_S, gpus=broken)
    sampler.start()
    inbox.wait_for("host", "cpu_percent")
    sampler.stop()
    assert sampler.gpu_reason == "no GPU found (OSError: driver lost)"
    assert sampler.cost.errors == 1


def test_never_started_can_be_stopped() -> None:
    sampler = Sampler(roots=dict, sink=lambda *_: None)
    sampler.stop()
    assert sampler.cost.readings == 0
    assert sampler.cost.p50_ms is None
    assert sampler.summary() == {}
