"""Alarms of a run in progress: when each begins and ends, by readings made by hand."""

from __future__ import annotations

import json
from typing import Any

import pytest

from agentbench_tui.analysis.histogram import Histogram
from agentbench_tui.presentation.alarms import alarm_words
from agentbench_tui.store.queries.ticks import OutcomeTick
from agentbench_tui.verdicts.runs import run_alarms
from agentbench_tui.verdicts.runs.run_alarms import Alarm, AlarmReader


class Rows:
    """What the store would return to the reader, in the place of its queries."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self.status = "running"
        self.ticks: list[OutcomeTick] = []
        self.readings: list[tuple[int, float, str, str]] = []
        self.live: list[tuple[int, float, str]] = []
        for name, query in (
            ("executions_of", lambda *_: [self.row()]),
            ("outcome_ticks_after", lambda _, key, after: self.ticks[after:]),
            ("readings_after", lambda _, key, after: self.readings[after:]),
            ("reported_states", lambda *_: self.live),
        ):
            patch.setattr(run_alarms, name, query)

    def row(self) -> dict[str, Any]:
        return {"key": 1, "id": "e1", "agent_id": "bot", "benchmark_id": "b",
                "status": self.status}  # fmt: skip

    def tick(self, at: float, times_ms: list[float], failed: int = 0) -> None:
        packed = Histogram(times_ms).to_bytes()
        done = len(times_ms) + failed
        self.ticks.append(
            OutcomeTick(len(self.ticks) + 1, 1, at, done, len(times_ms), done, failed, packed, None)
        )

    def reading(self, at: float, scope: str, **values: object) -> None:
        self.readings.append((len(self.readings) + 1, at, scope, json.dumps(values)))


def reader(*gates: str, **slo: float) -> AlarmReader:
    load = {"slo": {name.replace("_p", ".p"): limit for name, limit in slo.items()}}
    group = {"suite_hash": "h", "benchmark": {"load": load}, "executions": [{"id": "e1"}]}
    plan = {"groups": [group], "suites": [{"hash": "h", "document": {"gates": gates}}]}
    return AlarmReader({"key": 1, "id": "r", "plan": json.dumps(plan)})


def shown(one: AlarmReader, now: float) -> list[tuple[str, float, str]]:
    found: list[Alarm] = one.read(None, now)  # type: ignore[arg-type]  # no query reads it
    return [(alarm.kind, alarm.since, alarm_words(alarm)) for alarm in found]


@pytest.fixture
def rows(monkeypatch: pytest.MonkeyPatch) -> Rows:
    return Rows(monkeypatch)


def test_failures_alarm_while_their_share_of_ten_seconds_is_above_the_limit(rows: Rows) -> None:
    one = reader()
    rows.tick(1.0, [5.0] * 20, failed=2)
    assert shown(one, 1.0) == []  # 2 of 22 are 9%
    rows.tick(2.0, [5.0] * 18, failed=6)
    assert shown(one, 2.0) == [("failures", 2.0, "bot: 17.4% failed (limit 10.0%)")]  # 8 of 46
    rows.tick(3.0, [5.0] * 20, failed=2)
    assert shown(one, 3.0) == [("failures", 2.0, "bot: 14.7% failed (limit 10.0%)")]  # 10 of 68
    for second in range(4, 14):
        rows.tick(float(second), [5.0] * 20)
    assert shown(one, 13.0) == []  # the failures are more than ten seconds ago


def test_two_failures_of_three_answers_are_no_alarm(rows: Rows) -> None:
    rows.tick(1.0, [5.0], failed=2)
    assert shown(reader(), 1.0) == []


def test_a_gate_on_reliability_is_the_limit_of_failures(rows: Rows) -> None:
    rows.tick(1.0, [5.0] * 96, failed=4)
    assert shown(reader(), 1.0) == []
    strict = reader("reliability>=0.99", "accuracy>=0.5", "unknown_of_nobody>=1")
    assert shown(strict, 1.0) == [("failures", 1.0, "bot: 4.0% failed (limit 1.0%)")]


def test_an_slo_is_missed_when_that_is_certain(rows: Rows) -> None:
    """Of 100 requests 90 are within 200 ms: Wilson's interval ends at 0.945, below 0.95. Of 20
    requests 18 are: it ends at 0.972."""
    rows.tick(1.0, [100.0] * 18 + [300.0] * 2)
    one = reader(e2e_ms_p95=200.0)
    assert shown(one, 1.0) == []
    rows.tick(2.0, [100.0] * 72 + [300.0] * 8)
    words = "bot: SLO missed: 90.0% within e2e_ms 200 ms (need 95.0%)"
    assert shown(one, 2.0) == [("slo", 2.0, words)]


def test_a_failed_request_is_within_no_limit(rows: Rows) -> None:
    rows.tick(1.0, [100.0] * 91, failed=9)
    assert [kind for kind, _, _ in shown(reader("e2e_ms.p99<=200"), 1.0)] == ["slo"]


def test_a_target_stalls_after_three_times_its_p95(rows: Rows) -> None:
    rows.tick(1.0, [2_000.0] * 60)
    rows.live = [(1, 8.0, json.dumps({"in_flight": 2, "oldest_s": 5.9}))]
    one = reader()
    assert shown(one, 8.0) == []
    rows.live = [(1, 9.0, json.dumps({"in_flight": 2, "oldest": [{"age_s": 6.9}]}))]
    words = "bot: no answer to a request for 6.9 s"
    assert shown(one, 9.0) == [("stalled", pytest.approx(2.1), words)]
    rows.live = [(1, 10.0, json.dumps({"in_flight": 0, "oldest_s": None}))]
    assert shown(one, 10.0) == []


def test_a_target_that_asked_for_a_pause_does_not_stall(rows: Rows) -> None:
    rows.live = [(1, 99.0, json.dumps({"in_flight": 1, "oldest_s": 90.0, "pause_s": 5.0}))]
    assert shown(reader(), 99.0) == []


def test_a_gpu_is_throttled_since_the_first_reading_with_that_reason(rows: Rows) -> None:
    one = reader()
    rows.reading(1.0, "gpu:3", throttle_reasons=[])
    rows.reading(2.0, "gpu:3", throttle_reasons=["power cap"])
    rows.reading(3.0, "gpu:3", throttle_reasons=["power cap"])
    rows.reading(3.0, "gpu:0", throttle_reasons=[])
    assert shown(one, 3.0) == [("gpu", 2.0, "GPU 3 throttled: power cap")]
    rows.reading(4.0, "gpu:3", throttle_reasons=["thermal"])
    assert shown(one, 4.0) == [("gpu", 4.0, "GPU 3 throttled: thermal")]
    rows.reading(5.0, "gpu:3", throttle_reasons=[])
    assert shown(one, 5.0) == []


def test_a_machine_is_noisy_by_the_limits_of_the_harness(rows: Rows) -> None:
    one = reader()
    rows.reading(1.0, "host", run_queue_wait_ms_per_s=40.0, psi_cpu_percent=9.0)
    assert shown(one, 1.0) == []
    rows.reading(2.0, "host", run_queue_wait_ms_per_s=80.0, psi_cpu_percent=9.0)
    words = "noisy machine: the harness waited 6.0% of the time for a core (limit 5.0%)"
    assert shown(one, 2.0) == [("noise", 2.0, words)]
    rows.reading(11.5, "host", run_queue_wait_ms_per_s=0.0, psi_cpu_percent=30.0)
    words = "noisy machine: some task waited 30.0% of the time for a core (limit 10.0%)"
    assert shown(one, 11.5) == [("noise", 2.0, words)]


def test_little_disk_comes_before_doubtful_times(rows: Rows) -> None:
    rows.reading(1.0, "host", disk_free_mb=312.0, psi_cpu_percent=90.0)
    assert [kind for kind, _, _ in shown(reader(), 1.0)] == ["disk", "noise"]


def test_an_execution_that_has_ended_has_no_alarm_on_its_answers(rows: Rows) -> None:
    one = reader()
    rows.tick(1.0, [], failed=50)
    assert [kind for kind, _, _ in shown(one, 1.0)] == ["failures"]
    assert shown(one, 12.0) == []  # nothing was answered for ten seconds
    rows.tick(13.0, [], failed=50)
    rows.status = "complete"
    assert shown(one, 13.0) == []
