"""From schema 1 to 2: a database made by the version before is brought up to date, whole."""

import hashlib
import os
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from agentbench_tui.model.errors import StoreError
from agentbench_tui.store.archive import export_run, import_runs
from agentbench_tui.store.database import (
    SCHEMA_VERSION,
    connect_to_read,
    create_or_migrate,
    reading,
    schema_of,
)
from agentbench_tui.store.locking import Lease
from agentbench_tui.store.removal import delete_run
from agentbench_tui.store.transaction import write_once
from agentbench_tui.verdicts.runs.documents import run_document

RUN = "01a22121-afc3-7fbd-9ae5-09fd03aab646"


@pytest.fixture
def old(tmp_path: Path) -> Path:
    """A database as the last version of schema 1 wrote it."""
    path = tmp_path / "old" / "old.db"
    path.parent.mkdir()
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(Path(__file__).with_name("schema_1.sql").read_text())
    return path


def rows(path: Path, statement: str) -> list[tuple[Any, ...]]:
    with closing(connect_to_read(path)) as connection:
        return [tuple(row) for row in connection.execute(statement).fetchall()]


def schema(path: Path) -> list[tuple[str, str]]:
    with closing(sqlite3.connect(path)) as connection:
        found = connection.execute("SELECT name, sql FROM sqlite_master ORDER BY name").fetchall()
    return [(name, " ".join((sql or "").split())) for name, sql in found]


def test_an_old_database_gets_the_schema_of_a_new_one(old: Path, tmp_path: Path) -> None:
    assert schema_of(old) == 1
    create_or_migrate(old)
    create_or_migrate(tmp_path / "new.db")
    assert schema_of(old) == SCHEMA_VERSION
    assert schema(old) == schema(tmp_path / "new.db")
    with closing(sqlite3.connect(old)) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone()[0] == "ok"
        assert connection.execute("PRAGMA foreign_key_check").fetchall() == []


def test_what_was_in_it_stays(old: Path) -> None:
    with closing(sqlite3.connect(old)) as connection:
        tables = [
            row[0]
            for row in connection.execute(
                "SELECT name FROM sqlite_master WHERE type='table' AND name NOT LIKE 'sqlite%'"
            )
        ]
        count = {
            table: connection.execute(f"SELECT COUNT(*) FROM {table}").fetchone()[0]
            for table in tables
        }
    create_or_migrate(old)
    for table, n in count.items():
        assert rows(old, f"SELECT COUNT(*) FROM {table}") == [(n,)], table
    assert rows(old, "SELECT answered, correct, sent, failed, ttft_histogram FROM ticks") == [
        (2, 2, 0, 0, None)
    ]


def test_reading_an_old_database_brings_it_up_to_date(old: Path) -> None:
    with reading(old) as connection:
        run = dict(connection.execute("SELECT * FROM runs").fetchone())
        document = run_document(connection, run)
    assert document["executions"][0]["metrics"]["accuracy"]["value"] == 1.0
    assert schema_of(old) == SCHEMA_VERSION


def test_an_old_database_that_cannot_be_written_says_what_to_do(
    old: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = old.read_bytes()
    # Asked rather than tried: the superuser, whom permissions do not stop, runs tests too.
    monkeypatch.setattr(os, "access", lambda path, mode: mode == os.R_OK)
    with pytest.raises(StoreError, match=r"older agentbench \(schema 1.*copy it to a folder"):
        connect_to_read(old)
    assert old.read_bytes() == before


def test_nothing_is_changed_under_a_run_that_goes_on(old: Path) -> None:
    with closing(sqlite3.connect(old)) as connection:
        connection.execute("UPDATE runs SET status='running'")
        connection.commit()
    lease = Lease.take(old, RUN)
    assert lease is not None
    with pytest.raises(StoreError, match=f"run {RUN} of an older agentbench is still running"):
        create_or_migrate(old)
    assert schema_of(old) == 1
    lease.release()
    create_or_migrate(old)
    assert schema_of(old) == SCHEMA_VERSION


def test_an_old_export_is_imported_and_stays_as_it_was(old: Path, tmp_path: Path) -> None:
    with closing(sqlite3.connect(old)) as connection:
        connection.execute("PRAGMA journal_mode=DELETE")
    digest = hashlib.sha256(old.read_bytes()).hexdigest()
    old.with_name("old.db.sha256").write_text(f"{digest}  old.db\n")
    database = tmp_path / "store.db"
    assert import_runs(database, old).new == (RUN,)
    assert hashlib.sha256(old.read_bytes()).hexdigest() == digest
    assert rows(database, "SELECT id, status, error FROM runs") == [(RUN, "complete", None)]
    assert rows(database, "SELECT COUNT(*) FROM answers") == [(2,)]
    assert import_runs(database, old).new == ()
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".agentbench")] == []


def with_load(path: Path, chunks: int = 120) -> None:
    """Gives the run of `path` what a load execution leaves."""

    def change(connection: sqlite3.Connection) -> None:
        connection.executemany(
            "INSERT INTO sample_chunks (run_key, execution_key, repeat, worker, rows, samples,"
            " gaps) VALUES (1, 1, 0, 0, 1, ?, ?)",
            [(b"s%d" % number, b"g%d" % number) for number in range(chunks)],
        )
        connection.execute("INSERT INTO load_windows VALUES (1, 0, 1, '{\"w\": 1}')")
        connection.execute("INSERT INTO load_summaries VALUES (1, 1, 'clean', '{\"s\": 1}')")
        connection.execute(
            "INSERT INTO calibrations (run_key, fingerprint, document) VALUES (1, 'f1', '{}')"
        )

    write_once(path, [change])


LOAD = {
    "sample_chunks": "SELECT rows, samples, gaps FROM sample_chunks ORDER BY seq",
    "load_windows": "SELECT repeat, document FROM load_windows",
    "load_summaries": "SELECT verdict, document FROM load_summaries",
    "calibrations": "SELECT fingerprint, document FROM calibrations",
}


def test_load_goes_out_and_in_with_its_run(old: Path, tmp_path: Path) -> None:
    with_load(old)
    export_run(old, RUN, tmp_path / "out.db")
    # So that no key stays the same.
    database = tmp_path / "store.db"
    create_or_migrate(database)
    numbered = [("runs",), ("benchmark_executions",), ("sample_chunks",)]
    sequence = "INSERT INTO sqlite_sequence (name, seq) VALUES (?, 40)"
    write_once(database, [lambda c: c.executemany(sequence, numbered)])
    assert import_runs(database, tmp_path / "out.db").new == (RUN,)
    for table, statement in LOAD.items():
        assert rows(database, statement) == rows(old, statement), table
    belongs = "SELECT DISTINCT run_key, execution_key FROM %s"
    for table in ("sample_chunks", "load_windows", "load_summaries"):
        assert rows(database, belongs % table) == [(41, 41)]
    assert rows(database, "SELECT run_key FROM calibrations") == [(41,)]


def test_load_is_removed_with_its_run(old: Path) -> None:
    with_load(old)
    delete_run(old, RUN)
    for table in (*LOAD, "runs", "benchmark_executions"):
        assert rows(old, f"SELECT COUNT(*) FROM {table}") == [(0,)], table
