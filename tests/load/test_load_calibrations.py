"""Which targets of one run are judged by which calibration."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from driving import practice_server
from loads import is_gone, load_each

from agentbench_tui.load.results.window import Calibration, Window
from agentbench_tui.load.sending.protocol import HttpTarget, WorkerPlan
from agentbench_tui.load.sending.workers import LoadWorkers


def calibration(streamed: bool) -> Calibration:
    return Calibration(
        at="2026-11-28T08:00:00.000Z",
        rate_per_s=50.0,
        overhead_p50_ms=0.25,
        overhead_p99_ms=0.75 if streamed else 0.5,
        n=300,
        cpu_us_per_request=100.0,
        ceiling_per_s=10_000.0,
        workers=1,
        streamed=streamed,
    )


async def test_each_target_is_judged_by_its_own_senders_and_none_by_those_of_another(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[tuple[str, int]] = []
    used: set[int] = set()

    async def calibrated(
        _: Any, shape: WorkerPlan, windows: Sequence[Window], senders: LoadWorkers | None
    ) -> Calibration:
        assert isinstance(shape.target, HttpTarget)
        assert senders is not None, "the last window was one of an agent behind HTTP"
        used.update(senders.pids)
        assert not any(is_gone(pid) for pid in senders.pids)
        asked.append((shape.target.call.model, len(windows)))
        return calibration(shape.target.call.stream)

    monkeypatch.setattr("agentbench_tui.load.calibration.calibration.calibrated", calibrated)
    (tmp_path / "inside.py").write_text("def answer(text):\n    return text\n")
    async with practice_server(ttft="1ms", itl="0ms", tokens=1) as server:
        agents: dict[str, dict[str, Any]] = {
            "streamed": {"target": f"openai:{server.url}#streamed"},
            "inside": {"target": "python:inside.py:answer"},
            "whole": {"target": f"openai:{server.url}#whole", "options": {"stream": False}},
        }
        found = await load_each(tmp_path, agents, {"concurrency": 1, "requests": 3})

    assert len(used) == 1
    assert all(is_gone(pid) for pid in used)
    assert sorted(asked) == [("streamed", 1), ("whole", 1)]
    overheads = {name: one.load["harness"]["overhead_p99_ms"] for name, one in found.items()}
    assert overheads == {"inside": None, "streamed": 0.75, "whole": 0.5}
    assert "no calibration" in found["inside"].told
    assert "no calibration" not in found["streamed"].told + found["whole"].told
