"""`pragma_profile`: four sets of SQLite settings under three workloads.

Every profile does the same work: equal rows in equal order, all of them in the database's own file
when the clock stops, or read by a connection with an empty cache. The active settings are read
back.
"""

from __future__ import annotations

import random
import shutil
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, Literal

from pydantic import BaseModel, ConfigDict, Field

from agentbench_tui.experiments.experiment import (
    Experiment,
    ExperimentContext,
    register_experiment,
)
from agentbench_tui.model.clock import perf_counter

PROFILES: Mapping[str, Mapping[str, str | int]] = {
    "balanced": {
        "page_size": 4096,
        "journal_mode": "WAL",
        "synchronous": "NORMAL",
        "cache_size": -200_000,
        "busy_timeout": 30_000,
    },
    "performance": {
        "page_size": 8192,
        "journal_mode": "MEMORY",
        "synchronous": "OFF",
        "cache_size": -200_000,
        "mmap_size": 2**30,
        "automatic_index": 0,
        "busy_timeout": 60_000,
    },
    "safety": {
        "page_size": 4096,
        "journal_mode": "WAL",
        "synchronous": "FULL",
        "cache_size": -100_000,
        "busy_timeout": 30_000,
    },
    "memory": {
        "page_size": 4096,
        "journal_mode": "MEMORY",
        "synchronous": "NORMAL",
        "cache_size": -50_000,
        "busy_timeout": 15_000,
    },
}
"""Profile → PRAGMA → value, in the order in which they are set; a negative cache is in KiB."""
COMMON: Mapping[str, str | int] = {"foreign_keys": 1, "temp_store": "MEMORY"}

_TABLE = """CREATE TABLE records
    (id INTEGER PRIMARY KEY, data TEXT NOT NULL, value REAL NOT NULL, at INTEGER NOT NULL)"""
_INSERT = "INSERT INTO records VALUES (?, ?, ?, ?)"
_READS = (
    "SELECT COUNT(*) FROM records",
    "SELECT COUNT(*) FROM records WHERE value > 50",
    "SELECT AVG(value), MIN(value), MAX(value) FROM records",
    "SELECT a.id, b.id FROM records a JOIN records b ON a.value = b.value LIMIT 1000",
    "SELECT * FROM records WHERE id BETWEEN 1000 AND 2000",
    "SELECT SUM(LENGTH(data)) FROM records",
)
_LOOK_UPS = 2000
_READ_BYTES = 750
"""Length of a text that read_heavy reads; a row of it takes about 770 bytes."""
_MIXED_COMMIT = 100

Row = tuple[int, str, float, int]


def open_database(path: Path, profile: str) -> sqlite3.Connection:
    """Return a database with the profile's settings active; created if it does not exist."""
    connection = sqlite3.connect(path)
    for name, value in {**PROFILES[profile], **COMMON}.items():
        connection.execute(f"PRAGMA {name}={value}")
    return connection


def effective_pragmas(connection: sqlite3.Connection) -> dict[str, str | int]:
    """Return the active values of everything that any profile sets."""
    names = sorted({*COMMON, *(name for one in PROFILES.values() for name in one)})
    return {name: _pragma(connection, name) for name in names}


def _pragma(connection: sqlite3.Connection, name: str) -> str | int:
    value: str | int = connection.execute(f"PRAGMA {name}").fetchone()[0]
    return value


def write_heavy(connection: sqlite3.Connection, rows: list[Row], batch: int) -> int:
    """Insert all rows with one transaction per batch; return the number of statements."""
    for start in range(0, len(rows), batch):
        with connection:
            connection.executemany(_INSERT, rows[start : start + batch])
    return len(rows)


def read_heavy(connection: sqlite3.Connection, keys: Sequence[int]) -> int:
    """Run counts, a range by index, sums, a join, a range by key, a pass over every text, and
    then the texts of this many keys, which a large cache already holds.
    """
    for query in _READS:
        connection.execute(query).fetchall()
    for key in keys:
        connection.execute("SELECT data FROM records WHERE id = ?", (key,)).fetchall()
    return len(_READS) + len(keys)


def settle(connection: sqlite3.Connection) -> None:
    """Move the write-ahead log, if there is one, into the database file."""
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()


