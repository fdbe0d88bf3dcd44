"""Names in a database for shell completion: fast, and without side effects."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

_QUERIES = {
    "runs": "SELECT id FROM runs ORDER BY key DESC LIMIT 100",
    "agents": "SELECT id FROM agents ORDER BY id",
}


def stored_names(database: Path, kind: str) -> list[str]:
    """Return ids of the newest 100 `runs`, or of all `agents`. Raises OSError and sqlite3.Error."""
    # Reading a database in WAL mode creates files beside it unless it is taken as immutable.
    # With such files there, a process may be writing, and they are used as they are.
    in_use = all(Path(f"{database}{suffix}").exists() for suffix in ("-wal", "-shm"))
    mode = "mode=ro" if in_use else "mode=ro&immutable=1"
    address = f"{database.absolute().as_uri()}?{mode}"
    with closing(sqlite3.connect(address, uri=True, timeout=0.1)) as connection:
        return [name for (name,) in connection.execute(_QUERIES[kind])]
