"""Datasets and their cases: written once per hash, read page by page."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from agentbench_tui.store.removal import unfinished_hash

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable, Sequence

    from agentbench_tui.store.writes.rows import RowWriter

_CASE = "INSERT INTO cases (dataset_key, case_id, body) VALUES (?,?,?)"


def dataset_key(connection: sqlite3.Connection, dataset_hash: str) -> int | None:
    """Return the key of the dataset with that hash, None if it is not stored."""
    row = connection.execute("SELECT key FROM datasets WHERE hash=?", (dataset_hash,)).fetchone()
    return None if row is None else int(row[0])


def add_dataset(
    connection: sqlite3.Connection,
    source: str,
    dataset_hash: str,
    cases: Sequence[tuple[str, str]],
) -> int:
    """Write a dataset with all its cases, (id, JSON) of each, in one transaction; return
    its key.
    """
    key: int = connection.execute(
        "INSERT INTO datasets (hash, source, cases) VALUES (?,?,?) RETURNING key",
        (dataset_hash, source, len(cases)),
    ).fetchone()[0]
    connection.executemany(_CASE, [(key, *case) for case in cases])
    return key


def begin_dataset(
    connection: sqlite3.Connection, run_id: str, source: str, dataset_hash: str
) -> int:
    """Write a dataset whose cases follow in other transactions; return its key.

    Until `finish_dataset` it bears another name, so that no one takes half of it.
    """
    key: int = connection.execute(
        "INSERT INTO datasets (hash, source, cases) VALUES (?,?,0) RETURNING key",
        (unfinished_hash(run_id, dataset_hash), source),
    ).fetchone()[0]
    return key


def add_case(writer: RowWriter, dataset: int, case_id: str, body: str) -> None:
    """Queue a case (JSON) of a dataset that was begun."""
    writer.add(_CASE, (dataset, case_id, body))


def finish_dataset(connection: sqlite3.Connection, key: int, dataset_hash: str, count: int) -> int:
    """Name a dataset once all its cases are stored; return the key of the dataset of that name."""
    twin = dataset_key(connection, dataset_hash)
    if twin is not None:  # another process was quicker; ours goes when the next run begins
        return twin
    connection.execute(
        "UPDATE datasets SET hash=?, cases=? WHERE key=?", (dataset_hash, count, key)
    )
    return key


def use_dataset(
    connection: sqlite3.Connection, dataset: int, execution_keys: Iterable[int], times: int
) -> None:
    """Store the dataset of executions, and how often each case is planned to be asked."""
    connection.executemany(
        "UPDATE benchmark_executions SET dataset_key=?, planned=? *"
        " (SELECT cases FROM datasets WHERE key=?) WHERE key=?",
        [(dataset, times, dataset, key) for key in execution_keys],
    )


def datasets_of_run(connection: sqlite3.Connection, run_key: int) -> dict[int, int]:
    """Return the dataset key of each execution of a run that has one."""
    return dict(
        connection.execute(
            "SELECT key, dataset_key FROM benchmark_executions"
            " WHERE run_key=? AND dataset_key IS NOT NULL",
            (run_key,),
        ).fetchall()
    )


def case_keys(connection: sqlite3.Connection, dataset: int) -> Iterable[int]:
    """Return the keys of a dataset's cases, in the order in which they are asked."""
    rows = connection.execute(
        "SELECT key FROM cases WHERE dataset_key=? ORDER BY key", (dataset,)
    ).fetchall()
    return (row[0] for row in rows)


def keys_of_dataset(connection: sqlite3.Connection, dataset: int) -> range | list[int]:
    """Return the keys of a dataset's cases; a range if they are consecutive, as they
    usually are.
    """
    first, last, count = connection.execute(
        "SELECT (SELECT MIN(key) FROM cases WHERE dataset_key=?1),"
        " (SELECT MAX(key) FROM cases WHERE dataset_key=?1),"
        " (SELECT cases FROM datasets WHERE key=?1)",
        (dataset,),
    ).fetchone()
    if count and last - first + 1 == count:
        return range(first, last + 1)
    return list(case_keys(connection, dataset))


def dataset_of_execution(connection: sqlite3.Connection, execution_key: int) -> int:
    """Return the key of an execution's dataset."""
    (key,) = connection.execute(
        "SELECT dataset_key FROM benchmark_executions WHERE key=?", (execution_key,)
    ).fetchone()
    return int(key)


def case_ids(connection: sqlite3.Connection, keys: Iterable[int]) -> dict[int, str]:
    """Return the id of each case, by key."""
    return dict(
        map(
            tuple,
            connection.execute(
                "SELECT c.key, c.case_id FROM json_each(?) wanted"
                " CROSS JOIN cases c ON c.key=wanted.value",
                (json.dumps([*keys]),),
            ).fetchall(),
        )
    )


def page_of_cases(
    connection: sqlite3.Connection, dataset: int, first: int, last: int
) -> list[tuple[int, str]]:
    """Return (key, JSON) of a dataset's cases from one key to another."""
    rows = connection.execute(
        "SELECT key, body FROM cases WHERE dataset_key=? AND key BETWEEN ? AND ? ORDER BY key",
        (dataset, first, last),
    ).fetchall()
    return [(row[0], row[1]) for row in rows]


def case_counts(connection: sqlite3.Connection, keys: Iterable[int]) -> dict[int, int]:
    """Dataset key → number of its cases."""
    rows = connection.execute(
        "SELECT key, cases FROM datasets WHERE key IN (SELECT value FROM json_each(?))",
        (json.dumps([*keys]),),
    )
    return dict(map(tuple, rows))
