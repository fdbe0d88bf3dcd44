"""Removes data from the store: deleted runs, and partial data of killed processes."""

from __future__ import annotations

import json
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agentbench_tui.model.errors import UsageError
from agentbench_tui.store.database import connect_to_write
from agentbench_tui.store.faults import faults_named
from agentbench_tui.store.locking import Lease, WriteLock, is_leased
from agentbench_tui.store.transaction import in_transaction

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterator

CHUNK = 2000
"""Rows per transaction: about 20 ms, so that other writers wait only briefly."""
_CHUNK_OF_BLOBS = 50
"""Chunks per transaction, each with up to a thousand samples and their gaps: at most 10 MB in
all.
"""

BY_EXECUTION = (
    "metrics", "gauge_summaries", "iterations", "messages", "attempts", "failures", "answers",
    "answer_columns", "load_windows", "load_summaries", "stress_reports",
)  # fmt: skip
BY_RUN = ("gauges", "prices", "live", "ticks", "wishes", "sample_chunks", "calibrations")
OF_RUN_ID = {
    "baselines": "kind='run' AND target=(SELECT id FROM runs WHERE key=?)",
    "accepted_changes": "run_id=(SELECT id FROM runs WHERE key=?)",
}
"""Table → condition for rows that refer to a run by its id and are exported and deleted with it.

Baselines of a version or a tag do not refer to specific runs, and stay in their database.
"""
_EXECUTIONS = "SELECT 1 FROM benchmark_executions"
_UNFINISHED = "unfinished:"
_DELETED = "deleted:"
"""Begins the key in `meta` of a run that was removed from every list, before its rows are."""
_GOING = f"{_UNFINISHED}removed:"
"""Temporary name of a dataset with its key while its cases are removed: no run of that name
holds a lease.
"""
_UNUSED_DATASET = (
    f"hash NOT GLOB '{_UNFINISHED}*' AND NOT EXISTS ({_EXECUTIONS} WHERE dataset_key=datasets.key)"
)
_UNUSED = {
    "benchmarks": f"NOT EXISTS ({_EXECUTIONS} e WHERE e.suite_hash=benchmarks.suite_hash)",
    "benchmark_suites": f"NOT EXISTS ({_EXECUTIONS} e WHERE e.suite_hash=benchmark_suites.hash)",
    "environments": "NOT EXISTS (SELECT 1 FROM runs WHERE environment_hash=environments.hash)",
}
"""Table → which of its rows nothing refers to any more."""


def rows_at_once(table: str) -> int:
    """Return how many rows of a table one transaction may write or remove."""
    if table == "answer_columns":  # of a million answers each has 8 MB
        return 1
    return min(CHUNK, _CHUNK_OF_BLOBS) if table == "sample_chunks" else CHUNK


def unfinished_hash(run_id: str, dataset_hash: str) -> str:
    """Return the temporary name of a dataset until all its cases are stored, so that it is not
    used before. The lease of the run that is written or imported shows whether its writer still
    lives.
    """
    return f"{_UNFINISHED}{run_id}:{dataset_hash}"


def delete_run(database: Path, run_id: str) -> None:
    """Remove a run and everything that only it needs, in small transactions.

    The first one removes the run from every list and records the remaining work in `meta`; a
    process killed later leaves unreferenced rows, which `remove_unfinished` removes. Raises
    UsageError while the run is running.
    """
    lease = Lease.take(database, run_id)
    if lease is None:
        raise UsageError(f"run {run_id} is still running; stop it before you delete it")
    try:
        with removing(database) as (connection, lock):
            found = connection.execute("SELECT key FROM runs WHERE id=?", (run_id,)).fetchone()
            if found is not None:  # somebody was quicker
                delete_rows(connection, lock, found[0])
            _finish_deletions(connection, lock)  # of one that was killed
            _delete_unused(connection, lock, run_id)
            _delete_unfinished(connection, lock, database)
    finally:
        lease.release()


def remove_unfinished(database: Path) -> None:
    """Remove what killed processes left behind: rows of deleted runs, and incomplete datasets."""
    with removing(database) as (connection, lock):
        _finish_deletions(connection, lock)
        _delete_unfinished(connection, lock, database)


@contextmanager
def removing(database: Path) -> Iterator[tuple[sqlite3.Connection, WriteLock]]:
    """Open a connection for removal, which deletes referring rows first.

    SQLite does not look after that, nor need it: no index leads from a case to its answers, so that
    it would search all answers of the store for each case that goes, in one transaction for
    thousands of them.
    """
    with (
        faults_named(database),
        closing(connect_to_write(database)) as connection,
        closing(WriteLock(database)) as lock,
    ):
        connection.execute("PRAGMA foreign_keys=OFF")
        yield connection, lock


def _others_write(database: Path, run_id: str) -> bool:
    """Return whether another run is running or being imported, which may be about to refer to
    unused data.
    """
    leases = Path(f"{database}.leases").iterdir()
    return any(is_leased(database, one.name) for one in leases if one.name != run_id)


