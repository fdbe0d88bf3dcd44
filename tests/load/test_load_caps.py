"""Caps on what a run may cost hold for loads too."""

from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from driving import practice_server
from loads import WEIGHTS, leave_calibration_out

from agentbench_tui.engine.coordinator import carry_out
from agentbench_tui.engine.loading import suite_of_data
from agentbench_tui.engine.planning import RunOptions, make_plan
from agentbench_tui.store.database import connect_to_read, create_or_migrate

PRICE = {"model": "mock", "input": 0.0, "output": 1e6, "date": "2026-01-01"}  # a USD a token


@pytest.mark.parametrize(
    ("caps", "reason"),
    [
        ({"cost_limit_usd": 30.0}, "cost limit reached"),
        ({"token_limit": 30}, "token limit reached"),
    ],
)
async def test_a_load_stops_when_the_cap_of_its_run_is_spent(
    caps: dict[str, Any], reason: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    leave_calibration_out(monkeypatch)
    async with practice_server(ttft="5ms", itl="0ms", tokens=10) as server:
        document = {
            "suite_id": "load",
            "agents": [{"id": "model", "target": f"openai:{server.url}#mock"}],
            "weights": WEIGHTS,
            "prices": [PRICE],
            "benchmarks": [
                {
                    "benchmark_id": "load",
                    "kind": "load",
                    "load": {"concurrency": 1, "duration_s": 600},
                }
            ],
        }
        suite = suite_of_data(document, tmp_path)
        plan = make_plan([suite], RunOptions(folder=tmp_path, **caps))
        database = tmp_path / "store.db"
        create_or_migrate(database)
        outcome = await carry_out(plan, database)

    assert outcome.stop_reason is not None
    assert outcome.stop_reason.startswith(reason)
    with closing(connect_to_read(database)) as connection:
        (answered, cost) = connection.execute(
            "SELECT answered, cost_usd FROM benchmark_executions"
        ).fetchone()
    assert answered >= 3
    assert cost == pytest.approx(10 * answered)
