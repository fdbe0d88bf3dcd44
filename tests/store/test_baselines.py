"""Baselines and accepted changes: kept, replaced, carried along with a run, removed with it."""

import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from agentbench_tui.store.archive import export_run, import_runs
from agentbench_tui.store.database import (
    SCHEMA_VERSION,
    create_or_migrate,
    reading,
    schema_of,
)
from agentbench_tui.store.queries.baselines import (
    AcceptedChange,
    Baseline,
    accepted_changes,
    baselines_of,
)
from agentbench_tui.store.removal import delete_run
from agentbench_tui.store.writes.baselines import (
    keep_accepted,
    keep_baseline,
    remove_accepted,
    remove_baseline,
)

OF_VERSION = Baseline("perfect", "default", "", "", "version", "88fe01bfd07d", "2026-11-28")


@pytest.fixture
def old(tmp_path: Path) -> Path:
    """A database as the last version of schema 2 wrote it."""
    path = tmp_path / "old" / "old.db"
    path.parent.mkdir()
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(Path(__file__).with_name("schema_2.sql").read_text())
    return path


@pytest.fixture
def run_id(old: Path) -> str:
    with closing(sqlite3.connect(old)) as connection:
        return str(connection.execute("SELECT id FROM runs").fetchone()[0])


def of_run(run_id: str) -> Baseline:
    return Baseline("perfect", "release", "tiny", "sums", "run", run_id, "2026-11-28")


def change_of(run_id: str) -> AcceptedChange:
    since = "2026-11-28T10:00:00.000Z"
    return AcceptedChange(
        "perfect", "tiny", "sums", "{}", "e2e_ms.p50", since, run_id, 10.0, 12.0, "2026-11-28"
    )


def kept(path: Path) -> tuple[list[Baseline], list[AcceptedChange]]:
    with reading(path) as connection:
        return baselines_of(connection, "perfect"), accepted_changes(connection, "perfect")


def schema(path: Path) -> list[tuple[str, str]]:
    with closing(sqlite3.connect(path)) as connection:
        found = connection.execute("SELECT name, sql FROM sqlite_master ORDER BY name").fetchall()
    return [(name, " ".join((sql or "").split())) for name, sql in found]


def test_a_database_of_schema_2_is_brought_up_to_date_whole(old: Path, tmp_path: Path) -> None:
    assert schema_of(old) == 2
    count = "SELECT (SELECT COUNT(*) FROM answers), (SELECT COUNT(*) FROM metrics)"
    with closing(sqlite3.connect(old)) as connection:
        before = connection.execute(count).fetchall()
    create_or_migrate(old)
    create_or_migrate(tmp_path / "new.db")
    assert schema_of(old) == SCHEMA_VERSION
    assert schema(old) == schema(tmp_path / "new.db")
    with closing(sqlite3.connect(old)) as connection:
        assert connection.execute(count).fetchall() == before
        assert connection.execute("PRAGMA foreign_key_check").fetchall() == []


def test_a_baseline_is_replaced_by_one_of_its_name_and_place(old: Path) -> None:
    keep_baseline(old, OF_VERSION)
    keep_baseline(old, replace(OF_VERSION, benchmark_id="sums", target="other"))
    keep_baseline(old, replace(OF_VERSION, target="new"))
    found, _ = kept(old)
    assert [(one.benchmark_id, one.target) for one in found] == [("sums", "other"), ("", "new")]
    assert remove_baseline(old, "perfect", "default") == 2
    assert remove_baseline(old, "perfect", "default") == 0


def test_an_accepted_change_can_be_taken_back(old: Path, run_id: str) -> None:
    change = change_of(run_id)
    other = replace(change, metric="accuracy")
    keep_accepted(old, [change, other])
    keep_accepted(old, [change])
    remove_accepted(old, [change])
    assert kept(old)[1] == [other]


def test_what_speaks_of_a_run_goes_where_it_goes(old: Path, run_id: str, tmp_path: Path) -> None:
    keep_baseline(old, OF_VERSION)
    keep_baseline(old, of_run(run_id))
    keep_accepted(old, [change_of(run_id), replace(change_of("another"), metric="accuracy")])
    export_run(old, run_id, tmp_path / "out.db")
    import_runs(tmp_path / "store.db", tmp_path / "out.db")
    assert kept(tmp_path / "store.db") == ([of_run(run_id)], [change_of(run_id)])


def test_an_import_does_not_change_the_baseline_that_is_set(
    old: Path, run_id: str, tmp_path: Path
) -> None:
    keep_baseline(old, of_run(run_id))
    store = tmp_path / "store.db"
    create_or_migrate(store)
    own = replace(of_run(run_id), kind="version", target="3")
    keep_baseline(store, own)
    export_run(old, run_id, tmp_path / "out.db")
    import_runs(store, tmp_path / "out.db")
    assert kept(store)[0] == [own]


def test_a_deleted_run_is_no_baseline_but_its_level_stays(old: Path, run_id: str) -> None:
    keep_baseline(old, OF_VERSION)
    keep_baseline(old, of_run(run_id))
    keep_accepted(old, [change_of(run_id)])
    delete_run(old, run_id)
    assert kept(old) == ([OF_VERSION], [change_of(run_id)])
