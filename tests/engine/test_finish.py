"""The end of an execution is worked out from what is stored: again, it is the same."""

from contextlib import closing
from pathlib import Path
from typing import Any

import msgspec
from carried_out import Result, run, suite

from agentbench_tui.engine.run.finish import Ended, baseline_first, finish_executions
from agentbench_tui.engine.run.plan import decode_plan
from agentbench_tui.model.suite import Suite
from agentbench_tui.store.writer import Writer

AGENTS = """
import time

def good(text):
    time.sleep(0.05)
    return text

def poor(text):
    return text if text < "2" else "?"
"""
TABLES = ("metrics", "benchmark_executions")


def stored(result: Result) -> dict[str, list[tuple[Any, ...]]]:
    return {
        table: sorted(tuple(row) for row in result.rows(f"SELECT * FROM {table}"))
        for table in TABLES
    }


async def test_finishing_again_changes_nothing(tmp_path: Path) -> None:
    weights = {"accuracy": 1, "speed": 1, "efficiency": 0, "cost": 0, "reliability": 1}
    document = suite(suite={"baseline": "good", "weights": weights})
    result = await run(tmp_path, document, AGENTS, "poor", "good")
    before = stored(result)
    good, poor = result.execution("good"), result.execution("poor")
    # Of the baseline's speed: the baseline itself has the middle of the scale.
    assert good["scores"]["speed"] == 0.5
    assert poor["scores"]["speed"] > 0.5
    assert (good["scores"]["accuracy"], poor["scores"]["accuracy"]) == (1.0, 0.5)

    plan = decode_plan(result.column("SELECT plan FROM runs")[0])
    (of_plan,) = plan.suites
    whole = Suite.model_validate_json(msgspec.json.encode(of_plan.document))
    (group,) = plan.groups
    with closing(Writer(result.database)) as writer:
        for wanted in baseline_first(group.executions, whole.baseline):
            (key,) = result.column("SELECT key FROM benchmark_executions WHERE id=?", wanted.id)
            await writer.apply(
                lambda c, key=key: c.execute(  # type: ignore[misc]
                    "UPDATE metrics SET value=value+1 WHERE execution_key=?", (key,)
                )
            )
            await finish_executions(writer, [Ended(key, group.resolved(), whole)])
    assert stored(result) == before
    assert len(before["metrics"]) > 40
