"""The world's journal: writes every step of a simulation to SQLite as it happens.

Ways to keep it: in a file on disk from the start, with SQLite's own settings or with a write-ahead
log; in memory, lost at the end; in memory and copied into a file when the simulation is over.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from agentbench_tui.experiments.farm.world import StepRecord, World

Storage = Literal["disk", "disk_wal", "memory", "memory_persist"]
"""`disk` is SQLite as it comes; `disk_wal` loses the last steps in a power cut, never the file."""

_PRAGMAS: Mapping[Storage, Mapping[str, str]] = {
    "disk_wal": {"journal_mode": "WAL", "synchronous": "NORMAL"}
}

_SCHEMA = """
CREATE TABLE agents (id INTEGER PRIMARY KEY, born INTEGER NOT NULL, died INTEGER);
CREATE TABLE states (
    step INTEGER NOT NULL, agent INTEGER NOT NULL, action INTEGER NOT NULL,
    x REAL NOT NULL, y REAL NOT NULL, energy REAL NOT NULL, eaten REAL NOT NULL,
    PRIMARY KEY (step, agent)
) WITHOUT ROWID;
CREATE INDEX states_of_agent ON states (agent, step);
CREATE TABLE steps (
    step INTEGER PRIMARY KEY, population INTEGER NOT NULL, resources REAL NOT NULL
);
"""
ROWS_OF = ("agents", "states", "steps")


class Journal:
    """One journal, open for writing.

    A step is one transaction: after it, only a failure of the storage loses data.
    """

    def __init__(self, storage: Storage, path: Path) -> None:
        """Create a journal; `path` is its location, or its destination at the end.

        Raises FileExistsError if the file exists.
        """
        if storage != "memory" and path.exists():
            raise FileExistsError(f"{path}: is there already; a journal begins in a new file")
        self.storage = storage
        self.path = path
        self.connection = sqlite3.connect(path if storage.startswith("disk") else ":memory:")
        for name, value in _PRAGMAS.get(storage, {}).items():
            self.connection.execute(f"PRAGMA {name}={value}")
        self.connection.executescript(_SCHEMA)

    def open_with(self, world: World) -> None:
        """Write the initial agents before the first step."""
        with self.connection:
            self.connection.executemany(
                "INSERT INTO agents (id, born) VALUES (?, ?)",
                [(agent, world.step_count) for agent in world.ids.tolist()],
            )

    def write(self, record: StepRecord, world: World) -> None:
        """Write one step and commit."""
        from agentbench_tui.experiments.farm.world import BORN, DIED

        ids, actions = record.ids.tolist(), record.actions.tolist()
        rows = zip(
            [record.step] * len(ids),
            ids,
            actions,
            record.x.tolist(),
            record.y.tolist(),
            record.energy.tolist(),
            record.eaten.tolist(),
            strict=True,
        )
        born = [(one, record.step) for one, did in zip(ids, actions, strict=True) if did == BORN]
        died = [(record.step, one) for one, did in zip(ids, actions, strict=True) if did == DIED]
        summary = (record.step, world.population, float(world.resources.sum()))
        with self.connection as db:
            db.executemany("INSERT INTO states VALUES (?, ?, ?, ?, ?, ?, ?)", rows)
            db.executemany("INSERT INTO agents (id, born) VALUES (?, ?)", born)
            db.executemany("UPDATE agents SET died = ? WHERE id = ?", died)
            db.execute("INSERT INTO steps VALUES (?, ?, ?)", summary)

    def rows(self) -> dict[str, int]:
        """Return the number of rows of each table."""
        return {
            table: self.connection.execute(f"SELECT COUNT(*) FROM {table}").fetchone()[0]  # noqa: S608  # names of ours
            for table in ROWS_OF
        }

    def settings(self) -> tuple[str, dict[str, Any]]:
        """Return its location according to SQLite, empty for memory, and its active settings."""
        lies_at = self.connection.execute("PRAGMA database_list").fetchone()[2]
        pragmas = {
            name: self.connection.execute(f"PRAGMA {name}").fetchone()[0]
            for name in ("journal_mode", "synchronous")
        }
        return lies_at, pragmas

    def finish(self) -> None:
        """Copy the journal into the file if requested, and close it."""
        try:
            if self.storage == "memory_persist":
                target = sqlite3.connect(self.path)
                try:
                    self.connection.backup(target)
                finally:
                    target.close()
        finally:
            self.connection.close()

    def discard(self) -> None:
        """Close without keeping anything in memory."""
        self.connection.close()
