"""Cases in the store: written once per dataset, read back page by page.

A run reads its cases from the store, not from their source, so that 100,000 cases cost no memory
and `resume` asks exactly what was planned.
"""

from __future__ import annotations

import hashlib
from array import array
from typing import TYPE_CHECKING

import msgspec

from agentbench_tui.engine.games import find_game
from agentbench_tui.model.answer import Case
from agentbench_tui.model.errors import Problem, SuiteError
from agentbench_tui.model.identity import canonical_json
from agentbench_tui.model.kinds import kind_named
from agentbench_tui.store.database import workspace_salt
from agentbench_tui.store.datasets import (
    add_case,
    add_dataset,
    begin_dataset,
    case_keys,
    dataset_key,
    datasets_of_run,
    finish_dataset,
    page_of_cases,
    use_dataset,
)
from agentbench_tui.store.faults import faults_named

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from agentbench_tui.engine.cases.dataset import CaseSource
    from agentbench_tui.engine.run.context import RunContext
    from agentbench_tui.engine.run.plan import Group, Plan

PAGE = 500
"""Cases in memory at a time, per execution."""
MOST_HELD = 100
"""Datasets held open at once; each takes a file, and many systems allow a process 1,024."""
MOST_HELD_BYTES = 8 << 20
"""Memory of the datasets held that take no file."""
_decode = msgspec.json.Decoder(Case).decode


def open_group(group: Group) -> CaseSource:
    """Return the chosen cases of a group's dataset. Raises SuiteError, UsageError and
    MissingExtra.
    """
    from agentbench_tui.engine.cases.dataset import open_dataset

    return open_dataset(
        group.resolved(),
        base_dir=group.base_dir,
        seed=group.seed,
        parameters=group.values,
        case_ids=group.case_ids,
    )


def open_datasets(plan: Plan) -> dict[int, CaseSource]:
    """Read and check the cases of every group; return them by the group's index.

    Groups of equal cases, such as the points of most sweeps, share one source. Of more different
    ones than `MOST_HELD` files and `MOST_HELD_BYTES` the rest is checked only. Raises like
    `open_group`.
    """
    held: dict[str, CaseSource] = {}
    found: dict[int, CaseSource] = {}
    files = memory = 0
    for position, source in each_dataset(plan):
        taken = source.memory_bytes
        has_room = files < MOST_HELD if taken is None else memory < MOST_HELD_BYTES
        if has_room and source.hash not in held:
            held[source.hash] = source
            files += taken is None
            memory += taken or 0
        if (known := held.get(source.hash)) is not None:
            found[position] = known
        if known is not source:
            source.close()
    return found


def each_dataset(plan: Plan) -> Iterator[tuple[int, CaseSource]]:
    """Yield index and cases of each group with a dataset; the caller closes them."""
    for position, group in enumerate(plan.groups):
        if group.benchmark["dataset"] is not None:
            yield position, open_group(group)


async def store_datasets(context: RunContext, sources: dict[int, CaseSource]) -> None:
    """Store the cases of every task benchmark, and set each execution's dataset.

    `sources`: position of a group → its cases, emptied here; without one the cases are in the store
    already, of a run that is resumed, or are read now. Raises like `open_group`.
    """
    stored = await context.writer.apply(lambda c: datasets_of_run(c, context.run_key))
    small = _SmallDatasets(context)
    for position, group in enumerate(context.plan.groups):
        if not kind_named(group.benchmark["kind"]).reads_dataset:
            continue
        known = stored.get(context.execution_keys[group.executions[0].id])
        if known is not None:
            context.dataset_keys.update(dict.fromkeys(_ids(group), known))
            continue
        source = sources.pop(position, None) or open_group(group)
        if source.memory_bytes is not None and group.benchmark["game"] is None:
            await small.add(group, source)
            continue
        await small.store()  # in order, since equal groups share a source
        with source:
            key = await _store_cases(context, source, group)
        context.dataset_keys.update(dict.fromkeys(_ids(group), key))
        await context.writer.apply(lambda c, group=group, key=key: _use(c, context, group, key))  # type: ignore[misc]
    await small.store()


