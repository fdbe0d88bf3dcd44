"""The newest runs of a history that asked only some of the cases, as with `--limit`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agentbench_tui.store.datasets import case_counts
from agentbench_tui.store.queries.latest import NEWER_PARTIAL, PartialRun
from agentbench_tui.verdicts.selection.partial_runs import partial_run_words

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Mapping, Sequence

    from agentbench_tui.verdicts.evidence.place import Place
    from agentbench_tui.verdicts.regression.history import Point

_TO_JUDGE = "another run of the same cases would be compared with the partial one"


def without_partial_runs(
    connection: sqlite3.Connection, found: Mapping[Place, Sequence[Point]]
) -> tuple[dict[Place, list[Point]], dict[Place, tuple[str, ...]]]:
    """Return the histories without their newest partial runs, and a note for each place.

    A partial run asked fewer cases than an earlier run of the same version and suite. It is judged
    if an earlier run asked the same cases; otherwise nothing can be compared with it, and the whole
    run before it is judged.
    """
    points = [point for those in found.values() for point in those]
    keys = {key for point in points if (key := _dataset(point)) is not None}
    counts = case_counts(connection, keys)
    kept: dict[Place, list[Point]] = {}
    notes: dict[Place, tuple[str, ...]] = {}
    for place, those in found.items():
        kept[place] = list(those)
        rows = []
        while (whole := _whole(kept[place], counts)) is not None:
            newest = kept[place].pop()
            partial = PartialRun(newest.run_id, counts[newest.one_of_all("dataset_key")], whole)
            rows.append(newest.executions[0] | {NEWER_PARTIAL: partial})
        if rows:
            notes[place] = tuple(partial_run_words(rows, _TO_JUDGE))
    return kept, notes


def _whole(points: Sequence[Point], counts: Mapping[int, int]) -> int | None:
    """Return the cases of the whole run that the newest one is a part of; None if it is judged."""
    *before, newest = points
    own = _dataset(newest)
    if own is None or any(_dataset(point) == own for point in before):
        return None
    sizes = [
        counts[key]
        for point in before
        if (key := _dataset(point)) is not None
        and point.version == newest.version
        and point.one_of_all("suite_hash") == newest.one_of_all("suite_hash")
    ]
    return max(sizes) if sizes and max(sizes) > counts[own] else None


def _dataset(point: Point) -> int | None:
    found: int | None = point.one_of_all("dataset_key")
    return found
