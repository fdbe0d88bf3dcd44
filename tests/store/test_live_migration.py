"""From schema 4 to 5: older ticks tell of no gaps and no queueing."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from agentbench_tui.store.database import SCHEMA_VERSION, create_or_migrate, schema_of


@pytest.fixture
def old(tmp_path: Path) -> Path:
    """A database as the last version of schema 4 wrote it."""
    path = tmp_path / "old" / "old.db"
    path.parent.mkdir()
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(Path(__file__).with_name("schema_4.sql").read_text())
    return path


def schema(path: Path) -> list[tuple[str, str]]:
    with closing(sqlite3.connect(path)) as connection:
        found = connection.execute("SELECT name, sql FROM sqlite_master ORDER BY name").fetchall()
    return [(name, " ".join((sql or "").split())) for name, sql in found]


def test_a_database_of_schema_4_is_brought_up_to_date_whole(old: Path, tmp_path: Path) -> None:
    assert schema_of(old) == 4
    create_or_migrate(old)
    create_or_migrate(tmp_path / "new.db")
    assert schema_of(old) == SCHEMA_VERSION
    assert schema(old) == schema(tmp_path / "new.db")
    with closing(sqlite3.connect(old)) as connection:
        ticks = connection.execute(
            "SELECT SUM(observed), COUNT(itl_histogram), COUNT(queue_histogram) FROM ticks"
        ).fetchall()
        assert ticks == [(7, 0, 0)]
        assert connection.execute("PRAGMA foreign_key_check").fetchall() == []
