"""Scenarios from a suite to the store: metrics, the target's death, other people's hosts, ends."""

from __future__ import annotations

import asyncio
import json
import signal
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import psutil
import pytest
from staged import QUICK_MOCK, Staged, descendants, on_stand, staged

from agentbench_tui.engine.run.coordinator import carry_out
from agentbench_tui.engine.run.plan import decode_plan
from agentbench_tui.store.database import reading
from agentbench_tui.stress.report import NormalLoad, ScenarioReport
from agentbench_tui.stress.reporter import Reporter, facts_of
from agentbench_tui.stress.spec import StressSpec
from agentbench_tui.stress.stand.normal import Normal
from agentbench_tui.stress.stand.stand import Stand
from agentbench_tui.stress.stand.window_plan import WindowPlan


def metric(found: Staged, name: str) -> dict[str, Any]:
    value: dict[str, Any] = found.execution["metrics"][name]
    return value


async def test_high_load_finds_the_true_breaking_point_of_a_real_server(tmp_path: Path) -> None:
    """8 slots of 20 ms are 400 requests a second; a busy machine makes it less, never more."""
    found = await staged(
        tmp_path,
        QUICK_MOCK,
        scenario="high_load",
        duration_s=20.0,
        normal_rate=300.0,
        most_rate=500.0,
    )
    (point,) = found.told.breaking_points
    assert found.told.status == "complete"
    assert found.told.simulated
    assert point.passes is not None
    assert point.passes < 400 * 1.15
    assert found.told.normal is not None
    assert found.told.normal.rate_per_s == 300
    # How much: benchmarks/stress_breaking_point.py. A short window collects answers that were late.
    assert found.told.normal.capacity_per_s > 0
    breaking = metric(found, "breaking_rate_per_s")
    assert (breaking["low"], breaking["high"]) == (point.passes, point.fails)
    assert metric(found, "resilience")["value"] == found.told.score.value  # type: ignore[union-attr]
    assert metric(found, "e2e_ms.p95")["value"] == found.told.normal.p95_ms
    assert found.execution["status"] == "complete"
    assert found.windows.keys() == {window.repeat for window in found.told.windows}


@pytest.mark.parametrize("scenario", ["high_load", "spike_load"])
async def test_the_death_of_the_target_ends_a_scenario_with_what_was_measured(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, scenario: str
) -> None:
    """Killed by its number as soon as normal load is known, whatever the scenario does then."""
    before = descendants()
    known = reported(monkeypatch, lambda told: told.normal is not None)
    block = {"scenario": scenario, "duration_s": 500.0}
    running = asyncio.create_task(staged(tmp_path, QUICK_MOCK, **block))
    await asyncio.wait_for(known.wait(), 60)
    kill_server()
    found = await asyncio.wait_for(running, 60)
    assert found.outcome.status == "complete"
    assert found.told.status == "target lost"
    assert "the target's process" in found.told.reason
    assert found.told.broke
    assert metric(found, "resilience")["value"] == 0
    assert found.told.normal is not None
    assert [window.phase for window in found.told.windows][-1] == "normal"
    assert descendants() == before


