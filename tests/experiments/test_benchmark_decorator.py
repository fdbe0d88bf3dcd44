"""`@benchmark` on functions of both kinds."""

from __future__ import annotations

import os
import signal
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from agentbench_tui.experiments.decorator import BenchmarkResult, benchmark
from agentbench_tui.instruments.clock import TimerFacts
from agentbench_tui.model.errors import Unmeasured, UsageError


def test_a_function_is_measured_by_run_and_stays_reachable() -> None:
    calls = []

    @benchmark(name="adding", iterations=7, warmup=2)
    def add(first: int, second: int = 1) -> dict[str, object]:
        calls.append(first)
        return {"sum": first + second, "label": "x"}

    result = add.run(2, second=3)
    assert add.func(2) == {"sum": 3, "label": "x"}
    assert (result.name, result.iterations) == ("adding", 7)
    assert result.metrics == {"sum": 5.0, "label": "x"}
    assert len(calls) >= 2 + 7 * result.loops
    assert result.min_time_ms <= result.avg_time_ms <= result.max_time_ms


async def test_both_kinds_can_be_awaited() -> None:
    @benchmark(iterations=3)
    async def later() -> dict[str, int]:
        return {"n": 1}

    @benchmark
    def now() -> None:
        return None

    assert (await later()).metrics == {"n": 1.0}
    found = await now()
    assert (found.name, found.iterations, found.metrics) == ("now", 100, {})
    with pytest.raises(UsageError, match="await later"):
        later.run()


def test_a_method_is_measured_with_its_object() -> None:
    class Held:
        factor = 3

        @benchmark(name="scaled", iterations=2, warmup=0)
        def scaled(self, value: int) -> dict[str, int]:
            return {"n": self.factor * value}

        @benchmark(iterations=2)
        async def later(self) -> dict[str, int]:
            return {"n": self.factor}

    held = Held()
    assert held.scaled.run(2).metrics == {"n": 6.0}
    assert held.scaled.func(5) == {"n": 15}
    assert held.later.run().metrics == {"n": 3.0}
    assert Held.scaled.name == "scaled"


def test_an_async_function_runs_without_a_loop_too() -> None:
    @benchmark(iterations=2)
    async def later() -> None:
        return None

    assert later.run().iterations == 2


def test_what_the_function_raises_is_raised() -> None:
    @benchmark(iterations=2)
    def broken() -> None:
        raise ValueError("mine")

    with pytest.raises(ValueError, match="mine"):
        broken.run()


def test_percentiles_take_enough_iterations() -> None:
    def result(count: int) -> BenchmarkResult:
        times = tuple(float(one) for one in range(1, count + 1))
        return BenchmarkResult("r", times, {}, 1, TimerFacts(1.0, 1))

    assert result(19).p95_ms is None
    assert ": 10 ms a call on average (19 iterations" in str(result(19))
    assert result(20).p95_ms == pytest.approx(19.05)  # 1 + 0.95 · 19, between order statistics
    assert result(99).p99_ms is None
    assert result(101).p99_ms == pytest.approx(100.0)
    assert result(4).throughput == pytest.approx(400.0)  # mean 2.5 ms
    assert result(1).std_dev_ms is None
    assert result(3).std_dev_ms == pytest.approx(1.0)


async def test_with_a_database_each_measurement_is_a_run(tmp_path: Path) -> None:
    @benchmark(name="kept", iterations=4, warmup=1, db=tmp_path / "kept.db")
    async def kept(factor: int) -> dict[str, int]:
        return {"n": factor}

    first, second = await kept(2), await kept(3)
    assert (first.metrics, second.metrics) == ({"n": 2.0}, {"n": 3.0})
    assert first.iterations == 4
    with closing(sqlite3.connect(tmp_path / "kept.db")) as connection:
        runs = connection.execute("SELECT id, status FROM runs ORDER BY key").fetchall()
    assert runs == [(first.run_id, "complete"), (second.run_id, "complete")]


def test_what_fails_is_kept_and_told(tmp_path: Path) -> None:
    @benchmark(name="failing", iterations=2, warmup=0, db=tmp_path / "kept.db")
    def failing() -> None:
        raise ValueError("mine")

    with pytest.raises(Unmeasured, match="ValueError: mine"):
        failing.run()


def test_what_was_ended_before_it_began_is_told(tmp_path: Path) -> None:
    @benchmark(name="ended", iterations=2, warmup=1, db=tmp_path / "kept.db")
    def ended() -> None:
        os.kill(os.getpid(), signal.SIGTERM)

    with pytest.raises(Unmeasured, match="ended before anything was measured"):
        ended.run()


def test_counts_that_measure_nothing_are_refused() -> None:
    with pytest.raises(UsageError, match="`iterations` must be 1 or more"):
        benchmark(iterations=0)
