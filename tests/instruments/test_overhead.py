"""The verdict on the harness's own share, at and beyond each threshold."""

import gc
import math
import time

import pytest

from agentbench_tui.instruments.overhead import OverheadProbe, Verdict, judge


def verdict(
    cpu: float | None = 0.0, wait_ms: float | None = 0.0, psi: float | None = 0.0
) -> Verdict:
    """Over 10 s."""
    return judge(
        wall_seconds=10.0, cpu_seconds=cpu, run_queue_wait_ms=wait_ms, psi_cpu_percent=psi
    )[0]


@pytest.mark.parametrize(
    ("cpu", "wait_ms", "psi", "expected"),
    [
        (0.0, 0.0, 0.0, "clean"),
        (8.0, 500.0, 10.0, "clean"),  # the limits themselves
        (math.nextafter(8.0, 9), 0.0, 0.0, "generator-limited"),
        (0.0, math.nextafter(500.0, 501), 0.0, "noisy"),
        (0.0, 0.0, math.nextafter(10.0, 11), "noisy"),
        (9.0, 900.0, 50.0, "generator-limited"),  # the worse of both
        (None, 0.0, 0.0, "clean"),
        (None, 900.0, 0.0, "noisy"),
        (None, None, None, "clean"),
    ],
)
def test_thresholds(
    cpu: float | None, wait_ms: float | None, psi: float | None, expected: Verdict
) -> None:
    assert verdict(cpu, wait_ms, psi) == expected


def test_reasons_name_each_cause_with_its_limit() -> None:
    _, reasons = judge(
        wall_seconds=10.0, cpu_seconds=9.0, run_queue_wait_ms=700.0, psi_cpu_percent=12.0
    )
    assert reasons == (
        "the harness used 90.0% of a core (limit 80%)",
        "the harness waited 7.0% of the time for a core (limit 5%)",
        "some task waited for a core 12.0% of the time (limit 10%)",
    )


def test_what_was_not_checked_is_said() -> None:
    _, reasons = judge(
        wall_seconds=1.0, cpu_seconds=None, run_queue_wait_ms=None, psi_cpu_percent=None
    )
    assert [reason.partition(" ")[0] for reason in reasons] == ["agents", "the", "the"]
    assert "inside the harness" in reasons[0]


def burn(seconds: float) -> None:
    """Use this much CPU time."""
    end = time.process_time() + seconds
    while time.process_time() < end:
        sum(range(1000))


def test_measures_this_process() -> None:
    probe = OverheadProbe()
    probe.start()
    burn(0.05)
    gc.collect()
    gc.collect()
    measured = probe.stop()
    assert 0.05 <= measured.cpu_seconds < measured.wall_seconds * 2
    assert measured.gc_collections >= 2
    assert 0 < measured.gc_pause_max_ms <= measured.gc_pause_ms < measured.wall_seconds * 1e3
    assert measured.run_queue_wait_ms is None or measured.run_queue_wait_ms >= 0


def test_agents_inside_are_not_held_against_the_harness() -> None:
    probe = OverheadProbe(agents_inside=True)
    probe.start()
    burn(0.05)
    measured = probe.stop()
    assert measured.verdict != "generator-limited"
    assert measured.cpu_seconds >= 0.05
    assert any("inside the harness" in reason for reason in measured.reasons)


def test_the_collector_is_watched_between_start_and_stop_only() -> None:
    watchers = list(gc.callbacks)
    probe = OverheadProbe()
    probe.start()
    probe.start()
    assert len(gc.callbacks) == len(watchers) + 1
    probe.stop()
    assert gc.callbacks == watchers
