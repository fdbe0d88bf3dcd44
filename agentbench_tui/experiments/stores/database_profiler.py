"""`database_profiler`: cost of inserts by transaction size and by part."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar, Literal

from pydantic import BaseModel, ConfigDict, Field

from agentbench_tui.experiments.experiment import (
    Experiment,
    ExperimentContext,
    register_experiment,
)
from agentbench_tui.model.clock import perf_counter

_TABLE = """CREATE TABLE actions
    (step INTEGER, agent INTEGER, kind TEXT, before REAL, after REAL, reward REAL)"""
_INSERT = "INSERT INTO actions VALUES (?, ?, ?, ?, ?, ?)"
_KINDS = ("move", "gather", "share", "attack", "reproduce", "rest")

Row = tuple[int, int, str, float, float, float]


@register_experiment("database_profiler")
class DatabaseProfiler(Experiment):
    """Measures inserts into SQLite on disk or in memory, with a given number of rows per
    transaction.

    `insert_s` is the time of the statements, `commit_s` that of the commits.
    """

    class Parameters(BaseModel):
        model_config = ConfigDict(extra="forbid")

        storage: Literal["disk", "memory"] = "disk"
        records: int = Field(1000, ge=1)
        batch_size: int = Field(100, ge=1, description="Rows in a transaction.")
        synchronous: Literal["OFF", "NORMAL", "FULL"] = "FULL"
        journal_mode: Literal["DELETE", "WAL", "MEMORY"] = "DELETE"

    variants: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        "disk": {"storage": "disk"},
        "memory": {"storage": "memory"},
    }
    better: ClassVar[Mapping[str, Literal["lower", "higher"]]] = {
        "inserts_per_s": "higher",
        "insert_s": "lower",
        "commit_s": "lower",
        "ms_per_commit": "lower",
    }
    asks_agent = False
    tags: ClassVar[tuple[str, ...]] = ("database", "profiling")

    def setup(self, context: ExperimentContext) -> None:
        self._rows: list[Row] = [
            (nth // 30, nth % 30, _KINDS[nth % len(_KINDS)], nth * 0.5, nth * 0.75, 0.25)
            for nth in range(self.params["records"])
        ]
        path = context.run_dir / "actions.db"
        path.unlink(missing_ok=True)  # of this very run, interrupted here
        self._db = sqlite3.connect(path if self.params["storage"] == "disk" else ":memory:")
        self._db.isolation_level = None
        self._db.execute(f"PRAGMA journal_mode={self.params['journal_mode']}")
        self._db.execute(f"PRAGMA synchronous={self.params['synchronous']}")

    def before_each(self, context: ExperimentContext) -> None:  # noqa: ARG002
        self._db.execute("DROP TABLE IF EXISTS actions")
        self._db.execute(_TABLE)

    def execute_once(self, context: ExperimentContext) -> dict[str, Any]:  # noqa: ARG002
        clock, size = perf_counter, self.params["batch_size"]
        insert_s = commit_s = 0.0
        commits = 0
        for start in range(0, len(self._rows), size):
            began = clock()
            self._db.execute("BEGIN")
            self._db.executemany(_INSERT, self._rows[start : start + size])
            inserted = clock()
            self._db.execute("COMMIT")
            insert_s += inserted - began
            commit_s += clock() - inserted
            commits += 1
        total_s = insert_s + commit_s
        return {
            "inserts_per_s": len(self._rows) / total_s,
            "insert_s": insert_s,
            "commit_s": commit_s,
            "commit_percent": 100 * commit_s / total_s,
            "ms_per_commit": 1000 * commit_s / commits,
            "commits": commits,
            "rows": self._db.execute("SELECT COUNT(*) FROM actions").fetchone()[0],
        }

    def teardown(self, context: ExperimentContext) -> None:
        if hasattr(self, "_db"):
            self._db.close()
        for one in context.run_dir.glob("actions.db*"):
            one.unlink()

    def effective(self, context: ExperimentContext) -> Mapping[str, Any]:  # noqa: ARG002
        """Return the database's location and settings according to SQLite."""
        lies_at = self._db.execute("PRAGMA database_list").fetchone()[2]
        return {
            **self.params,
            "storage": Path(lies_at).name if lies_at else "memory",
            "journal_mode": self._db.execute("PRAGMA journal_mode").fetchone()[0],
            "synchronous": self._db.execute("PRAGMA synchronous").fetchone()[0],
        }
