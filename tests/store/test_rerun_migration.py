"""From schema 10 to 11: executions of older runs continue none."""

import sqlite3
from contextlib import closing
from pathlib import Path

from agentbench_tui.store.database import SCHEMA_VERSION, create_or_migrate, migrations, schema_of


def test_executions_of_schema_10_are_kept_and_continue_none(tmp_path: Path) -> None:
    path = tmp_path / "old.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA journal_mode=WAL")
        for number, sql in migrations():
            if number <= 10:
                connection.executescript(sql)
        connection.execute("PRAGMA user_version=10")
        connection.execute("PRAGMA foreign_keys=OFF")
        connection.execute(
            "INSERT INTO benchmark_executions (id, run_key, ordinal, suite_hash, suite_id,"
            " benchmark_id, agent_id, agent_version, workspace_id, seed, status, created_at)"
            " VALUES ('e', 1, 0, 'h', 's', 'b', 'a', 'v', 'w', 42, 'complete',"
            " '2026-01-01T00:00:00Z')"
        )
        connection.commit()
    assert schema_of(path) == 10
    create_or_migrate(path)
    assert schema_of(path) == SCHEMA_VERSION
    with closing(sqlite3.connect(path)) as connection:
        rows = connection.execute("SELECT id, replaces, attempts_after FROM benchmark_executions")
        assert rows.fetchall() == [("e", None, None)]
        assert connection.execute("SELECT id FROM latest_executions").fetchall() == [("e",)]
