"""From schema 6 to 7: prices of older runs tell nothing of what is written to a cache."""

import sqlite3
from contextlib import closing
from pathlib import Path

from agentbench_tui.store.database import (
    SCHEMA_VERSION,
    create_or_migrate,
    migrations,
    schema_of,
)


def test_prices_of_schema_6_are_kept(tmp_path: Path) -> None:
    path = tmp_path / "old.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA journal_mode=WAL")
        for number, sql in migrations():
            if number <= 6:
                connection.executescript(sql)
        connection.execute("PRAGMA user_version=6")
        connection.execute("PRAGMA foreign_keys=OFF")
        connection.execute(
            "INSERT INTO prices (run_key, model, input_usd_per_mtok, output_usd_per_mtok,"
            " cached_input_usd_per_mtok, source) VALUES (1, 'm', 3, 15, 0.3, 'given')"
        )
        connection.commit()
    assert schema_of(path) == 6
    create_or_migrate(path)
    assert schema_of(path) == SCHEMA_VERSION
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute(
            "SELECT input_usd_per_mtok, cached_input_usd_per_mtok, cache_write_usd_per_mtok,"
            " cache_write_1h_usd_per_mtok FROM prices"
        ).fetchall() == [(3, 0.3, None, None)]
