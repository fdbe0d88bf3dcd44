"""Sweep points at once: as many as the suite says, and only where times do not count."""

from pathlib import Path

import pytest
from carried_out import plan, run, suite

from agentbench_tui.model.errors import SuiteError

MEETING = """
import asyncio
from pathlib import Path

HERE = Path(__file__).parent

async def answer(request):
    (HERE / f"here-{request.parameters['size']}").touch()
    for _ in range(500):
        if len(list(HERE.glob("here-*"))) == 2:
            return "met"
        await asyncio.sleep(0.01)
    return "alone"
"""


def swept(parallelism: int, **suite_keys: object) -> dict[str, object]:
    return suite(
        1,
        sweep={"parameters": {"size": [1, 2]}},
        suite={"parallelism": parallelism, **suite_keys},
    )


async def test_two_points_meet_when_two_may_run_at_once(tmp_path: Path) -> None:
    """Each agent waits for the other: they only meet if both points are asked at once."""
    done = await run(tmp_path, swept(2), MEETING, "answer")
    assert done.outcome.status == "complete"
    said = done.column("SELECT json_extract(answer, '$.text') FROM answers")
    assert said == ["met", "met"]


def test_parallel_points_are_refused_where_speed_counts(tmp_path: Path) -> None:
    weights = {"accuracy": 1, "speed": 1, "efficiency": 0, "cost": 0, "reliability": 0}
    with pytest.raises(SuiteError, match="parallelism: several sweep points"):
        plan(tmp_path, swept(2, weights=weights), MEETING, "answer")