def delete_rows(connection: sqlite3.Connection, lock: WriteLock, run_key: int) -> None:
    """Remove a run from every list, then its rows. Its lease must be held; `connection` as in
    `removing`.
    """

    def hide(connection: sqlite3.Connection) -> None:
        select = "SELECT key FROM benchmark_executions WHERE run_key=?"
        executions = [key for (key,) in connection.execute(select, (run_key,))]
        connection.execute(
            "INSERT OR REPLACE INTO meta (key, value) VALUES (?, ?)",
            (f"{_DELETED}{run_key}", json.dumps(executions)),
        )
        # A change that was accepted at a run stays so, for levels go by dates; a baseline goes.
        connection.execute(
            f"DELETE FROM baselines WHERE {OF_RUN_ID['baselines']}",  # noqa: S608
            (run_key,),
        )
        connection.execute("DELETE FROM benchmark_executions WHERE run_key=?", (run_key,))
        connection.execute("DELETE FROM runs WHERE key=?", (run_key,))

    in_transaction(connection, lock, hide)
    _finish_deletions(connection, lock)


def _finish_deletions(connection: sqlite3.Connection, lock: WriteLock) -> None:
    """Remove the rows of runs that were already removed from every list."""
    found = connection.execute(
        "SELECT key, value FROM meta WHERE key GLOB ?", (f"{_DELETED}*",)
    ).fetchall()
    for name, executions in found:
        run_key = int(name.removeprefix(_DELETED))
        for table in (*BY_EXECUTION, *BY_RUN):
            _delete_rows(connection, lock, table, run_key, executions)
        _changed(connection, lock, "DELETE FROM meta WHERE key=?", (name,))


def _delete_rows(
    connection: sqlite3.Connection, lock: WriteLock, table: str, run_key: int, executions: str
) -> None:
    """Remove a run's rows of a table; `executions` are its keys, as a JSON array."""
    place = _place_of_run(connection, table)
    keys = ", ".join(_primary_key(connection, table))
    statement = (
        f"DELETE FROM {table} WHERE ({keys}) IN"  # noqa: S608  # our own table names
        f" (SELECT {keys} FROM {table} WHERE {place} LIMIT {rows_at_once(table)})"
    )
    values = {"run_key": run_key, "executions": executions}
    while _changed(connection, lock, statement, values):
        pass


def _place_of_run(connection: sqlite3.Connection, table: str) -> str:
    """Return the condition for a run's rows in a table, by an indexed column if there is one:
    otherwise each of many transactions would scan the whole table.
    """
    columns = {row[1] for row in connection.execute(f"PRAGMA table_info({table})")}
    indexed = connection.execute(
        "SELECT i.name FROM pragma_index_list(?) l, pragma_index_info(l.name) i WHERE i.seqno=0",
        (table,),
    )
    if ("run_key",) in indexed.fetchall() or "execution_key" not in columns:
        return "run_key=:run_key"
    return "execution_key IN (SELECT value FROM json_each(:executions))"


def _primary_key(connection: sqlite3.Connection, table: str) -> list[str]:
    rows = connection.execute(f"PRAGMA table_info({table})").fetchall()
    return [row[1] for row in sorted(rows, key=lambda row: row[5]) if row[5]]


def _delete_unused(connection: sqlite3.Connection, lock: WriteLock, run_id: str) -> None:
    """Remove datasets, suites and environments that no run refers to, unless another run is
    writing.

    The datasets are but given other names, at once, so that no run that begins now takes one whose
    cases are going; `_delete_unfinished` removes them.
    """

    def remove(connection: sqlite3.Connection) -> None:
        # Looked for in here: a run that takes its lease later waits for us before it looks.
        if _others_write(lock.database, run_id):
            return
        connection.execute(
            f"UPDATE datasets SET hash='{_GOING}' || key WHERE {_UNUSED_DATASET}"  # noqa: S608
        )
        for table, condition in _UNUSED.items():
            connection.execute(f"DELETE FROM {table} WHERE {condition}")  # noqa: S608

    in_transaction(connection, lock, remove)


def _delete_unfinished(connection: sqlite3.Connection, lock: WriteLock, database: Path) -> None:
    found = connection.execute(f"SELECT key, hash FROM datasets WHERE hash GLOB '{_UNFINISHED}*'")  # noqa: S608
    for key, name in found.fetchall():
        if not is_leased(database, name.split(":")[1]):
            _delete_cases(connection, lock, key)
            _changed(connection, lock, "DELETE FROM case_hashes WHERE dataset_key=?", (key,))
            _changed(connection, lock, "DELETE FROM datasets WHERE key=?", (key,))


def _delete_cases(connection: sqlite3.Connection, lock: WriteLock, dataset_key: int) -> None:
    some_cases = f"SELECT key FROM cases WHERE dataset_key=? LIMIT {CHUNK}"  # noqa: S608
    statement = f"DELETE FROM cases WHERE key IN ({some_cases})"  # noqa: S608
    while _changed(connection, lock, statement, (dataset_key,)):
        pass


def _changed(
    connection: sqlite3.Connection,
    lock: WriteLock,
    statement: str,
    values: tuple[Any, ...] | dict[str, Any],
) -> int:
    """Execute one statement in a transaction; return the number of changed rows."""
    return in_transaction(connection, lock, lambda c: c.execute(statement, values).rowcount)
