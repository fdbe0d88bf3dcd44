"""The latest executions of each version, benchmark and point, against all that there are."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from agentbench_tui.store.database import create_or_migrate
from agentbench_tui.store.queries.latest import latest_executions
from agentbench_tui.store.queries.selection import executions_where

DAY = "2026-11-{:02d}T10:00:00.000Z"


@pytest.fixture
def connection(tmp_path: Path) -> Iterator[sqlite3.Connection]:
    """Runs 1 … 3, a day each; nothing else is stored."""
    database = tmp_path / "store.db"
    create_or_migrate(database)
    with closing(sqlite3.connect(database)) as opened:
        for key in (1, 2, 3):
            opened.execute(
                "INSERT INTO runs (key, id, workspace_id, status, suite_ids, plan, seed, repeats,"
                " tags, notes, tool_version, started_at) VALUES"
                " (?, ?, 'w', 'complete', '[]', '{}', 1, 1, '[]', '', '0', ?)",
                (key, f"run-{key}", DAY.format(key)),
            )
        yield opened


def add(
    connection: sqlite3.Connection, key: int, run: int, *, version: str = "1",
    benchmark: str = "b", point: str = "{}", status: str = "complete", simulated: int = 0,
) -> None:  # fmt: skip
    connection.execute(
        "INSERT INTO benchmark_executions (key, id, run_key, ordinal, suite_hash, suite_id,"
        " benchmark_id, agent_id, agent_version, workspace_id, parameters, seed, simulated, status,"
        " created_at) VALUES (?, ?, ?, 0, 'h', 's', ?, 'a', ?, 'w', ?, 1, ?, ?, ?)",
        (key, f"e{key}", run, benchmark, version, point, simulated, status, DAY.format(run)),
    )


def test_only_the_latest_run_of_each_speaks_for_it(connection: sqlite3.Connection) -> None:
    add(connection, 1, 1)
    add(connection, 2, 2)
    add(connection, 3, 2)  # another seed, say
    add(connection, 4, 3, status="interrupted")
    add(connection, 5, 1, version="2")
    add(connection, 6, 1, benchmark="c")
    add(connection, 7, 1, point='{"rate":5}')
    add(connection, 8, 1, simulated=1)
    found = latest_executions(connection)
    assert [row["key"] for row in found] == [5, 6, 7, 8, 2, 3]
    everything = {row["key"]: row for row in executions_where(connection)}
    assert found == [everything[row["key"]] for row in found]
    assert found[2]["parameters"] == {"rate": 5}


def test_a_window_and_a_suite_leave_others_out(connection: sqlite3.Connection) -> None:
    add(connection, 1, 1)
    add(connection, 2, 3)
    assert [row["key"] for row in latest_executions(connection, since=DAY.format(2))] == [2]
    assert latest_executions(connection, since=DAY.format(4)) == []
    assert [row["key"] for row in latest_executions(connection, suite="s")] == [2]
    assert latest_executions(connection, suite="t") == []


def test_a_benchmark_and_a_run_leave_others_out(connection: sqlite3.Connection) -> None:
    add(connection, 1, 1)
    add(connection, 2, 3)
    add(connection, 3, 1, benchmark="c")
    assert [row["key"] for row in latest_executions(connection, benchmark="c")] == [3]
    assert [row["key"] for row in latest_executions(connection, run_key=1)] == [1, 3]
    assert [row["key"] for row in latest_executions(connection, run_key=1, benchmark="b")] == [1]
