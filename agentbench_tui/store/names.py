"""Names in a database for shell completion: fast, and without side effects."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

STORED = {
    "runs": "SELECT id FROM runs ORDER BY key DESC LIMIT 100",
    "running": "SELECT id FROM runs WHERE status='running' ORDER BY key DESC LIMIT 100",
    "resumable": "SELECT id FROM runs WHERE status<>'complete' ORDER BY key DESC LIMIT 100",
    "agents": "SELECT id FROM agents ORDER BY id",
    "suites": "SELECT DISTINCT suite_id FROM benchmark_suites ORDER BY 1",
    "benchmarks": "SELECT DISTINCT benchmark_id FROM benchmarks ORDER BY 1",
    "tags": "SELECT DISTINCT t.value FROM runs r, json_each(r.tags) t ORDER BY 1",
    "metrics": "SELECT DISTINCT name FROM metrics WHERE value IS NOT NULL AND execution_key IN"
    " (SELECT key FROM benchmark_executions ORDER BY key DESC LIMIT 100) ORDER BY 1",
    "cases": "SELECT DISTINCT case_id FROM cases WHERE dataset_key IN (SELECT dataset_key FROM"
    " benchmark_executions WHERE run_key=(SELECT MAX(key) FROM runs)) ORDER BY key LIMIT 1000",
}
"""What is named → the query for its names: of metrics those of the newest 100 executions, of cases
those of the newest run, and at most 100 runs and 1,000 cases."""


def stored_names(database: Path, kind: str) -> list[str]:
    """Return names of a kind that `STORED` lists. Raises OSError and sqlite3.Error."""
    # Reading a database in WAL mode creates files beside it unless it is taken as immutable.
    # With such files there, a process may be writing, and they are used as they are.
    in_use = all(Path(f"{database}{suffix}").exists() for suffix in ("-wal", "-shm"))
    mode = "mode=ro" if in_use else "mode=ro&immutable=1"
    address = f"{database.absolute().as_uri()}?{mode}"
    with closing(sqlite3.connect(address, uri=True, timeout=0.1)) as connection:
        return [name for (name,) in connection.execute(STORED[kind])]
