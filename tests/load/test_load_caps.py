"""Caps on what a run may cost hold for loads too."""

from contextlib import closing
from pathlib import Path
from typing import Any

import msgspec
import pytest
from driving import practice_server
from loads import WEIGHTS, leave_calibration_out

from agentbench_tui.engine.run.coordinator import Outcome, carry_out
from agentbench_tui.engine.run.planning import RunOptions, make_plan
from agentbench_tui.engine.suite.loading import suite_of_data
from agentbench_tui.load.results.window import Window
from agentbench_tui.store.database import connect_to_read, create_or_migrate

PRICE = {"model": "mock", "input": 0.0, "output": 1e6, "date": "2026-01-01"}  # a USD a token


async def capped(folder: Path, block: dict[str, Any], **caps: Any) -> tuple[Path, Outcome]:
    """The store of a load on a practice server that answers with 10 tokens, and how it ended."""
    async with practice_server(ttft="5ms", itl="0ms", tokens=10) as server:
        document = {
            "suite_id": "load",
            "agents": [{"id": "model", "target": f"openai:{server.url}#mock"}],
            "weights": WEIGHTS,
            "prices": [PRICE],
            "benchmarks": [{"benchmark_id": "load", "kind": "load", "load": block}],
        }
        plan = make_plan([suite_of_data(document, folder)], RunOptions(folder=folder, **caps))
        database = folder / "store.db"
        create_or_migrate(database)
        return database, await carry_out(plan, database)


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
    block = {"concurrency": 1, "duration_s": 600}
    database, outcome = await capped(tmp_path, block, **caps)

    assert outcome.stop_reason is not None
    assert outcome.stop_reason.startswith(reason)
    with closing(connect_to_read(database)) as connection:
        (answered, cost) = connection.execute(
            "SELECT answered, cost_usd FROM benchmark_executions"
        ).fetchone()
    assert answered >= 3
    assert cost == pytest.approx(10 * answered)


async def test_a_window_that_was_cut_short_asked_for_what_was_due_while_it_ran(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    leave_calibration_out(monkeypatch)
    spike = {"rate": 50, "peak": 5000, "at_s": 500, "for_s": 50}
    block = {"spike": spike, "duration_s": 600}
    database, _ = await capped(tmp_path, block, token_limit=30)

    with closing(connect_to_read(database)) as connection:
        (text,) = connection.execute("SELECT document FROM load_windows").fetchone()
    found = msgspec.json.decode(text, type=Window)
    assert found.stopped
    assert found.asked_per_s == pytest.approx(50)
    assert found.asked == pytest.approx(50 * found.window_s)
