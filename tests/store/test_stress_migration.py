"""From schema 3 to 4, and where the report of a scenario goes with its run."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from agentbench_tui.store.archive import export_run, import_runs
from agentbench_tui.store.database import SCHEMA_VERSION, create_or_migrate, reading, schema_of
from agentbench_tui.store.removal import delete_run
from agentbench_tui.store.transaction import write_once


@pytest.fixture
def old(tmp_path: Path) -> Path:
    """A database as the last version of schema 3 wrote it."""
    path = tmp_path / "old" / "old.db"
    path.parent.mkdir()
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(Path(__file__).with_name("schema_3.sql").read_text())
    return path


def run_of(path: Path) -> str:
    with closing(sqlite3.connect(path)) as connection:
        return str(connection.execute("SELECT id FROM runs").fetchone()[0])


def schema(path: Path) -> list[tuple[str, str]]:
    with closing(sqlite3.connect(path)) as connection:
        found = connection.execute("SELECT name, sql FROM sqlite_master ORDER BY name").fetchall()
    return [(name, " ".join((sql or "").split())) for name, sql in found]


def reports(path: Path) -> list[str]:
    with reading(path) as connection:
        return [row[0] for row in connection.execute("SELECT document FROM stress_reports")]


def with_report(path: Path) -> None:
    write_once(
        path,
        [
            lambda c: c.execute(
                "INSERT INTO stress_reports (execution_key, run_key, document)"
                " SELECT key, run_key, '{}' FROM benchmark_executions"
                " WHERE benchmark_id='burst'"
            )
        ],
    )


def test_a_database_of_schema_3_is_brought_up_to_date_whole(old: Path, tmp_path: Path) -> None:
    assert schema_of(old) == 3
    count = "SELECT (SELECT COUNT(*) FROM answers), (SELECT SUM(rows) FROM sample_chunks)"
    create_or_migrate(old)
    create_or_migrate(tmp_path / "new.db")
    assert schema_of(old) == SCHEMA_VERSION
    assert schema(old) == schema(tmp_path / "new.db")
    with closing(sqlite3.connect(old)) as connection:
        assert connection.execute(count).fetchall() == [(1, 6)]
        assert connection.execute("PRAGMA foreign_key_check").fetchall() == []


def test_a_report_goes_where_its_run_goes(old: Path, tmp_path: Path) -> None:
    create_or_migrate(old)
    with_report(old)
    run_id = run_of(old)
    export_run(old, run_id, tmp_path / "out.db")
    other = tmp_path / "store.db"
    create_or_migrate(other)
    assert import_runs(other, tmp_path / "out.db").new == (run_id,)
    assert reports(other) == ["{}"]
    with reading(other) as connection:
        found = connection.execute(
            "SELECT e.benchmark_id FROM stress_reports s"
            " JOIN benchmark_executions e ON e.key=s.execution_key AND e.run_key=s.run_key"
        ).fetchall()
    assert [tuple(row) for row in found] == [("burst",)]
    delete_run(other, run_id)
    assert reports(other) == []