async def test_a_target_that_dies_before_normal_load_is_known_is_lost(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    known = reported(monkeypatch, lambda told: bool(told.windows))
    block = {"scenario": "failure_recovery", "duration_s": 500.0}
    running = asyncio.create_task(staged(tmp_path, QUICK_MOCK, **block))
    await asyncio.wait_for(known.wait(), 60)
    kill_server()
    found = await asyncio.wait_for(running, 60)
    assert found.told.status == "target lost"
    assert "the target's process" in found.told.reason
    assert found.told.normal is None
    assert metric(found, "resilience")["value"] == 0


def reported(
    monkeypatch: pytest.MonkeyPatch, so_far: Callable[[ScenarioReport], bool]
) -> asyncio.Event:
    """Set once this holds of the report that is kept."""
    known, save = asyncio.Event(), Reporter.save

    async def kept(reporter: Reporter) -> None:
        await save(reporter)
        if so_far(reporter.report):
            known.set()

    monkeypatch.setattr(Reporter, "save", kept)
    return known


def kill_server() -> None:
    """End the practice server of the run."""
    (server,) = [
        child
        for child in psutil.Process().children(recursive=True)
        if "agentbench_tui.agents.mock.serving" in command_line(child)
    ]
    server.send_signal(signal.SIGKILL)


def command_line(process: psutil.Process) -> list[str]:
    """Of one that has ended: nothing."""
    with suppress(psutil.Error):
        return process.cmdline()
    return []


async def test_a_scenario_that_was_cut_off_is_run_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever was left of it is gone: no window of before, no report."""
    held: list[int] = []

    async def act(stand: Stand, spec: StressSpec, normal: Normal, reporter: Reporter) -> None:
        del spec, normal
        for nth in range(1 if held else 4):
            measured = await stand.hold(WindowPlan(0.05, rate=40), phase="stress")
            await reporter.window(facts_of(measured))
            if nth == 2:
                held.append(nth)
                stand._context.stop.request("interrupted", interrupted=True)

    first = await on_stand(tmp_path, monkeypatch, act)
    assert (first.outcome.status, len(first.windows)) == ("interrupted", 3)
    with reading(tmp_path / "store.db") as connection:
        plan = decode_plan(connection.execute("SELECT plan FROM runs").fetchone()[0])
    outcome = await carry_out(plan, tmp_path / "store.db", resume=True)
    assert outcome.status == "complete"
    with reading(tmp_path / "store.db") as connection:
        repeats = connection.execute("SELECT repeat FROM load_windows").fetchall()
        documents = connection.execute("SELECT document FROM stress_reports").fetchall()
    assert [row[0] for row in repeats] == [0]
    assert [len(json.loads(row[0])["windows"]) for row in documents] == [1]


async def test_the_latency_at_ease_is_that_of_as_many_answers_as_the_baseline_had(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Scenarios hold further windows at normal load, of which it is not told."""

    async def act(stand: Stand, _spec: StressSpec, _normal: Normal, reporter: Reporter) -> None:
        for length_s in (0.2, 0.5):
            held = await stand.hold(WindowPlan(length_s, rate=50), phase="normal")
            await reporter.window(facts_of(held))
        reporter.report.normal = NormalLoad(
            rate_per_s=50, users=1, p50_ms=20.0, p95_ms=25.0, capacity_per_s=100
        )

    found = await on_stand(tmp_path, monkeypatch, act)
    assert [window.requests for window in found.told.windows] == [10, 25]
    at_ease = metric(found, "e2e_ms.p95")
    assert (at_ease["value"], at_ease["n"]) == (25.0, 10)


async def test_hosts_of_others_are_left_alone(tmp_path: Path) -> None:
    found = await staged(tmp_path, "openai:http://example.com/v1#m", scenario="high_load")
    assert found.report is None
    assert found.execution["status"] == "incomplete"
    assert "example.com is not this machine" in found.execution["stop_reason"]


async def test_a_target_that_does_not_start_is_said_to(tmp_path: Path) -> None:
    found = await staged(tmp_path, "openai:http://127.0.0.1:9/v1#m", scenario="high_load")
    assert found.windows == {}
    assert found.execution["status"] == "incomplete"
    assert "the scenario could not be run" in found.execution["stop_reason"]


async def test_categories_have_no_scores_and_metrics_say_why_they_lack(tmp_path: Path) -> None:
    found = await staged(
        tmp_path, QUICK_MOCK, scenario="spike_load", duration_s=20.0, max_requests=60
    )
    assert found.told.status == "stopped"
    assert "max_requests" in found.told.reason
    assert "max_requests" in metric(found, "resilience")["reason"]
    assert set(found.execution["scores"].values()) <= {None} or all(
        one["value"] is None for one in found.execution["scores"].values()
    )
