"""The leaderboard's views over chosen executions; the window is 30 days unless told otherwise."""

from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from agentbench_tui.store.database import connect_to_read, create_or_migrate
from agentbench_tui.store.queries.leaderboard import ExecutionFilter, leaderboard_rows, matrix_rows
from agentbench_tui.store.transaction import write_once


def at(days_ago: float) -> str:
    return (datetime.now(UTC) - timedelta(days=days_ago)).strftime("%Y-%m-%dT%H:%M:%S.000Z")


@pytest.fixture
def database(tmp_path: Path) -> Path:
    """Complete executions of `new` and `old`, 1 and 40 days ago."""
    path = tmp_path / "store.db"
    create_or_migrate(path)
    run = (
        "INSERT INTO runs (id, workspace_id, status, suite_ids, plan, seed, repeats, tags, notes,"
        " tool_version, started_at) VALUES ('r','w','complete','[]','{}',1,1,'[]','','0','')"
    )
    execution = (
        "INSERT INTO benchmark_executions (id, run_key, ordinal, suite_hash, suite_id,"
        " benchmark_id, agent_id, agent_version, workspace_id, seed, accuracy_score, status,"
        " created_at) VALUES ('{0}',1,0,'h','s','b','{0}','1','w',1,0.5,'complete','{1}')"
    )
    script = [
        "INSERT INTO benchmark_suites VALUES ('h','s','S','speed','1','','{}',NULL,'')",
        run,
    ]
    for name, when in (("new", at(1)), ("old", at(40))):
        script += [f"INSERT INTO agents VALUES ('{name}','{name}','')"]
        script += [execution.format(name, when)]
    write_once(path, [lambda c: [c.execute(line) for line in script]])
    return path


@pytest.mark.parametrize(
    ("days", "names"), [(30, ["new"]), (60, ["new", "old"]), (1000, ["new", "old"])]
)
def test_only_executions_of_the_window_count(database: Path, days: int, names: list[str]) -> None:
    with closing(connect_to_read(database)) as connection:
        found = leaderboard_rows(connection, ExecutionFilter(days=days))
    assert sorted(row["agent_id"] for row in found) == names
    assert all(row["scores_and_ranks"]["accuracy"]["score"] == 0.5 for row in found)


def test_the_default_is_the_view_itself(database: Path) -> None:
    with closing(connect_to_read(database)) as connection:
        view = connection.execute("SELECT agent_id FROM benchmark_leaderboard").fetchall()
        found = leaderboard_rows(connection, ExecutionFilter())
    assert [row["agent_id"] for row in found] == [row[0] for row in view] == ["new"]


@pytest.mark.parametrize(
    ("kept", "names"),
    [
        (ExecutionFilter(days=None), ["new", "old"]),
        (ExecutionFilter(days=None, suite="s"), ["new", "old"]),
        (ExecutionFilter(days=None, suite="t"), []),
        (ExecutionFilter(days=None, category="speed", benchmark="b"), ["new", "old"]),
        (ExecutionFilter(days=None, category="accuracy"), []),
        (ExecutionFilter(days=None, benchmark="c"), []),
        (ExecutionFilter(days=None, run_key=1), ["new", "old"]),
        (ExecutionFilter(days=None, run_key=2), []),
        (ExecutionFilter(run_key=1), ["new"]),
    ],
)
def test_every_filter_applies_to_both_views(
    database: Path, kept: ExecutionFilter, names: list[str]
) -> None:
    with closing(connect_to_read(database)) as connection:
        for rows in (leaderboard_rows(connection, kept), matrix_rows(connection, kept)):
            assert sorted(row["agent_id"] for row in rows) == names


def test_ranks_are_among_the_executions_that_are_kept(database: Path) -> None:
    better = "UPDATE benchmark_executions SET accuracy_score=0.9 WHERE agent_id='old'"
    write_once(database, [lambda c: c.execute(better)])
    with closing(connect_to_read(database)) as connection:
        (recent,) = matrix_rows(connection, ExecutionFilter())
        first, second = matrix_rows(connection, ExecutionFilter(days=None))
    assert (recent["agent_id"], recent["accuracy_rank"]) == ("new", 1)
    assert [(row["agent_id"], row["accuracy_rank"]) for row in (first, second)] == [
        ("old", 1), ("new", 2)
    ]  # fmt: skip
