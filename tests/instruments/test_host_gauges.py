"""Gauges of the whole machine: hand-computed rates, and nothing that is not known."""

import os
import time
from collections import namedtuple
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import psutil
import pytest

from agentbench_tui.instruments.gauges import HostGauges, reading
from agentbench_tui.instruments.host import HostProbe

Times = namedtuple("Times", "user nice system idle iowait irq softirq steal guest guest_nice")

RATES = {
    "cpu_percent",
    "core_percent",
    "busiest_core_percent",
    "steal_percent",
    "disk_read_bytes_per_s",
    "disk_write_bytes_per_s",
    "net_received_bytes_per_s",
    "net_sent_bytes_per_s",
    "run_queue_wait_ms_per_s",
}


class Clock:
    """Seconds that pass when told."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = 100.0
        monkeypatch.setattr("agentbench_tui.instruments.host.monotonic", lambda: self.now)


def second_reading(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, name: str, before: Any, after: Any
) -> HostGauges:
    """The gauges two seconds later, when one of psutil's functions gave these two answers."""
    clock, probe = Clock(monkeypatch), HostProbe(tmp_path)
    monkeypatch.setattr(psutil, name, lambda **_: before)
    probe.read()
    clock.now += 2
    monkeypatch.setattr(psutil, name, lambda **_: after)
    return probe.read()


def test_shares_of_the_cores(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    # 10 s each. First core: 4 idle, 1 waiting for a disk, 2 stolen, 3 used of which 2 by a guest.
    # Second: idle.
    before = [Times(5, 0, 1, 9, 0, 0, 0, 0, 1, 0), Times(0, 0, 0, 50, 0, 0, 0, 0, 0, 0)]
    after = [Times(8, 0, 1, 13, 1, 0, 0, 2, 3, 0), Times(0, 0, 0, 60, 0, 0, 0, 0, 0, 0)]
    gauges = second_reading(monkeypatch, tmp_path, "cpu_times", before, after)
    assert gauges.core_percent == (50.0, 0.0)
    assert gauges.cpu_percent == 25.0
    assert gauges.busiest_core_percent == 50.0
    assert gauges.steal_percent == 10.0


def test_a_core_that_went_away_gives_no_shares(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    core = Times(1, 0, 0, 1, 0, 0, 0, 0, 0, 0)
    gauges = second_reading(monkeypatch, tmp_path, "cpu_times", [core, core], [core])
    assert (gauges.cpu_percent, gauges.core_percent, gauges.steal_percent) == (None, None, None)


def test_traffic_of_all_interfaces_but_loopback(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def interfaces(received: int, sent: int) -> dict[str, SimpleNamespace]:
        return {
            "lo": SimpleNamespace(bytes_recv=received * 99, bytes_sent=sent * 99),
            "eth0": SimpleNamespace(bytes_recv=received, bytes_sent=sent),
            "eth1": SimpleNamespace(bytes_recv=received, bytes_sent=0),
        }

    gauges = second_reading(
        monkeypatch, tmp_path, "net_io_counters", interfaces(100, 50), interfaces(600, 250)
    )
    assert gauges.net_received_bytes_per_s == 500.0
    assert gauges.net_sent_bytes_per_s == 100.0


def test_disk_rates_and_a_counter_set_back(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    before = SimpleNamespace(read_bytes=1000, write_bytes=1000)
    grown = SimpleNamespace(read_bytes=5000, write_bytes=1000)
    gauges = second_reading(monkeypatch, tmp_path, "disk_io_counters", before, grown)
    assert (gauges.disk_read_bytes_per_s, gauges.disk_write_bytes_per_s) == (2000.0, 0.0)
    gauges = second_reading(monkeypatch, tmp_path, "disk_io_counters", grown, before)
    assert gauges.disk_read_bytes_per_s is gauges.disk_write_bytes_per_s is None


def test_what_is_not_known_is_left_out_and_not_zero(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    gauges = second_reading(monkeypatch, tmp_path, "disk_io_counters", None, None)
    assert not {"disk_read_bytes_per_s", "disk_write_bytes_per_s"} & set(reading(gauges))
    gauges = second_reading(monkeypatch, tmp_path, "net_io_counters", {}, {"lo": None})
    assert not {"net_received_bytes_per_s", "net_sent_bytes_per_s"} & set(reading(gauges))


def test_the_first_reading_has_levels_but_no_rates(tmp_path: Path) -> None:
    known = reading(HostProbe(tmp_path).read())
    assert RATES.isdisjoint(known)
    assert {"memory_used_mb", "memory_available_mb", "memory_total_mb", "disk_free_mb"} <= set(
        known
    )


def test_this_machine_says_what_can_be(tmp_path: Path) -> None:
    probe = HostProbe(tmp_path)
    probe.read()
    deadline = time.monotonic() + 10
    gauges = probe.read()
    while gauges.cpu_percent is None:  # until each core's clock has ticked
        assert time.monotonic() < deadline
        sum(range(100_000))
        gauges = probe.read()
    assert gauges.core_percent is not None
    assert len(gauges.core_percent) == os.cpu_count()
    assert all(0 <= share <= 100 for share in gauges.core_percent)
    assert gauges.busiest_core_percent == max(gauges.core_percent)
    assert gauges.memory_total_mb == pytest.approx(psutil.virtual_memory().total / 1e6)
    assert gauges.memory_used_mb is not None
    assert gauges.memory_available_mb is not None
    assert gauges.memory_used_mb + gauges.memory_available_mb == pytest.approx(
        gauges.memory_total_mb
    )


def test_no_disk_there_costs_its_field_only(tmp_path: Path) -> None:
    known = reading(HostProbe(tmp_path / "not there").read())
    assert "disk_free_mb" not in known
    assert "memory_used_mb" in known
