"""Groups that are finished together: when each is stored as complete, with its metrics."""

from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from carried_out import plan, run, suite

from agentbench_tui.engine.run import ended_groups
from agentbench_tui.engine.run.coordinator import carry_out
from agentbench_tui.model.errors import StoreError
from agentbench_tui.store.database import connect_to_read, create_or_migrate

SEES_OTHERS = """
import contextlib, sqlite3, time

def seen():
    store = sqlite3.connect("file:FOLDER/here.db?mode=ro", uri=True)
    with contextlib.closing(store):
        return store.execute(
            "SELECT e.benchmark_id, e.status, COUNT(m.name) > 0 FROM benchmark_executions e"
            " LEFT JOIN metrics m ON m.execution_key=e.key GROUP BY e.key ORDER BY e.ordinal"
        ).fetchall()

def first(prompt):
    return str(seen())

def patient(prompt):
    if prompt == "point 1":
        while seen()[0] != ("echo", "complete", 1):
            time.sleep(0.01)
    return str(seen())
"""


async def answers(folder: Path, document: dict[str, Any], name: str) -> list[str]:
    made = plan(folder, document, SEES_OTHERS.replace("FOLDER", str(folder)), name)
    database = folder / "here.db"
    create_or_migrate(database)
    outcome = await carry_out(made, database)
    assert outcome.status == "complete"
    with closing(connect_to_read(database)) as store:
        rows = store.execute("SELECT json_extract(answer, '$.text') FROM answers ORDER BY seq")
        return [row[0] for row in rows]


async def test_a_group_is_finished_before_another_benchmark_begins(tmp_path: Path) -> None:
    document = suite(1)
    document["benchmarks"].append({**document["benchmarks"][0], "benchmark_id": "other"})
    _, second = await answers(tmp_path, document, "first")
    assert second.startswith("[('echo', 'complete', 1)")


async def test_a_point_is_finished_while_a_later_one_takes_longer(tmp_path: Path) -> None:
    """Without that the second point would wait for ever."""
    cases = {"cases": [{"id": "c", "input": "point ${n}"}]}
    document = suite(
        suite={"parameters": {"n": 0}},
        dataset=cases,
        scorers=[],
        sweep={"parameters": {"n": [0, 1]}},
    )
    _, second = await answers(tmp_path, document, "patient")
    assert second.startswith("[('echo', 'complete', 1), ")
    assert "running" in second or "planned" in second


async def test_every_point_of_a_sweep_is_complete_with_its_metrics(tmp_path: Path) -> None:
    count = 2 * ended_groups.MOST_TOGETHER + 3
    document = suite(
        1, suite={"parameters": {"n": 0}}, sweep={"parameters": {"n": [*range(count)]}}
    )
    result = await run(tmp_path, document, "def echo(prompt): return prompt", "echo")
    assert result.column("SELECT status FROM benchmark_executions") == ["complete"] * count
    assert result.column("SELECT accuracy_score FROM benchmark_executions") == [1.0] * count
    each = result.column("SELECT COUNT(*) FROM metrics GROUP BY execution_key")
    assert len(each) == count
    assert len(set(each)) == 1
    points = result.column("SELECT json_extract(parameters, '$.n') FROM benchmark_executions")
    assert sorted(points) == list(range(count))


async def test_what_ends_before_its_metrics_are_stored_is_not_complete(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A run that is killed there finishes it when it is resumed."""

    async def fail(*_: object) -> None:
        raise StoreError("the disk is gone")

    made = plan(tmp_path, suite(1), "def echo(prompt): return prompt", "echo")
    database = tmp_path / "here.db"
    create_or_migrate(database)
    monkeypatch.setattr("agentbench_tui.engine.run.finish.finish_executions", fail)
    with pytest.raises(StoreError, match="the disk is gone"):
        await carry_out(made, database)
    with closing(connect_to_read(database)) as store:
        (row,) = store.execute("SELECT status, end_time IS NOT NULL FROM benchmark_executions")
    assert tuple(row) == ("incomplete", 1)