class _SmallDatasets:
    """Stores small datasets together, because a sweep has thousands of them."""

    def __init__(self, context: RunContext) -> None:
        self._context = context
        self._waiting: list[tuple[Group, CaseSource]] = []
        self._cases = 0

    async def add(self, group: Group, source: CaseSource) -> None:
        self._waiting.append((group, source))
        self._cases += 1 + len(source)
        if self._cases >= PAGE:
            await self.store()

    async def store(self) -> None:
        """Store the waiting datasets in one transaction."""
        waiting, self._waiting, self._cases = self._waiting, [], 0
        if waiting:
            keys = await self._context.writer.apply(lambda c: self._stored(c, waiting))
            self._context.dataset_keys.update(keys)
        for _, source in waiting:
            source.close()

    def _stored(
        self, connection: sqlite3.Connection, waiting: Sequence[tuple[Group, CaseSource]]
    ) -> dict[str, int]:
        keys: dict[str, int] = {}
        for group, source in waiting:
            key = dataset_key(connection, source.hash)
            if key is None:
                cases = [(case.id, _encode(case)) for case in source]
                key = add_dataset(connection, source.name, source.hash, cases)
            _use(connection, self._context, group, key)
            keys.update(dict.fromkeys(_ids(group), key))
        return keys


def _ids(group: Group) -> list[str]:
    return [execution.id for execution in group.executions]


def _use(connection: sqlite3.Connection, context: RunContext, group: Group, key: int) -> None:
    executions = [context.execution_keys[one] for one in _ids(group)]
    measured: int = group.benchmark["iterations"]["measured"]
    use_dataset(connection, key, executions, measured * context.plan.repeats)


def _encode(case: Case) -> str:
    return msgspec.json.encode(case).decode()


async def _store_cases(context: RunContext, source: CaseSource, group: Group) -> int:
    """Store cases and return the key of the dataset. Cases of a game get the salt of this database,
    so that its runs are comparable and no agent can recompute the game.
    """
    game_name: str | None = group.benchmark["game"]
    if game_name is None:
        return await _store_each(context, source.name, source.hash, source.cases)
    salt = await context.writer.apply(workspace_salt)
    game = find_game(game_name)
    digest, cases = salted(source, lambda case: game.salted(case, salt))
    return await _store_each(context, source.name, digest, cases)


async def _store_each(
    context: RunContext, source: str, dataset_hash: str, cases: Callable[[], Iterable[Case]]
) -> int:
    """Return the key of the dataset with that hash; writes its cases unless they exist.

    Requires the run's lease.
    """
    writer, run_id = context.writer, context.plan.run_id
    known = await writer.apply(lambda c: dataset_key(c, dataset_hash))
    if known is not None:
        return known
    key = await writer.apply(lambda c: begin_dataset(c, run_id, source, dataset_hash))
    count = 0
    for case in cases():
        add_case(writer, key, case.id, _encode(case))
        count += 1
        if writer.is_full:
            await writer.room()
    return await writer.apply(lambda c: finish_dataset(c, key, dataset_hash, count))


def salted(
    source: CaseSource, add_salt: Callable[[Case], Case]
) -> tuple[str, Callable[[], Iterable[Case]]]:
    """Return hash and cases of a dataset whose cases `add_salt` completes.

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


class CaseReader:
    """Reads the cases of one dataset in order, one page at a time."""

    def __init__(self, context: RunContext, dataset: int) -> None:
        self._context = context
        self._dataset = dataset
        with faults_named(context.database):
            self.keys = array("q", case_keys(context.reader, dataset))
        if not self.keys:
            raise SuiteError([Problem("the dataset holds no case")])

    def __len__(self) -> int:
        return len(self.keys)

    def read(self, start: int, stop: int) -> Iterator[tuple[int, Case]]:
        """Yield (key, case) of the positions `start` up to `stop`."""
        for first in range(start, stop, PAGE):
            last = min(first + PAGE, stop) - 1
            with faults_named(self._context.database):
                page = page_of_cases(
                    self._context.reader, self._dataset, self.keys[first], self.keys[last]
                )
            for key, body in page:
                yield key, _decode(body)