def mixed(connection: sqlite3.Connection, rows: list[Row]) -> int:
    """Insert rows one by one under an index; after every tenth run a look-up, a count and a mean of
    the last hundred; one transaction per hundred.
    """
    statements = 0
    for nth, row in enumerate(rows, 1):
        connection.execute(_INSERT, row)
        statements += 1
        if nth % 10 == 0:
            connection.execute("SELECT * FROM records WHERE id = ?", (nth // 2,)).fetchall()
            last = "FROM records WHERE id > ?"
            connection.execute(f"SELECT COUNT(*) {last}", (nth - 100,)).fetchall()
            connection.execute(f"SELECT AVG(value) {last}", (nth - 100,)).fetchall()
            statements += 3
        if nth % _MIXED_COMMIT == 0:
            connection.commit()
    connection.commit()
    return statements


@register_experiment("pragma_profile")
class PragmaProfile(Experiment):
    """Measures SQLite's settings balanced, performance, safety and memory under one workload.

    Each call has a new database, which is made before it is timed; that of read_heavy is filled
    once, and each call has a new connection to it.
    """

    class Parameters(BaseModel):
        model_config = ConfigDict(extra="forbid")

        profile: Literal["balanced", "performance", "safety", "memory"] = "balanced"
        workload: Literal["write_heavy", "read_heavy", "mixed"] = "write_heavy"
        num_records: int = Field(10_000, ge=10, description="Rows that are written.")
        row_bytes: int = Field(100, ge=1, description="Length of a written row's text.")
        db_size_mb: float = Field(
            100.0, gt=0, le=100_000,
            description="What read_heavy reads; caches have 50 to 200 MB, so less tells little.",
        )  # fmt: skip
        batch_size: int = Field(1000, ge=1, description="Rows in a transaction of write_heavy.")

    variants: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        name: {"profile": name} for name in PROFILES
    }
    better: ClassVar[Mapping[str, Literal["lower", "higher"]]] = {
        "workload_s": "lower",
        "statements_per_s": "higher",
    }
    asks_agent = False
    tags: ClassVar[tuple[str, ...]] = ("database",)
    _db: sqlite3.Connection | None = None
    """Database of the next call."""

    def setup(self, context: ExperimentContext) -> None:
        self._folder = context.run_dir / "databases"
        shutil.rmtree(self._folder, ignore_errors=True)  # of this very run, interrupted here
        self._folder.mkdir()
        self._path = self._folder / "measured.db"
        draw = random.Random(context.seed)  # noqa: S311  # rows, not secrets
        if self.params["workload"] == "read_heavy":
            count = int(self.params["db_size_mb"] * 1e6 / (_READ_BYTES + 20)) + 1
            self._keys = [draw.randint(1, count) for _ in range(_LOOK_UPS)]
            self._open()
            with self._connection as db:
                db.executemany(_INSERT, _rows(draw, count, _READ_BYTES))
            self._index()
        else:
            self._rows = list(_rows(draw, self.params["num_records"], self.params["row_bytes"]))

    def before_each(self, context: ExperimentContext) -> None:  # noqa: ARG002
        self._close()
        if self.params["workload"] == "read_heavy":
            self._db = open_database(self._path, self.params["profile"])
            return
        self._path.unlink(missing_ok=True)
        self._open()
        if self.params["workload"] == "mixed":
            self._index()
        settle(self._connection)

    def execute_once(self, context: ExperimentContext) -> dict[str, Any]:  # noqa: ARG002
        workload, began = self.params["workload"], perf_counter()
        db = self._connection
        if workload == "read_heavy":
            statements = read_heavy(db, self._keys)
        elif workload == "write_heavy":
            statements = write_heavy(db, self._rows, self.params["batch_size"])
            settle(db)
        else:
            statements = mixed(db, self._rows)
            settle(db)
        seconds = perf_counter() - began
        return {
            "workload_s": seconds,
            "statements": statements,
            "statements_per_s": statements / seconds,
        }

    @property
    def _connection(self) -> sqlite3.Connection:
        assert self._db is not None
        return self._db

    def _open(self) -> None:
        self._db = open_database(self._path, self.params["profile"])
        self._db.execute(_TABLE)

    def _close(self) -> None:
        if self._db is not None:
            self._db.close()
            self._db = None

    def teardown(self, context: ExperimentContext) -> None:
        self._close()
        shutil.rmtree(context.run_dir / "databases", ignore_errors=True)

    def effective(self, context: ExperimentContext) -> Mapping[str, Any]:  # noqa: ARG002
        """Return the values of every PRAGMA according to SQLite, for a measured database."""
        path = self._folder / "probe.db"
        connection = open_database(path, self.params["profile"])
        try:
            connection.execute(_TABLE)
            given = effective_pragmas(connection)
        finally:
            connection.close()
            path.unlink()
        rest = {name: value for name, value in self.params.items() if name != "profile"}
        return {**rest, **given}

    def _index(self) -> None:
        self._connection.execute("CREATE INDEX records_by_value ON records (value)")
        self._connection.commit()


def _rows(draw: random.Random, count: int, text_bytes: int) -> Iterator[Row]:
    for nth in range(1, count + 1):
        text = draw.randbytes((text_bytes + 1) // 2).hex()[:text_bytes]
        yield nth, text, draw.uniform(0, 100), nth
