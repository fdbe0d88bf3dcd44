"""Cases in the store: written once per dataset, read back page by page.

A run reads its cases from the store, not from their source, so that 100,000 cases cost no memory
and `resume` asks exactly what was planned.
"""

from __future__ import annotations

import hashlib
from array import array
from typing import TYPE_CHECKING

import msgspec

from agentbench_tui.model.answer import Case
from agentbench_tui.model.errors import Problem, SuiteError
from agentbench_tui.model.identity import canonical_json
from agentbench_tui.store.database import reading
from agentbench_tui.store.removal import unfinished_hash

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path

    from agentbench_tui.engine.dataset import CaseSource
    from agentbench_tui.engine.plan import Group, Plan
    from agentbench_tui.store.writer import Writer

PAGE = 500
"""Cases in memory at a time, for each execution."""
MOST_HELD = 100
"""Datasets held open at once; each takes a file, and many systems allow a process 1,024."""
_INSERT_CASE = "INSERT INTO cases (dataset_key, case_id, body) VALUES (?,?,?)"


def open_group(group: Group) -> CaseSource:
    """The chosen cases of a group's dataset. Raises SuiteError, UsageError and MissingExtra."""
    from agentbench_tui.engine.dataset import open_dataset

    return open_dataset(
        group.resolved(),
        base_dir=group.base_dir,
        seed=group.seed,
        parameters=group.values,
        case_ids=group.case_ids,
    )


def open_datasets(plan: Plan) -> dict[int, CaseSource]:
    """Read and check the cases of every group, and hold them: position of the group → its cases.

    Groups of equal cases, such as the points of most sweeps, share one source. Of more than
    `MOST_HELD` different ones the rest is checked only. Raises like `open_group`.
    """
    held: dict[str, CaseSource] = {}
    found: dict[int, CaseSource] = {}
    for position, source in each_dataset(plan):
        if len(held) < MOST_HELD:
            held.setdefault(source.hash, source)
        if (known := held.get(source.hash)) is not None:
            found[position] = known
        if known is not source:
            source.close()
    return found


def each_dataset(plan: Plan) -> Iterator[tuple[int, CaseSource]]:
    """Position and cases of each group with a dataset; the caller closes them."""
    for position, group in enumerate(plan.groups):
        if group.benchmark["dataset"] is not None:
            yield position, open_group(group)


async def store_cases(
    writer: Writer, run_id: str, source: str, dataset_hash: str, cases: Callable[[], Iterable[Case]]
) -> int:
    """The key of the dataset with that hash; its cases are written unless they are there.

    `run_id`: the run that writes them, and whose lease is held meanwhile.

    Raises SuiteError when the source has changed since it was hashed.
    """
    known = await writer.apply(
        lambda connection: connection.execute(
            "SELECT key FROM datasets WHERE hash=?", (dataset_hash,)
        ).fetchone()
    )
    if known is not None:
        return int(known[0])
    # Until all its cases are there it bears another name, so that no one takes half of it.
    key: int = await writer.apply(
        lambda connection: connection.execute(
            "INSERT INTO datasets (hash, source, cases) VALUES (?,?,0) RETURNING key",
            (unfinished_hash(run_id, dataset_hash), source),
        ).fetchone()[0]
    )
    encoder = msgspec.json.Encoder()
    count = 0
    for case in cases():
        writer.add(_INSERT_CASE, (key, case.id, encoder.encode(case).decode()))
        count += 1
        if writer.is_full:
            await writer.room()
    return await writer.apply(lambda connection: _finish(connection, key, dataset_hash, count))


def salted(
    source: CaseSource, add_salt: Callable[[Case], Case]
) -> tuple[str, Callable[[], Iterable[Case]]]:
    """Hash and cases of a dataset whose cases `add_salt` completes.

    The hash is the source's own where no case changes, so that equal datasets stay equal.
    """
    digest, is_changed = hashlib.sha256(), False
    for case in source:
        changed = add_salt(case)
        is_changed = is_changed or changed is not case
        digest.update(canonical_json(changed) + b"\n")
    if not is_changed:
        return source.hash, source.cases
    return digest.hexdigest(), lambda: map(add_salt, source)


def _finish(connection: sqlite3.Connection, key: int, dataset_hash: str, count: int) -> int:
    twin = connection.execute("SELECT key FROM datasets WHERE hash=?", (dataset_hash,)).fetchone()
    if twin is not None:  # another process was quicker; ours goes when the next run begins
        return int(twin[0])
    connection.execute(
        "UPDATE datasets SET hash=?, cases=? WHERE key=?", (dataset_hash, count, key)
    )
    return key


class CaseReader:
    """Reads the cases of one dataset in their order, a page at a time."""

    def __init__(self, database: Path, dataset_key: int) -> None:
        self._database = database
        self._dataset_key = dataset_key
        with reading(database) as connection:
            rows = connection.execute(
                "SELECT key FROM cases WHERE dataset_key=? ORDER BY key", (dataset_key,)
            ).fetchall()
        self.keys = array("q", (row[0] for row in rows))
        if not self.keys:
            raise SuiteError([Problem("the dataset holds no case")])

    def __len__(self) -> int:
        return len(self.keys)

    def read(self, start: int, stop: int) -> Iterator[tuple[int, Case]]:
        """(key, case) of the positions `start` up to `stop`."""
        decoder = msgspec.json.Decoder(Case)
        with reading(self._database) as connection:
            for first in range(start, stop, PAGE):
                last = min(first + PAGE, stop) - 1
                rows = connection.execute(
                    "SELECT key, body FROM cases WHERE dataset_key=? AND key BETWEEN ? AND ?"
                    " ORDER BY key",
                    (self._dataset_key, self.keys[first], self.keys[last]),
                ).fetchall()
                for row in rows:
                    yield row[0], decoder.decode(row[1])
