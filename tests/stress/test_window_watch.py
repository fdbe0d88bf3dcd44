"""What watches over a window ends it with a reason, and never fails unseen."""

from __future__ import annotations

import asyncio
from time import perf_counter_ns
from types import SimpleNamespace
from typing import Any

import psutil
import pytest

from agentbench_tui.model.answer import AgentFailure, FailureKind
from agentbench_tui.stress.budget import Stopped
from agentbench_tui.stress.stand import watch as beside
from agentbench_tui.stress.stand.watch import Watch
from agentbench_tui.stress.stand.window_plan import WindowPlan


async def ended_by(monkeypatch: pytest.MonkeyPatch, guard: Any) -> AgentFailure | Stopped | None:
    """Why a window of a target elsewhere ended, the machine's memory being as `guard` says."""
    monkeypatch.setattr(beside, "host_guard", guard)
    monkeypatch.setattr(beside, "LOOK_EVERY_S", 0.0)
    ended = asyncio.Event()
    stand: Any = SimpleNamespace(is_here=False, url=None, proxy=None)
    workers: Any = SimpleNamespace(stop=ended.set)
    live: Any = SimpleNamespace(cut=lambda: None)
    budget: Any = SimpleNamespace(left_s=60.0)
    watching = Watch(stand, workers, live, WindowPlan(60, rate=1), budget)
    async with asyncio.timeout(30), watching:
        watching.begin(perf_counter_ns())
        await ended.wait()
    return watching.why


async def test_too_little_memory_ends_a_window(monkeypatch: pytest.MonkeyPatch) -> None:
    why = await ended_by(monkeypatch, lambda: "hardly any memory is left")
    assert isinstance(why, Stopped)
    assert str(why) == "hardly any memory is left"


async def test_a_guard_that_fails_ends_the_window_and_is_told(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def broken() -> str | None:
        raise psutil.AccessDenied(1)

    why = await ended_by(monkeypatch, broken)
    assert isinstance(why, AgentFailure)
    assert why.kind is FailureKind.HARNESS
    assert "the guard of the window failed: AccessDenied" in why.detail
