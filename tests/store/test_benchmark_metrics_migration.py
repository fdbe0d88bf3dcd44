"""From schema 11 to 12: answers and metrics of older runs have no figures of benchmarks."""

import sqlite3
from contextlib import closing
from pathlib import Path

from agentbench_tui.store.database import SCHEMA_VERSION, create_or_migrate, migrations, schema_of


def test_answers_and_metrics_of_schema_11_are_kept(tmp_path: Path) -> None:
    path = tmp_path / "old.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA journal_mode=WAL")
        for number, sql in migrations():
            if number <= 11:
                connection.executescript(sql)
        connection.execute("PRAGMA user_version=11")
        connection.execute("PRAGMA foreign_keys=OFF")
        connection.execute(
            "INSERT INTO answers (run_key, execution_key, case_key, repeat, iteration, attempt,"
            " sent_ms, waiting_ms, api_calls, credit, correct) VALUES (1, 1, 1, 0, 0, 0, 0, 0, 1,"
            " 0.5, 0)"
        )
        connection.execute(
            "INSERT INTO metrics (execution_key, name, value, unit, n) VALUES"
            " (1, 'accuracy', 0.5, 'share', 1)"
        )
        connection.commit()
    create_or_migrate(path)
    assert schema_of(path) == SCHEMA_VERSION
    with closing(sqlite3.connect(path)) as connection:
        answers = connection.execute("SELECT credit, correct, figures FROM answers").fetchall()
        metrics = connection.execute("SELECT name, value, direction FROM metrics").fetchall()
    assert answers == [(0.5, 0, None)]
    assert metrics == [("accuracy", 0.5, None)]
