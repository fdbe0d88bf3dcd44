"""Runs suites that ship, in this process, and reads back what was stored."""

import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "tests" / "engine"))

from carried_out import Result  # noqa: E402 - found by the path above

from agentbench_tui.engine.run.coordinator import carry_out  # noqa: E402
from agentbench_tui.engine.run.planning import RunOptions, make_plan  # noqa: E402
from agentbench_tui.store.database import create_or_migrate  # noqa: E402


async def run_shipped(folder: Path, name: str, *agents: str, **options: Any) -> Result:
    """Run the suite `name`; the database lies in `folder`, where agents' files are too."""
    suite = str(ROOT / "suites" / f"{name}.yaml")
    plan = make_plan([suite], RunOptions(agents=agents, folder=folder, **options))
    database = folder / "store.db"
    create_or_migrate(database)
    return Result(await carry_out(plan, database), database)


def right(result: Result, agent: str) -> tuple[int, int]:
    """Right answers and cases of one agent, over all benchmarks."""
    ours = [one for one in result.document["executions"] if one["agent_id"] == agent]
    return sum(one["cases"]["correct"] for one in ours), sum(one["cases"]["total"] for one in ours)


def score(result: Result, agent: str, dimension: str = "accuracy") -> float:
    """A score of one agent over the run."""
    (entry,) = [one for one in result.document["leaderboard"] if one["agent_id"] == agent]
    value: float = entry[dimension]
    return value


def reasons(result: Result, agent: str) -> list[str]:
    """Why answers of one agent were wrong, as the scorers said it."""
    import json

    stored = result.column(
        "SELECT scores FROM answers JOIN benchmark_executions ON key = execution_key"
        " WHERE agent_id = ? AND NOT answers.correct",
        agent,
    )
    return [json.loads(one)[0]["reason"] for one in stored]
